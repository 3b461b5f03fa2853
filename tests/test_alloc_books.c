// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The books as functions, with the values the reference tests, and the books of
// a heap under the small inputs that real reports came down to.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "alloc_shim.h"

#include "../alloc/alloc.h"
#include "../alloc/audit.h"
#include "../alloc/config.h"
#include "../alloc/reclaim.h"
#include "../alloc/residency.h"
#include "../alloc/stats.h"
#include "../alloc/walk.h"
#include "../libtelemetry/event.h"
#include "../libtelemetry/fields.h"

#define MIB ((size_t)1 << 20)
#define GIB ((size_t)1 << 30)

static struct alloc_books read_books(void)
{
	struct alloc_reading reading;
	alloc_walk(&reading, NULL);
	assert_true(alloc_books_balanced(&reading.books));
	assert_true(reading.settled);
	assert_int_equal(reading.books.mapped_bytes, shim_mapped_bytes);
	return reading.books;
}

static void audit(void)
{
	const char *difference = "";
	if (alloc_audit(&difference))
		fail_msg("audit: %s", difference);
}

static struct alloc_books books_of_span(uint64_t g, uint64_t a, uint64_t b, uint32_t slot_bytes)
{
	struct alloc_books books = { 0 };
	alloc_books_add_span(&books, g, a, b, slot_bytes);
	assert_true(alloc_books_balanced(&books));
	return books;
}

static void an_empty_heap_balances(void **state)
{
	(void)state;
	struct alloc_books books = { 0 };
	assert_true(alloc_books_balanced(&books));
	assert_int_equal(alloc_books_accounted(&books), 0);
}

static void merge_is_additive_in_every_term(void **state)
{
	(void)state;
	struct alloc_books a = { .mapped_bytes = 10, .live_bytes = 4, .virgin_bytes = 6 };
	struct alloc_books sum = a;
	alloc_books_merge(&sum, &a);
	assert_int_equal(sum.mapped_bytes, 20);
	assert_int_equal(sum.live_bytes, 8);
	assert_int_equal(sum.virgin_bytes, 12);
	assert_true(alloc_books_balanced(&sum));
	uint64_t ones[sizeof(struct alloc_books) / sizeof(uint64_t)];
	for (size_t i = 0; i < TELE_ARRAY_LEN(ones); i++)
		ones[i] = i + 1;
	struct alloc_books all, twice;
	memcpy(&all, ones, sizeof(all));
	twice = all;
	alloc_books_merge(&twice, &all);
	memcpy(ones, &twice, sizeof(ones));
	for (size_t i = 0; i < TELE_ARRAY_LEN(ones); i++)
		assert_int_equal(ones[i], 2 * (i + 1));
}

static void an_imbalance_is_visible(void **state)
{
	(void)state;
	struct alloc_books bad = { .mapped_bytes = 100, .live_bytes = 1 };
	assert_false(alloc_books_balanced(&bad));
	assert_int_equal(alloc_books_accounted(&bad), 1);
}

static void both_predictions_follow_the_formulas(void **state)
{
	(void)state;
	struct alloc_books books = { .mapped_bytes = 100, .virgin_bytes = 20, .returned_bytes = 5, .hysteresis_bytes = 7 };
	assert_int_equal(alloc_books_predicted_resident(&books), 75);
	assert_int_equal(alloc_books_predicted_resident_floor(&books), 68);
}

