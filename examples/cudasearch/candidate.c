// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Every call that takes something from the driver or gives it back is here. The
// program records nothing with Rollcall: what it holds is seen at these calls.
// It only says what a pool is for, and whose, by a label around its allocation.

#include "candidate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"

#define SAY(candidate, ...) snprintf((candidate)->common.why, WHY_BYTES, __VA_ARGS__)

enum { RUNS = 5, CHECKED = 64, LINK_INPUT_PTX = 1 };

struct search_ledger ledger;

// ---- Inputs -------------------------------------------------------------------

static float small(struct common_random *random)
{
	return (float)common_random_below(random, 2001) / 1000.0f - 1.0f;
}

static unsigned upload(uint64_t *ret_address, const float *values, size_t bytes)
{
	rollcall_label_push(ROLLCALL_CONSTANT, 0);
	unsigned result = driver.alloc(ret_address, bytes);
	rollcall_label_pop();
	if (result != 0)
		return result;
	ledger.live_constant_pools++;
	return driver.upload(*ret_address, values, bytes);
}

unsigned search_inputs_open(struct search_inputs *inputs, unsigned n, uint64_t seed)
{
	struct common_random random = { .state = seed ^ 0x5eed };
	size_t bytes = (size_t)n * n * sizeof(float);

	memset(inputs, 0, sizeof(*inputs));
	inputs->n = n;
	inputs->a = malloc(bytes);
	inputs->b = malloc(bytes);
	if (!inputs->a || !inputs->b)
		return 2;
	for (size_t i = 0; i < (size_t)n * n; i++) {
		inputs->a[i] = small(&random);
		inputs->b[i] = small(&random);
	}
	unsigned result = upload(&inputs->on_device[0], inputs->a, bytes);
	if (result == 0)
		result = upload(&inputs->on_device[1], inputs->b, bytes);
	for (int i = 0; i < 2 && result == 0; i++)
		result = driver.event_create(&inputs->events[i], 0);
	return result;
}

void search_inputs_close(struct search_inputs *inputs)
{
	for (int i = 0; i < 2; i++) {
		if (inputs->events[i])
			driver.event_destroy(inputs->events[i]);
		if (inputs->on_device[i] && driver.free(inputs->on_device[i]) == 0)
			ledger.live_constant_pools--;
	}
	free(inputs->a);
	free(inputs->b);
}

// ---- Compiling and loading --------------------------------------------------------

// Compiles the text in the candidate's own context and loads what comes out in
// everybody's.
static unsigned compile(struct search_candidate *candidate, char *text, size_t length)
{
	void *state = NULL, *code = NULL;
	size_t bytes;

	driver.set_current(candidate->context);
	unsigned result = driver.link_create(0, NULL, NULL, &state);
	if (result != 0)
		return result;
	result = driver.link_add(state, LINK_INPUT_PTX, text, length + 1, "kernel", 0, NULL, NULL);
	if (result == 0)
		result = driver.link_complete(state, &code, &bytes);
	driver.set_current(driver.context);
	if (result == 0)
		result = driver.module_load(&candidate->module, code);
	driver.set_current(candidate->context);
	driver.link_destroy(state);
	driver.set_current(driver.context);
	if (result != 0)
		return result;
	ledger.modules_loaded++;
	return driver.function(&candidate->function, candidate->module, "kernel");
}

static uint64_t digest_of(const char *text, size_t length)
{
	uint64_t digest = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < length; i++)
		digest = (digest ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
	return digest;
}

static enum rollcall_outcome load(struct search_candidate *candidate, unsigned n)
{
	static char text[KERNEL_TEXT_BYTES];

	size_t length = search_kernel_emit(&candidate->kernel, n, text);
	if (length == 0) {
		SAY(candidate, "the text is too long");
		return ROLLCALL_LINK_FAILED;
	}
	candidate->digest = digest_of(text, length);
	unsigned result = compile(candidate, text, length);
	if (candidate->kernel.target > driver.capability) {
		SAY(candidate, "this device is sm_%d", driver.capability);
		return ROLLCALL_NON_DISPATCHABLE;
	}
	if (result != 0) {
		SAY(candidate, "%s", search_driver_text(result));
		return ROLLCALL_LINK_FAILED;
	}
	return ROLLCALL_TIMED;
}

// ---- Running ------------------------------------------------------------------------

static unsigned launch(struct search_candidate *candidate, const struct search_inputs *inputs)
{
	const struct search_kernel *kernel = &candidate->kernel;
	uint64_t a = inputs->on_device[0], b = inputs->on_device[1], c = candidate->pool;
	void *params[] = { &a, &b, &c };

	return driver.launch(candidate->function, inputs->n / (kernel->block_x * kernel->columns),
			inputs->n / (kernel->block_y * kernel->rows), 1, kernel->block_x, kernel->block_y, 1, 0, NULL,
			params, NULL);
}

