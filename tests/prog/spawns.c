// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// spawns N: publishes, prints its pid, runs /bin/true N times by posix_spawn and
// N times by vfork and execv, each after some allocating, and prints how many
// ended well; ends with its input.

#include <rollcall.h>

#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

// Apart, so that no variable of the caller lives across vfork.
static pid_t run_by_vfork(char *const words[])
{
	pid_t pid = vfork();
	if (pid == 0) {
		execv(words[0], words);
		_exit(126);
	}
	return pid;
}

static int is_well(pid_t pid)
{
	int status = -1;
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1000, n_well = 0;
	static char program[] = "/bin/true";
	static char *const words[] = {program, NULL};
	rollcall_mark("spawns");
	rollcall_flush();
	printf("%ld\n", (long)getpid());
	fflush(stdout);
	for (int i = 0; i < n; i++) {
		pid_t pid = -1;
		char *volatile block = malloc((size_t)i * 37 + 1);
		memset(block, 1, (size_t)i * 37 + 1);
		if (posix_spawn(&pid, words[0], NULL, NULL, words, environ) == 0)
			n_well += is_well(pid);
		n_well += is_well(run_by_vfork(words));
		free(block);
	}
	printf("%d\n", n_well);
	fflush(stdout);
	return getchar() == EOF ? 0 : 1;
}
