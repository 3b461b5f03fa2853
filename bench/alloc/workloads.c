// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// One workload under whatever malloc the process has: workloads NAME [SCALE].
// Prints one JSON line a phase: ns an operation (process CPU for one thread,
// wall for more), logical and resident bytes (Anonymous less LazyFree less what
// was there before), the floor where there is one, and the malloc's own
// prediction when it is Rollcall's. The harness keeps its tables in shared
// memory, so they are not in the figures. Inputs are seeded.

#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "../../libtelemetry/rollcall.h"

#define MIB 1048576.0

static double scale = 1;
static uint64_t seed = 88172645463325252u;

static uint64_t draw(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void *table(size_t bytes)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return at == MAP_FAILED ? NULL : at;
}

static double clock_s(bool wall)
{
	struct timespec now;
	clock_gettime(wall ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double anonymous_bytes(void)
{
	static char text[8192];
	int fd = open("/proc/self/smaps_rollup", O_RDONLY);
	ssize_t len = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[len > 0 ? len : 0] = 0;
	double kib = 0;
	char *at = strstr(text, "Anonymous:");
	if (at)
		kib = strtod(at + 10, NULL);
	at = strstr(text, "LazyFree:");
	return (kib - (at ? strtod(at + 9, NULL) : 0)) * 1024;
}

static double predicted_bytes(void)
{
	struct rollcall_heap_books books;
	if (rollcall_heap_books(&books, sizeof(books)) != 0)
		return -1;
	return (double)(books.mapped_bytes - books.virgin_bytes - books.returned_bytes);
}

static double anonymous_before, predicted_before;

static void begin(void)
{
	predicted_bytes();
	anonymous_bytes();
	anonymous_before = anonymous_bytes();
	predicted_before = predicted_bytes();
}

// Reclaim may run between the two readings: of the predictions on either side
// of the kernel's figure the nearer one counts, or the figure itself between.
static double settled_prediction(double *ret_resident)
{
	double first = predicted_bytes();
	double resident = anonymous_bytes() - anonymous_before + predicted_before;
	double second = predicted_bytes();
	double low = first < second ? first : second, high = first < second ? second : first;
	*ret_resident = resident - predicted_before;
	return first < 0 ? -1 : resident < low ? low : resident > high ? high : resident;
}

static void report(const char *phase, double seconds, double ops, double logical, double floor)
{
	double resident;
	double predicted = settled_prediction(&resident);
	printf("{\"phase\":\"%s\",\"ns\":%.3f,\"logical\":%.0f,\"resident\":%.0f,\"floor\":%.0f,\"predicted\":%.0f}\n",
	       phase, ops > 0 ? seconds * 1e9 / ops : 0, logical, resident, floor,
	       predicted < 0 ? -1 : predicted - predicted_before);
	fflush(stdout);
}

// What alignment makes of a size, in the floors.
static uint64_t rounded(uint64_t size)
{
	return (size + 15) & ~(uint64_t)15;
}

static void *filled(size_t size)
{
	char *block = malloc(size);
	if (!block)
		abort();
	memset(block, 1, size);
	return block;
}

// ---- Pairs, churn, bursts, mixes ----------------------------------------------------

static void pairs(size_t size)
{
	long n = (long)(20e6 * scale);
	double from = clock_s(false);
	for (long i = 0; i < n; i++) {
		volatile char *block = malloc(size);
		*block = 1;
		free((void *)(uintptr_t)block);
	}
	report("run", clock_s(false) - from, (double)n, 0, 0);
}

static void churn(void)
{
	static void *blocks[4096];
	long n = (long)(20e6 * scale);
	double from = clock_s(false);
	for (long i = 0; i < n; i++) {
		size_t k = draw(&seed) & 4095;
		free(blocks[k]);
		blocks[k] = malloc(400);
		*(char *)blocks[k] = 1;
	}
	report("run", clock_s(false) - from, (double)n, 4096 * 400, 0);
}

static void burst(void)
{
	static void *blocks[1000];
	long rounds = (long)(10000 * scale);
	double from = clock_s(false);
	for (long r = 0; r < rounds; r++) {
		for (int i = 0; i < 1000; i++) {
			blocks[i] = malloc(16 + (size_t)(i * 37) % 500);
			*(char *)blocks[i] = 1;
		}
		for (int i = 0; i < 1000; i++)
			free(blocks[i]);
	}
	report("run", clock_s(false) - from, (double)rounds * 1000, 0, 0);
}

static size_t power_law(double low, double high)
{
	// Density falls with the square of the size.
	double u = (double)(draw(&seed) >> 11) / 9007199254740992.0;
	return (size_t)(1 / (u / high + (1 - u) / low));
}

static void mixed(void)
{
	enum { N = 100000 };
	void **blocks = table(N * sizeof(void *));
	size_t *sizes = table(N * sizeof(size_t));
	long n = (long)(5e6 * scale);
	double logical = 0;
	begin();
	double from = clock_s(false);
	for (long i = 0; i < n; i++) {
		size_t k = draw(&seed) % N;
		free(blocks[k]);
		logical -= (double)sizes[k];
		sizes[k] = power_law(16, 65536);
		logical += (double)sizes[k];
		blocks[k] = filled(sizes[k]);
	}
	report("run", clock_s(false) - from, (double)n, logical, 0);
}

static void rowsmix(void)
{
	static const size_t cells[11] = { 16, 24, 32, 40, 48, 56, 64, 80, 104, 136, 200 };
	long rows = (long)(500e3 * scale);
	double logical = 0;
	begin();
	double from = clock_s(false);
	for (long r = 0; r < rows; r++)
		for (int c = 0; c < 11; c++) {
			size_t size = cells[c] - draw(&seed) % 8;
			filled(size);
			logical += (double)size;
		}
	report("run", clock_s(false) - from, (double)rows * 11, logical, 0);
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
		char *block = malloc(16 + draw(&state) % 496);
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
	struct channel *channels = table(sizeof(struct channel) * 8);
	pthread_t threads[16];
	long n = (long)(3e6 * scale) / pairs_of_threads;
	double from = clock_s(true);
	for (int i = 0; i < pairs_of_threads; i++) {
		channels[i].n = n;
		pthread_create(&threads[2 * i], NULL, produce, &channels[i]);
		pthread_create(&threads[2 * i + 1], NULL, consume, &channels[i]);
	}
	for (int i = 0; i < 2 * pairs_of_threads; i++)
		pthread_join(threads[i], NULL);
	report("run", clock_s(true) - from, (double)n * pairs_of_threads, 0, 0);
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
		size_t k = draw(&server->state) % 1000;
		free(server->blocks[k]);
		server->blocks[k] = malloc(10 + draw(&server->state) % 490);
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
	struct server *servers = table(2 * sizeof(struct server));
	pthread_t threads[2];
	int generations = (int)(200 * scale) + 1;
	begin();
	double from = clock_s(true);
	for (int i = 0; i < 2; i++) {
		servers[i].state = (uint64_t)i + 12345;
		servers[i].generation = generations;
		pthread_create(&threads[i], NULL, serve_generations, &servers[i]);
	}
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	report("run", clock_s(true) - from, 2.0 * generations * 20000, 2000 * 255, 0);
}

static void *climb(void *argument)
{
	struct channel *channel = argument;
	uint64_t state = 7;
	for (long i = 0; i < channel->n; i++) {
		size_t size = 36000, top = 60000 + draw(&state) % 240000;
		char *block = filled(size);
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
	struct channel *channel = table(sizeof(struct channel));
	pthread_t threads[2];
	channel->n = (long)(30000 * scale);
	begin();
	double from = clock_s(true);
	pthread_create(&threads[0], NULL, climb, channel);
	pthread_create(&threads[1], NULL, consume, channel);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	report("run", clock_s(true) - from, (double)channel->n, 0, 0);
}

// ---- Tiers: values that go and keys that stay -----------------------------------------

static uint32_t n_pairs;
static void **values, **keys;
static uint16_t *value_sizes, *key_sizes;
static uint64_t *value_at; // where a packing in birth order would have the value
static uint32_t *older, *younger; // recency list, n_pairs is its head
static uint64_t *touched_at;
static uint64_t now_at, packed_at;
static double logical_bytes, key_bytes;

static void unlink_pair(uint32_t i)
{
	older[younger[i]] = older[i];
	younger[older[i]] = younger[i];
}

static void link_youngest(uint32_t i)
{
	uint32_t head = n_pairs;
	older[i] = older[head];
	younger[i] = head;
	younger[older[head]] = i;
	older[head] = i;
	touched_at[i] = now_at++;
}

static void put_value(uint32_t i)
{
	values[i] = filled(value_sizes[i]);
	logical_bytes += value_sizes[i];
	value_at[i] = packed_at;
	packed_at += rounded(value_sizes[i]);
	link_youngest(i);
}

static void drop_value(uint32_t i)
{
	unlink_pair(i);
	free(values[i]);
	values[i] = NULL;
	logical_bytes -= value_sizes[i];
}

static uint32_t random_live(void)
{
	for (;;) {
		uint32_t i = (uint32_t)(draw(&seed) % n_pairs);
		if (values[i])
			return i;
	}
}

static uint32_t coldest(bool sampled)
{
	if (!sampled)
		return younger[n_pairs];
	uint32_t best = random_live();
	for (int k = 0; k < 4; k++) {
		uint32_t other = random_live();
		if (touched_at[other] < touched_at[best])
			best = other;
	}
	return best;
}

static double packed_floor(void)
{
	uint64_t pages = 0, last = UINT64_MAX;
	// Birth order is the order of value_at; values came in index order at first.
	for (uint32_t i = 0; i < n_pairs; i++) {
		if (!values[i])
			continue;
		uint64_t first = value_at[i] / 4096, end = (value_at[i] + value_sizes[i] - 1) / 4096;
		pages += end - first + 1 - (first == last);
		last = end;
	}
	return (double)pages * 4096 + key_bytes;
}

static void be_quiet(double seconds)
{
	double until = clock_s(true) + seconds;
	while (clock_s(true) < until) {
		for (int i = 0; i < 50; i++)
			free(filled(24 + (size_t)i));
		usleep(20000);
	}
}

static void make_tables(uint32_t n)
{
	n_pairs = n;
	values = table((n + 1ul) * 8);
	keys = table((n + 1ul) * 8);
	value_sizes = table((n + 1ul) * 2);
	key_sizes = table((n + 1ul) * 2);
	value_at = table((n + 1ul) * 8);
	touched_at = table((n + 1ul) * 8);
	older = table((n + 1ul) * 4);
	younger = table((n + 1ul) * 4);
	older[n] = younger[n] = n;
	for (uint32_t i = 0; i < n; i++) {
		value_sizes[i] = (uint16_t)(368 + draw(&seed) % 65);
		key_sizes[i] = (uint16_t)(24 + draw(&seed) % 17);
	}
}

static void insert_pair(uint32_t i, int touch_every)
{
	keys[i] = filled(key_sizes[i]);
	logical_bytes += key_sizes[i];
	key_bytes += (double)rounded(key_sizes[i]);
	put_value(i);
	if (touch_every && i % (uint32_t)touch_every == 0) {
		uint32_t other = (uint32_t)(draw(&seed) % (i + 1));
		unlink_pair(other);
		link_youngest(other);
	}
}

static void tierlag(int touch_every, bool sampled, double quiet_s)
{
	make_tables((uint32_t)(2e6 * scale));
	double budget = 341.2 * MIB * scale;
	begin();
	double from = clock_s(false);
	for (uint32_t i = 0; i < n_pairs; i++)
		insert_pair(i, touch_every);
	report("full", clock_s(false) - from, n_pairs, logical_bytes, 0);
	from = clock_s(false);
	long drained = 0;
	for (; logical_bytes > budget; drained++)
		drop_value(coldest(sampled));
	report("drained", clock_s(false) - from, (double)drained, logical_bytes, packed_floor());
	be_quiet(quiet_s);
	report("idle", 0, 0, logical_bytes, packed_floor());
	from = clock_s(false);
	long promotions = n_pairs / 2;
	for (long i = 0; i < promotions; i++) {
		uint32_t key;
		do
			key = (uint32_t)(draw(&seed) % n_pairs);
		while (values[key]);
		put_value(key);
		while (logical_bytes > budget)
			drop_value(coldest(sampled));
	}
	report("promote", clock_s(false) - from, (double)promotions, logical_bytes, 0);
	be_quiet(quiet_s / 2);
	report("promote+idle", 0, 0, logical_bytes, 0);
}

static void tier400(void)
{
	make_tables((uint32_t)(2e6 * scale));
	double budget = 341 * MIB * scale;
	begin();
	double from = clock_s(false);
	for (uint32_t i = 0; i < n_pairs; i++) {
		put_value(i);
		while (logical_bytes > budget)
			drop_value(coldest(false));
	}
	report("run", clock_s(false) - from, n_pairs, logical_bytes, 0);
}

// ---- A heap that empties ---------------------------------------------------------------

static double empty_floor(uint32_t n, void **blocks, const uint32_t *sizes)
{
	uint64_t at = 0, pages = 0, last = UINT64_MAX;
	for (uint32_t i = 0; i < n; at += rounded(sizes[i]), i++) {
		if (!blocks[i])
			continue;
		uint64_t first = at / 4096, end = (at + sizes[i] - 1) / 4096;
		pages += end - first + 1 - (first == last);
		last = end;
	}
	return (double)pages * 4096;
}

static void empty(double quiet_s)
{
	double want = 1024 * MIB * scale, logical = 0;
	uint32_t n = 0, n_max = (uint32_t)(want / 100);
	void **blocks = table(n_max * 8ul);
	uint32_t *sizes = table(n_max * 4ul);
	begin();
	double from = clock_s(false);
	for (; logical < want && n < n_max; n++) {
		// Mean about 430 bytes.
		sizes[n] = (uint32_t)power_law(60, 32768);
		blocks[n] = filled(sizes[n]);
		logical += sizes[n];
	}
	report("full", clock_s(false) - from, n, logical, 0);
	for (int step = 0; step < 2; step++) {
		from = clock_s(false);
		long freed = 0;
		for (uint32_t i = 0; i < n; i++)
			if (blocks[i] && draw(&seed) % 10 >= (step ? 2 : 5)) {
				free(blocks[i]);
				blocks[i] = NULL;
				logical -= sizes[i];
				freed++;
			}
		report(step ? "tenth" : "half", clock_s(false) - from, (double)freed, logical,
		       empty_floor(n, blocks, sizes));
		be_quiet(quiet_s);
		report(step ? "tenth+idle" : "half+idle", 0, 0, logical, empty_floor(n, blocks, sizes));
	}
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	const char *name = argv[1];
	const char *quiet = getenv("QUIET_S");
	double quiet_s = quiet ? strtod(quiet, NULL) : 2;
	scale = argc > 2 ? strtod(argv[2], NULL) : 1;
	begin();
	if (strncmp(name, "fixed", 5) == 0)
		pairs(strtoul(name + 5, NULL, 10));
	else if (strcmp(name, "churn") == 0)
		churn();
	else if (strcmp(name, "burst") == 0)
		burst();
	else if (strcmp(name, "mixed") == 0)
		mixed();
	else if (strcmp(name, "rowsmix") == 0)
		rowsmix();
	else if (strncmp(name, "xthread", 7) == 0)
		xthread((int)strtoul(name + 7, NULL, 10));
	else if (strcmp(name, "larson") == 0)
		larson();
	else if (strcmp(name, "ladder") == 0)
		ladder();
	else if (strcmp(name, "tier400") == 0)
		tier400();
	else if (strcmp(name, "tierlag0") == 0)
		tierlag(0, false, quiet_s);
	else if (strcmp(name, "tierlag10") == 0)
		tierlag(10, false, quiet_s);
	else if (strcmp(name, "tierlags5") == 0)
		tierlag(0, true, quiet_s);
	else if (strcmp(name, "tierlag") == 0)
		tierlag(1, false, quiet_s);
	else if (strcmp(name, "empty") == 0)
		empty(quiet_s);
	else
		return 2;
	return 0;
}
