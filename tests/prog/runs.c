// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// runs HOW PROGRAM: runs the program with the words "one" and "two" in that way
// and ends with its status.

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void run(const char *how, const char *program)
{
	char *words[] = {strdup("one"), strdup("two"), NULL};
	if (strcmp(how, "execve") == 0 || strcmp(how, "vfork") == 0)
		execve(program, words, environ);
	else if (strcmp(how, "execv") == 0)
		execv(program, words);
	else if (strcmp(how, "execvp") == 0)
		execvp(program, words);
	else if (strcmp(how, "execvpe") == 0)
		execvpe(program, words, environ);
	else if (strcmp(how, "execl") == 0)
		execl(program, words[0], words[1], (char *)NULL);
	else if (strcmp(how, "execlp") == 0)
		execlp(program, words[0], words[1], (char *)NULL);
	else if (strcmp(how, "execle") == 0)
		execle(program, words[0], words[1], (char *)NULL, environ);
	else if (strcmp(how, "fexecve") == 0)
		fexecve(open(program, O_RDONLY), words, environ);
}

static pid_t start(const char *how, char *program)
{
	char *words[] = {strdup("one"), strdup("two"), NULL};
	pid_t pid = -1;
	if (strcmp(how, "posix_spawn") == 0) {
		posix_spawn(&pid, program, NULL, NULL, words, environ);
	} else if (strcmp(how, "posix_spawnp") == 0) {
		posix_spawnp(&pid, program, NULL, NULL, words, environ);
	} else {
		pid = strcmp(how, "vfork") == 0 ? vfork() : fork();
		if (pid == 0) {
			run(how, program);
			_exit(126);
		}
	}
	return pid;
}

int main(int argc, char **argv)
{
	int status = 0;
	if (argc < 3)
		return 2;
	pid_t pid = start(argv[1], argv[2]);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return 3;
	return WEXITSTATUS(status);
}
