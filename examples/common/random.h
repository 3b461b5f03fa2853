// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The random numbers of one search: the same seed gives the same ones anywhere.

#ifndef COMMON_RANDOM_H
#define COMMON_RANDOM_H

#include <stdint.h>

struct common_random {
	uint64_t state;
};

// A number below `bound` (> 0).
static inline uint32_t common_random_below(struct common_random *random, uint32_t bound)
{
	uint64_t mixed = random->state += UINT64_C(0x9e3779b97f4a7c15);

	mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
	mixed ^= mixed >> 31;
	return (uint32_t)(((mixed >> 32) * bound) >> 32);
}

#endif