// The reference's five cases, in its order. Of a partly discarded span the kind
// stays held; the bytes of its discarded pages still count as returned.
static void an_unassigned_span_is_one_of_three_things(void **state)
{
	(void)state;
	struct alloc_books virgin = books_of_span(0, 0, 0, 0);
	assert_int_equal(virgin.virgin_bytes, ALLOC_SPAN_BYTES);
	struct alloc_books still_virgin = books_of_span(alloc_g_word(0, false, 0, 0, 0, 0), 0, 0, 0);
	assert_int_equal(still_virgin.virgin_bytes, ALLOC_SPAN_BYTES);
	struct alloc_books returned = books_of_span(alloc_g_word(0, false, 0, 0xffff, 0, 0), 0, 0, 0);
	assert_int_equal(returned.returned_bytes, ALLOC_SPAN_BYTES);
	struct alloc_books held = books_of_span(alloc_g_word(0, true, 0xffff, 0xffff, 0, 0), 0, 0, 0);
	assert_int_equal(held.hysteresis_bytes, ALLOC_SPAN_BYTES);
	struct alloc_books partly = books_of_span(alloc_g_word(0, true, 0x8000, 0xffff, 0, 0), 0, 0, 0);
	assert_int_equal(partly.hysteresis_bytes, 4096);
	assert_int_equal(partly.returned_bytes, ALLOC_SPAN_BYTES - 4096);
}

static void returned_counts_the_bytes_of_the_pages_that_went(void **state)
{
	(void)state;
	// Ten slots of 6,144; two live; pages 6 to 8 gone, which slots 4 and 5
	// overlap in part: a slot may be part returned, part span_free.
	uint64_t g = alloc_g_word(40, false, 0xffff & ~(7u << 6), 0xffff, 10, 0);
	struct alloc_books books = books_of_span(g, alloc_count_word(2, 100), 0, 6144);
	assert_int_equal(books.live_bytes, 2 * 6144 - 100);
	assert_int_equal(books.rounding_bytes, 100);
	assert_int_equal(books.returned_bytes, 3 * 4096);
	assert_int_equal(books.span_free_bytes, ALLOC_SPAN_BYTES - 2 * 6144 - 3 * 4096);
}

static void parked_slots_are_cache_until_they_are_drained(void **state)
{
	(void)state;
	uint64_t g = alloc_g_word(8, false, 1, 1, 32, 0);
	struct alloc_books parked = books_of_span(g, alloc_count_word(5, 50), alloc_count_word(3, 30), 128);
	assert_int_equal(parked.cache_bytes, 3 * 128);
	assert_int_equal(parked.live_bytes, 2 * 128 - 20);
	g = alloc_g_word(8, false, 1, 1, 32, 3);
	struct alloc_books drained = books_of_span(g, alloc_count_word(5, 50), alloc_count_word(3, 30), 128);
	assert_int_equal(drained.cache_bytes, 0);
	assert_int_equal(drained.live_bytes, 2 * 128 - 20);
	assert_int_equal(drained.span_free_bytes, 4096 - 2 * 128);
}

static void any_words_at_all_balance(void **state)
{
	(void)state;
	uint64_t seed = 42;
	for (int i = 0; i < 200000; i++) {
		uint64_t words[3];
		for (int k = 0; k < 3; k++) {
			seed ^= seed << 13;
			seed ^= seed >> 7;
			seed ^= seed << 17;
			words[k] = seed;
		}
		struct alloc_books books =
			books_of_span(words[0], words[1], words[2], (uint32_t)(words[0] >> 50 << 4 & 0x7ff0) + 16);
		assert_int_equal(books.mapped_bytes, ALLOC_SPAN_BYTES);
		assert_true(books.live_bytes <= ALLOC_SPAN_BYTES && books.span_free_bytes <= ALLOC_SPAN_BYTES &&
			    books.rounding_bytes <= ALLOC_SPAN_BYTES && books.cache_bytes <= ALLOC_SPAN_BYTES);
	}
}

// B1: mimalloc PR 1360.
static void a_megabyte_at_a_time_balances_at_each_step(void **state)
{
	(void)state;
	struct alloc_books before = read_books();
	for (int i = 0; i < 800; i++) {
		char *block = alloc_malloc(MIB);
		assert_int_equal(read_books().live_bytes, before.live_bytes + MIB);
		memset(block, 1, MIB);
		alloc_free(block);
		assert_int_equal(read_books().live_bytes, before.live_bytes);
	}
	audit();
}

