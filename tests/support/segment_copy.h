// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A copy of a whole segment of a process that is gone, to be damaged and read.

#ifndef TESTS_SUPPORT_SEGMENT_COPY_H
#define TESTS_SUPPORT_SEGMENT_COPY_H

#include "tests/support/ring_fixture.h"

struct test_copy {
	struct test_ring *ring; // what it is a copy of: it has wrapped and grown, and has slots
	uint8_t *whole;		// its bytes
	size_t whole_bytes;
	char path[TEST_PATH_BYTES];
	int fd; // of the copy
};

// Setup and teardown of a group; *state is the copy.
int test_copy_make(void **state);
int test_copy_drop(void **state);

// Writes into the copy, or what was there.
void test_copy_put(const struct test_copy *copy, size_t offset, const void *bytes, size_t n_bytes);
void test_copy_restore(const struct test_copy *copy, size_t offset, size_t n_bytes);

// Reads the records of the copy as a monitor does, and its blocks as a recorder.
// Returns how many, 0 where it is refused; fails the test where they do not end.
uint64_t test_copy_records(const struct test_copy *copy, bool from_now);
uint64_t test_copy_blocks(const struct test_copy *copy);

// Everything that a reader does with a segment.
void test_copy_read(const struct test_copy *copy);

#endif
