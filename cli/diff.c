// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The verb `diff`: two traces, or one trace before and after a point.

#include "commands.h"
#include "text.h"

#include "../monitor/monitor.h"
#include "../recorder/diff.h"

#include "../libtelemetry/banned.h"

static const char *advice(int code)
{
	switch (code) {
	case TELE_ENOTFOUND:
		return "`rollcall info FILE` says what is in it";
	case TELE_EMAGIC:
		return "name a file that `rollcall record` or `rollcall import` made";
	default:
		return "check the name and the permissions";
	}
}

int cli_diff(const struct cli_call *call)
{
	struct rec_diff_options options = {
		.before = call->values[CLI_diff_before],
		.after = call->values[CLI_diff_after],
		.select = call->values[CLI_diff_process],
		.is_json = call->values[CLI_diff_json],
		.is_ascii = !mon_is_utf8_locale(),
	};
	struct mon_out out = {0};
	struct tele_error error = {0};
	if (cli_expect_operands(call, 1, 2, "the trace") != CLI_OK)
		return CLI_USAGE;
	options.a = options.b = call->operands[0];
	if (call->n_operands == 2)
		options.b = call->operands[1];
	else if (!options.before && !options.after)
		return cli_fail(call, CLI_USAGE, "with one trace say --before and --after, where to cut it; else name two");
	// One of the two is enough: the cut is in one place.
	if (call->n_operands == 1 && !options.after)
		options.after = options.before;
	if (call->n_operands == 1 && !options.before)
		options.before = options.after;
	if (strcmp(options.a, "-") == 0 && strcmp(options.b, "-") == 0)
		return cli_fail(call, CLI_USAGE, "standard input can be read only once; name a file");
	int result = rec_diff(&options, &out, &error);
	int status = CLI_OK;
	if (result == TELE_ESYNTAX) {
		status = cli_fail(call, CLI_USAGE, "%s", error.text);
	} else if (result < 0) {
		status = cli_fail_with(call, &error, advice(result));
	} else {
		fwrite(out.bytes, 1, out.n_bytes, stdout);
		status = cli_finish_output(call);
	}
	mon_out_fini(&out);
	return status;
}