// B3: jemalloc 757, 2614.
static void one_malloc_is_in_the_next_snapshot(void **state)
{
	(void)state;
	struct alloc_reading before, after;
	alloc_walk(&before, NULL);
	void *block = alloc_malloc(77);
	alloc_walk(&after, NULL);
	assert_int_equal(after.books.live_bytes, before.books.live_bytes + 77);
	assert_int_equal(after.books.rounding_bytes, before.books.rounding_bytes + 3);
	assert_int_equal(after.mallocs, before.mallocs + 1);
	alloc_free(block);
	alloc_walk(&after, NULL);
	assert_int_equal(after.frees, before.frees + 1);
}

// B4: gperftools 1091.
static void a_gigabyte_never_written_is_live_and_untouched(void **state)
{
	(void)state;
	struct alloc_books before = read_books();
	struct alloc_residency at_first, half;
	alloc_residency(&at_first);
	char *block = alloc_malloc(GIB);
	struct alloc_books books = read_books();
	assert_int_equal(books.live_bytes - before.live_bytes, GIB);
	// And perhaps a page for its descriptor.
	uint64_t overhead_bytes = books.segment_overhead_bytes - before.segment_overhead_bytes;
	assert_int_equal(alloc_books_predicted_resident(&books) - alloc_books_predicted_resident(&before),
			 GIB + overhead_bytes);
	alloc_residency(&half);
	uint64_t untouched = half.live_bytes - half.buckets.live_bytes;
	assert_true(untouched >= GIB && untouched <= GIB + MIB);
	for (size_t at = 0; at < GIB / 2; at += 4096)
		block[at] = 1;
	alloc_residency(&half);
	// And a page or two of metadata.
	assert_in_range(half.resident_bytes - at_first.resident_bytes, GIB / 2, GIB / 2 + 65536);
	untouched = half.live_bytes - half.buckets.live_bytes;
	assert_true(untouched >= GIB / 2 && untouched <= GIB / 2 + MIB);
	alloc_free(block);
}

// B6: cef 4221, ceph PR 13453.
static void eight_gigabytes_are_counted_exactly(void **state)
{
	(void)state;
	struct alloc_books before = read_books();
	void *blocks[3] = { alloc_malloc(2 * GIB + 1), alloc_malloc(4 * GIB + 3), alloc_malloc(8 * GIB + 5) };
	struct alloc_books books = read_books();
	assert_int_equal(books.live_bytes - before.live_bytes, 14 * GIB + 9);
	assert_int_equal(books.rounding_bytes - before.rounding_bytes, 3 * 4096 - 9);
	assert_int_equal(books.large_count - before.large_count, 3);
	for (int i = 0; i < 3; i++)
		alloc_free(blocks[i]);
	assert_int_equal(read_books().mapped_bytes, before.mapped_bytes);
}

// B8: amule 1153.
static void every_other_block_freed_returns_whole_pages_only(void **state)
{
	(void)state;
	enum { N = 40000 };
	static void *blocks[N];
	alloc_trim(0);
	struct alloc_books before = read_books();
	for (int i = 0; i < N; i++) {
		blocks[i] = alloc_malloc(400);
		memset(blocks[i], 1, 400);
	}
	struct alloc_books full = read_books();
	assert_int_equal(full.live_bytes - before.live_bytes, (size_t)N * 400);
	for (int i = 0; i < N; i += 2)
		alloc_free(blocks[i]);
	alloc_trim(0);
	struct alloc_books half = read_books();
	assert_int_equal(half.live_bytes - before.live_bytes, (size_t)N / 2 * 400);
	// Ten slots a page: every page keeps one that lives.
	assert_true(alloc_books_predicted_resident(&full) - alloc_books_predicted_resident(&half) < 256 * 1024);
	for (int i = 1; i < N; i += 2)
		alloc_free(blocks[i]);
	alloc_trim(0);
	struct alloc_books empty = read_books();
	assert_int_equal(empty.live_bytes, before.live_bytes);
	assert_true(alloc_books_predicted_resident(&empty) < alloc_books_predicted_resident(&before) + 256 * 1024);
	audit();
}

