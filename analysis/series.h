// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A history laid out for fitting: one entry a cell, x scaled to [0, 1].

#ifndef ANALYSIS_SERIES_H
#define ANALYSIS_SERIES_H

#include "gls.h"
#include "history.h"

struct analysis_series {
	unsigned n_cells;
	bool never_falls; // no point is below the one before
	bool never_rises;
	double n[ANALYSIS_CELLS];
	double x[ANALYSIS_CELLS];
	double y[ANALYSIS_CELLS]; // mean of the cell, relative to the first point
	double low[ANALYSIS_CELLS], low_x[ANALYSIS_CELLS];
	double high[ANALYSIS_CELLS], high_x[ANALYSIS_CELLS];
};

// An open cell that is less than half full is left out. `history` must have no
// pending point (analysis_history_flush).
void analysis_series_make(const struct analysis_history *history, struct analysis_series *ret);

// The series upside down, so that draining can be judged as growing.
void analysis_series_negate(struct analysis_series *series);

// Highest minus lowest point of cells [from, n_cells).
double analysis_series_range(const struct analysis_series *series, unsigned from);

// y clipped to a band about its own line, so that single outliers cannot carry
// or hide a slope. Returns the share of cells that were not clipped.
double analysis_winsorise(const double *x, const double *y, unsigned m, double *ret_y);

#endif
