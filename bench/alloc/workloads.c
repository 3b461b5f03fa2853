// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// One workload under whatever malloc the process has: workloads NAME [SCALE].
// Prints one JSON line a phase: ns an operation (process CPU for one thread,
// wall for more), logical and resident bytes (Anonymous less LazyFree less what
// was there before), the floor where there is one, and the malloc's own
// prediction when it is Rollcall's. The harness keeps its tables in shared
// memory, so they are not in the figures. Inputs are seeded.

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

// ---- Pairs, churn, bursts, mixes ----------------------------------------------------

static void pairs(size_t size)
{
	long n = (long)(20e6 * bench_scale);
	double from = bench_clock_s(false);
	for (long i = 0; i < n; i++) {
		volatile char *block = malloc(size);
		*block = 1;
		free((void *)(uintptr_t)block);
	}
	bench_report("run", bench_clock_s(false) - from, (double)n, 0, 0);
}

static void churn(void)
{
	static void *blocks[4096];
	long n = (long)(20e6 * bench_scale);
	double from = bench_clock_s(false);
	for (long i = 0; i < n; i++) {
		size_t k = bench_draw(&bench_seed) & 4095;
		free(blocks[k]);
		blocks[k] = malloc(400);
		*(char *)blocks[k] = 1;
	}
	bench_report("run", bench_clock_s(false) - from, (double)n, 4096 * 400, 0);
}

static void burst(void)
{
	static void *blocks[1000];
	long rounds = (long)(10000 * bench_scale);
	double from = bench_clock_s(false);
	for (long r = 0; r < rounds; r++) {
		for (int i = 0; i < 1000; i++) {
			blocks[i] = malloc(16 + (size_t)(i * 37) % 500);
			*(char *)blocks[i] = 1;
		}
		for (int i = 0; i < 1000; i++)
			free(blocks[i]);
	}
	bench_report("run", bench_clock_s(false) - from, (double)rounds * 1000, 0, 0);
}

static void mixed(double quiet_s)
{
	enum { N = 100000 };
	void **blocks = bench_table(N * sizeof(void *));
	size_t *sizes = bench_table(N * sizeof(size_t));
	long n = (long)(5e6 * bench_scale);
	double logical = 0;
	bench_begin();
	double from = bench_clock_s(false);
	for (long i = 0; i < n; i++) {
		size_t k = bench_draw(&bench_seed) % N;
		free(blocks[k]);
		logical -= (double)sizes[k];
		sizes[k] = bench_power_law(16, 65536);
		logical += (double)sizes[k];
		blocks[k] = bench_filled(sizes[k]);
	}
	bench_report("run", bench_clock_s(false) - from, (double)n, logical, 0);
	bench_be_quiet(quiet_s);
	bench_report("settled", 0, 0, logical, 0);
}

static void rowsmix(void)
{
	static const size_t cells[11] = { 16, 24, 32, 40, 48, 56, 64, 80, 104, 136, 200 };
	long rows = (long)(500e3 * bench_scale);
	double logical = 0;
	bench_begin();
	double from = bench_clock_s(false);
	for (long r = 0; r < rows; r++)
		for (int c = 0; c < 11; c++) {
			size_t size = cells[c] - bench_draw(&bench_seed) % 8;
			bench_filled(size);
			logical += (double)size;
		}
	bench_report("run", bench_clock_s(false) - from, (double)rows * 11, logical, 0);
}

// ---- Threads -----------------------------------------------------------------------

enum { RING = 1024 };
struct channel {
	_Alignas(64) _Atomic size_t head;
	_Alignas(64) _Atomic size_t tail;
	void *slots[RING];
	long n;
};

static void *produce(void *argument)
{
	struct channel *channel = argument;
	uint64_t state = (uint64_t)(uintptr_t)argument | 1;
	for (long i = 0; i < channel->n; i++) {
		char *block = malloc(16 + bench_draw(&state) % 496);
		*block = 1;
		size_t tail = channel->tail;
		while (tail - atomic_load_explicit(&channel->head, memory_order_acquire) == RING)
			sched_yield();
		channel->slots[tail % RING] = block;
		atomic_store_explicit(&channel->tail, tail + 1, memory_order_release);
	}
	return NULL;
}

static void *consume(void *argument)
{
	struct channel *channel = argument;
	for (long i = 0; i < channel->n; i++) {
		size_t head = channel->head;
		while (atomic_load_explicit(&channel->tail, memory_order_acquire) == head)
			sched_yield();
		free(channel->slots[head % RING]);
		atomic_store_explicit(&channel->head, head + 1, memory_order_release);
	}
	return NULL;
}