static void prediction_is_what_the_kernel_holds(void **state)
{
	(void)state;
	enum { N = 30000 };
	static void *blocks[N];
	uint64_t seed = 7;
	for (int i = 0; i < N; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		size_t size_bytes = (size_t)16 << (seed >> 60) % 12;
		size_bytes += (seed >> 33) % size_bytes;
		blocks[i] = alloc_malloc(size_bytes);
		memset(blocks[i], 1, size_bytes);
	}
	for (int pass = 0; pass < 2; pass++) {
		struct alloc_residency residency;
		struct alloc_books books = read_books();
		alloc_residency(&residency);
		uint64_t predicted = alloc_books_predicted_resident(&books);
		uint64_t apart = predicted > residency.resident_bytes ? predicted - residency.resident_bytes
								     : residency.resident_bytes - predicted;
		assert_true(apart < MIB || apart < predicted / 200);
		for (int i = 0; i < N; i++)
			if (pass == 0 && i % 7) {
				alloc_free(blocks[i]);
				blocks[i] = NULL;
			}
		alloc_trim(0);
	}
	for (int i = 0; i < N; i++)
		alloc_free(blocks[i]);
}

static void a_refused_discard_leaves_the_page_resident_in_the_books(void **state)
{
	(void)state;
	enum { N = 2000 };
	static void *blocks[N];
	alloc_trim(0);
	for (int i = 0; i < N; i++) {
		blocks[i] = alloc_malloc(1024);
		memset(blocks[i], 1, 1024);
	}
	for (int i = 0; i < N; i++)
		alloc_free(blocks[i]);
	shim_refuses_discards = true;
	uint64_t refused = alloc_reclaim_refused_bytes;
	struct alloc_books before = read_books();
	alloc_trim(0);
	struct alloc_books after = read_books();
	shim_refuses_discards = false;
	assert_true(alloc_reclaim_refused_bytes > refused);
	assert_int_equal(after.returned_bytes, before.returned_bytes);
	assert_true(after.hysteresis_bytes + after.span_free_bytes >= (size_t)N * 1024);
	audit();
	alloc_trim(0);
	struct alloc_books gone = read_books();
	assert_true(gone.hysteresis_bytes + gone.span_free_bytes < 256 * 1024);
}

// munmap fails where it would split a mapping and the process has its 65,530.
static void a_refused_unmap_stays_in_the_books(void **state)
{
	(void)state;
	enum { N = 40 };
	static char *blocks[N];
	alloc_trim(0);
	struct alloc_books before = read_books();
	for (int i = 0; i < N; i++) {
		blocks[i] = alloc_malloc(4 * MIB + 1);
		memset(blocks[i], 1, 4 * MIB);
	}
	shim_refuses_unmaps = true;
	blocks[0] = alloc_realloc(blocks[0], 2 * MIB);
	assert_non_null(blocks[0]);
	assert_int_equal(blocks[0][2 * MIB - 1], 1);
	for (int i = 0; i < N; i++)
		alloc_free(blocks[i]);
	alloc_trim(0);
	struct alloc_books refused = read_books();
	assert_int_equal(refused.live_bytes, before.live_bytes);
	assert_true(refused.hysteresis_bytes >= N * 4 * MIB);
	audit();
	shim_refuses_unmaps = false;
	alloc_trim(0);
	struct alloc_books after = read_books();
	assert_true(after.mapped_bytes <= before.mapped_bytes + 8 * MIB);
	audit();
}

static _Atomic bool magazine_is_full, magazine_may_go;

static void *fill_a_magazine(void *nothing)
{
	enum { N = 3000 };
	static void *blocks[N];
	for (int i = 0; i < N; i++)
		blocks[i] = alloc_malloc(48);
	for (int i = 0; i < N; i++)
		alloc_free(blocks[i]);
	magazine_is_full = true;
	while (!magazine_may_go)
		usleep(1000);
	return nothing;
}

