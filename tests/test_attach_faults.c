// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Readers of segments in the states that a writer leaves behind for a moment
// only, and of such as no writer of ours makes.

#include "libtelemetry/attach.h"
#include "libtelemetry/publish/publisher.h"
#include "tests/support/ring_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char *tmpfs(void)
{
	return access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
}

static struct tele_attach *attach_to(const struct test_ring *ring)
{
	struct tele_attach *attach;
	struct tele_error error = {0};
	if (tele_attach_open(ring->file.path, &attach, &error) != 0)
		fail_msg("%s", error.text);
	return attach;
}

// Killed after a chunk was sealed: the row that a boundary is laid over is the
// latest one, since none is open.
static void a_boundary_after_a_seal_is_laid_over_the_latest_row(void **state)
{
	(void)state;
	struct test_ring *ring = test_ring_new(tmpfs(), TELE_RING_BYTES_MIN, true);
	static uint64_t row[TELE_FIELDS_MAX];
	uint32_t n_fields;
	uint64_t seq;
	test_ring_steps(ring, 25);
	tele_ring_seal(&ring->ring);
	test_ring_claim(ring, "boundary", true, true);
	struct tele_attach *attach = attach_to(ring);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_boundary_after_a_seal_is_laid_over_the_latest_row),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
