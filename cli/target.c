// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// From a command line to the file that will be loaded: PATH, then #! lines (and
// env's argument), as the kernel and the shell would go. The search ends at an
// ELF file, at something unreadable, or after five interpreters.

#include "target.h"

#include "elf_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "../libtelemetry/banned.h"

enum { INTERPRETERS_MAX = 5, LINE_BYTES_MAX = 512 };

// Whether `path` is a file that this user may execute: 0 or -errno.
static int check_executable(const char *path)
{
	struct stat file;
	if (stat(path, &file) < 0)
		return -errno;
	if (S_ISDIR(file.st_mode))
		return -EISDIR;
	if (!S_ISREG(file.st_mode) || access(path, X_OK) < 0)
		return -EACCES;
	return 0;
}

// As execvp searches: the first executable one, else the best reason.
static int search_path(const char *name, char ret_path[PATH_MAX])
{
	if (*name == '\0')
		return -ENOENT;
	if (strchr(name, '/')) {
		if (strlen(name) >= PATH_MAX)
			return -ENAMETOOLONG;
		memcpy(ret_path, name, strlen(name) + 1);
		return check_executable(name);
	}
	const char *directories = getenv("PATH");
	if (!directories)
		directories = "/bin:/usr/bin";
	int reason = -ENOENT;
	for (;;) {
		size_t len = strcspn(directories, ":");
		char path[PATH_MAX];
		int n = snprintf(path, sizeof(path), "%.*s%s%s", (int)len, directories, len ? "/" : "", name);
		if (n > 0 && (size_t)n < sizeof(path)) {
			int error = check_executable(path);
			if (error == 0) {
				memcpy(ret_path, path, (size_t)n + 1);
				return 0;
			}
			if (error == -EACCES)
				reason = error;
		}
		if (directories[len] == '\0')
			return reason;
		directories += len + 1;
	}
}

// The interpreter that a file's #! line names, and for env the program behind
// it. Returns false when the file has no such line.
static bool read_script(int fd, char ret_name[LINE_BYTES_MAX])
{
	char line[LINE_BYTES_MAX];
	ssize_t got = pread(fd, line, sizeof(line) - 1, 0);
	if (got < 3 || line[0] != '#' || line[1] != '!')
		return false;
	line[got] = '\0';
	line[strcspn(line, "\n")] = '\0';
	char *rest = line + 2;
	char *word;
	bool is_env = false;
	const char *found = NULL;
	while ((word = strsep(&rest, " \t")) != NULL) {
		if (*word == '\0')
			continue;
		if (!found) {
			found = word;
			const char *base = strrchr(word, '/');
			is_env = strcmp(base ? base + 1 : word, "env") == 0;
			if (!is_env)
				break;
		} else if (word[0] != '-' && !strchr(word, '=')) {
			found = word;
			break;
		}
	}
	if (!found)
		return false;
	memmove(ret_name, found, strlen(found) + 1);
	return true;
}

// Whether the beginning of a file is text, as shells judge it.
static bool has_text(int fd)
{
	char bytes[128];
	ssize_t got = pread(fd, bytes, sizeof(bytes), 0);
	return got >= 0 && memchr(bytes, '\0', (size_t)got) == NULL;
}

// Whether the kernel starts the file in secure mode, in which the loader takes
// preloads from system directories only.
static bool is_privileged(const char *path, int fd)
{
	struct stat file;
	struct statvfs mount;
	if (fstat(fd, &file) < 0)
		return false;
	if (statvfs(path, &mount) == 0 && (mount.f_flag & ST_NOSUID))
		return false;
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
		return false;
	if ((file.st_mode & S_ISUID) && file.st_uid != getuid())
		return true;
	if ((file.st_mode & S_ISGID) && (file.st_mode & S_IXGRP) && file.st_gid != getgid())
		return true;
	return getuid() != 0 && fgetxattr(fd, "security.capability", NULL, 0) > 0;
}

// Fills what is to be known of the ELF file at fd. Returns false when it is
// none.
static bool examine_elf(int fd, struct cli_target *target)
{
	struct cli_elf elf;
	if (cli_elf_read(fd, &elf) != 1)
		return false;
	const char *loader = strrchr(elf.interpreter, '/');
	target->is_elf = true;
	target->is_foreign = !elf.is_native;
	target->is_static = elf.is_native && !elf.has_interpreter;
	target->is_musl = strncmp(loader ? loader + 1 : elf.interpreter, "ld-musl", 7) == 0;
	target->has_own_malloc = elf.defines_malloc;
	target->has_asan = elf.needs_asan;
	target->is_privileged = is_privileged(target->path, fd);
	memcpy(target->interpreter, elf.interpreter, sizeof(target->interpreter));
	return true;
}

int cli_examine(char *const argv[], struct cli_target *ret_target, struct tele_error *ret_error)
{
	struct cli_target target = {0};
	char name[LINE_BYTES_MAX];
	const char *next = argv[0];
	for (int depth = 0; depth < INTERPRETERS_MAX; depth++) {
		int error = search_path(next, target.path);
		if (error && depth == 0)
			return tele_fail(ret_error, error, "cannot start %s: %s", argv[0], tele_strerror(error));
		if (error)
			return tele_fail(ret_error, error, "cannot start %s: its interpreter %s: %s", argv[0],
					 next, tele_strerror(error));
		if (depth == 0)
			memcpy(target.command, target.path, sizeof(target.command));
		int fd = open(target.path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
		if (fd < 0) {
			target.is_unread = true;
			break;
		}
		bool is_script = !examine_elf(fd, &target) && read_script(fd, name);
		target.is_text = depth == 0 && !target.is_elf && !is_script && has_text(fd);
		close(fd);
		if (!is_script)
			break;
		next = name;
	}
	*ret_target = target;
	return 0;
}

const char *cli_target_blindness(const struct cli_target *target, bool *ret_is_blind)
{
	const char *why = NULL;
	bool is_blind = true;
	if (target->is_static)
		why = "is statically linked, so no library can be preloaded into it: nothing of it will be seen";
	else if (target->is_foreign)
		why = "is made for another machine or word size than Rollcall: nothing of it will be seen";
	else if (target->is_musl)
		why = "uses musl's loader, which cannot load Rollcall's library: nothing of it will be seen";
	else if (target->is_privileged)
		why = "is set-user-id, set-group-id or has capabilities, so the loader ignores preloads: nothing of it will be seen";
	else
		is_blind = false;
	if (!why && target->has_own_malloc)
		why = "has its own malloc: everything but the books of its heap will be seen";
	if (!why && target->has_asan)
		why = "runs on the address sanitizer's malloc: everything but the books of its heap will be seen";
	if (!why && target->is_unread)
		why = "may be executed but not read: whether it will be seen is unknown";
	if (ret_is_blind)
		*ret_is_blind = is_blind;
	return why;
}
