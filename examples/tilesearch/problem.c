// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The inputs are uniform in -1..1, so an element of C is a sum of n terms of
// random sign: rounding it in float costs some 1e-6 times the root of n, and
// rounding B to 8 bits of mantissa some 1e-3. The tolerance lies between.

#include "problem.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "schedule.h"

static void fill(float *matrix, size_t elements, struct common_random *random)
{
	for (size_t i = 0; i < elements; i++)
		matrix[i] = (float)common_random_below(random, 1u << 24) / (float)(1u << 23) - 1.0f;
}

static int multiply(float *c, const float *a, const float *b, unsigned n)
{
	double *row = malloc(n * sizeof(*row));

	if (!row)
		return -ENOMEM;
	for (unsigned i = 0; i < n; i++) {
		memset(row, 0, n * sizeof(*row));
		for (unsigned k = 0; k < n; k++) {
			double factor = (double)a[(size_t)i * n + k];
			for (unsigned j = 0; j < n; j++)
				row[j] += factor * (double)b[(size_t)k * n + j];
		}
		for (unsigned j = 0; j < n; j++)
			c[(size_t)i * n + j] = (float)row[j];
	}
	free(row);
	return 0;
}

int tile_problem_open(struct tile_problem *problem, unsigned n, uint64_t seed)
{
	struct common_random random = { .state = seed ^ n };
	size_t elements = (size_t)n * n, bytes = elements * sizeof(float);

	memset(problem, 0, sizeof(*problem));
	if (tile_pool_open(&problem->a, ROLLCALL_CONSTANT, bytes, NULL) < 0 ||
			tile_pool_open(&problem->b, ROLLCALL_CONSTANT, bytes, NULL) < 0 ||
			tile_pool_open(&problem->c, ROLLCALL_CONSTANT, bytes, NULL) < 0)
		goto fail;
	problem->n = n;
	problem->tolerance = 1e-4f * sqrtf((float)n);
	fill(problem->a.memory, elements, &random);
	fill(problem->b.memory, elements, &random);
	if (multiply(problem->c.memory, problem->a.memory, problem->b.memory, n) < 0)
		goto fail;
	return 0;
fail:
	tile_problem_close(problem);
	return -ENOMEM;
}

void tile_problem_close(struct tile_problem *problem)
{
	tile_pool_close(&problem->a);
	tile_pool_close(&problem->b);
	tile_pool_close(&problem->c);
}

void tile_problem_abandon(struct tile_problem *problem)
{
	tile_pool_abandon(&problem->a);
	tile_pool_abandon(&problem->b);
	tile_pool_abandon(&problem->c);
}

float tile_problem_error(const struct tile_problem *problem, const float *c)
{
	const float *reference = problem->c.memory;
	float worst = 0.0f;

	for (size_t i = 0; i < (size_t)problem->n * problem->n; i++) {
		float error = fabsf(c[i] - reference[i]);
		if (isnan(error))
			return INFINITY;
		worst = error > worst ? error : worst;
	}
	return worst;
}
