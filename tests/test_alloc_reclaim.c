// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// How pages go back: by whole batches, and by passes of the slow path's own.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "alloc_shim.h"
#include "support/heap_books.h"
#include "support/in_child.h"

#include "../alloc/alloc.h"
#include "../alloc/classes.h"
#include "../alloc/config.h"
#include "../alloc/reclaim.h"
#include "../alloc/span.h"

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

// Leaves every other page of a span free and lets the publisher give it back.
static void give_many_pages_back(void)
{
	enum { N = 20000 };
	static void *blocks[N];
	for (int i = 0; i < N; i++) {
		blocks[i] = alloc_malloc(1024);
		CHECK(blocks[i] != NULL);
		memset(blocks[i], 1, 1024);
	}
	for (int i = 0; i < N; i++)
		if (i % 8 > 3)
			alloc_free(blocks[i]);
	alloc_config.decay_ns = 1;
	for (int pass = 0; pass < 2; pass++) {
		usleep(5000); // the clock is coarse
		alloc_reclaim_tick(true);
	}
	CHECK(read_books().returned_bytes > (size_t)N * 1024 / 3);
}

// Of a class with many holes the pages behind those that refills will fill go
// at once, and only of such a class.
static void an_early_pass_gives_back_what_nobody_will_want_soon(void **state)
{
	(void)state;
	enum { N = 40000, FEW = 500 };
	static void *blocks[N];
	uint64_t decay_ns = alloc_config.decay_ns;
	alloc_trim(0);
	for (int i = 0; i < N; i++)
		memset(blocks[i] = alloc_malloc(i < FEW ? 2048 : 1024), 1, 1024);
	alloc_config.decay_ns = 1;
	usleep(5000); // the clock is coarse
	alloc_reclaim_tend();
	for (int i = 0; i < FEW; i++)
		alloc_free(blocks[i]);
	usleep(5000);
	alloc_reclaim_tend();
	uint64_t before_bytes = read_books().returned_bytes;
	for (int i = FEW; i < N; i++)
		if (i % 8 > 3)
			alloc_free(blocks[i]);
	alloc_reclaim_tend(); // too soon after the last
	alloc_config.decay_ns = decay_ns;
	alloc_reclaim_tend();
	assert_int_equal(read_books().returned_bytes, before_bytes);
	alloc_config.decay_ns = 1;
	for (int pass = 0; pass < 2; pass++) {
		usleep(5000);
		alloc_reclaim_tend();
	}
	assert_true(read_books().returned_bytes > before_bytes + (uint64_t)N * 1024 / 3);
	audit();
	alloc_config.decay_ns = decay_ns;
	for (int i = FEW; i < N; i++)
		if (i % 8 <= 3)
			alloc_free(blocks[i]);
	alloc_trim(0);
}

// Who turns much over where there are holes asks for such a pass, nobody else.
static void refills_of_holes_ask_for_an_early_pass(void **state)
{
	(void)state;
	enum { N = 40000 };
	static void *blocks[N];
	alloc_trim(0);
	uint32_t before = shim_tends;
	for (int i = 0; i < N; i++)
		blocks[i] = alloc_malloc(1024);
	assert_int_equal(shim_tends, before);
	for (int i = 0; i < N; i += 2)
		alloc_free(blocks[i]);
	for (int i = 0; i < N; i += 2)
		blocks[i] = alloc_malloc(1024);
	assert_in_range(shim_tends, before + 1, before + 2); // 20 MB of 40, by 8 MiB at least
	for (int i = 0; i < N; i++)
		alloc_free(blocks[i]);
	alloc_trim(0);
}

// As a program that is run by one with a filter has it on all of its threads.
IN_CHILD(a_filter_that_kills_for_the_call_of_many_kills_nobody)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_madvise, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {.len = sizeof(code) / sizeof(code[0]), .filter = code};
	CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0);
	give_many_pages_back();
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
		cmocka_unit_test(an_early_pass_gives_back_what_nobody_will_want_soon),
		cmocka_unit_test(refills_of_holes_ask_for_an_early_pass),
		cmocka_unit_test(a_filter_that_kills_for_the_call_of_many_kills_nobody),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
