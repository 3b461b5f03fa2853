// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Random series with a known answer, for the tests and the simulation of the
// verdict. Noise has standard deviation 1 unless the kind says otherwise.

#ifndef SUPPORT_NOISE_H
#define SUPPORT_NOISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SERIES_POINTS_MAX 20000

struct series_rng {
	uint64_t state[2];
	double spare;
	bool has_spare;
};

void series_seed(struct series_rng *rng, uint64_t seed);
double series_uniform(struct series_rng *rng); // [0, 1)
double series_gauss(struct series_rng *rng);

enum series_class {
	SERIES_QUIET,       // at most 1 % may be called growing or stepping
	SERIES_QUIET_LEVEL, // phases of different level: at most 2 %
	SERIES_HARD,        // quiet, but cannot be told from growth: reported only
	SERIES_SHARP,       // has a slope
};

// One kind: fills y[0..n) and, for a sharp kind, *ret_slope with the true slope
// of the floor per point at the end of the series.
struct series_kind {
	const char *name;
	enum series_class class;
	void (*make)(struct series_rng *rng, size_t n, double parameter, double *y, double *ret_slope);
	double parameter;
};

extern const struct series_kind series_kinds[];
extern const size_t series_kinds_count;

// The kind of that name, or NULL.
const struct series_kind *series_find(const char *name);

#endif
