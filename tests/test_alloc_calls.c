// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What the calls promise whoever makes them, and that the books follow them: all
// families of pointers, impossible sizes, resizing, knobs, statistics.

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
#include "../alloc/config.h"
#include "../alloc/stats.h"
#include "../libtelemetry/fields.h"

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
		cmocka_unit_test(pointers_of_every_family_are_freed_and_resized),
		cmocka_unit_test(impossible_requests_fail_as_documented),
		cmocka_unit_test(resizing_in_place_keeps_the_books),
		cmocka_unit_test(calloc_of_used_memory_is_zero),
		cmocka_unit_test(knobs_are_parsed_and_strange_words_skipped),
		cmocka_unit_test(collectors_fill_the_tables_they_register_for),
		cmocka_unit_test(glibc_statistics_follow_the_books),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
