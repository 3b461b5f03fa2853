// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The verbs `top`, `replay` and `list`: options for the monitor, and where its
// screens and readings go. Without a terminal `top` and `replay` print one
// screen, as with --once.

#include "clean.h"
#include "commands.h"
#include "limits.h"
#include "text.h"

#include "../monitor/monitor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../libtelemetry/banned.h"

static int parse_size(const struct cli_call *call, enum cli_option_id option,
		      struct mon_options *options)
{
	enum { WIDTH_MAX = 1000, HEIGHT_MAX = 1000 };
	const char *text = call->values[option];
	unsigned width;
	unsigned height;
	char after;
	if (!text)
		return CLI_OK;
	if (sscanf(text, "%4ux%4u%c", &width, &height, &after) != 2 || width < 1 || height < 1 ||
	    width > WIDTH_MAX || height > HEIGHT_MAX)
		return cli_fail(call, CLI_USAGE, "--size %s is not WIDTHxHEIGHT, each from 1 to %d", text,
				WIDTH_MAX);
	options->width = width;
	options->height = height;
	return CLI_OK;
}

enum { SETTINGS_MAX = CLI_GIVEN_MAX };

// The words of --set, in order, into set[SETTINGS_MAX + 1].
static int collect_settings(const struct cli_call *call, enum cli_option_id option, const char **set,
			    struct mon_options *options)
{
	struct tele_error error;
	int n_set = 0;
	for (int i = 0; i < call->n_given; i++) {
		if (call->given[i].option != option)
			continue;
		if (mon_check_setting(call->given[i].value, &error) < 0)
			return cli_fail(call, CLI_USAGE, "--set %s: %s", call->given[i].value, error.text);
		set[n_set++] = call->given[i].value;
	}
	set[n_set] = NULL;
	options->set = set;
	return CLI_OK;
}

static int save_settings(const struct cli_call *call, const struct mon_options *options)
{
	char path[512];
	struct tele_error error;
	if (mon_save_settings(options, path, sizeof(path), &error) < 0)
		return cli_fail_with(call, &error, NULL);
	printf("written: %s\n", path);
	return cli_finish_output(call);
}

static int parse_view(const struct cli_call *call, enum cli_option_id option, struct mon_options *options)
{
	char names[128];
	options->view = call->values[option];
	if (!options->view || mon_has_view(options->view))
		return CLI_OK;
	return cli_fail(call, CLI_USAGE, "there is no view %s: say %s", options->view,
			mon_view_names(names, sizeof(names)));
}

// Prints what the monitor wrote. `result` is what it returned.
static int print_out(const struct cli_call *call, int result, struct mon_out *out,
		     const struct tele_error *error)
{
	int status;
	if (result < 0) {
		status = cli_fail_with(call, error, NULL);
	} else if (mon_out_status(out) < 0) {
		status = cli_fail(call, CLI_FAILED, "out of memory; close something");
	} else {
		if (out->n_bytes)
			fwrite(out->bytes, 1, out->n_bytes, stdout);
		status = cli_finish_output(call);
	}
	mon_out_fini(out);
	return status;
}

// For mon_top_batch; `context` is the int that says why it could not.
static int write_reading(void *context, const char *bytes, size_t n_bytes)
{
	int *failed = context;
	errno = 0;
	if (fwrite(bytes, 1, n_bytes, stdout) != n_bytes || fflush(stdout) != 0)
		*failed = errno ? -errno : -EIO;
	return *failed;
}

static int end_of_monitor(const struct cli_call *call, int result, const struct tele_error *error)
{
	if (result < 0)
		return cli_fail_with(call, error, NULL);
	return result;
}

// Whether one screen as text is all that can be shown.
static bool is_plain(bool needs_input)
{
	const char *term = getenv("TERM");
	return !isatty(STDOUT_FILENO) || (needs_input && !isatty(STDIN_FILENO)) ||
	       (term && strcmp(term, "dumb") == 0);
}

