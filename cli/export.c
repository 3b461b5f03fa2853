// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The verb `export`: what to take of a trace, and how to write it.

#include "commands.h"
#include "draft.h"
#include "text.h"

#include "../recorder/export.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <unistd.h>

#include "../libtelemetry/banned.h"

// Below this nobody waits.
#define SLOW_NS UINT64_C(1000000000)

struct progress {
	uint64_t started_at_ns, said_at_ns;
	bool is_shown;
};

static const char *advice(int code)
{
	switch (code) {
	case -EEXIST:
		return "name another file, or say --force";
	case -ENOENT:
	case -EACCES:
	case -EISDIR:
		return "check the name and the permissions";
	case -ENOSPC:
	case -EDQUOT:
	case -EFBIG:
		return "nothing is left of it; choose a place with room";
	case TELE_ENOTFOUND:
		return "`rollcall info FILE` tells what the trace holds, `rollcall docs --fields` the fields";
	case TELE_EMAGIC:
		return "name a file that `rollcall record` or `import` made";
	case TELE_EVERSION:
		return "use the Rollcall that made it";
	case TELE_ETRUNCATED:
		return "nothing was recorded in it";
	default:
		return NULL;
	}
}

static int parse_format(const struct cli_call *call, enum rec_export_format *ret_format)
{
	const char *name = call->values[CLI_export_format];
	if (!name)
		return cli_fail(call, CLI_USAGE, "--format is missing: csv, jsonl, openmetrics, perfetto or trace");
#define X(id, text)                     \
	if (strcmp(name, text) == 0) {   \
		*ret_format = id;        \
		return CLI_OK;           \
	}
	REC_EXPORT_FORMAT_MAP(X)
#undef X
	return cli_fail(call, CLI_USAGE, "--format %s is none of csv, jsonl, openmetrics, perfetto and trace", name);
}

// "10", every tenth row; "10s", "1.5s" or "500ms", at most one in that time.
static int parse_every(const struct cli_call *call, struct rec_export_options *options)
{
	const char *text = call->values[CLI_export_every];
	char *end = NULL;
	if (!text)
		return CLI_OK;
	bool is_number = *text >= '0' && *text <= '9' && text[strspn(text, "0123456789.")] != 'x';
	double value = is_number ? strtod(text, &end) : 0;
	bool is_whole = is_number && text[strspn(text, "0123456789")] == '\0';
	if (is_whole && value >= 1 && value <= 1e12)
		options->every_rows = (uint64_t)value;
	else if (is_number && strcmp(end, "s") == 0 && value >= 0.000001 && value <= 1e8)
		options->every_ns = (uint64_t)(value * 1e9);
	else if (is_number && strcmp(end, "ms") == 0 && value >= 0.001 && value <= 1e11)
		options->every_ns = (uint64_t)(value * 1e6);
	else
		return cli_fail(call, CLI_USAGE, "--every %s is neither a number of rows (10) nor a time (10s, 500ms)", text);
	return CLI_OK;
}

static int parse_place(const struct cli_call *call, enum cli_option_id option, struct mon_at *at,
		       const struct mon_at **ret_at)
{
	struct tele_error error;
	if (!call->values[option])
		return CLI_OK;
	*ret_at = at;
	return mon_at_parse(call->values[option], at, &error) < 0 ? cli_fail(call, CLI_USAGE, "%s", error.text) : CLI_OK;
}

static void show(void *context, const struct rec_export_progress *now)
{
	struct progress *progress = context;
	char line[160], percent[16] = "", bytes[CLI_SIZE_TEXT], written[CLI_SIZE_TEXT];
	uint64_t now_ns = cli_now_ns();
	if (now_ns - progress->started_at_ns < SLOW_NS || now_ns - progress->said_at_ns < SLOW_NS / 4)
		return;
	progress->said_at_ns = now_ns;
	progress->is_shown = true;
	if (now->file_bytes)
		snprintf(percent, sizeof(percent), "%" PRIu64 " %%, ", now->read_bytes * 100 / now->file_bytes);
	int n = snprintf(line, sizeof(line), "\r\033[K%s%" PRIu64 " rows, %s read, %s written", percent, now->n_rows,
			 cli_bytes_text(now->read_bytes, bytes), cli_bytes_text(now->written_bytes, written));
	ssize_t ignored = write(STDERR_FILENO, line, (size_t)n);
	(void)ignored;
}

int cli_export(const struct cli_call *call)
{
	struct mon_at from, to;
	struct progress progress = {.started_at_ns = cli_now_ns()};
	struct rec_export_result result;
	struct tele_error error = {0};
	struct rec_export_options options = {
		.output = call->values[CLI_export_output] ? call->values[CLI_export_output] : "-",
		.replace = call->values[CLI_export_force],
		.fields = call->values[CLI_export_fields],
		.select = call->values[CLI_export_process],
		.context = &progress,
	};
	if (cli_expect_operands(call, 1, 1, "the trace") != CLI_OK || parse_format(call, &options.format) != CLI_OK ||
	    parse_every(call, &options) != CLI_OK ||
	    parse_place(call, CLI_export_from, &from, &options.from) != CLI_OK ||
	    parse_place(call, CLI_export_to, &to, &options.to) != CLI_OK)
		return CLI_USAGE;
	bool is_stdout = strcmp(options.output, "-") == 0;
	if (options.format == REC_EXPORT_TRACE && is_stdout && isatty(STDOUT_FILENO))
		return cli_fail(call, CLI_USAGE, "a trace is not for a terminal; say -o FILE");
	if (!call->values[CLI_export_quiet] && isatty(STDERR_FILENO) && !(is_stdout && isatty(STDOUT_FILENO)))
		options.progress = show;
	cli_leave_no_draft();
	options.input = call->operands[0];
	int failed = rec_export(&options, &result, &error);
	if (progress.is_shown) {
		ssize_t ignored = write(STDERR_FILENO, "\r\033[K", 4);
		(void)ignored;
	}
	// Whoever reads has seen enough.
	if (failed == -EPIPE && is_stdout)
		return CLI_FAILED;
	if (failed < 0)
		return cli_fail_with(call, &error, advice(failed));
	if (result.n_texts_left_out)
		cli_note(call, "texts beyond the first 4096 of a process are left out; leave fields like owner.name to other formats");
	if (!result.is_complete)
		cli_note(call, "%s is incomplete: %s; what is whole was exported",
			 strcmp(options.input, "-") == 0 ? "the trace" : options.input, result.damage);
	return CLI_OK;
}
