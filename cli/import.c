// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The verb `import`: a trace from a text. A text that is not what its format
// asks for is exit status 2, like a wrong word on the command line.

#include "commands.h"
#include "draft.h"
#include "text.h"

#include "../recorder/import.h"

#include <errno.h>
#include <unistd.h>

#include "../libtelemetry/banned.h"

static const char *advice(int code)
{
	switch (code) {
	case -EEXIST:
		return "name another file, or say --force";
	case -ENOENT:
	case -EACCES:
	case -EISDIR:
		return "check the name and the permissions";
	default:
		return NULL;
	}
}

static int parse_format(const struct cli_call *call, enum rec_import_format *ret_format)
{
	const char *name = call->values[CLI_import_format];
	*ret_format = REC_IMPORT_CSV;
	if (!name || strcmp(name, "csv") == 0)
		return CLI_OK;
	*ret_format = REC_IMPORT_CENSUS_LOG;
	if (strcmp(name, "census-log") == 0)
		return CLI_OK;
	return cli_fail(call, CLI_USAGE, "--format %s is neither csv nor census-log", name);
}

static void say_what_came(const struct cli_call *call, const struct rec_import_result *result)
{
	char skipped[64] = "", damaged[96] = "";
	if (result->n_skipped)
		snprintf(skipped, sizeof(skipped), "; %llu other line%s skipped", (unsigned long long)result->n_skipped,
			 result->n_skipped == 1 ? "" : "s");
	if (result->n_damaged)
		snprintf(damaged, sizeof(damaged), "; %llu census line%s not whole, the first is line %llu",
			 (unsigned long long)result->n_damaged, result->n_damaged == 1 ? "" : "s",
			 (unsigned long long)result->damaged_line);
	cli_note(call, "%llu row%s, %llu candidate%s%s%s", (unsigned long long)result->n_rows,
		 result->n_rows == 1 ? "" : "s", (unsigned long long)result->n_candidates,
		 result->n_candidates == 1 ? "" : "s", skipped, damaged);
}

int cli_import(const struct cli_call *call)
{
	struct rec_import_options options = {
		.output = call->values[CLI_import_output],
		.replace = call->values[CLI_import_force],
	};
	struct rec_import_result result;
	struct tele_error error = {0};
	if (cli_expect_operands(call, 1, 1, "the file to import") != CLI_OK)
		return CLI_USAGE;
	if (!options.output)
		return cli_fail(call, CLI_USAGE, "-o TRACE is missing: say where the trace shall go, or -");
	if (parse_format(call, &options.format) != CLI_OK)
		return CLI_USAGE;
	if (strcmp(options.output, "-") == 0 && isatty(STDOUT_FILENO))
		return cli_fail(call, CLI_USAGE, "a trace is not for a terminal; redirect standard output");
	cli_leave_no_draft();
	options.input = call->operands[0];
	int failed = rec_import(&options, &result, &error);
	if (failed == TELE_ESYNTAX)
		return cli_fail(call, CLI_USAGE, "%s: %s; nothing was written",
				strcmp(options.input, "-") == 0 ? "standard input" : options.input, error.text);
	if (failed < 0)
		return cli_fail_with(call, &error, advice(failed));
	if (!call->values[CLI_import_quiet])
		say_what_came(call, &result);
	return CLI_OK;
}
