// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The ledger: 16 threads allocate by every entry point, free and resize each
// other's blocks, come and go, while pages are reclaimed and snapshots taken. A
// shadow records every request; at each pause every bucket that a program can
// know equals it to the byte, a recount of every slot agrees with the words,
// and what is mapped equals an independent count. Snapshots in between balance.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "alloc_shim.h"

#include "../alloc/alloc.h"
#include "../alloc/audit.h"
#include "../alloc/config.h"
#include "../alloc/directory.h"
#include "../alloc/reclaim.h"
#include "../alloc/walk.h"
#include "support/mode.h"

#define THREADS 16
#define OWN_BLOCKS 400
#define SHARED_BLOCKS 1024

struct block {
	unsigned char *at;
	size_t size_bytes;
	size_t usable_bytes;
	unsigned char mark;
};

struct worker {
	pthread_t thread;
	uint64_t seed;
	// The shadow: what this thread added, less what it took away.
	int64_t live_bytes, rounding_bytes, large_count;
	uint64_t mallocs, frees;
	struct block blocks[OWN_BLOCKS];
};

static struct worker workers[THREADS];
static struct {
	_Atomic bool busy;
	struct block block;
} shared_blocks[SHARED_BLOCKS];

static _Atomic int arrived;
static _Atomic int phase;
static _Atomic bool stops;
static _Atomic bool damaged;
static _Atomic bool finished;
static pthread_mutex_t reclaim_gate = PTHREAD_MUTEX_INITIALIZER; // closed at a pause

static uint64_t draw(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed * 0x2545f4914f6cdd1du;
}

static size_t draw_size(uint64_t *seed)
{
	uint64_t kind = draw(seed) % 1000;
	if (kind < 700)
		return draw(seed) % 600;
	if (kind < 930)
		return draw(seed) % 9000;
	if (kind < 985)
		return draw(seed) % 70000;
	if (kind < 998)
		return draw(seed) % 1200000;
	return draw(seed) % 5000000;
}

// A block with a mapping of its own.
static bool is_large(const struct block *block)
{
	return alloc_directory_find((uintptr_t)block->at) == NULL;
}

static void enter(struct worker *worker, struct block *block, void *at, size_t size_bytes)
{
	block->at = at;
	block->size_bytes = size_bytes;
	block->usable_bytes = alloc_usable_size(at);
	block->mark = (unsigned char)draw(&worker->seed);
	if (size_bytes) {
		block->at[0] = block->mark;
		block->at[size_bytes / 2] = block->mark;
		block->at[size_bytes - 1] = block->mark;
	}
	worker->live_bytes += (int64_t)size_bytes;
	worker->rounding_bytes += (int64_t)(block->usable_bytes - size_bytes);
	worker->large_count += is_large(block);
}

static void check_marks(const struct block *block, size_t size_bytes)
{
	if (size_bytes == block->size_bytes && size_bytes &&
	    (block->at[0] != block->mark || block->at[size_bytes / 2] != block->mark ||
	     block->at[size_bytes - 1] != block->mark))
		damaged = true;
	else if (size_bytes && block->at[0] != block->mark)
		damaged = true;
}

static void strike_out(struct worker *worker, const struct block *block)
{
	worker->live_bytes -= (int64_t)block->size_bytes;
	worker->rounding_bytes -= (int64_t)(block->usable_bytes - block->size_bytes);
	worker->large_count -= is_large(block);
}

static void take_block(struct worker *worker, struct block *block)
{
	size_t size_bytes = draw_size(&worker->seed);
	size_t align = (size_t)1 << (draw(&worker->seed) % 17);
	void *at = NULL;
	switch (draw(&worker->seed) % 12) {
	case 0:
		at = alloc_calloc(1 + size_bytes % 3, size_bytes / 3 + 1);
		size_bytes = (1 + size_bytes % 3) * (size_bytes / 3 + 1);
		for (size_t i = 0; at && i < size_bytes; i += 61)
			if (((unsigned char *)at)[i])
				damaged = true;
		break;
	case 1:
		at = alloc_memalign(align, size_bytes);
		if ((uintptr_t)at % align)
			damaged = true;
		break;
	case 2:
		if (alloc_posix_memalign(&at, align < 8 ? 8 : align, size_bytes) != 0)
			at = NULL;
		break;
	case 3:
		at = alloc_aligned_alloc(align, size_bytes);
		break;
	case 4:
		at = alloc_realloc(NULL, size_bytes);
		break;
	case 5:
		at = draw(&worker->seed) % 8 ? alloc_malloc(size_bytes) : alloc_valloc(size_bytes);
		break;
	default:
		at = alloc_malloc(size_bytes);
		break;
	}
	if (!at) {
		damaged = true;
		return;
	}
	worker->mallocs++;
	enter(worker, block, at, size_bytes);
}

