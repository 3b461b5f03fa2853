// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// How long the tests may take: tests/run says it in ROLLCALL_TEST_MODE. Without
// it they are what `make test` runs.

#ifndef TESTS_SUPPORT_MODE_H
#define TESTS_SUPPORT_MODE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static inline bool test_mode_is(const char *name)
{
	const char *mode = getenv("ROLLCALL_TEST_MODE");
	return mode && strcmp(mode, name) == 0;
}

// For every commit.
static inline bool test_is_quick(void)
{
	return test_mode_is("quick");
}

// As long as it takes to try everything.
static inline bool test_is_soak(void)
{
	return test_mode_is("soak");
}

static inline uint64_t test_by_mode(uint64_t quick, uint64_t full, uint64_t soak)
{
	return test_is_quick() ? quick : test_is_soak() ? soak : full;
}

#endif
