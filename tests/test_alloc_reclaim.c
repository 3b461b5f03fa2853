// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// How pages go back: by whole batches, and by passes of the slow path's own.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alloc_shim.h"

#include "../alloc/alloc.h"
#include "../alloc/audit.h"
#include "../alloc/classes.h"
#include "../alloc/config.h"
#include "../alloc/reclaim.h"
#include "../alloc/span.h"
#include "../alloc/walk.h"

static struct alloc_books read_books(void)
{
	struct alloc_reading reading;
	alloc_walk(&reading, NULL);
	assert_true(alloc_books_balanced(&reading.books));
	return reading.books;
}

static void audit(void)
{
	const char *difference = "";
	if (alloc_audit(&difference))
		fail_msg("audit: %s", difference);
}

static void a_batch_of_discards_may_stop_half_way(void **state)
{
	(void)state;
	enum { N = 20000 };
	static void *blocks[N];
	alloc_trim(0);
	for (int i = 0; i < N; i++) {
		blocks[i] = alloc_malloc(1024);
		memset(blocks[i], 1, 1024);
	}
	for (int i = 0; i < N; i++)
		if (i % 8 > 3) {
			alloc_free(blocks[i]);
			blocks[i] = NULL;
		}
	uint64_t decay_ns = alloc_config.decay_ns;
	alloc_config.decay_ns = 1;
	shim_discards_at_once = 3;
	for (int pass = 0; pass < 2; pass++) {
		usleep(5000); // the clock is coarse
		alloc_reclaim_tick(true);
	}
	shim_discards_at_once = 0;
	alloc_config.decay_ns = decay_ns;
	struct alloc_books half = read_books();
	assert_true(half.returned_bytes > (size_t)N * 1024 / 3);
	audit(); // no page that the books call returned is resident
	for (int i = 0; i < N; i++)
		alloc_free(blocks[i]);
	alloc_trim(0);
}

// Else the books would call a page resident that the program never wrote.
static void the_last_byte_of_a_block_lies_on_the_last_page_of_its_slot(void **state)
{
	(void)state;
	for (uint32_t class = 1; class < ALLOC_CLASS_COUNT; class++) {
		uint32_t slot_bytes = alloc_classes[class].slot_bytes;
		uint32_t least_bytes = alloc_classes[class - 1].slot_bytes + 1;
		assert_int_equal(alloc_class_of(least_bytes), class);
		assert_int_equal(alloc_class_of(slot_bytes), class);
		for (uint32_t slot = 0; slot < alloc_classes[class].n_slots; slot++)
			assert_int_equal((slot * slot_bytes + least_bytes - 1) / ALLOC_PAGE_BYTES,
					 (slot * slot_bytes + slot_bytes - 1) / ALLOC_PAGE_BYTES);
	}
}

static void every_offset_of_a_span_finds_its_slot(void **state)
{
	(void)state;
	for (uint32_t class = 1; class < ALLOC_CLASS_COUNT; class++) {
		uint32_t slot_bytes = alloc_classes[class].slot_bytes, reciprocal = alloc_classes[class].reciprocal;
		assert_int_equal(reciprocal >= ALLOC_NARROW_RECIPROCAL, slot_bytes <= ALLOC_NARROW_BYTES);
		for (uint32_t offset = 0; offset < ALLOC_SPAN_BYTES; offset++) {
			uint64_t product = alloc_slot_product(offset, reciprocal);
			if (alloc_slot_of(product) != offset / slot_bytes ||
			    alloc_begins_slot(product, reciprocal) != (offset % slot_bytes == 0))
				fail_msg("slots of %u, offset %u", slot_bytes, offset);
		}
	}
}

int main(void)
{
	alloc_free(alloc_malloc(1));
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_byte_of_a_block_lies_on_the_last_page_of_its_slot),
		cmocka_unit_test(every_offset_of_a_span_finds_its_slot),
		cmocka_unit_test(a_batch_of_discards_may_stop_half_way),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
