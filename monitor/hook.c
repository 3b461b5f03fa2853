// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A command is started by a child that ends at once, so that init inherits it
// and the monitor has nobody to wait for. What it prints must not get into the
// screen or into a row of readings: its standard output is the null device.

#include "hook.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../libtelemetry/banned.h"

static _Noreturn void become(const char *command)
{
	sigset_t none;
	int null = open("/dev/null", O_RDWR);
	if (fork() != 0)
		_exit(0);
	setsid();
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (int fd = 0; null >= 0 && fd <= 1; fd++)
		dup2(null, fd);
	if (isatty(2) && null >= 0)
		dup2(null, 2);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

static void run(const char *command, const struct mon_process *process, const struct analysis_verdict *verdict)
{
	const struct analysis_verdicts *engine = analysis_watch_engine(process->watch);
	char pid[24], sentence[ANALYSIS_SENTENCE_MAX];
	snprintf(pid, sizeof(pid), "%llu", (unsigned long long)process->identity.pid);
	analysis_sentence(engine, verdict, sentence, sizeof(sentence));
	fflush(NULL);
	pid_t child = fork();
	if (child == 0) {
		setenv("ROLLCALL_VERDICT_PID", pid, 1);
		setenv("ROLLCALL_VERDICT_LABEL", process->identity.label, 1);
		setenv("ROLLCALL_VERDICT_CLASS", analysis_verdicts_class(engine, verdict->class_index)->name, 1);
		setenv("ROLLCALL_VERDICT_SENTENCE", sentence, 1);
		become(command);
	}
	if (child > 0)
		waitpid(child, NULL, 0);
}

static void look_at(const char *command, struct mon_process *process)
{
	uint64_t growing[TELE_ARRAY_LEN(process->told)] = {0};
	for (uint32_t i = 0; i < process->n_judged; i++) {
		const struct analysis_verdict *verdict = &process->judged[i];
		unsigned word = verdict->class_index / 64;
		uint64_t bit = UINT64_C(1) << verdict->class_index % 64;
		if (!verdict->is_headline || verdict->is_covered || verdict->is_total ||
		    !analysis_shape_grows(verdict->growth.shape))
			continue;
		growing[word] |= bit;
		if (!(process->told[word] & bit))
			run(command, process, verdict);
	}
	memcpy(process->told, growing, sizeof(process->told));
}

void mon_hook_run(const char *command, struct mon_model *model, const char *select)
{
	for (uint32_t i = 0; command && i < model->n_processes; i++)
		if (!select || mon_identity_match(&model->processes[i]->identity, select) > 0)
			look_at(command, model->processes[i]);
}
