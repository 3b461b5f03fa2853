// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What every file of the project may use: the assertion that ships switched
// on, the unknown value, small arithmetic, and the list of banned functions.

#ifndef TELE_BASE_H
#define TELE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The reading of a field that nobody could take. Never shown as a number and
// never added to anything.
#define TELE_UNKNOWN UINT64_MAX

#define TELE_ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define TELE_STRINGIFY_(x) #x
#define TELE_STRINGIFY(x) TELE_STRINGIFY_(x)

#define TELE_LIKELY(x) __builtin_expect(!!(x), 1)
#define TELE_UNLIKELY(x) __builtin_expect(!!(x), 0)

// Names what is visible outside a shared object; everything else is hidden.
#define TELE_EXPORT __attribute__((visibility("default")))

// Writes one line to descriptor 2 with write(2) and aborts. Async-signal safe
// and free of malloc, so that it may be called inside any process.
_Noreturn void tele_assert_failed(const char *expression, const char *file, int line);

// Checks our own state, always on. Foreign bytes are never asserted.
#define TELE_ASSERT(expr) \
	(TELE_LIKELY(expr) ? (void)0 : tele_assert_failed(#expr, __FILE__, __LINE__))

static inline size_t tele_align_up(size_t value, size_t power_of_two)
{
	return (value + power_of_two - 1) & ~(power_of_two - 1);
}

static inline uint64_t tele_min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t tele_max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

#endif
