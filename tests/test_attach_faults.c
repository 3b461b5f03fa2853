// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Readers of segments in the states that a writer leaves behind for a moment
// only, and of such as no writer of ours makes.

#include "libtelemetry/attach.h"
#include "libtelemetry/discover.h"
#include "libtelemetry/publish/publisher.h"
#include "tests/support/ring_readers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/skip.h"

// Killed after a chunk was sealed: the row that a boundary is laid over is the
// latest one, since none is open.
static void a_boundary_after_a_seal_is_laid_over_the_latest_row(void **state)
{
	(void)state;
	struct test_ring *ring = test_ring_new(TELE_RING_BYTES_MIN, true);
	static uint64_t row[TELE_FIELDS_MAX];
	uint32_t n_fields;
	uint64_t seq;
	test_ring_steps(ring, 25);
	tele_ring_seal(&ring->ring);
	test_ring_claim(ring, "boundary", true, true);
	struct tele_attach *attach = test_attach_to(ring);
	assert_int_equal(tele_attach_instance(attach)->state, TELE_KILLED);
	assert_int_equal(tele_attach_latest(attach, row, TELE_FIELDS_MAX, &n_fields, &seq, NULL), 0);
	assert_true(seq == ring->n_records + 2); // its event comes first
	assert_int_equal(n_fields, ring->plan.n_fields);
	unsigned first = tele_builtin_sections[TELE_SECTION_CENSUS].first_id;
	unsigned end = first + tele_builtin_sections[TELE_SECTION_CENSUS].n_fields;
	for (unsigned f = 1; f < n_fields; f++)
		assert_true(row[f] == (f < first || f >= end ? ring->row[f] : (f - first) * 1024));
	tele_attach_close(attach);
	test_ring_free(ring);
}

// ---- Evidence, states and removal ------------------------------------------------

static _Atomic uint64_t *control_of(const struct test_ring *ring, enum tele_control word)
{
	return (_Atomic uint64_t *)(void *)(ring->file.bytes + ring->file.layout.control_offset) + word;
}

// Killed before the next tick: the publisher has not said yet that there is any.
static void a_boundary_that_nobody_drained_is_evidence(void **state)
{
	(void)state;
	struct test_ring *ring = test_ring_new(TELE_RING_BYTES_MIN, true);
	test_ring_steps(ring, 5);
	struct tele_attach *attach = test_attach_to(ring);
	assert_false(tele_attach_is_evidence(attach));
	test_ring_claim(ring, "candidate", true, true);
	assert_int_equal(tele_attach_refresh(attach, NULL), 0);
	assert_true(tele_attach_is_evidence(attach));
	tele_attach_close(attach);
	test_ring_free(ring);
}

static void a_segment_goes_only_with_an_old_heartbeat(void **state)
{
	(void)state;
	struct test_ring *ring = test_ring_new(TELE_RING_BYTES_MIN, true);
	test_ring_steps(ring, 5);
	struct tele_attach *attach = test_attach_to(ring);
	assert_int_equal(tele_attach_instance(attach)->state, TELE_KILLED);
	assert_false(tele_is_removable(attach));
	atomic_store(control_of(ring, TELE_CONTROL_HEARTBEAT), 1);
	assert_true(tele_is_removable(attach));
	// One that said that it ends needs no second sign.
	test_ring_steps(ring, 1);
	atomic_store(control_of(ring, TELE_CONTROL_STATE), TELE_EXITED);
	assert_true(tele_is_removable(attach));
	tele_attach_close(attach);
	test_ring_free(ring);
}

static void a_segment_cut_off_beneath_a_reader_is_unreadable(void **state)
{
	(void)state;
	struct test_ring *ring = test_ring_new(TELE_RING_BYTES_MIN, false);
	struct tele_attach *attach = test_attach_to(ring);
	struct tele_error error = {0};
	assert_int_equal(truncate(ring->file.path, 100), 0);
	assert_int_equal(tele_attach_refresh(attach, &error), TELE_ETRUNCATED);
	assert_int_equal(tele_attach_instance(attach)->state, TELE_UNREADABLE);
	assert_false(tele_is_removable(attach));
	tele_attach_close(attach);
	assert_int_equal(truncate(ring->file.path, (off_t)ring->file.layout.segment_bytes), 0);
	test_ring_free(ring);
}

static void a_file_of_another_owner_is_refused_by_name(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip_because("needs root");
	struct test_ring *ring = test_ring_new(TELE_RING_BYTES_MIN, false);
	struct tele_found_list list = {0};
	assert_int_equal(chown(ring->file.path, 4711, (gid_t)-1), 0);
	assert_int_equal(tele_discover(ring->directory, &list, NULL), 1);
	assert_null(list.items[0].attach);
	assert_int_equal(list.items[0].error.code, TELE_EUNSAFE);
	assert_non_null(strstr(list.items[0].error.text, ring->file.path));
	assert_int_equal(chown(ring->file.path, 0, (gid_t)-1), 0);
	assert_int_equal(tele_discover(ring->directory, &list, NULL), 1);
	assert_non_null(list.items[0].attach);
	assert_int_equal(list.items[0].error.code, 0);
	tele_found_list_close(&list);
	test_ring_free(ring);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_boundary_that_nobody_drained_is_evidence),
		cmocka_unit_test(a_segment_goes_only_with_an_old_heartbeat),
		cmocka_unit_test(a_segment_cut_off_beneath_a_reader_is_unreadable),
		cmocka_unit_test(a_file_of_another_owner_is_refused_by_name),
		cmocka_unit_test(a_boundary_after_a_seal_is_laid_over_the_latest_row),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