// The largest error among some entries of the result.
static double error_of(const struct search_inputs *inputs, const float *c)
{
	struct common_random random = { .state = 99 };
	unsigned n = inputs->n;
	double worst = 0;

	for (int i = 0; i < CHECKED; i++) {
		size_t row = common_random_below(&random, n), column = common_random_below(&random, n);
		double sum = 0;
		for (size_t k = 0; k < n; k++)
			sum += (double)inputs->a[row * n + k] * (double)inputs->b[k * n + column];
		double error = fabs(sum - (double)c[row * n + column]);
		worst = error > worst ? error : worst;
	}
	return worst;
}

static enum rollcall_outcome check(struct search_candidate *candidate, const struct search_inputs *inputs)
{
	size_t bytes = (size_t)inputs->n * inputs->n * sizeof(float);
	float *c = malloc(bytes);
	enum rollcall_outcome outcome = ROLLCALL_FAILED;

	unsigned result = c ? driver.download(c, candidate->pool, bytes) : 2;
	double error = result == 0 ? error_of(inputs, c) : 0;
	if (result != 0)
		SAY(candidate, "%s", search_driver_text(result));
	else if (error > 1e-4 * inputs->n)
		SAY(candidate, "wrong by %.2g", error);
	else
		outcome = ROLLCALL_TIMED;
	free(c);
	return outcome;
}

static enum rollcall_outcome measure(struct search_candidate *candidate, const struct search_inputs *inputs)
{
	float ms = 0, best_ms = INFINITY;
	unsigned result = 0;

	for (int run = 0; run < RUNS && result == 0; run++) {
		result = driver.event_record(inputs->events[0], NULL);
		if (result == 0)
			result = launch(candidate, inputs);
		if (result == 0)
			result = driver.event_record(inputs->events[1], NULL);
		if (result == 0)
			result = driver.event_wait(inputs->events[1]);
		if (result == 0)
			result = driver.event_elapsed(&ms, inputs->events[0], inputs->events[1]);
		best_ms = ms < best_ms ? ms : best_ms;
	}
	if (result != 0) {
		SAY(candidate, "%s", search_driver_text(result));
		return ROLLCALL_FAILED;
	}
	if (driver.is_fake) {
		candidate->common.gflops = search_kernel_model(&candidate->kernel);
		return candidate->kernel.narrow ? ROLLCALL_FAILED : ROLLCALL_TIMED;
	}
	double n = inputs->n;
	candidate->common.gflops = 2.0 * n * n * n / (best_ms > 0 ? (double)best_ms * 1e6 : 1.0);
	return check(candidate, inputs);
}

// ---- A candidate's life -----------------------------------------------------------------

// Context and pool exist from the moment it is compiled, as they do in tuners
// whose linker needs to know addresses.
enum rollcall_outcome search_candidate_try(struct search_candidate *candidate, const struct search_inputs *inputs)
{
	const char *refusal = search_kernel_refuse(&candidate->kernel, inputs->n);

	if (refusal) {
		SAY(candidate, "%s", refusal);
		return ROLLCALL_DECLINED;
	}
	candidate->owner = rollcall_owner_open(candidate->common.label);
	rollcall_label_push(ROLLCALL_WORKING, candidate->owner);
	unsigned result = driver.alloc(&candidate->pool, (size_t)inputs->n * inputs->n * sizeof(float));
	rollcall_label_pop();
	ledger.live_working_pools += result == 0;
	if (result == 0) {
		result = driver.context_create(&candidate->context, 0, driver.device);
		ledger.contexts_created += result == 0;
		if (result == 0)
			result = driver.context_pop(NULL);
	}
	if (result != 0) {
		SAY(candidate, "%s", search_driver_text(result));
		return ROLLCALL_FAILED;
	}
	enum rollcall_outcome outcome = load(candidate, inputs->n);
	driver.set_current(driver.context);
	return outcome == ROLLCALL_TIMED ? measure(candidate, inputs) : outcome;
}

void search_candidate_drop(struct search_candidate *candidate, enum rollcall_outcome outcome, enum common_leak leak)
{
	int keeps_pool = leak == LEAK_POOLS || (leak == LEAK_FAILED && outcome == ROLLCALL_FAILED);

	if (candidate->module && leak != LEAK_MODULES)
		ledger.modules_unloaded += driver.module_unload(candidate->module) == 0;
	if (candidate->pool && !keeps_pool)
		ledger.live_working_pools -= driver.free(candidate->pool) == 0;
	if (candidate->context && leak != LEAK_CONTEXTS)
		ledger.contexts_released += driver.context_destroy(candidate->context) == 0;
	driver.set_current(driver.context);
	if (candidate->owner)
		rollcall_owner_close(candidate->owner);
}
