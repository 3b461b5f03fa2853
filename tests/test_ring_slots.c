// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Boundary slots of a process that was killed before its publisher drained them.

#include "libtelemetry/attach.h"
#include "libtelemetry/publish/publisher.h"
#include "tests/support/ring_readers.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define SMALL_RING (64u << 10)

static void slots_of_a_dead_process_are_read_after_the_chunk(void **state)
{
	(void)state;
	struct test_ring *ring = test_ring_new(SMALL_RING, true);
	struct test_listener listener;
	test_ring_steps(ring, 25);
	uint64_t n_rows = 0;
	for (uint64_t seq = 1; seq <= ring->n_records; seq++)
		n_rows += test_ring_fields_of(ring, seq) > 0;
	test_ring_claim(ring, "first", true, true);
	test_ring_claim(ring, "never filled", true, false);
	test_ring_claim(ring, "second", false, true);
	test_ring_claim(ring, "third", true, true);
	test_listen_start(&listener, ring, false);
	listener.skips_check = true;
	test_listen(&listener);
	assert_int_equal(listener.state, TELE_KILLED);
	assert_true(listener.next_seq == ring->n_records + 1 + 3 + 2);
	assert_true(listener.n_rows == n_rows + 2);
	test_listen(&listener); // once
	assert_true(listener.n_rows == n_rows + 2);
	test_listen_stop(&listener);
	test_ring_free(ring);
}

static void a_drained_slot_is_not_read_again(void **state)
{
	(void)state;
	struct test_ring *ring = test_ring_new(SMALL_RING, true);
	struct test_listener listener;
	for (int i = 0; i < 70; i++) // once round
		test_ring_claim(ring, "gone", false, true);
	ring->ring.drained = 68;
	test_ring_steps(ring, 5);
	test_listen_start(&listener, ring, false);
	listener.skips_check = true;
	test_listen(&listener);
	assert_true(listener.next_seq == ring->n_records + 1 + 2);
	test_listen_stop(&listener);
	test_ring_free(ring);
}

// A thread ended between claiming and filling; its slot was passed over and
// claimed again, and the process killed before it told so.
static void a_slot_passed_over_does_not_hide_the_others(void **state)
{
	(void)state;
	struct test_ring *ring = test_ring_new(SMALL_RING, true);
	struct test_listener listener;
	test_ring_steps(ring, 25);
	test_ring_claim(ring, "never filled", false, false);
	for (int i = 0; i < 64; i++)
		test_ring_claim(ring, "filled", false, true);
	test_listen_start(&listener, ring, false);
	listener.skips_check = true;
	test_listen(&listener);
	assert_true(listener.next_seq == ring->n_records + 1 + 64);
	test_listen_stop(&listener);
	test_ring_free(ring);
}

static void slots_survive_where_nothing_else_was_published(void **state)
{
	(void)state;
	struct test_ring *ring = test_ring_new(SMALL_RING, true);
	struct test_listener listener;
	test_ring_claim(ring, "all there is", true, true);
	test_listen_start(&listener, ring, false);
	listener.skips_check = true;
	test_listen(&listener);
	assert_int_equal(listener.n_events, 1);
	test_listen_stop(&listener);
	test_ring_free(ring);
}

// Killed between the start of a chunk and its first row: the boundary lies over
// the last sealed row.
static void slots_are_laid_over_a_row_that_is_sealed(void **state)
{
	(void)state;
	static uint64_t row[TELE_FIELDS_MAX];
	uint32_t n_fields;
	uint64_t seq;
	struct test_ring *ring = test_ring_new(SMALL_RING, true);
	struct test_listener listener;
	test_ring_steps(ring, 25);
	tele_ring_seal(&ring->ring);
	test_ring_claim(ring, "after the seal", true, true);
	struct tele_attach *attach = test_attach_to(ring);
	assert_int_equal(tele_attach_latest(attach, row, TELE_FIELDS_MAX, &n_fields, &seq, NULL), 0);
	assert_true(seq == ring->n_records + 2);
	assert_int_equal(n_fields, ring->plan.n_fields);
	for (uint32_t f = tele_builtin_sections[TELE_SECTION_HOST].first_id; f < TELE_ID_COUNT; f++)
		if (f < n_fields && tele_builtin_fields[f].section == TELE_SECTION_HOST)
			assert_true(row[f] == ring->row[f]);
	assert_true(row[tele_builtin_sections[TELE_SECTION_CENSUS].first_id + 1] == 1024);
	tele_attach_close(attach);
	test_listen_start(&listener, ring, false);
	listener.skips_check = true;
	test_listen(&listener);
	assert_true(listener.next_seq == ring->n_records + 3);
	test_listen_stop(&listener);
	test_ring_free(ring);
}

// The same from a recorder's side: chunk and slots are two provisional blocks.
static void a_recorder_gets_slots_of_the_dead_as_a_block(void **state)
{
	(void)state;
	struct test_ring *ring = test_ring_new(SMALL_RING, true);
	struct tele_attach *attach = test_attach_to(ring);
	struct test_kept kept = {0};
	test_ring_steps(ring, 25);
	for (int i = 0; i < 64; i++)
		test_ring_claim(ring, "slot", true, true);
	test_keep(attach, &kept, true);
	assert_int_equal(kept.n_provisional, 2);
	assert_true(kept.provisional_end == ring->n_records + 1 + 64 * 2);
	tele_attach_close(attach);
	test_ring_free(ring);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slots_of_a_dead_process_are_read_after_the_chunk),
		cmocka_unit_test(a_drained_slot_is_not_read_again),
		cmocka_unit_test(a_slot_passed_over_does_not_hide_the_others),
		cmocka_unit_test(slots_survive_where_nothing_else_was_published),
		cmocka_unit_test(slots_are_laid_over_a_row_that_is_sealed),
		cmocka_unit_test(a_recorder_gets_slots_of_the_dead_as_a_block),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
