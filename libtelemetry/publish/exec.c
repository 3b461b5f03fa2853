// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Programs that cannot have us. The loader of musl ends a program with status
// 127 when it is given a library of the glibc to preload; and in a sandbox that
// hides our libraries the loader of every program complains that it cannot find
// them. So when the program to be run names musl's loader, or our libraries are
// not to be found, they are left out of LD_PRELOAD, and nothing else of its
// environment changes. In every other case the call is passed on as it came.
//
// A child of vfork runs this in its parent's memory: nothing is allocated and
// nothing of ours is written; all of it stands on the stack, within bounds. An
// environment beyond them is passed on as it is.

#include "process.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../banned.h"

#define HEADERS_MAX 32
#define VARIABLES_MAX 4096
#define PRELOAD_BYTES 4096
#define SCRIPTS_DEPTH 4

extern char **environ;

typedef int (*execve_fn)(const char *, char *const *, char *const *);
typedef int (*fexecve_fn)(int, char *const *, char *const *);
typedef int (*spawn_fn)(pid_t *, const char *, const posix_spawn_file_actions_t *,
			const posix_spawnattr_t *, char *const *, char *const *);

static execve_fn next_execve, next_execvpe;
static fexecve_fn next_fexecve;
static spawn_fn next_spawn, next_spawnp;

TELE_EXPORT int execve(const char *path, char *const *words, char *const *environment);
TELE_EXPORT int execv(const char *path, char *const *words);
TELE_EXPORT int execvp(const char *file, char *const *words);
TELE_EXPORT int execvpe(const char *file, char *const *words, char *const *environment);
TELE_EXPORT int execl(const char *path, const char *word, ...);
TELE_EXPORT int execlp(const char *file, const char *word, ...);
TELE_EXPORT int execle(const char *path, const char *word, ...);
TELE_EXPORT int fexecve(int fd, char *const *words, char *const *environment);
TELE_EXPORT int posix_spawn(pid_t *ret_pid, const char *path,
			    const posix_spawn_file_actions_t *actions,
			    const posix_spawnattr_t *attributes, char *const *words,
			    char *const *environment);
TELE_EXPORT int posix_spawnp(pid_t *ret_pid, const char *file,
			     const posix_spawn_file_actions_t *actions,
			     const posix_spawnattr_t *attributes, char *const *words,
			     char *const *environment);

__attribute__((constructor(101))) static void exec_init(void)
{
	*(void **)&next_execve = dlsym(RTLD_NEXT, "execve");
	*(void **)&next_execvpe = dlsym(RTLD_NEXT, "execvpe");
	*(void **)&next_fexecve = dlsym(RTLD_NEXT, "fexecve");
	*(void **)&next_spawn = dlsym(RTLD_NEXT, "posix_spawn");
	*(void **)&next_spawnp = dlsym(RTLD_NEXT, "posix_spawnp");
}

// ---- What a program is ------------------------------------------------------------

static bool names_musl(const char *path)
{
	const char *name = strrchr(path, '/');
	name = name ? name + 1 : path;
	return strncmp(name, "ld-musl-", 8) == 0;
}

// The interpreter that the first bytes of an ELF file name; "" for none.
static void interpreter_of(int fd, const Elf64_Ehdr *elf, char *ret_path, size_t size)
{
	Elf64_Phdr headers[HEADERS_MAX];
	size_t n = elf->e_phnum < HEADERS_MAX ? elf->e_phnum : HEADERS_MAX;
	*ret_path = '\0';
	if (elf->e_phentsize != sizeof(headers[0]) ||
	    pread(fd, headers, n * sizeof(headers[0]), (off_t)elf->e_phoff) !=
		    (ssize_t)(n * sizeof(headers[0])))
		return;
	for (size_t i = 0; i < n; i++) {
		if (headers[i].p_type != PT_INTERP)
			continue;
		size_t len = headers[i].p_filesz < size ? headers[i].p_filesz : size - 1;
		ssize_t got = pread(fd, ret_path, len, (off_t)headers[i].p_offset);
		ret_path[got > 0 ? got : 0] = '\0';
		return;
	}
}

// Whether an open file is a program for musl's loader. For a script,
// *ret_script becomes the program that runs it.
static bool is_musl_fd(int fd, char *ret_script, size_t size)
{
	union {
		Elf64_Ehdr elf;
		char text[256];
	} front = {.text = ""};
	char path[PATH_MAX];
	*ret_script = '\0';
	ssize_t n = pread(fd, &front, sizeof(front) - 1, 0);
	if (n > (ssize_t)sizeof(front.elf) && memcmp(front.elf.e_ident, ELFMAG, SELFMAG) == 0) {
		if (front.elf.e_ident[EI_CLASS] != ELFCLASS64)
			return false;
		interpreter_of(fd, &front.elf, path, sizeof(path));
		return names_musl(path);
	}
	if (n > 2 && front.text[0] == '#' && front.text[1] == '!') {
		const char *at = front.text + 2 + strspn(front.text + 2, " \t");
		size_t len = strcspn(at, " \t\r\n");
		if (len < size) {
			memcpy(ret_script, at, len);
			ret_script[len] = '\0';
		}
	}
	return false;
}