static void give_block(struct worker *worker, struct block *block)
{
	check_marks(block, block->size_bytes);
	strike_out(worker, block);
	alloc_free(block->at);
	worker->frees++;
	block->at = NULL;
}

static void resize_block(struct worker *worker, struct block *block)
{
	size_t size_bytes = draw(&worker->seed) % 4 ? block->size_bytes + draw(&worker->seed) % 200
						    : draw_size(&worker->seed);
	if (size_bytes == 0)
		size_bytes = 1;
	strike_out(worker, block);
	void *at = alloc_realloc(block->at, size_bytes);
	if (!at) {
		damaged = true;
		return;
	}
	size_t kept_bytes = size_bytes < block->size_bytes ? size_bytes : block->size_bytes;
	block->at = at;
	check_marks(block, kept_bytes);
	enter(worker, block, at, size_bytes);
}

static void work_on(struct worker *worker, struct block *block)
{
	if (!block->at)
		take_block(worker, block);
	else if (draw(&worker->seed) % 5 == 0)
		resize_block(worker, block);
	else
		give_block(worker, block);
}

static void one_operation(struct worker *worker)
{
	if (draw(&worker->seed) % 3) {
		work_on(worker, &worker->blocks[draw(&worker->seed) % OWN_BLOCKS]);
		return;
	}
	size_t at = draw(&worker->seed) % SHARED_BLOCKS;
	if (atomic_exchange(&shared_blocks[at].busy, true))
		return;
	work_on(worker, &shared_blocks[at].block);
	atomic_store(&shared_blocks[at].busy, false);
}

static _Atomic uint64_t batches; // of operations, by all workers

// Works until told to pause; pauses until told to go on or to stop.
static void *run_worker(void *argument)
{
	struct worker *worker = argument;
	// The reader is one thread among seventeen: let it have its share.
	setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), 10);
	for (int round = 0;; round += 2) {
		while (atomic_load(&phase) == round) {
			for (int i = 0; i < 32; i++)
				one_operation(worker);
			atomic_fetch_add(&batches, 1);
		}
		atomic_fetch_add(&arrived, 1);
		while (atomic_load(&phase) == round + 1)
			sched_yield();
		if (atomic_load(&stops))
			return NULL;
	}
}

static _Atomic uint64_t ticks;

static void *run_reclaimer(void *unused)
{
	(void)unused;
	while (!atomic_load(&finished)) {
		pthread_mutex_lock(&reclaim_gate);
		alloc_reclaim_tick(true);
		alloc_reclaim_tend();
		pthread_mutex_unlock(&reclaim_gate);
		atomic_fetch_add(&ticks, 1);
		usleep(2000);
	}
	return NULL;
}

// Decay alone, which nobody asks for: everything is free, the reclaimer ticks on.
static void let_decay_work(void)
{
	uint64_t enough = atomic_load(&ticks) + 500;
	while (atomic_load(&ticks) < enough)
		usleep(2000);
	assert_true(alloc_reclaim_discarded_bytes > 0);
	struct alloc_reading reading;
	alloc_walk(&reading, NULL);
	assert_true(alloc_books_predicted_resident(&reading.books) - reading.books.segment_overhead_bytes < 2 << 20);
}

static uint64_t take_snapshots(uint64_t n)
{
	uint64_t last_mallocs = 0, last_frees = 0, settled = 0;
	for (uint64_t i = 0; i < n; i++) {
		struct alloc_reading reading;
		alloc_walk(&reading, NULL);
		const struct alloc_books *books = &reading.books;
		assert_int_equal(alloc_books_accounted(books), books->mapped_bytes);
		uint64_t most = books->mapped_bytes;
		assert_true(books->live_bytes <= most && books->rounding_bytes <= most && books->cache_bytes <= most &&
			    books->span_free_bytes <= most && books->returned_bytes <= most &&
			    books->virgin_bytes <= most && books->hysteresis_bytes <= most &&
			    books->segment_overhead_bytes <= most);
		if (reading.settled)
			assert_int_equal(books->mapped_bytes, reading.counted_bytes);
		settled += reading.settled;
		assert_true(reading.mallocs >= last_mallocs && reading.frees >= last_frees);
		last_mallocs = reading.mallocs;
		last_frees = reading.frees;
	}
	return settled;
}

