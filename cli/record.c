// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The verb `record`: a recording until everything chosen has ended, a signal,
// or the time is over. With a command it is `run --record`.

#include "recording.h"
#include "run.h"
#include "text.h"

#include "../analysis/watch.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "../libtelemetry/banned.h"

// The signals that end a recording well, as a descriptor to poll.
static int catch_signals(void)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

static int record_processes(const struct cli_call *call, const struct cli_record_options *options)
{
	struct cli_recording recording = {0};
	int signals = catch_signals();
	recording.choice.words = call->operands;
	recording.choice.n_words = call->n_operands;
	int status = cli_choose(call, &recording.choice);
	if (status == CLI_OK)
		status = cli_recording_open(&recording, call, options);
	if (status != CLI_OK) {
		cli_choice_fini(&recording.choice);
		close(signals);
		return status;
	}
	uint64_t until_ns = options->for_ns ? recording.started_at_ns + options->for_ns : UINT64_MAX;
	struct pollfd ended = {.fd = signals, .events = POLLIN};
	bool is_over = false;
	while (status == CLI_OK && !is_over) {
		uint64_t now_ns = cli_now_ns();
		status = cli_recording_step(&recording, call->n_operands ? &is_over : NULL);
		if (status != CLI_OK || is_over || now_ns >= until_ns)
			break;
		uint64_t left_ms = (until_ns - now_ns) / 1000000u + 1;
		int wait_ms = cli_recording_wait_ms(&recording);
		if (poll(&ended, 1, left_ms < (uint64_t)wait_ms ? (int)left_ms : wait_ms) > 0)
			break;
	}
	status = cli_recording_close(&recording, status);
	close(signals);
	return status;
}

static int parse(const struct cli_call *call, struct cli_record_options *options)
{
	const uint64_t year_ns = 365 * UINT64_C(86400000000000);
	*options = (struct cli_record_options){
		.path = call->values[CLI_record_output],
		.replace = call->values[CLI_record_force],
		.has_progress = !call->values[CLI_record_quiet],
	};
	if (!options->path)
		return cli_fail(call, CLI_USAGE, "-o FILE is missing: say where the trace shall go, or -");
	bool is_stdout = strcmp(options->path, "-") == 0;
	const char *size = call->values[CLI_record_max_size];
	if (cli_duration(call, CLI_record_seconds, 1000000, 10 * year_ns, &options->for_ns) != CLI_OK ||
	    cli_duration(call, CLI_record_every, 1000000, year_ns, &options->every_ns) != CLI_OK ||
	    cli_number(call, CLI_record_keep, 1, 1000000, &options->n_keep) != CLI_OK)
		return CLI_USAGE;
	if (size && (analysis_size_parse(size, &options->max_bytes) < 0 || options->max_bytes < 64 << 10))
		return cli_fail(call, CLI_USAGE, "--max-size %s is not a size of at least 64KiB, like 100MiB", size);
	if (size && is_stdout)
		return cli_fail(call, CLI_USAGE, "--max-size makes pieces, and standard output is one; say -o FILE");
	if (options->n_keep && !size)
		return cli_fail(call, CLI_USAGE, "--keep is of the pieces that --max-size makes; say how large");
	if (is_stdout && isatty(STDOUT_FILENO))
		return cli_fail(call, CLI_USAGE, "a trace is not for a terminal; redirect standard output");
	return CLI_OK;
}

int cli_record(const struct cli_call *call)
{
	struct cli_record_options options;
	int status = parse(call, &options);
	if (status != CLI_OK)
		return status;
	bool is_all = call->values[CLI_record_all];
	if (is_all && (call->n_operands || call->command))
		return cli_fail(call, CLI_USAGE, "--all records everything; leave it out, or what else you named");
	if (!call->command)
		return record_processes(call, &options);
	if (!call->command[0])
		return cli_fail(call, CLI_USAGE, "CMD is missing after --; see `rollcall record --help`");
	if (call->n_operands)
		return cli_fail(call, CLI_USAGE, "say processes or a command, not both");
	if (strcmp(options.path, "-") == 0)
		return cli_fail(call, CLI_USAGE, "standard output is CMD's; say -o FILE");
	const struct cli_run_options run = {.record = options, .is_for_trace = true};
	struct cli_spawn spawn = {0};
	return cli_run_command(call, &run, &spawn);
}