int cli_top(const struct cli_call *call)
{
	struct mon_options options = {.is_ascii = !mon_is_utf8_locale()};
	struct mon_out out = {0};
	struct tele_error error;
	uint64_t n_readings = 0;
	struct analysis_limits limits;
	const char *set[SETTINGS_MAX + 1];
	if (cli_expect_operands(call, 0, 1, "") != CLI_OK || parse_size(call, CLI_top_size, &options) ||
	    collect_settings(call, CLI_top_set, set, &options) ||
	    cli_number(call, CLI_top_batch, 1, UINT32_MAX, &n_readings) ||
	    cli_number(call, CLI_top_interval, MON_INTERVAL_MS_MIN, MON_INTERVAL_MS_MAX,
		       &options.interval_ms) ||
	    cli_limits(call, CLI_top_capacity, &limits))
		return CLI_USAGE;
	if (n_readings && call->values[CLI_top_once])
		return cli_fail(call, CLI_USAGE, "--batch and --once exclude each other; say one of them");
	if (call->values[CLI_top_on]) {
		static const char growing[] = "growing=";
		if (strncmp(call->values[CLI_top_on], growing, sizeof(growing) - 1) != 0)
			return cli_fail(call, CLI_USAGE, "--on %s is not growing=CMD", call->values[CLI_top_on]);
		options.on_growing = call->values[CLI_top_on] + sizeof(growing) - 1;
	}
	options.limits = &limits;
	options.select = call->n_operands ? call->operands[0] : NULL;
	if (parse_view(call, CLI_top_view, &options))
		return CLI_USAGE;
	if (call->values[CLI_top_save])
		return save_settings(call, &options);
	cli_clean_automatically();
	if (n_readings) {
		int failed = 0;
		int result = mon_top_batch(&options, n_readings, write_reading, &failed, &error);
		return failed ? cli_fail_output(call, failed) : end_of_monitor(call, result, &error);
	}
	if (call->values[CLI_top_json])
		return print_out(call, mon_top_json(&options, &out, &error), &out, &error);
	if (call->values[CLI_top_once] || call->values[CLI_top_size] || options.view || is_plain(true))
		return print_out(call, mon_top_once(&options, &out, &error), &out, &error);
	return end_of_monitor(call, mon_top(&options, &error), &error);
}

int cli_replay(const struct cli_call *call)
{
	struct mon_options options = {.is_ascii = !mon_is_utf8_locale()};
	struct mon_out out = {0};
	struct mon_at at;
	struct analysis_limits limits;
	struct tele_error error;
	const char *set[SETTINGS_MAX + 1];
	if (cli_expect_operands(call, 1, 1, "the trace") != CLI_OK ||
	    parse_size(call, CLI_replay_size, &options) ||
	    collect_settings(call, CLI_replay_set, set, &options) ||
	    cli_limits(call, CLI_replay_capacity, &limits))
		return CLI_USAGE;
	options.limits = &limits;
	options.file = call->operands[0];
	options.at = call->values[CLI_replay_at];
	options.select = call->values[CLI_replay_process];
	if (parse_view(call, CLI_replay_view, &options))
		return CLI_USAGE;
	if (options.at && mon_at_parse(options.at, &at, &error) < 0)
		return cli_fail(call, CLI_USAGE, "--at %s is neither a time (90s, 1:30) nor a candidate (61)",
				options.at);
	if (call->values[CLI_replay_json])
		return print_out(call, mon_replay_json(&options, &out, &error), &out, &error);
	bool is_pipe = strcmp(options.file, "-") == 0;
	if (call->values[CLI_replay_once] || call->values[CLI_replay_size] || options.view || is_plain(!is_pipe))
		return print_out(call, mon_replay_once(&options, &out, &error), &out, &error);
	return end_of_monitor(call, mon_replay(&options, &error), &error);
}