static void xthread(int pairs_of_threads)
{
	struct channel *channels = bench_table(sizeof(struct channel) * 8);
	pthread_t threads[16];
	long n = (long)(3e6 * bench_scale) / pairs_of_threads;
	double from = bench_clock_s(true);
	for (int i = 0; i < pairs_of_threads; i++) {
		channels[i].n = n;
		pthread_create(&threads[2 * i], NULL, produce, &channels[i]);
		pthread_create(&threads[2 * i + 1], NULL, consume, &channels[i]);
	}
	for (int i = 0; i < 2 * pairs_of_threads; i++)
		pthread_join(threads[i], NULL);
	bench_report("run", bench_clock_s(true) - from, (double)n * pairs_of_threads, 0, 0);
}

struct server {
	void *blocks[1000];
	uint64_t state;
	int generation;
};

static void *serve(void *argument)
{
	struct server *server = argument;
	for (int i = 0; i < 20000; i++) {
		size_t k = bench_draw(&server->state) % 1000;
		free(server->blocks[k]);
		server->blocks[k] = malloc(10 + bench_draw(&server->state) % 490);
		*(char *)server->blocks[k] = 1;
	}
	return NULL;
}

static void *serve_generations(void *argument)
{
	struct server *server = argument;
	for (int i = 0; i < server->generation; i++) {
		pthread_t next;
		pthread_create(&next, NULL, serve, server);
		pthread_join(next, NULL);
	}
	return NULL;
}

static void larson(void)
{
	struct server *servers = bench_table(2 * sizeof(struct server));
	pthread_t threads[2];
	int generations = (int)(200 * bench_scale) + 1;
	bench_begin();
	double from = bench_clock_s(true);
	for (int i = 0; i < 2; i++) {
		servers[i].state = (uint64_t)i + 12345;
		servers[i].generation = generations;
		pthread_create(&threads[i], NULL, serve_generations, &servers[i]);
	}
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	bench_report("run", bench_clock_s(true) - from, 2.0 * generations * 20000, 2000 * 255, 0);
}

static void *climb(void *argument)
{
	struct channel *channel = argument;
	uint64_t state = 7;
	for (long i = 0; i < channel->n; i++) {
		size_t size = 36000, top = 60000 + bench_draw(&state) % 240000;
		char *block = bench_filled(size);
		while (size < top) {
			size_t more = size + size / 4;
			block = realloc(block, more);
			memset(block + size, 1, more - size);
			size = more;
		}
		size_t tail = channel->tail;
		while (tail - atomic_load_explicit(&channel->head, memory_order_acquire) == 16)
			sched_yield();
		channel->slots[tail % RING] = block;
		atomic_store_explicit(&channel->tail, tail + 1, memory_order_release);
	}
	return NULL;
}

static void ladder(void)
{
	struct channel *channel = bench_table(sizeof(struct channel));
	pthread_t threads[2];
	channel->n = (long)(30000 * bench_scale);
	bench_begin();
	double from = bench_clock_s(true);
	pthread_create(&threads[0], NULL, climb, channel);
	pthread_create(&threads[1], NULL, consume, channel);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	bench_report("run", bench_clock_s(true) - from, (double)channel->n, 0, 0);
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	const char *name = argv[1];
	const char *quiet = getenv("QUIET_S");
	double quiet_s = quiet ? strtod(quiet, NULL) : 2;
	bench_scale = argc > 2 ? strtod(argv[2], NULL) : 1;
	bench_begin();
	if (strncmp(name, "fixed", 5) == 0)
		pairs(strtoul(name + 5, NULL, 10));
	else if (strcmp(name, "churn") == 0)
		churn();
	else if (strcmp(name, "burst") == 0)
		burst();
	else if (strcmp(name, "mixed") == 0)
		mixed(quiet_s);
	else if (strcmp(name, "rowsmix") == 0)
		rowsmix();
	else if (strncmp(name, "xthread", 7) == 0)
		xthread((int)strtoul(name + 7, NULL, 10));
	else if (strcmp(name, "larson") == 0)
		larson();
	else if (strcmp(name, "ladder") == 0)
		ladder();
	else if (strcmp(name, "tier400") == 0)
		bench_tier400();
	else if (strcmp(name, "tierlag0") == 0)
		bench_tierlag(0, false, quiet_s);
	else if (strcmp(name, "tierlag10") == 0)
		bench_tierlag(10, false, quiet_s);
	else if (strcmp(name, "tierlags5") == 0)
		bench_tierlag(0, true, quiet_s);
	else if (strcmp(name, "tierlag") == 0)
		bench_tierlag(1, false, quiet_s);
	else if (strcmp(name, "empty") == 0)
		bench_empty(quiet_s);
	else
		return 2;
	return 0;
}