// In the child the heaps of the other threads are orphans with full magazines:
// one thread takes their spans, another the heap.
static void a_child_takes_the_heaps_of_threads_it_lacks(void **state)
{
	(void)state;
	enum { N = 6000 };
	static void *blocks[N];
	pthread_t thread;
	assert_int_equal(pthread_create(&thread, NULL, fill_a_magazine, NULL), 0);
	while (!magazine_is_full)
		usleep(1000);
	pid_t child = fork();
	if (child == 0) {
		const char *difference = "";
		for (int i = 0; i < N; i++)
			blocks[i] = alloc_malloc(48);
		uint64_t n_differences = alloc_audit(&difference);
#if !defined(__SANITIZE_THREAD__) // it knows no threads of such a child
		magazine_may_go = true;
		pthread_create(&thread, NULL, fill_a_magazine, NULL);
		pthread_join(thread, NULL);
#endif
		for (int i = 0; i < N; i++)
			alloc_free(blocks[i]);
		n_differences += alloc_audit(&difference);
		_exit(n_differences != 0);
	}
	int status = -1;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	magazine_may_go = true;
	pthread_join(thread, NULL);
}

static void out_of_memory_changes_no_bucket(void **state)
{
	(void)state;
	alloc_free(alloc_malloc(100));
	struct alloc_books before = read_books();
	shim_refuses_maps = true;
	errno = 0;
	assert_null(alloc_malloc(64 * MIB));
	assert_int_equal(errno, ENOMEM);
	assert_null(alloc_calloc(64, MIB));
	char *block = alloc_malloc(100);
	assert_null(alloc_realloc(block, 64 * MIB));
	shim_refuses_maps = false;
	assert_int_equal(shim_last_event, TELE_EVENT_OUT_OF_MEMORY);
	alloc_free(block);
	struct alloc_books after = read_books();
	assert_memory_equal(&before, &after, sizeof(before));
}

// P4: gperftools 909, rpmalloc PR 374.
static void pointers_of_every_family_are_freed_and_resized(void **state)
{
	(void)state;
	struct alloc_books before = read_books();
	for (size_t align = 1; align <= 8 * MIB; align *= 2) {
		for (int way = 0; way < 2; way++) {
			void *blocks[6] = { alloc_memalign(align, 100 + align / 3), alloc_aligned_alloc(align, 3 * align),
					    NULL, alloc_valloc(align), alloc_pvalloc(align),
					    alloc_reallocarray(NULL, align, 3) };
			assert_int_equal(alloc_posix_memalign(&blocks[2], align < 8 ? 8 : align, align), 0);
			assert_int_equal((uintptr_t)blocks[0] % align, 0);
			assert_int_equal((uintptr_t)blocks[1] % align, 0);
			assert_int_equal((uintptr_t)blocks[3] % 4096, 0);
			for (int i = 0; i < 6; i++) {
				assert_non_null(blocks[i]);
				if (way)
					blocks[i] = alloc_realloc(blocks[i], 5000);
				alloc_free(blocks[i]);
			}
		}
	}
	assert_int_equal(read_books().live_bytes, before.live_bytes);
	audit();
}

// P5: hardened_malloc PR 370, seastar PR 3701.
static void impossible_requests_fail_as_documented(void **state)
{
	(void)state;
	struct alloc_books before = read_books();
	void *out = &before;
	assert_null(alloc_calloc(SIZE_MAX / 2, 3));
	assert_int_equal(errno, ENOMEM);
	assert_int_equal(alloc_posix_memalign(&out, 3, 10), EINVAL);
	assert_int_equal(alloc_posix_memalign(&out, 4, 10), EINVAL);
	assert_int_equal(alloc_posix_memalign(&out, 16, SIZE_MAX / 2), ENOMEM);
	assert_ptr_equal(out, &before);
	errno = 0;
	assert_null(alloc_malloc((size_t)PTRDIFF_MAX + 1));
	assert_int_equal(errno, ENOMEM);
	assert_null(alloc_memalign(64, SIZE_MAX - 32));
	assert_null(alloc_pvalloc(SIZE_MAX));
	assert_null(alloc_reallocarray(NULL, SIZE_MAX, 2));
	struct alloc_books after = read_books();
	assert_memory_equal(&before, &after, sizeof(before));
	void *page = alloc_pvalloc(0);
	assert_non_null(page);
	alloc_free(page);
	char *block = alloc_malloc(50);
	assert_null(alloc_realloc(block, 0));
	assert_int_equal(read_books().live_bytes, before.live_bytes);
}

