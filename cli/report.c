// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The verbs `report` and `info`: a trace as text; as JSON, the monitor's
// reading at its end.

#include "commands.h"
#include "draft.h"
#include "limits.h"
#include "text.h"

#include "../monitor/monitor.h"
#include "../recorder/html.h"
#include "../recorder/outfile.h"
#include "../recorder/report.h"

#include <string.h>

#include "../libtelemetry/banned.h"

// What to do about a trace that cannot be read.
static const char *advice(int code)
{
	switch (code) {
	case TELE_EMAGIC:
		return "name a file that `rollcall record` made";
	case TELE_EVERSION:
		return "use the Rollcall that made it";
	case TELE_ETRUNCATED:
		return "nothing was recorded in it";
	default:
		return "check the name and the permissions";
	}
}

static int print(const struct cli_call *call, int result, struct mon_out *out,
		 const struct tele_error *error)
{
	int status = CLI_FAILED;
	if (result < 0) {
		cli_fail_with(call, error, advice(error->code));
	} else {
		fwrite(out->bytes, 1, out->n_bytes, stdout);
		status = cli_finish_output(call);
	}
	mon_out_fini(out);
	return status;
}

// Writes the page. What cannot be written whole is not left behind.
static int write_page(const struct cli_call *call, const char *path, int result, struct mon_out *out,
		      struct tele_error *error)
{
	struct rec_outfile file;
	if (result < 0 || strcmp(path, "-") == 0)
		return print(call, result, out, error);
	cli_leave_no_draft();
	result = rec_outfile_open(&file, path, call->operands[0], true, error);
	if (result == 0) {
		rec_outfile_put(&file, out->bytes, out->n_bytes);
		result = rec_outfile_close(&file, true, error);
	}
	mon_out_fini(out);
	return result < 0 ? cli_fail_with(call, error, "choose another file with room and permission") : CLI_OK;
}

int cli_report(const struct cli_call *call)
{
	struct mon_out out = {0};
	struct tele_error error = {0};
	if (cli_expect_operands(call, 1, 1, "the trace") != CLI_OK)
		return CLI_USAGE;
	struct analysis_limits limits;
	if (cli_limits(call, CLI_report_capacity, &limits) != CLI_OK)
		return CLI_USAGE;
	const struct rec_report_options options = {call->operands[0], !mon_is_utf8_locale(), &limits};
	const struct mon_options json = {.file = call->operands[0], .limits = &limits, .is_final = true};
	const char *page = call->values[CLI_report_html];
	if (page && call->values[CLI_report_json])
		return cli_fail(call, CLI_USAGE, "--json and --html exclude each other; say one of them");
	if (page)
		return write_page(call, page, rec_html(&options, &out, &error), &out, &error);
	int result = call->values[CLI_report_json] ? mon_replay_json(&json, &out, &error)
						   : rec_report(&options, &out, &error);
	return print(call, result, &out, &error);
}

int cli_info(const struct cli_call *call)
{
	struct mon_out out = {0};
	struct tele_error error = {0};
	if (cli_expect_operands(call, 1, 1, "the trace") != CLI_OK)
		return CLI_USAGE;
	const struct rec_report_options options = {call->operands[0], !mon_is_utf8_locale(), NULL};
	int result = call->values[CLI_info_json] ? rec_info_json(&options, &out, &error)
						 : rec_info(&options, call->values[CLI_info_schema], &out, &error);
	return print(call, result, &out, &error);
}
