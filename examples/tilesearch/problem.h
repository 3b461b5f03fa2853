// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What every candidate of a phase is given: two matrices and their product.

#ifndef TILE_PROBLEM_H
#define TILE_PROBLEM_H

#include "resource.h"

struct tile_problem {
	unsigned n;            // rows and columns
	float tolerance;       // of one element of C
	struct tile_pool a, b; // constant pools of n * n floats
	struct tile_pool c;    // the reference, computed in double precision
};

// Fills a and b from the seed and multiplies them. Returns 0 or -ENOMEM.
int tile_problem_open(struct tile_problem *problem, unsigned n, uint64_t seed);
void tile_problem_close(struct tile_problem *problem);

// Forgets the pools without freeing them.
void tile_problem_abandon(struct tile_problem *problem);

// The largest difference between c and the reference; infinite for a NaN.
float tile_problem_error(const struct tile_problem *problem, const float *c);

#endif
