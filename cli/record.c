// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The verb `record`: a recording until everything chosen has ended, a signal,
// or the time is over. With a command it is `run --record`.

#include "recording.h"
#include "run.h"
#include "text.h"

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

static int record_processes(const struct cli_call *call, const char *path, bool replace,
			    bool has_progress, uint64_t seconds)
{
	struct cli_recording recording = {0};
	int signals = catch_signals();
	recording.choice.words = call->operands;
	recording.choice.n_words = call->n_operands;
	int status = cli_choose(call, &recording.choice);
	if (status == CLI_OK)
		status = cli_recording_open(&recording, call, path, replace, has_progress);
	if (status != CLI_OK) {
		cli_choice_fini(&recording.choice);
		close(signals);
		return status;
	}
	uint64_t until_ns = seconds ? recording.started_at_ns + seconds * 1000000000u : UINT64_MAX;
	struct pollfd ended = {.fd = signals, .events = POLLIN};
	bool is_over = false;
	while (status == CLI_OK && !is_over) {
		uint64_t now_ns = cli_now_ns();
		status = cli_recording_step(&recording, call->n_operands ? &is_over : NULL);
		if (status != CLI_OK || is_over || now_ns >= until_ns)
			break;
		uint64_t left_ms = (until_ns - now_ns) / 1000000u + 1;
		if (poll(&ended, 1, left_ms < CLI_STEP_MS ? (int)left_ms : CLI_STEP_MS) > 0)
			break;
	}
	status = cli_recording_close(&recording, status);
	close(signals);
	return status;
}

int cli_record(const struct cli_call *call)
{
	const char *path = call->values[CLI_record_output];
	bool replace = call->values[CLI_record_force];
	bool has_progress = !call->values[CLI_record_quiet];
	uint64_t seconds = 0;
	if (!path)
		return cli_fail(call, CLI_USAGE, "-o FILE is missing: say where the trace shall go, or -");
	if (cli_number(call, CLI_record_seconds, 1, 10u * 365 * 86400, &seconds) != CLI_OK)
		return CLI_USAGE;
	if (strcmp(path, "-") == 0 && isatty(STDOUT_FILENO))
		return cli_fail(call, CLI_USAGE, "a trace is not for a terminal; redirect standard output");
	if (!call->command)
		return record_processes(call, path, replace, has_progress, seconds);
	if (!call->command[0])
		return cli_fail(call, CLI_USAGE, "CMD is missing after --; see `rollcall record --help`");
	if (call->n_operands)
		return cli_fail(call, CLI_USAGE, "say processes or a command, not both");
	if (strcmp(path, "-") == 0)
		return cli_fail(call, CLI_USAGE, "standard output is CMD's; say -o FILE");
	const struct cli_run_options options = {
		.record = path,
		.replace = replace,
		.has_progress = has_progress,
		.seconds = seconds,
	};
	struct cli_spawn spawn = {0};
	return cli_run_command(call, &options, &spawn);
}
