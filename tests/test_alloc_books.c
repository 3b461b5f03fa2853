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
#include <string.h>

#include "alloc_shim.h"
#include "support/heap_books.h"

#include "../alloc/alloc.h"
#include "../alloc/reclaim.h"
#include "../alloc/residency.h"
#include "../libtelemetry/event.h"

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
		cmocka_unit_test(out_of_memory_changes_no_bucket),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