__attribute__((noinline)) static bool is_musl_path(const char *path)
{
	char scripts[2][256];
	for (int depth = 0; depth < SCRIPTS_DEPTH; depth++) {
		struct stat status;
		char *script = scripts[depth % 2];
		// Opening a device or a pipe may do something: only plain files.
		if (stat(path, &status) < 0 || !S_ISREG(status.st_mode))
			return false;
		int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		if (fd < 0)
			return false;
		bool is_musl = is_musl_fd(fd, script, sizeof(scripts[0]));
		close(fd);
		if (is_musl || !*script)
			return is_musl;
		path = script;
	}
	return false;
}

__attribute__((noinline)) static bool is_musl_file(int fd)
{
	char script[256];
	return is_musl_fd(fd, script, sizeof(script)) || (*script && is_musl_path(script));
}

// The same for a name that is looked for along PATH, as execvp does.
__attribute__((noinline)) static bool is_musl_name(const char *file)
{
	char path[PATH_MAX];
	const char *at = getenv("PATH");
	if (strchr(file, '/'))
		return is_musl_path(file);
	if (!at)
		at = "/bin:/usr/bin";
	for (;;) {
		size_t len = strcspn(at, ":");
		int n = snprintf(path, sizeof(path), "%.*s%s%s", (int)len, at, len ? "/" : "", file);
		if (len < sizeof(path) && n > 0 && (size_t)n < sizeof(path) && access(path, X_OK) == 0)
			return is_musl_path(path);
		if (at[len] == '\0')
			return false;
		at += len + 1;
	}
}

// ---- The environment --------------------------------------------------------------

struct environment {
	char *variables[VARIABLES_MAX];
	char preload[PRELOAD_BYTES];
};

static bool is_ours(const char *library, size_t len)
{
	static const char stem[] = "librollcall";
	const char *name = library;
	for (size_t i = 0; i < len; i++)
		if (library[i] == '/')
			name = library + i + 1;
	size_t rest = len - (size_t)(name - library);
	return rest > sizeof(stem) - 1 && memcmp(name, stem, sizeof(stem) - 1) == 0 &&
	       (name[sizeof(stem) - 1] == '.' || name[sizeof(stem) - 1] == '-');
}

// LD_PRELOAD without our libraries. Returns how many stay, or -1 when there is
// no room.
static int strip(const char *variable, char *ret_variable, size_t size)
{
	size_t used = sizeof("LD_PRELOAD=") - 1;
	int kept = 0;
	memcpy(ret_variable, variable, used);
	for (const char *at = variable + used; *at;) {
		size_t len = strcspn(at, ": ");
		if (len && !is_ours(at, len)) {
			if (used + len + 2 > size)
				return -1;
			if (kept++)
				ret_variable[used++] = ':';
			memcpy(ret_variable + used, at, len);
			used += len;
		}
		at += len;
		at += strspn(at, ": ");
	}
	ret_variable[used] = '\0';
	return kept;
}

// What to pass on in place of `from`: a copy in `own`, or `from` itself.
static char *const *without_us(char *const *from, struct environment *own)
{
	size_t n = 0;
	for (size_t i = 0; from && from[i]; i++) {
		if (n == VARIABLES_MAX - 1)
			return from;
		if (strncmp(from[i], "LD_PRELOAD=", 11) != 0) {
			own->variables[n++] = from[i];
			continue;
		}
		int kept = strip(from[i], own->preload, sizeof(own->preload));
		if (kept < 0)
			return from;
		if (kept)
			own->variables[n++] = own->preload;
	}
	own->variables[n] = NULL;
	return from ? own->variables : from;
}

static bool preloads_us(char *const *environment)
{
	for (size_t i = 0; environment && environment[i]; i++)
		if (strncmp(environment[i], "LD_PRELOAD=", 11) == 0 && strstr(environment[i], "librollcall"))
			return true;
	return false;
}

// Whether the loader would look for libraries of ours in vain.
__attribute__((noinline)) static bool are_hidden(char *const *environment)
{
	for (size_t i = 0; environment[i]; i++) {
		char path[PATH_MAX];
		if (strncmp(environment[i], "LD_PRELOAD=", 11) != 0)
			continue;
		for (const char *at = environment[i] + 11; *at; at += strspn(at, ": ")) {
			size_t len = strcspn(at, ": ");
			if (len && len < sizeof(path) && *at == '/' && is_ours(at, len)) {
				memcpy(path, at, len);
				path[len] = '\0';
				if (access(path, R_OK) != 0)
					return true;
			}
			at += len;
		}
	}
	return false;
}

// ---- The calls ----------------------------------------------------------------------

// Apart, so that only a call that is changed takes that much of the stack.
#define WITH_OWN(call)                                                              \
	{                                                                           \
		struct environment own;                                             \
		environment = without_us(environment, &own);                        \
		return call;                                                        \
	}

__attribute__((noinline)) static int execve_apart(const char *path, char *const *words,
						  char *const *environment)
WITH_OWN(next_execve(path, words, environment))

