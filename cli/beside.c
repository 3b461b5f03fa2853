// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The recorder is forked before the command starts, so that a trace that cannot
// be made keeps the command from starting; it learns the PID through a pipe. It
// ends on SIGTERM, or when the process that wanted it ends.

#include "beside.h"

#include "recording.h"
#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../libtelemetry/banned.h"

static bool read_whole(int fd, void *buffer, size_t n_bytes)
{
	ssize_t got;
	while ((got = read(fd, buffer, n_bytes)) < 0 && errno == EINTR)
		;
	return got == (ssize_t)n_bytes;
}

// Everything the recorder's process does.
static int record(const struct cli_call *call, const struct cli_record_options *options, int answers, int orders)
{
	struct cli_recording recording = {0};
	sigset_t term;
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, NULL);
	// Keys are the command's and the monitor's.
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	int status = cli_recording_open(&recording, call, options);
	ssize_t ignored = write(answers, &status, sizeof(status));
	(void)ignored;
	if (status != CLI_OK)
		return status;
	if (!read_whole(orders, &recording.choice.root, sizeof(recording.choice.root)))
		return cli_recording_close(&recording, CLI_FAILED);
	bool is_asked = false;
	while (status == CLI_OK && !is_asked) {
		struct timespec step = {.tv_nsec = cli_recording_wait_ms(&recording) * 1000000L};
		is_asked = sigtimedwait(&term, NULL, &step) == SIGTERM;
		status = cli_recording_step(&recording, NULL);
	}
	return cli_recording_close(&recording, status);
}

int cli_beside_start(const struct cli_call *call, const struct cli_record_options *options,
		     struct cli_beside *ret_beside)
{
	int answers[2];
	int orders[2];
	int status = CLI_FAILED;
	if (pipe2(answers, O_CLOEXEC) < 0)
		return cli_fail(call, CLI_FAILED, "cannot make a pipe: %s; close some files", tele_strerror(errno));
	if (pipe2(orders, O_CLOEXEC) < 0) {
		close(answers[0]);
		close(answers[1]);
		return cli_fail(call, CLI_FAILED, "cannot make a pipe: %s; close some files", tele_strerror(errno));
	}
	pid_t pid = fork();
	if (pid == 0) {
		close(answers[0]);
		close(orders[1]);
		exit(record(call, options, answers[1], orders[0]));
	}
	close(answers[1]);
	close(orders[0]);
	if (pid < 0)
		cli_fail(call, CLI_FAILED, "cannot start the recorder: %s; end some processes", tele_strerror(errno));
	else if (!read_whole(answers[0], &status, sizeof(status)))
		status = cli_fail(call, CLI_FAILED, "the recorder ended at once; try `rollcall record`");
	close(answers[0]);
	*ret_beside = (struct cli_beside){pid > 0 ? pid : 0, orders[1]};
	if (status != CLI_OK)
		cli_beside_end(ret_beside);
	return status;
}

void cli_beside_record(struct cli_beside *beside, pid_t root)
{
	if (!beside->pid)
		return;
	ssize_t ignored = write(beside->orders, &root, sizeof(root));
	(void)ignored;
}

void cli_beside_end(struct cli_beside *beside)
{
	if (!beside->pid)
		return;
	kill(beside->pid, SIGTERM);
	close(beside->orders);
	while (waitpid(beside->pid, NULL, 0) < 0 && errno == EINTR)
		;
	beside->pid = 0;
}