static pthread_key_t destructor_key;

static void allocate_in_a_destructor(void *value)
{
	alloc_free(value);
	alloc_free(alloc_malloc(333));
}

static void *allocate_and_leave(void *unused)
{
	(void)unused;
	pthread_setspecific(destructor_key, alloc_malloc(200));
	alloc_free(alloc_malloc(5000));
	return NULL;
}

// P6: snmalloc PR 161, jemalloc 896.
static void ten_thousand_short_threads_leave_nothing_behind(void **state)
{
	(void)state;
	assert_int_equal(pthread_key_create(&destructor_key, allocate_in_a_destructor), 0);
	struct alloc_books before = read_books(), books;
	for (int i = 0; i < 10000; i++) {
		pthread_t thread;
		assert_int_equal(pthread_create(&thread, NULL, allocate_and_leave, NULL), 0);
		pthread_join(thread, NULL);
		if (i % 1000 == 0) {
			books = read_books();
			assert_true(books.cache_bytes < MIB);
		}
	}
	books = read_books();
	assert_int_equal(books.live_bytes, before.live_bytes);
	assert_true(books.mapped_bytes < before.mapped_bytes + 16 * MIB);
	audit();
}

static void *_Atomic swapped[256];
static _Atomic int crowd_at_work;

static void *allocate_and_swap(void *argument)
{
	uint64_t seed = (uint64_t)(uintptr_t)argument * 2654435761u + 1;
	for (int i = 0; i < 3000; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		size_t size_bytes = (seed >> 40) % 50 ? (seed >> 33) % 1500 : (seed >> 33) % 200000;
		alloc_free(atomic_exchange(&swapped[(seed >> 56) & 255], alloc_malloc(size_bytes)));
		if ((seed >> 20) % 3000 == 0)
			break; // exits at random
	}
	atomic_fetch_sub(&crowd_at_work, 1);
	return NULL;
}

// B2: mimalloc 1118, 929, 265.
static void sixty_four_threads_balance_and_counters_never_fall(void **state)
{
	(void)state;
	struct alloc_books before = read_books();
	uint64_t last_mallocs = 0, last_frees = 0;
	for (int round = 0; round < 3; round++) {
		pthread_t threads[64];
		crowd_at_work = 64;
		for (uintptr_t i = 0; i < 64; i++)
			assert_int_equal(pthread_create(&threads[i], NULL, allocate_and_swap, (void *)(i + 1)), 0);
		do {
			struct alloc_reading reading;
			alloc_walk(&reading, NULL);
			assert_true(alloc_books_balanced(&reading.books));
			if (reading.settled)
				assert_int_equal(reading.books.mapped_bytes, reading.counted_bytes);
			assert_true(reading.mallocs >= last_mallocs && reading.frees >= last_frees);
			last_mallocs = reading.mallocs;
			last_frees = reading.frees;
			usleep(1000);
		} while (crowd_at_work);
		for (int i = 0; i < 64; i++)
			pthread_join(threads[i], NULL);
		audit();
	}
	for (int i = 0; i < 256; i++)
		alloc_free(atomic_exchange(&swapped[i], NULL));
	assert_int_equal(read_books().live_bytes, before.live_bytes);
}

static void *free_elsewhere(void *block)
{
	alloc_free(block);
	return NULL;
}

