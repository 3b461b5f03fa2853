// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The books of the heap under test, which balance whenever they are read.
// After alloc_shim.h, which counts what is mapped.

#ifndef TESTS_SUPPORT_HEAP_BOOKS_H
#define TESTS_SUPPORT_HEAP_BOOKS_H

#include "../../alloc/audit.h"
#include "../../alloc/walk.h"
#include "../alloc_shim.h"

#define MIB ((size_t)1 << 20)
#define GIB ((size_t)1 << 30)

static inline struct alloc_books read_books(void)
{
	struct alloc_reading reading;
	alloc_walk(&reading, NULL);
	assert_true(alloc_books_balanced(&reading.books));
	assert_true(reading.settled);
	assert_int_equal(reading.books.mapped_bytes, shim_mapped_bytes);
	return reading.books;
}

// A full recount finds no difference.
static inline void audit(void)
{
	const char *difference = "";
	if (alloc_audit(&difference))
		fail_msg("audit: %s", difference);
}

#endif
