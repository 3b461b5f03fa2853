// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A compiler is started without a shell, in a process group of its own, so that
// one signal ends all of its passes. Its own temporary files go to the private
// folder too (TMPDIR): removing that folder's files, which has no folders in
// it, removes everything. No signal handler touches the disk; waits just end.

#include "compiler.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static int split_command(struct tile_compiler *compiler)
{
	const char *command = getenv("CC");
	size_t n = 0;

	if (!command || !*command)
		command = "cc";
	if ((size_t)snprintf(compiler->command, sizeof(compiler->command), "%s", command) >= sizeof(compiler->command))
		return -ENAMETOOLONG;
	char *rest = compiler->command;
	for (char *word; (word = strsep(&rest, " \t")) != NULL; ) {
		if (!*word)
			continue;
		if (n == TILE_COMPILER_WORDS_MAX)
			return -E2BIG;
		compiler->words[n++] = word;
	}
	compiler->words[n] = NULL;
	return n ? 0 : -ENOENT;
}

static int make_environment(struct tile_compiler *compiler)
{
	size_t n = 0, kept = 0;

	while (environ[n])
		n++;
	compiler->environment = calloc(n + 2, sizeof(char *));
	if (!compiler->environment)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (strncmp(environ[i], "TMPDIR=", 7) != 0)
			compiler->environment[kept++] = environ[i];
	snprintf(compiler->temporary_variable, sizeof(compiler->temporary_variable), "TMPDIR=%s", compiler->folder);
	compiler->environment[kept] = compiler->temporary_variable;
	return 0;
}

static pid_t start(struct tile_compiler *compiler, const char *const *arguments, const char *log)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	sigset_t defaults;
	pid_t process;

	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&files, 1, log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	posix_spawn_file_actions_adddup2(&files, 1, 2);
	sigemptyset(&defaults);
	sigaddset(&defaults, SIGPIPE);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setsigdefault(&attributes, &defaults);
	// posix_spawnp does not change its arguments; its type is older than const.
	union { const char *const *given; char *const *taken; } words = { .given = arguments };
	int error = posix_spawnp(&process, arguments[0], &files, &attributes, words.taken, compiler->environment);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&files);
	return error ? -error : process;
}

static int try_it(struct tile_compiler *compiler)
{
	const char *arguments[TILE_COMPILER_WORDS_MAX + 2];
	size_t n = 0;
	int status;

	for (; compiler->words[n]; n++)
		arguments[n] = compiler->words[n];
	arguments[n++] = "--version";
	arguments[n] = NULL;
	pid_t process = start(compiler, arguments, "/dev/null");
	if (process < 0)
		return process;
	int r = tile_wait(process, compiler->stop_signal, &status);
	if (r < 0)
		return r;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EPROTO;
}

int tile_compiler_open(struct tile_compiler *compiler, const volatile sig_atomic_t *stop_signal, char *ret_why,
		size_t why_bytes)
{
	const char *parent = getenv("TMPDIR");
	char folder[sizeof(compiler->folder)];

	memset(compiler, 0, sizeof(*compiler));
	compiler->stop_signal = stop_signal;
	int r = split_command(compiler);
	if (r < 0) {
		snprintf(ret_why, why_bytes, "CC is not a usable command");
		return r;
	}
	if (!parent || !*parent)
		parent = "/tmp";
	if ((size_t)snprintf(folder, sizeof(folder), "%s/tilesearch-XXXXXX", parent) >= sizeof(folder)) {
		snprintf(ret_why, why_bytes, "TMPDIR is too long");
		return -ENAMETOOLONG;
	}
	if (!mkdtemp(folder)) {
		r = -errno;
		snprintf(ret_why, why_bytes, "cannot make a folder in %s: %s", parent, strerror(-r));
		return r;
	}
	memcpy(compiler->folder, folder, sizeof(folder));
	r = make_environment(compiler);
	if (r == 0)
		r = try_it(compiler);
	if (r == -EPROTO)
		snprintf(ret_why, why_bytes, "'%s --version' fails: not a C compiler (CC names another)", compiler->words[0]);
	else if (r < 0)
		snprintf(ret_why, why_bytes, "cannot run the C compiler '%s': %s (CC names another)", compiler->words[0],
				strerror(-r));
	if (r < 0)
		tile_compiler_close(compiler);
	return r;
}

