// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// See stepped.h. A parent may trace its own child without any privilege.

#include "stepped.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

void proof_copy_by_stores(char **argv)
{
#if defined(__x86_64__)
	static const char tunables[] =
		"glibc.cpu.x86_rep_movsb_threshold=268435456:glibc.cpu.x86_rep_stosb_threshold=268435456";
	const char *now = getenv("GLIBC_TUNABLES");
	if (now && strcmp(now, tunables) == 0)
		return;
	setenv("GLIBC_TUNABLES", tunables, 1);
	execv("/proc/self/exe", argv);
#else
	(void)argv;
#endif
}

bool proof_stepped_start(struct proof_stepped *stepped, void (*body)(void *), void *context)
{
	int status;
	stepped->n_steps = 0;
	stepped->pid = fork();
	if (stepped->pid == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
			_exit(99);
		raise(SIGSTOP);
		body(context);
		_exit(0);
	}
	return stepped->pid > 0 && waitpid(stepped->pid, &status, 0) == stepped->pid && WIFSTOPPED(status);
}

void proof_stepped_pause(void)
{
	raise(SIGTRAP);
}

bool proof_stepped_run(struct proof_stepped *stepped, int *ret_status)
{
	*ret_status = -1;
	if (ptrace(PTRACE_CONT, stepped->pid, NULL, NULL) < 0 ||
	    waitpid(stepped->pid, ret_status, 0) != stepped->pid)
		return false;
	return WIFSTOPPED(*ret_status) && WSTOPSIG(*ret_status) == SIGTRAP;
}

static bool step(struct proof_stepped *stepped, int request)
{
	int status;
	stepped->n_steps++;
	if (ptrace((enum __ptrace_request)request, stepped->pid, NULL, NULL) < 0 ||
	    waitpid(stepped->pid, &status, 0) != stepped->pid)
		return false;
	return WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP;
}

bool proof_stepped_step(struct proof_stepped *stepped)
{
	return step(stepped, PTRACE_SINGLESTEP);
}

bool proof_stepped_call(struct proof_stepped *stepped)
{
	return step(stepped, PTRACE_SYSCALL);
}

void proof_stepped_kill(struct proof_stepped *stepped)
{
	int status;
	if (stepped->pid <= 0)
		return;
	kill(stepped->pid, SIGKILL);
	while (waitpid(stepped->pid, &status, 0) < 0 && errno == EINTR)
		;
	stepped->pid = 0;
}
