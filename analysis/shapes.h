// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Does a stretch of a series still grow at its end? A competition between
// shapes that do and shapes that have stopped.

#ifndef ANALYSIS_SHAPES_H
#define ANALYSIS_SHAPES_H

#include "series.h"

// The order is that of the fits; the first four still grow at the end.
enum analysis_form {
	ANALYSIS_LINE,
	ANALYSIS_FLAT_THEN_RISING,
	ANALYSIS_TWO_RATES,
	ANALYSIS_LINE_AND_STEP,
	ANALYSIS_STEP,
	ANALYSIS_RISE_THEN_FLAT,
	ANALYSIS_TWO_STEPS,
	ANALYSIS_EXPONENTIAL,
	ANALYSIS_FORM_COUNT
};

// What became of cells [from, n_cells). Slopes are in y per scaled x.
struct analysis_window {
	unsigned from;
	bool was_judged;  // false: fewer than 8 cells
	bool is_growing;
	bool is_up;       // the mean slope alone is significant
	bool is_stopped;  // a shape that has stopped fits best
	bool is_tail;     // the judgement is of a later part of what was asked
	enum analysis_form form;
	unsigned break_at; // first cell after the (last) break of `form`
	double mean_t;     // of the mean slope of the stretch asked for
	double slope, slope_low, slope_high;
	double error; // standard error of slope
};

// Judges cells [from, n_cells); depth is 0 except when it calls itself.
void analysis_window_judge(const struct analysis_series *series, unsigned from, unsigned depth,
			   struct analysis_window *ret);

// The best single step and rise-then-flat of any points: their squared error
// as a share of that of the straight line. Used for the troughs of saw-teeth.
void analysis_stopped_share(const double *x, const double *y, unsigned m, double *ret_step, double *ret_flat);

// Index of the best single step (its first point after), and the share of the
// variance about the mean that it explains. Sets *ret_rise to its height.
unsigned analysis_best_step(const double *y, unsigned m, double *ret_explained, double *ret_rise);

#endif
