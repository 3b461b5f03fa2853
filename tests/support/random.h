// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Numbers for tests: a small generator that gives the same on every machine,
// and plans and rows of every shape a codec may meet.

#ifndef TESTS_SUPPORT_RANDOM_H
#define TESTS_SUPPORT_RANDOM_H

#include "libtelemetry/plan.h"

struct test_random {
	uint64_t state;
};

uint64_t test_random_next(struct test_random *random);

// In 0 .. limit - 1; limit is not 0.
uint64_t test_random_below(struct test_random *random, uint64_t limit);

// A plan of n_fields fields of all predictors, shifts and invariants. Field 0
// is the time.
void test_random_plan(struct test_random *random, struct tele_plan *plan, uint32_t n_fields);

// Fills n_rows rows of n_fields values, row_stride words apart: constants,
// counters, jumps, wraps, values that come and go, sums that hold or nearly do.
void test_random_rows(struct test_random *random, const struct tele_plan *plan, uint64_t *rows,
		      size_t row_stride, uint32_t n_fields, uint32_t n_rows);

#endif