static void a_block_freed_by_a_thread_that_ends_is_cache_and_then_free(void **state)
{
	(void)state;
	void *block = alloc_malloc(700); // first: it may drain what others sent
	struct alloc_books before = read_books();
	pthread_t thread;
	assert_int_equal(pthread_create(&thread, NULL, free_elsewhere, block), 0);
	pthread_join(thread, NULL);
	struct alloc_books parked = read_books();
	assert_int_equal(parked.live_bytes, before.live_bytes - 700);
	assert_int_equal(parked.cache_bytes, before.cache_bytes + 704);
	alloc_trim(0);
	assert_int_equal(read_books().cache_bytes, 0);
	audit();
}

static void resizing_in_place_keeps_the_books(void **state)
{
	(void)state;
	struct alloc_books before = read_books();
	for (size_t size_bytes = 1; size_bytes < 3 * MIB; size_bytes += size_bytes / 3 + 1) {
		char *block = alloc_malloc(size_bytes);
		memset(block, 'x', size_bytes);
		for (size_t next = size_bytes; next < size_bytes + 200000; next += 30011) {
			block = alloc_realloc(block, next);
			assert_int_equal(read_books().live_bytes, before.live_bytes + next);
			assert_int_equal(block[size_bytes - 1], 'x');
		}
		block = alloc_realloc(block, size_bytes / 2 + 1);
		assert_int_equal(read_books().live_bytes, before.live_bytes + size_bytes / 2 + 1);
		alloc_free(block);
	}
	audit();
}

static void calloc_of_used_memory_is_zero(void **state)
{
	(void)state;
	for (size_t size_bytes = 100; size_bytes < 4 * MIB; size_bytes *= 3) {
		void *used = alloc_malloc(size_bytes);
		memset(used, 0xff, size_bytes);
		alloc_free(used);
		char *zero = alloc_calloc(1, size_bytes);
		for (size_t i = 0; i < size_bytes; i++)
			assert_int_equal(zero[i], 0);
		alloc_free(zero);
	}
}

static void knobs_are_parsed_and_strange_words_skipped(void **state)
{
	(void)state;
	struct alloc_config config = { 0 };
	assert_int_equal(alloc_config_parse(&config, "decay_ms=50,keep=yes,huge=system,abort=no"), 0);
	assert_int_equal(config.decay_ns, 50000000);
	assert_true(config.keeps && !config.aborts && config.huge == ALLOC_HUGE_SYSTEM);
	assert_int_equal(alloc_config_parse(&config, ",,x,decay_ms=,decay_ms=12x,keep=no,decay_ms=9999999999"), 4);
	assert_int_equal(config.decay_ns, 50000000);
	assert_false(config.keeps);
}

static void collectors_fill_the_tables_they_register_for(void **state)
{
	(void)state;
	alloc_start();
	assert_string_equal(shim_collectors[0].section, "heap");
	assert_int_equal(shim_collectors[0].n_values * 8, sizeof(struct tele_heap_values));
	union {
		struct tele_heap_values named;
		uint64_t raw[sizeof(struct tele_heap_values) / 8];
	} heap;
	memset(&heap, 0xff, sizeof(heap));
	void *blocks[100];
	for (int i = 0; i < 100; i++)
		blocks[i] = alloc_malloc(1000);
	shim_collectors[0].collect(shim_collectors[0].context, heap.raw, shim_collectors[0].n_values);
	struct alloc_books books = read_books();
	assert_int_equal(heap.named.live_bytes, books.live_bytes);
	assert_int_equal(heap.named.mapped_bytes, books.mapped_bytes);
	assert_int_equal(heap.named.settled, 1);
	assert_int_equal(heap.named.captured_at_ns % 1024, 0);
	assert_int_equal(heap.named.resident_bytes, TELE_UNKNOWN);
	shim_collectors[0].collect_slow(NULL, heap.raw, shim_collectors[0].n_values);
	assert_true(heap.named.resident_bytes > 0 && heap.named.resident_bytes <= heap.named.mapped_bytes);
	uint64_t parts = heap.named.live_resident_bytes + heap.named.rounding_resident_bytes +
			 heap.named.cache_resident_bytes + heap.named.span_free_resident_bytes +
			 heap.named.returned_resident_bytes + heap.named.virgin_resident_bytes +
			 heap.named.hysteresis_resident_bytes + heap.named.segment_overhead_resident_bytes;
	assert_int_equal(parts, heap.named.resident_bytes);
	uint64_t live_slots = 0;
	for (uint32_t i = 1; i < shim_n_collectors; i++) {
		union {
			struct tele_class_values named;
			uint64_t raw[sizeof(struct tele_class_values) / 8];
		} row;
		assert_string_equal(shim_collectors[i].section, "class");
		shim_collectors[i].collect(shim_collectors[i].context, row.raw, shim_collectors[i].n_values);
		live_slots += row.named.slot_bytes == 1024 ? row.named.live_slots : 0;
	}
	assert_true(live_slots >= 100);
	for (int i = 0; i < 100; i++)
		alloc_free(blocks[i]);
}

