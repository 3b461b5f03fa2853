// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The merged live source over files that are copied and moved under its feet:
// models never keep an instance that has gone.

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../monitor/live.h"
#include "../monitor/model.h"
#include "support/ring_fixture.h"

static struct test_ring *ring;
static struct mon_live *live;
static char path[512], other_path[512];

static int start(void **state)
{
	(void)state;
	ring = test_ring_new(1 << 16, false);
	test_ring_steps(ring, 50);
	if (mon_live_open(ring->directory, false, &live, NULL) || mon_live_refresh(live, NULL))
		return -1;
	const struct tele_found_list *found = mon_live_found(live);
	if (found->n_items != 1)
		return -1;
	snprintf(path, sizeof(path), "%s", found->items[0].path);
	snprintf(other_path, sizeof(other_path), "%s/1.00000000000000aa.rcs", ring->directory);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	mon_live_close(live);
	unlink(other_path);
	test_ring_free(ring);
	return 0;
}

// How many records of a kind the source has now.
static unsigned drain(enum tele_record_kind kind)
{
	struct tele_record record;
	unsigned n = 0;
	while (tele_source_next(mon_live_source(live), &record, NULL) == 1)
		n += record.kind == kind;
	return n;
}

static void a_copy_of_a_segment_is_no_second_process(void **state)
{
	uint32_t n_gone;
	(void)state;
	assert_int_equal(drain(TELE_RECORD_INSTANCE), 1);
	char command[1200];
	snprintf(command, sizeof(command), "cp '%s' '%s'", path, other_path);
	assert_int_equal(system(command), 0);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(mon_live_refresh(live, NULL), 0);
		mon_live_gone(live, &n_gone);
		// The copy comes first by name, and is taken once for all.
		assert_int_equal(n_gone, i == 0);
		assert_int_equal(drain(TELE_RECORD_INSTANCE), i == 0);
	}
	assert_int_equal(mon_live_found(live)->n_items, 2);
}

static void a_moved_segment_is_forgotten_and_told_anew(void **state)
{
	uint32_t n_gone;
	(void)state;
	assert_int_equal(drain(TELE_RECORD_INSTANCE), 1);
	assert_int_equal(rename(path, other_path), 0);
	assert_int_equal(mon_live_refresh(live, NULL), 0);
	const uint64_t *gone = mon_live_gone(live, &n_gone);
	assert_int_equal(n_gone, 1);
	assert_int_equal(gone[0], ring->identity.instance_id);
	assert_int_equal(drain(TELE_RECORD_INSTANCE), 1);
	assert_int_equal(mon_live_refresh(live, NULL), 0);
	mon_live_gone(live, &n_gone);
	assert_int_equal(n_gone, 0);
	assert_int_equal(rename(other_path, path), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_copy_of_a_segment_is_no_second_process, start, stop),
		cmocka_unit_test_setup_teardown(a_moved_segment_is_forgotten_and_told_anew, start, stop),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
