// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Signed numbers out of unsigned 64-bit readings: exact sums in a 128-bit
// accumulator of two words, for numbers that may lie anywhere in u64 (at most
// 2^63 of them), and a signed result that may be unknown.

#ifndef ANALYSIS_WIDE_H
#define ANALYSIS_WIDE_H

#include "../libtelemetry/base.h"

struct analysis_wide {
	uint64_t low;
	int64_t high; // the sum is high * 2^64 + low
};

// Adds sign * value; sign is +1 or -1.
static inline void analysis_wide_add(struct analysis_wide *sum, uint64_t value, int sign)
{
	uint64_t before = sum->low;
	if (sign >= 0) {
		sum->low += value;
		sum->high += sum->low < before;
	} else {
		sum->low -= value;
		sum->high -= sum->low > before;
	}
}

// Adds sign * other.
static inline void analysis_wide_add_wide(struct analysis_wide *sum,
					  const struct analysis_wide *other, int sign)
{
	analysis_wide_add(sum, other->low, sign);
	sum->high += sign >= 0 ? other->high : -other->high;
}

// The sum, or the nearest int64_t to it.
static inline int64_t analysis_wide_to_i64(const struct analysis_wide *sum)
{
	if (sum->high == 0 && sum->low <= INT64_MAX)
		return (int64_t)sum->low;
	if (sum->high == -1 && sum->low > INT64_MAX)
		return -(int64_t)(UINT64_MAX - sum->low) - 1;
	return sum->high < 0 ? INT64_MIN : INT64_MAX;
}

// A signed number that may be unknown; `value` is 0 when it is. Saturates.
struct analysis_signed {
	bool is_known;
	int64_t value;
};

// a - b, unknown when one of them is TELE_UNKNOWN.
static inline struct analysis_signed analysis_difference(uint64_t a, uint64_t b)
{
	struct analysis_wide sum = {0, 0};
	if (a == TELE_UNKNOWN || b == TELE_UNKNOWN)
		return (struct analysis_signed){false, 0};
	analysis_wide_add(&sum, a, 1);
	analysis_wide_add(&sum, b, -1);
	return (struct analysis_signed){true, analysis_wide_to_i64(&sum)};
}

#endif