static void glibc_statistics_follow_the_books(void **state)
{
	(void)state;
	void *block = alloc_malloc(5 * GIB);
	struct alloc_books books = read_books();
	struct alloc_mallinfo2 info = alloc_mallinfo2();
	assert_int_equal(info.arena, books.mapped_bytes);
	assert_int_equal(info.uordblks, books.live_bytes);
	assert_int_equal(info.uordblks + info.fordblks, info.arena);
	assert_int_equal(alloc_mallinfo().uordblks, INT32_MAX);
	char text[ALLOC_STATS_TEXT_BYTES];
	alloc_stats_text(text, true);
	assert_non_null(strstr(text, "<field name=\"live\" value=\"5"));
	alloc_free(block);
}

int main(void)
{
	alloc_free(alloc_malloc(1));
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_heap_balances),
		cmocka_unit_test(merge_is_additive_in_every_term),
		cmocka_unit_test(an_imbalance_is_visible),
		cmocka_unit_test(both_predictions_follow_the_formulas),
		cmocka_unit_test(an_unassigned_span_is_one_of_three_things),
		cmocka_unit_test(returned_counts_the_bytes_of_the_pages_that_went),
		cmocka_unit_test(parked_slots_are_cache_until_they_are_drained),
		cmocka_unit_test(any_words_at_all_balance),
		cmocka_unit_test(a_megabyte_at_a_time_balances_at_each_step),
		cmocka_unit_test(one_malloc_is_in_the_next_snapshot),
		cmocka_unit_test(a_gigabyte_never_written_is_live_and_untouched),
		cmocka_unit_test(eight_gigabytes_are_counted_exactly),
		cmocka_unit_test(every_other_block_freed_returns_whole_pages_only),
		cmocka_unit_test(prediction_is_what_the_kernel_holds),
		cmocka_unit_test(a_refused_discard_leaves_the_page_resident_in_the_books),
		cmocka_unit_test(a_refused_unmap_stays_in_the_books),
		cmocka_unit_test(a_child_takes_the_heaps_of_threads_it_lacks),
		cmocka_unit_test(out_of_memory_changes_no_bucket),
		cmocka_unit_test(pointers_of_every_family_are_freed_and_resized),
		cmocka_unit_test(impossible_requests_fail_as_documented),
		cmocka_unit_test(ten_thousand_short_threads_leave_nothing_behind),
		cmocka_unit_test(sixty_four_threads_balance_and_counters_never_fall),
		cmocka_unit_test(a_block_freed_by_a_thread_that_ends_is_cache_and_then_free),
		cmocka_unit_test(resizing_in_place_keeps_the_books),
		cmocka_unit_test(calloc_of_used_memory_is_zero),
		cmocka_unit_test(knobs_are_parsed_and_strange_words_skipped),
		cmocka_unit_test(collectors_fill_the_tables_they_register_for),
		cmocka_unit_test(glibc_statistics_follow_the_books),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