__attribute__((noinline)) static int execvpe_apart(const char *file, char *const *words,
						   char *const *environment)
WITH_OWN(next_execvpe(file, words, environment))

__attribute__((noinline)) static int fexecve_apart(int fd, char *const *words,
						   char *const *environment)
WITH_OWN(next_fexecve(fd, words, environment))

__attribute__((noinline)) static int spawn_apart(spawn_fn next, pid_t *ret_pid, const char *path,
						 const posix_spawn_file_actions_t *actions,
						 const posix_spawnattr_t *attributes,
						 char *const *words, char *const *environment)
WITH_OWN(next(ret_pid, path, actions, attributes, words, environment))

// Whether a program of which `is_musl` tells must go without us; errno stays.
#define GOES_WITHOUT(environment, is_musl)                              \
	(preloads_us(environment) && ({                                 \
		 int saved_ = errno;                                    \
		 bool is_ = are_hidden(environment) || (is_musl);       \
		 errno = saved_;                                        \
		 is_;                                                   \
	 }))

// The call, between notes that it is made: whoever is not heard of again has
// become another program.
#define NOTED(call)                          \
	({                                   \
		tele_slots_note_exec(true);  \
		int failed_ = (call);        \
		tele_slots_note_exec(false); \
		failed_;                     \
	})

int execve(const char *path, char *const *words, char *const *environment)
{
	if (TELE_UNLIKELY(!next_execve))
		exec_init();
	if (GOES_WITHOUT(environment, is_musl_path(path)))
		return NOTED(execve_apart(path, words, environment));
	return NOTED(next_execve(path, words, environment));
}

int execv(const char *path, char *const *words)
{
	return execve(path, words, environ);
}

int execvpe(const char *file, char *const *words, char *const *environment)
{
	if (TELE_UNLIKELY(!next_execvpe))
		exec_init();
	if (GOES_WITHOUT(environment, is_musl_name(file)))
		return NOTED(execvpe_apart(file, words, environment));
	return NOTED(next_execvpe(file, words, environment));
}

int execvp(const char *file, char *const *words)
{
	return execvpe(file, words, environ);
}

int fexecve(int fd, char *const *words, char *const *environment)
{
	if (TELE_UNLIKELY(!next_fexecve))
		exec_init();
	if (GOES_WITHOUT(environment, is_musl_file(fd)))
		return NOTED(fexecve_apart(fd, words, environment));
	return NOTED(next_fexecve(fd, words, environment));
}

int posix_spawn(pid_t *ret_pid, const char *path, const posix_spawn_file_actions_t *actions,
		const posix_spawnattr_t *attributes, char *const *words, char *const *environment)
{
	if (TELE_UNLIKELY(!next_spawn))
		exec_init();
	if (GOES_WITHOUT(environment, is_musl_path(path)))
		return spawn_apart(next_spawn, ret_pid, path, actions, attributes, words, environment);
	return next_spawn(ret_pid, path, actions, attributes, words, environment);
}

int posix_spawnp(pid_t *ret_pid, const char *file, const posix_spawn_file_actions_t *actions,
		 const posix_spawnattr_t *attributes, char *const *words, char *const *environment)
{
	if (TELE_UNLIKELY(!next_spawnp))
		exec_init();
	if (GOES_WITHOUT(environment, is_musl_name(file)))
		return spawn_apart(next_spawnp, ret_pid, file, actions, attributes, words, environment);
	return next_spawnp(ret_pid, file, actions, attributes, words, environment);
}

// The words of a variable list, counted by `n` with their NULL, as the libc does
// it: on the stack.
#define COUNT_WORDS(n, word)                                                       \
	do {                                                                       \
		va_list list_;                                                     \
		va_start(list_, word);                                             \
		for (const char *at_ = (word); at_; at_ = va_arg(list_, const char *)) \
			(n)++;                                                     \
		va_end(list_);                                                     \
		(n)++;                                                             \
	} while (0)

static void take_words(char **words, size_t n, const char *word, va_list *list)
{
	memcpy(&words[0], &word, sizeof(word));
	for (size_t i = 1; i < n; i++)
		words[i] = va_arg(*list, char *);
}

int execl(const char *path, const char *word, ...)
{
	va_list list;
	size_t n = 0;
	COUNT_WORDS(n, word);
	char **words = __builtin_alloca(n * sizeof(*words));
	va_start(list, word);
	take_words(words, n, word, &list);
	va_end(list);
	return execve(path, words, environ);
}

int execlp(const char *file, const char *word, ...)
{
	va_list list;
	size_t n = 0;
	COUNT_WORDS(n, word);
	char **words = __builtin_alloca(n * sizeof(*words));
	va_start(list, word);
	take_words(words, n, word, &list);
	va_end(list);
	return execvpe(file, words, environ);
}

int execle(const char *path, const char *word, ...)
{
	va_list list;
	size_t n = 0;
	COUNT_WORDS(n, word);
	char **words = __builtin_alloca(n * sizeof(*words));
	va_start(list, word);
	take_words(words, n, word, &list);
	char **environment = va_arg(list, char **);
	va_end(list);
	return execve(path, words, environment);
}
