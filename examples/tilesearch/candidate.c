// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A candidate pays before it is known to be any good: context and pool exist
// from the moment it is compiled, as they do in tuners whose linker needs to
// know addresses. A kernel nobody has run yet first runs in a child, on a copy
// of everything, so that one with an illegal instruction or a wild pointer
// costs the search nothing.

#include "candidate.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "digest.h"

#define SAY(candidate, ...) snprintf((candidate)->common.why, WHY_BYTES, __VA_ARGS__)

// Runs that are timed, each into an output of its own.
enum { RUNS = 3, CHILD_SECONDS = 120 };

static uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static float *output(const struct tile_candidate *candidate, unsigned n, int run)
{
	return (float *)candidate->pool.memory + (size_t)run * n * n;
}

static void run_kernel(const struct tile_candidate *candidate, const struct tile_problem *problem, int run)
{
	candidate->kernel(problem->a.memory, problem->b.memory, output(candidate, problem->n, run),
			output(candidate, problem->n, RUNS));
}

enum rollcall_outcome tile_candidate_start(struct tile_candidate *candidate, const struct tile_problem *problem,
		struct tile_compiler *compiler)
{
	size_t matrix_bytes = (size_t)problem->n * problem->n * sizeof(float);

	if (tile_schedule_refuse(&candidate->schedule, problem->n, candidate->common.why, sizeof(candidate->common.why)))
		return ROLLCALL_DECLINED;
	candidate->context = tile_context_open(candidate->common.label);
	if (!candidate->context || tile_pool_open(&candidate->pool, ROLLCALL_WORKING, (RUNS + 1) * matrix_bytes,
			candidate->context) < 0) {
		SAY(candidate, "out of memory");
		return ROLLCALL_FAILED;
	}
	struct tile_context *context = candidate->context;
	if (tile_emit(&candidate->schedule, problem->n, context->source, sizeof(context->source)) < 0) {
		SAY(candidate, "the source is too long");
		return ROLLCALL_LINK_FAILED;
	}
	candidate->started_at_ns = now_ns();
	candidate->compiler = tile_compiler_start(compiler, candidate->common.number, context->source, &candidate->schedule);
	if (candidate->compiler < 0) {
		SAY(candidate, "the compiler did not start: %s", strerror(-candidate->compiler));
		return ROLLCALL_LINK_FAILED;
	}
	return (enum rollcall_outcome)0;
}

// Returns the number of the candidate that had this digest first, or 0.
static unsigned find_or_add(struct tile_digests *digests, uint64_t digest, unsigned number)
{
	for (size_t i = 0; i < digests->n; i++)
		if (digests->values[i] == digest)
			return digests->numbers[i];
	if (digests->n == digests->room) {
		size_t room = digests->room ? 2 * digests->room : 64;
		uint64_t *values = realloc(digests->values, room * sizeof(*values));
		if (!values)
			return 0;
		digests->values = values;
		unsigned *numbers = realloc(digests->numbers, room * sizeof(*numbers));
		if (!numbers)
			return 0;
		digests->numbers = numbers;
		digests->room = room;
	}
	digests->values[digests->n] = digest;
	digests->numbers[digests->n++] = number;
	return 0;
}

void tile_digests_clear(struct tile_digests *digests)
{
	free(digests->values);
	free(digests->numbers);
	memset(digests, 0, sizeof(*digests));
}

static enum rollcall_outcome load(struct tile_candidate *candidate, const char *path)
{
	// What dlsym returns is a function, which C cannot say.
	union { void *object; tile_kernel_fn *function; } symbol;

	candidate->module = tile_module_open(path);
	symbol.object = candidate->module ? dlsym(candidate->module, TILE_KERNEL_NAME) : NULL;
	if (!symbol.object) {
		SAY(candidate, "%s", dlerror());
		return ROLLCALL_LINK_FAILED;
	}
	candidate->kernel = symbol.function;
	return ROLLCALL_TIMED;
}