static void compare_with_the_shadow(void)
{
	int64_t live_bytes = 0, rounding_bytes = 0, large_count = 0;
	uint64_t mallocs = 0, frees = 0;
	for (int i = 0; i < THREADS; i++) {
		live_bytes += workers[i].live_bytes;
		rounding_bytes += workers[i].rounding_bytes;
		large_count += workers[i].large_count;
		mallocs += workers[i].mallocs;
		frees += workers[i].frees;
	}
	assert_false(damaged);
	const char *difference = "";
	if (alloc_audit(&difference))
		fail_msg("audit: %s", difference);
	struct alloc_reading reading;
	alloc_walk(&reading, NULL);
	assert_int_equal(reading.books.live_bytes, live_bytes);
	assert_int_equal(reading.books.rounding_bytes, rounding_bytes);
	assert_int_equal(reading.books.large_count, large_count);
	assert_int_equal(reading.books.mapped_bytes, shim_mapped_bytes);
	// A resize that moved is a malloc and a free that the shadow does not see.
	assert_true(reading.mallocs >= mallocs && reading.frees >= frees);
	assert_int_equal(reading.mallocs - reading.frees, mallocs - frees);
}

static void start_workers(void)
{
	phase = 0;
	stops = false;
	for (int i = 0; i < THREADS; i++) {
		workers[i].seed = workers[i].seed ? workers[i].seed : (uint64_t)i * 7919 + 1;
		assert_int_equal(pthread_create(&workers[i].thread, NULL, run_worker, &workers[i]), 0);
	}
}

// Snapshots of a heap that nobody has used yet are fast and show nothing: on a
// busy machine the workers would hardly have begun.
static void let_workers_work(void)
{
	uint64_t enough = atomic_load(&batches) + THREADS * 20;
	while (atomic_load(&batches) < enough)
		sched_yield();
}

static void pause_workers(void)
{
	arrived = 0;
	atomic_fetch_add(&phase, 1);
	while (atomic_load(&arrived) < THREADS)
		sched_yield();
}

static void every_bucket_equals_the_shadow_at_every_pause(void **state)
{
	(void)state;
	const char *snapshots_asked = getenv("ALLOC_LEDGER_SNAPSHOTS");
	uint64_t n_snapshots = test_by_mode(20000, 100000, 10000000);
#if defined(__SANITIZE_THREAD__)
	n_snapshots = 2000; // each takes some 30 ms
#endif
	if (snapshots_asked)
		n_snapshots = strtoull(snapshots_asked, NULL, 10);
	uint64_t n_lives = n_snapshots < 100000 ? 4 : 20, n_pauses = 5;
	alloc_config.decay_ns = 20000000;
	uint64_t settled = 0, n_taken = 0, n_compared = 0;
	alloc_free(alloc_malloc(1)); // as the constructor does: before any thread
	pthread_t reclaimer;
	assert_int_equal(pthread_create(&reclaimer, NULL, run_reclaimer, NULL), 0);
	for (uint64_t life = 0; life < n_lives; life++) {
		start_workers();
		for (uint64_t pause = 0; pause < n_pauses; pause++) {
			let_workers_work();
			settled += take_snapshots(n_snapshots / n_lives / n_pauses);
			n_taken += n_snapshots / n_lives / n_pauses;
			n_compared++;
			pause_workers();
			pthread_mutex_lock(&reclaim_gate);
			compare_with_the_shadow();
			pthread_mutex_unlock(&reclaim_gate);
			stops = pause + 1 == n_pauses;
			atomic_fetch_add(&phase, 1);
		}
		for (int i = 0; i < THREADS; i++)
			pthread_join(workers[i].thread, NULL);
		pthread_mutex_lock(&reclaim_gate);
		compare_with_the_shadow();
		pthread_mutex_unlock(&reclaim_gate);
	}
	assert_true(settled > 0);
	for (int i = 0; i < THREADS; i++)
		for (int k = 0; k < OWN_BLOCKS; k++)
			if (workers[i].blocks[k].at)
				give_block(&workers[i], &workers[i].blocks[k]);
	for (int k = 0; k < SHARED_BLOCKS; k++)
		if (shared_blocks[k].block.at)
			give_block(&workers[0], &shared_blocks[k].block);
	if (n_snapshots >= 100000)
		let_decay_work();
	finished = true;
	pthread_join(reclaimer, NULL);
	print_message("reclaimed in motion: %llu bytes\n", (unsigned long long)alloc_reclaim_discarded_bytes);
	alloc_reclaim_all();
	assert_true(alloc_reclaim_discarded_bytes > 0);
	compare_with_the_shadow();
	struct alloc_reading reading;
	alloc_walk(&reading, NULL);
	assert_int_equal(reading.books.live_bytes + reading.books.rounding_bytes, 0);
	alloc_trim(0);
	alloc_walk(&reading, NULL);
	assert_int_equal(reading.books.cache_bytes, 0);
	assert_true(alloc_books_predicted_resident(&reading.books) - reading.books.segment_overhead_bytes < 2 << 20);
	printf("soak: ledger snapshots=%llu unbalanced=0 settled=%llu pauses=%llu unequal=0\n",
	       (unsigned long long)n_taken, (unsigned long long)settled, (unsigned long long)n_compared);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_bucket_equals_the_shadow_at_every_pause),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
