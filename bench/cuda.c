// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What the CUDA census costs a program: the same calls of the fake driver in
// processes with the preload and without it, in turn; the difference of their
// medians is the wrapper's. For instruction counts run the child alone under
// `valgrind --tool=callgrind`: bench/cuda child alloc, with LD_PRELOAD set.

#include "bench/measure.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 9
#define CALLS 100000

static char folder[4096]; // of the build

// ---- The child ------------------------------------------------------------------

static unsigned (*alloc)(uint64_t *, size_t);
static unsigned (*release)(uint64_t);
static unsigned (*alloc_async)(uint64_t *, size_t, void *);
static unsigned (*free_async)(uint64_t, void *);
static unsigned (*get_info)(size_t *, size_t *);

static void plain(void)
{
	uint64_t address;
	alloc(&address, 4096);
	release(address);
}

static void async(void)
{
	uint64_t address;
	alloc_async(&address, 4096, NULL);
	free_async(address, NULL);
}

static void info(void)
{
	size_t size;
	get_info(&size, NULL);
}

static void other_name(void)
{
	(void)dlsym(RTLD_DEFAULT, "qsort");
}

static const struct {
	const char *name;
	void (*work)(void);
	unsigned n_calls; // of one work
	double goal_ns;
} works[] = {
	{"alloc", plain, 2, 100},
	{"async", async, 2, 100},
	{"info", info, 1, 100},
	{"dlsym", other_name, 1, 0},
};

static int child(const char *what)
{
	char path[sizeof(folder) + 32];
	void *context;
	unsigned (*init)(unsigned), (*retain)(void **, int), (*set_current)(void *);
	snprintf(path, sizeof(path), "%s/fake/libcuda.so.1", folder);
	void *driver = dlopen(path, RTLD_NOW);
	if (!driver)
		return 1;
	*(void **)&init = dlsym(driver, "cuInit");
	*(void **)&retain = dlsym(driver, "cuDevicePrimaryCtxRetain");
	*(void **)&set_current = dlsym(driver, "cuCtxSetCurrent");
	*(void **)&alloc = dlsym(driver, "cuMemAlloc_v2");
	*(void **)&release = dlsym(driver, "cuMemFree_v2");
	*(void **)&alloc_async = dlsym(driver, "cuMemAllocAsync");
	*(void **)&free_async = dlsym(driver, "cuMemFreeAsync");
	*(void **)&get_info = dlsym(driver, "cuMemGetInfo_v2");
	if (init(0) || retain(&context, 0) || set_current(context))
		return 1;
	for (size_t i = 0; i < sizeof(works) / sizeof(works[0]); i++) {
		if (strcmp(works[i].name, what) != 0)
			continue;
		uint64_t started = now_ns();
		for (unsigned n = 0; n < CALLS; n++)
			works[i].work();
		printf("%.2f\n", (double)(now_ns() - started) / CALLS / works[i].n_calls);
	}
	return 0;
}

// ---- The parent --------------------------------------------------------------------

static double run(const char *what, int is_counted)
{
	char preload[2 * sizeof(folder) + 64], line[64] = "";
	int out[2];
	if (pipe(out) < 0)
		return 0;
	snprintf(preload, sizeof(preload), "%s/librollcall.so.0:%s/librollcall-cuda.so", folder, folder);
	pid_t pid = fork();
	if (pid == 0) {
		dup2(out[1], 1);
		if (is_counted)
			setenv("LD_PRELOAD", preload, 1);
		execl("/proc/self/exe", "cuda", "child", what, (char *)NULL);
		_exit(1);
	}
	close(out[1]);
	ssize_t n = read(out[0], line, sizeof(line) - 1);
	(void)n;
	close(out[0]);
	waitpid(pid, NULL, 0);
	return strtod(line, NULL);
}

static void measure(const char *what, double goal_ns)
{
	double plain_ns[ROUNDS], counted_ns[ROUNDS];
	for (int round = 0; round < ROUNDS; round++) {
		plain_ns[round] = run(what, 0);
		counted_ns[round] = run(what, 1);
	}
	double without_ns = median(plain_ns, ROUNDS), with_ns = median(counted_ns, ROUNDS), cost_ns = with_ns - without_ns;
	printf("%-28s %7.1f ns without, %7.1f ns with: %6.1f ns a call", what, without_ns, with_ns, cost_ns);
	if (goal_ns > 0)
		printf("  (at most %.0f)\n", goal_ns);
	else
		printf("  (within noise)\n");
}

int main(int n_arguments, char **arguments)
{
	ssize_t n = readlink("/proc/self/exe", folder, sizeof(folder) - 1);
	if (n <= 0)
		return 1;
	folder[n] = '\0';
	for (int i = 0; i < 2 && strrchr(folder, '/'); i++)
		*strrchr(folder, '/') = '\0';
	if (n_arguments > 2 && strcmp(arguments[1], "child") == 0)
		return child(arguments[2]);
	for (size_t i = 0; i < sizeof(works) / sizeof(works[0]); i++)
		measure(works[i].name, works[i].goal_ns);
	return 0;
}
