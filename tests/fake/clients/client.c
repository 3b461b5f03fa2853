// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A client of the driver that reaches it in the way its first argument says,
// makes the same few calls whichever it is, says `ready PID`, and holds what it
// has until its input ends. What must be counted: 3 allocations of 1 MiB, one of
// them freed, a module, the primary context. Compiled with LINKED it is linked
// to the driver instead.

#include "work.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void *library;
static unsigned (*gpa)(const char *, void **, int, uint64_t);
static unsigned (*gpa_v2)(const char *, void **, int, uint64_t, unsigned *);
static uint64_t flags;

static void *by_symbol(const struct name *name)
{
	return dlsym(library, name->symbol);
}

static void *by_gpa(const struct name *name)
{
	void *function = NULL;
	return gpa(name->base, &function, name->version, flags) == 0 ? function : NULL;
}

static void *by_gpa_v2(const struct name *name)
{
	void *function = NULL;
	return gpa_v2(name->base, &function, name->version, flags, NULL) == 0 ? function : NULL;
}

static int fail(const char *what)
{
	fprintf(stderr, "client: %s: %s\n", what, dlerror());
	return 1;
}

static int open_library(const char *path, int mode)
{
	library = dlopen(path, mode);
	return library ? 0 : fail(path);
}

// As the runtime begins: an empty name of version 0, then itself at two versions.
static int like_the_runtime(void)
{
	void *function = &function;
	static const int versions[] = {11030, 12000};
	if (gpa_v2("", &function, 0, 0, NULL) != 0 || function)
		return fail("the empty name");
	for (int i = 0; i < 2; i++)
		if (gpa_v2("cuGetProcAddress", &function, versions[i], 0, NULL) != 0 || !function)
			return fail("cuGetProcAddress of itself");
	*(void **)&gpa_v2 = function;
	// One name, two versions, two functions.
	void *old = NULL, *new = NULL;
	if (gpa_v2("cuCtxCreate", &old, 3020, 0, NULL) != 0 || gpa_v2("cuCtxCreate", &new, 12050, 0, NULL) != 0 ||
	    old == new)
		return fail("versions of cuCtxCreate");
	// Unknown, and later than asked for: success, and nothing.
	unsigned status = 9;
	function = &function;
	if (gpa_v2("cuNoSuchThing", &function, 12000, 0, &status) != 0 || function || status != 1)
		return fail("an unknown name");
	if (gpa_v2("cuMemAllocAsync", &function, 11000, 0, &status) != 0 || function || status != 2)
		return fail("a name of a later version");
	return 0;
}

static void *work_in_thread(void *context)
{
	(void)context;
	return (void *)(intptr_t)churn(200);
}

static int with_threads(void)
{
	pthread_t threads[8];
	void *failed = NULL, *sum = NULL;
	for (int i = 0; i < 8; i++)
		pthread_create(&threads[i], NULL, work_in_thread, NULL);
	for (int i = 0; i < 8; i++) {
		pthread_join(threads[i], &failed);
		sum = failed ? failed : sum;
	}
	return sum != NULL;
}

// A child with work of its own, which its parent must not be told of.
static int with_fork(int is_raw)
{
	int status = 1;
	pid_t pid = is_raw ? (pid_t)syscall(SYS_fork) : fork();
	if (pid == 0)
		_exit(work() != 0 || churn(50) != 0);
	return pid < 0 || waitpid(pid, &status, 0) != pid || status != 0;
}

static int choose(const char *how, const char *path)
{
	if (strncmp(how, "gpa", 3) == 0 || strcmp(how, "runtime") == 0) {
		if (open_library(path, RTLD_NOW | RTLD_LOCAL))
			return 1;
		*(void **)&gpa = dlsym(library, "cuGetProcAddress");
		*(void **)&gpa_v2 = dlsym(library, "cuGetProcAddress_v2");
		flags = strstr(how, "ptds") ? 2 : 0;
		if (strcmp(how, "runtime") == 0 && like_the_runtime())
			return 1;
		return find_functions(strncmp(how, "gpa1", 4) == 0 ? by_gpa : by_gpa_v2);
	}
	if (strcmp(how, "default") == 0) {
		if (open_library(path, RTLD_NOW | RTLD_GLOBAL))
			return 1;
		library = RTLD_DEFAULT;
		return find_functions(by_symbol);
	}
	if (strcmp(how, "main") == 0) {
		if (open_library(path, RTLD_NOW | RTLD_GLOBAL))
			return 1;
		library = dlopen(NULL, RTLD_NOW);
		return find_functions(by_symbol);
	}
	return open_library(path, RTLD_NOW | RTLD_LOCAL) || find_functions(by_symbol);
}

// A plugin that does the work itself.
static int run_plugin(const char *how, const char *path)
{
	int (*plugin_work)(void);
	int mode = RTLD_NOW | RTLD_LOCAL | (strcmp(how, "deepbind") == 0 ? RTLD_DEEPBIND : 0);
	void *plugin = strcmp(how, "dlmopen") == 0 ? dlmopen(LM_ID_NEWLM, path, RTLD_NOW) : dlopen(path, mode);
	*(void **)&plugin_work = plugin ? dlsym(plugin, "plugin_work") : NULL;
	return plugin_work ? plugin_work() : fail(path);
}

static int hold(int result)
{
	char line[8];
	if (result)
		return result;
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin))
		;
	return 0;
}

// What the driver would give for a name when there is none: nothing.
static int without_driver(void)
{
	return dlsym(RTLD_DEFAULT, "cuInit") != NULL || dlsym(dlopen(NULL, RTLD_NOW), "cuMemAlloc_v2") != NULL;
}

int main(int n_arguments, char **arguments)
{
	const char *how = n_arguments > 1 ? arguments[1] : "linked";
	const char *path = n_arguments > 2 ? arguments[2] : "libcuda.so.1";
	const char *also = n_arguments > 3 ? arguments[3] : "";
	if (strcmp(how, "none") == 0)
		return hold(without_driver());
	if (strcmp(how, "plugin") == 0 || strcmp(how, "deepbind") == 0 || strcmp(how, "dlmopen") == 0)
		return hold(run_plugin(how, path));
#ifdef LINKED
	if (strcmp(how, "linked") == 0 ? find_linked() : choose(how, path))
		return 1;
#else
	if (choose(how, path))
		return 1;
#endif
	if (strcmp(also, "exec") == 0) {
		if (work())
			return 1;
		execl("/proc/self/exe", arguments[0], how, path, (char *)NULL);
		return 1;
	}
	if (strcmp(also, "fork-first") == 0 && with_fork(0))
		return 1;
	int result = work();
	if (result == 0 && strcmp(also, "threads") == 0)
		result = with_threads();
	if (result == 0 && strncmp(also, "fork-raw", 8) == 0)
		result = with_fork(1);
	return hold(result);
}
