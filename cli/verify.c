// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The verb `verify`: 0 whole, 1 damaged, 2 neither a trace nor a segment.

#include "commands.h"
#include "draft.h"
#include "text.h"

#include "../monitor/monitor.h"
#include "../recorder/verify.h"

#include <errno.h>

#include "../libtelemetry/banned.h"

// A file that cannot be judged is another answer than one that is damaged.
static int fail(const struct cli_call *call, int code, const struct tele_error *error)
{
	const char *advice = "check the name and the permissions";
	if (code == TELE_EMAGIC || code == TELE_ETRUNCATED)
		advice = "name a file that `rollcall record` made, or a segment";
	else if (code == TELE_EVERSION)
		advice = "use the Rollcall that made it";
	else if (code == -EEXIST)
		advice = "choose another name, or replace it with --force";
	else if (code == -EBUSY || code == -EINVAL)
		advice = "choose another name";
	else if (code == -ENOSPC || code == -ENOMEM)
		advice = "make room";
	cli_fail_with(call, error, advice);
	return CLI_USAGE;
}

int cli_verify(const struct cli_call *call)
{
	struct mon_out out = {0};
	struct tele_error error = {0};
	if (cli_expect_operands(call, 1, 1, "the file") != CLI_OK)
		return CLI_USAGE;
	const struct rec_verify_options options = {
		.path = call->operands[0],
		.repair = call->values[CLI_verify_repair],
		.replace = call->values[CLI_verify_force],
		.is_ascii = !mon_is_utf8_locale(),
	};
	if (strcmp(options.path, "-") == 0)
		return cli_fail(call, CLI_USAGE, "every byte is walked twice, and a pipe has them once; name a file");
	if (options.replace && !options.repair)
		return cli_fail(call, CLI_USAGE, "--force replaces the OUT of --repair; say --repair OUT");
	if (options.repair && strcmp(options.repair, "-") == 0)
		return cli_fail(call, CLI_USAGE, "standard output is the verdict's; name a file to repair into");
	if (options.repair)
		cli_leave_no_draft();
	int result = rec_verify(&options, &out, &error);
	int status;
	if (result < 0) {
		status = fail(call, result, &error);
	} else {
		if (!call->values[CLI_verify_quiet])
			fwrite(out.bytes, 1, out.n_bytes, stdout);
		status = cli_finish_output(call);
		status = status == CLI_OK && result > 0 ? CLI_FAILED : status;
	}
	mon_out_fini(&out);
	return status;
}
