// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// children HOW: publishes, prints its pid, makes children in that way, prints
// the pid of one that stays, if any, and "ok"; ends with its input.

#include <rollcall.h>

#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void stay(void)
{
	rollcall_mark("a child");
	rollcall_gauge_set(rollcall_gauge("child", ROLLCALL_COUNT), 1);
	rollcall_flush();
	for (;;)
		pause();
}

static int reaped(pid_t pid)
{
	int status = -1;
	return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static const char *many(const char *how)
{
	char name[] = "true";
	char *words[] = {name, NULL};
	extern char **environ;
	for (int i = 0; i < 100; i++) {
		pid_t pid = -1;
		if (strcmp(how, "spawn") == 0) {
			if (posix_spawnp(&pid, "true", NULL, NULL, words, environ) != 0)
				return "cannot spawn";
		} else if (strcmp(how, "vfork") == 0) {
			pid = vfork();
			if (pid == 0) {
				execvp(words[0], words);
				_exit(127);
			}
		} else if (strcmp(how, "vfork_exit") == 0) {
			pid = vfork();
			if (pid == 0)
				_exit(0);
		} else if (strcmp(how, "fork_exit") == 0) {
			pid = fork();
			if (pid == 0)
				_exit(0);
		}
		if (reaped(pid) != 0)
			return "a child failed";
	}
	return "ok";
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	const char *result = "ok";
	char line[16];
	pid_t pid = 0;
	rollcall_mark("a parent");
	rollcall_gauge_set(rollcall_gauge("parent", ROLLCALL_COUNT), 1);
	rollcall_flush();
	printf("%ld\n", (long)getpid());
	fflush(stdout);
	if (strcmp(how, "fork") == 0)
		pid = fork();
	else if (strcmp(how, "raw") == 0)
		pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	else if (strcmp(how, "_Fork") == 0)
		pid = _Fork();
	else
		result = many(how);
	if (pid == 0 && (strcmp(how, "fork") == 0 || strcmp(how, "raw") == 0 || strcmp(how, "_Fork") == 0))
		stay();
	rollcall_mark("still a parent");
	if (rollcall_flush() != 0)
		result = "cannot flush";
	printf("%ld\n%s\n", (long)pid, result);
	fflush(stdout);
	return read(0, line, sizeof(line)) < 0;
}
