// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Finding segments among many, some of them a nuisance, and removing exactly
// the file that was judged.

#include "libtelemetry/discover.h"
#include "tests/support/ring_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void copy_file(const char *from, const char *to)
{
	static uint8_t bytes[2u << 20];
	int in = open(from, O_RDONLY);
	int out = open(to, O_WRONLY | O_CREAT | O_EXCL, 0600);
	assert_true(in >= 0 && out >= 0);
	ssize_t n = read(in, bytes, sizeof(bytes));
	assert_true(n > 0 && write(out, bytes, (size_t)n) == n);
	close(in);
	close(out);
}

static void who_wants_less_than_the_share_gets_it_all(void **state)
{
	(void)state;
	const uint32_t few[] = {3, 5, 2};
	assert_true(tele_fair_share(few, 3, 10) >= 5);
	// One with a million beside two with what they need.
	const uint32_t greedy[] = {1000000, 50, 7};
	assert_int_equal(tele_fair_share(greedy, 3, 957), 900);
	const uint32_t equal[] = {100, 100, 100};
	assert_int_equal(tele_fair_share(equal, 3, 100), 33);
	uint32_t crowd[200];
	for (unsigned i = 0; i < 200; i++)
		crowd[i] = i;
	uint32_t share = tele_fair_share(crowd, 200, 1000);
	uint64_t sum = 0;
	for (unsigned i = 0; i < 200; i++)
		sum += tele_min_u64(crowd[i], share);
	assert_true(sum <= 1000 && sum > 1000 - 200);
	assert_int_equal(tele_fair_share(crowd, 200, 0), 0);
}

// More files than descriptors: what is read is read, and the rest is said.
static void more_segments_than_descriptors_are_told(void **state)
{
	(void)state;
	struct tele_found_list list = {0};
	struct rlimit before, limit;
	char path[600];
	struct test_ring *ring = test_ring_new(TELE_RING_BYTES_MIN, false);
	for (unsigned i = 0; i < 90; i++) {
		snprintf(path, sizeof(path), "%s/1.%016x.rcs", ring->directory, i + 1);
		int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
		assert_true(fd >= 0);
		close(fd);
	}
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	limit = before;
	limit.rlim_cur = 100;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	for (unsigned round = 0; round < 3; round++) {
		assert_true(tele_discover(ring->directory, &list, NULL) >= 0);
		assert_int_equal(list.n_items, 64 + 1);
		unsigned n_told = 0;
		for (size_t i = 0; i < list.n_items; i++)
			n_told += list.items[i].error.code == TELE_ELIMIT &&
				  strcmp(list.items[i].path, ring->directory) == 0;
		assert_int_equal(n_told, 1);
	}
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_true(tele_discover(ring->directory, &list, NULL) > 0);
	assert_int_equal(list.n_items, 91);
	tele_found_list_close(&list);
	for (unsigned i = 0; i < 90; i++) {
		snprintf(path, sizeof(path), "%s/1.%016x.rcs", ring->directory, i + 1);
		unlink(path);
	}
	test_ring_free(ring);
}

static void find_one(const struct test_ring *ring, struct tele_found_list *list)
{
	assert_true(tele_discover(ring->directory, list, NULL) > 0);
	assert_int_equal(list->n_items, 1);
	assert_non_null(list->items[0].attach);
}

static void what_is_removed_is_the_file_that_was_judged(void **state)
{
	(void)state;
	char aside[600];
	struct tele_error error = {0};
	struct tele_found_list list = {0};
	struct test_ring *ring = test_ring_new(TELE_RING_BYTES_MIN, true);
	test_ring_steps(ring, 5);
	find_one(ring, &list);
	snprintf(aside, sizeof(aside), "%s/aside", ring->directory);
	// Another file has taken the name.
	assert_int_equal(rename(ring->file.path, aside), 0);
	copy_file(aside, ring->file.path);
	assert_int_equal(tele_found_remove(&list.items[0], &error), TELE_EUNSAFE);
	assert_int_equal(access(ring->file.path, F_OK), 0);
	assert_int_equal(unlink(ring->file.path), 0);
	// A link has.
	assert_int_equal(symlink(aside, ring->file.path), 0);
	assert_int_equal(tele_found_remove(&list.items[0], &error), TELE_EUNSAFE);
	assert_int_equal(access(aside, F_OK), 0);
	assert_int_equal(unlink(ring->file.path), 0);
	assert_int_equal(tele_found_remove(&list.items[0], &error), -ENOENT);
	assert_int_equal(rename(aside, ring->file.path), 0);
	assert_int_equal(tele_found_remove(&list.items[0], &error), 0);
	assert_int_equal(access(ring->file.path, F_OK), -1);
	tele_found_list_close(&list);
	test_ring_free(ring);
}

static void a_directory_that_became_a_link_is_not_followed(void **state)
{
	(void)state;
	char moved[200];
	struct tele_error error = {0};
	struct tele_found_list list = {0};
	struct test_ring *ring = test_ring_new(TELE_RING_BYTES_MIN, true);
	test_ring_steps(ring, 5);
	find_one(ring, &list);
	snprintf(moved, sizeof(moved), "%s.moved", ring->directory);
	assert_int_equal(rename(ring->directory, moved), 0);
	assert_int_equal(symlink(moved, ring->directory), 0);
	assert_true(tele_found_remove(&list.items[0], &error) < 0);
	assert_int_equal(unlink(ring->directory), 0);
	assert_int_equal(rename(moved, ring->directory), 0);
	assert_int_equal(access(ring->file.path, F_OK), 0);
	assert_int_equal(chmod(ring->directory, 0777), 0);
	assert_int_equal(tele_found_remove(&list.items[0], &error), TELE_EUNSAFE);
	assert_int_equal(chmod(ring->directory, 0700), 0);
	tele_found_list_close(&list);
	test_ring_free(ring);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_wants_less_than_the_share_gets_it_all),
		cmocka_unit_test(more_segments_than_descriptors_are_told),
		cmocka_unit_test(what_is_removed_is_the_file_that_was_judged),
		cmocka_unit_test(a_directory_that_became_a_link_is_not_followed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