static enum rollcall_outcome rehearse(struct tile_candidate *candidate, const struct tile_problem *problem,
		const volatile sig_atomic_t *stop_signal)
{
	const char *missing = tile_schedule_missing_isa(&candidate->schedule);
	int status;

	if (missing) {
		SAY(candidate, "this processor lacks %s", missing);
		return ROLLCALL_NON_DISPATCHABLE;
	}
	pid_t child = fork();
	if (child == 0) {
		static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGALRM };
		for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
			signal(numbers[i], SIG_DFL);
		alarm(CHILD_SECONDS);
		run_kernel(candidate, problem, 0);
		_exit(0);
	}
	int r = child < 0 ? -errno : tile_wait(child, stop_signal, &status);
	if (r == -EINTR)
		return (enum rollcall_outcome)0;
	if (r < 0) {
		SAY(candidate, "cannot fork: %s", strerror(-r));
		return ROLLCALL_FAILED;
	}
	if (!WIFSIGNALED(status))
		return ROLLCALL_TIMED;
	SAY(candidate, "%s", strsignal(WTERMSIG(status)));
	return WTERMSIG(status) == SIGILL ? ROLLCALL_NON_DISPATCHABLE : ROLLCALL_FAILED;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

static enum rollcall_outcome check_and_time(struct tile_candidate *candidate, const struct tile_problem *problem)
{
	double *run_ns = candidate->context->run_ns, n = problem->n;

	_Static_assert(RUNS <= sizeof(candidate->context->run_ns) / sizeof(double), "a context has room for every run");
	for (int run = 0; run < RUNS; run++) {
		uint64_t started_at_ns = now_ns();
		run_kernel(candidate, problem, run);
		run_ns[run] = (double)(now_ns() - started_at_ns);
		float error = run == 0 ? tile_problem_error(problem, output(candidate, problem->n, run)) : 0.0f;
		if (error > problem->tolerance) {
			SAY(candidate, "wrong by %.2g, tolerance %.2g", (double)error, (double)problem->tolerance);
			return ROLLCALL_FAILED;
		}
	}
	qsort(run_ns, RUNS, sizeof(*run_ns), by_value);
	candidate->common.gflops = 2.0 * n * n * n / (run_ns[RUNS / 2] > 0 ? run_ns[RUNS / 2] : 1.0);
	return ROLLCALL_TIMED;
}

enum rollcall_outcome tile_candidate_measure(struct tile_candidate *candidate, const struct tile_problem *problem,
		struct tile_compiler *compiler, struct tile_digests *digests)
{
	struct tile_context *context = candidate->context;
	char path[TILE_PATH_BYTES];
	uint64_t digest;

	int r = tile_compiler_finish(compiler, candidate->common.number, candidate->compiler, context->compiler_log,
			sizeof(context->compiler_log));
	candidate->compiler = 0;
	candidate->compile_ns = now_ns() - candidate->started_at_ns;
	if (r < 0)
		return (enum rollcall_outcome)0;
	if (r == 0) {
		SAY(candidate, "%.*s", WHY_BYTES - 1, context->compiler_log);
		return ROLLCALL_LINK_FAILED;
	}
	tile_compiler_module(compiler, candidate->common.number, path);
	r = tile_digest(path, &digest);
	unsigned earlier = r == 0 ? find_or_add(digests, digest, candidate->common.number) : 0;
	if (earlier) {
		unlink(path);
		SAY(candidate, "same code as [%u]", earlier);
		return ROLLCALL_DEDUPLICATED;
	}
	enum rollcall_outcome outcome = load(candidate, path);
	// The mapping keeps the code; the folder need not.
	unlink(path);
	if (outcome == ROLLCALL_TIMED)
		outcome = rehearse(candidate, problem, compiler->stop_signal);
	if (outcome == ROLLCALL_TIMED)
		outcome = check_and_time(candidate, problem);
	return outcome;
}

void tile_candidate_drop(struct tile_candidate *candidate, enum rollcall_outcome outcome, enum common_leak leak)
{
	if (leak != LEAK_MODULES)
		tile_module_close(candidate->module);
	candidate->module = NULL;
	candidate->kernel = NULL;
	if (leak == LEAK_POOLS || (leak == LEAK_FAILED && outcome == ROLLCALL_FAILED))
		tile_pool_abandon(&candidate->pool);
	else
		tile_pool_close(&candidate->pool);
	if (leak == LEAK_CONTEXTS)
		tile_context_abandon(candidate->context);
	else
		tile_context_close(candidate->context);
	candidate->context = NULL;
}