void tile_compiler_close(struct tile_compiler *compiler)
{
	DIR *folder = compiler->folder[0] ? opendir(compiler->folder) : NULL;

	if (folder) {
		for (struct dirent *entry; (entry = readdir(folder)) != NULL; )
			if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
				unlinkat(dirfd(folder), entry->d_name, 0);
		closedir(folder);
		rmdir(compiler->folder);
	}
	compiler->folder[0] = '\0';
	free(compiler->environment);
	compiler->environment = NULL;
}

static void file_path(const struct tile_compiler *compiler, unsigned number, const char *ending,
		char ret_path[TILE_PATH_BYTES])
{
	snprintf(ret_path, TILE_PATH_BYTES, "%s/kernel-%u.%s", compiler->folder, number, ending);
}

void tile_compiler_module(const struct tile_compiler *compiler, unsigned number, char ret_path[TILE_PATH_BYTES])
{
	file_path(compiler, number, "so", ret_path);
}

pid_t tile_compiler_start(struct tile_compiler *compiler, unsigned number, const char *source,
		const struct tile_schedule *schedule)
{
	// A kernel runs on whatever stack its caller has: 8 KiB of frame, no more.
	// What a frame will need, only the compiler knows.
	static const char *const fixed[] = { "-shared", "-fPIC", "-s", "-Wl,--build-id=none", "-Werror",
		"-Wframe-larger-than=8192" };
	enum { N_FIXED = sizeof(fixed) / sizeof(fixed[0]) };
	const char *arguments[TILE_COMPILER_WORDS_MAX + N_FIXED + TILE_FLAGS_MAX + 4];
	char source_path[TILE_PATH_BYTES], module_path[TILE_PATH_BYTES], log_path[TILE_PATH_BYTES];
	size_t n = 0;

	file_path(compiler, number, "c", source_path);
	file_path(compiler, number, "so", module_path);
	file_path(compiler, number, "log", log_path);
	FILE *file = fopen(source_path, "we");
	if (!file)
		return -errno;
	int failed = fputs(source, file) < 0;
	if (fclose(file) != 0 || failed)
		return -EIO;
	for (; compiler->words[n]; n++)
		arguments[n] = compiler->words[n];
	for (size_t i = 0; i < N_FIXED; i++)
		arguments[n++] = fixed[i];
	n += tile_schedule_flags(schedule, arguments + n);
	arguments[n++] = "-o";
	arguments[n++] = module_path;
	arguments[n++] = source_path;
	arguments[n] = NULL;
	return start(compiler, arguments, log_path);
}

static void read_complaint(const char *path, char *ret_log, size_t log_bytes)
{
	char line[1024];
	FILE *file = fopen(path, "re");

	snprintf(ret_log, log_bytes, "the compiler said nothing");
	while (file && fgets(line, sizeof(line), file)) {
		char *complaint = strstr(line, "error: ");
		if (!complaint)
			continue;
		line[strcspn(line, "\n")] = '\0';
		snprintf(ret_log, log_bytes, "%s", complaint + strlen("error: "));
		break;
	}
	if (file)
		fclose(file);
}

int tile_compiler_finish(struct tile_compiler *compiler, unsigned number, pid_t process, char *ret_log,
		size_t log_bytes)
{
	char path[TILE_PATH_BYTES];
	int status;

	int r = tile_wait(process, compiler->stop_signal, &status);
	if (r < 0)
		return r;
	file_path(compiler, number, "c", path);
	unlink(path);
	file_path(compiler, number, "log", path);
	r = WIFEXITED(status) && WEXITSTATUS(status) == 0;
	if (!r)
		read_complaint(path, ret_log, log_bytes);
	unlink(path);
	return r;
}

void tile_compiler_cancel(pid_t process)
{
	if (process <= 0)
		return;
	// A child of fork is in no group of its own.
	kill(-process, SIGKILL);
	kill(process, SIGKILL);
	while (waitpid(process, NULL, 0) < 0 && errno == EINTR)
		continue;
}

int tile_wait(pid_t process, const volatile sig_atomic_t *stop_signal, int *ret_status)
{
	int status;

	// The signal's handler sees to it that a wait ends though it came too early.
	while (*stop_signal || waitpid(process, &status, 0) < 0) {
		if (!*stop_signal && errno != EINTR)
			return -errno;
		if (!*stop_signal)
			continue;
		tile_compiler_cancel(process);
		return -EINTR;
	}
	*ret_status = status;
	return 0;
}
