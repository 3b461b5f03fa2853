// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers

#include "recorder/follower.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static void count(void *context, uint64_t instance_id)
{
	(void)instance_id;
	++*(unsigned *)context;
}

static void a_week_of_short_processes_needs_the_memory_of_a_few(void **state)
{
	(void)state;
	struct rec_followers followers = {0};
	unsigned n_forgotten = 0;
	for (uint64_t i = 1; i <= 100000; i++) {
		bool is_new;
		for (size_t k = 0; k < followers.n_items; k++)
			followers.items[k]->is_there = k % 2;
		struct rec_follower *follower =
			rec_followers_need(&followers, i * UINT64_C(0x9e3779b97f4a7c15), &is_new);
		assert_true(follower && is_new);
		follower->is_there = true;
		follower->is_wanted = i % 3 == 0;
		follower->n_rows = 2;
		follower->lost = 1;
		rec_followers_prune(&followers, count, &n_forgotten);
		assert_ptr_equal(rec_followers_find(&followers, i * UINT64_C(0x9e3779b97f4a7c15)), follower);
		assert_true(followers.n_items < 64);
	}
	assert_true(followers.capacity <= 64);
	for (size_t k = 0; k < followers.n_items; k++)
		followers.items[k]->is_there = false;
	rec_followers_prune(&followers, count, &n_forgotten);
	assert_int_equal(followers.n_items, 0);
	assert_int_equal(n_forgotten, 33333);
	assert_int_equal(followers.n_processes, 33333);
	assert_int_equal(followers.n_rows, 2 * 33333);
	assert_int_equal(followers.lost, 33333);
	rec_followers_fini(&followers);
}

static void the_next_program_of_a_process_is_waited_for(void **state)
{
	(void)state;
	struct rec_followers followers = {0};
	bool is_new;
	struct rec_follower *follower = rec_followers_need(&followers, 7, &is_new);
	assert_ptr_equal(rec_followers_need(&followers, 7, &is_new), follower);
	assert_false(is_new);
	follower->may_return = follower->is_done = true;
	follower->pid = (uint64_t)getpid();
	follower->start_ticks = 1; // not ours: we did not start with the machine
	rec_followers_prune(&followers, NULL, NULL);
	assert_int_equal(followers.n_items, 0);
	rec_followers_fini(&followers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_week_of_short_processes_needs_the_memory_of_a_few),
		cmocka_unit_test(the_next_program_of_a_process_is_waited_for),
	};
	return cmocka_run_group_tests_name("follower", tests, NULL, NULL);
}
