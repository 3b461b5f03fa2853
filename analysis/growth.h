// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The judge: what a history is, said only as far as its points carry it.

#ifndef ANALYSIS_GROWTH_H
#define ANALYSIS_GROWTH_H

#include "history.h"

enum analysis_shape {
	ANALYSIS_NOT_ENOUGH_DATA,
	ANALYSIS_FLAT,
	ANALYSIS_ONE_TIME, // a step, then flat
	ANALYSIS_BOUNDED,  // a plateau, or swings in a band, or teeth on a flat floor
	ANALYSIS_GROWING,  // its floor rises
	ANALYSIS_STEPPING, // grows by rare steps
	ANALYSIS_DRAINING,
	ANALYSIS_SHAPE_COUNT
};

// All slopes are in y per x, of the floor. They are 0 for a shape that has
// none (not_enough_data, flat, one_time, bounded).
struct analysis_growth {
	enum analysis_shape shape;
	double slope;
	double slope_low, slope_high; // 95 %
	uint64_t points;  // that the verdict rests on
	double window;    // their extent in x
	double low, high; // band of y in the window, behind the last break if it has stopped
	double first, last; // y
	double level_high;  // where the peaks of the last quarter are: what hits a limit
	double step_height; // stepping: the mean step; one_time: the step
	double step_gap;    // stepping: mean distance of steps in x
	double from;        // x where the window starts, in the history's own x
	uint32_t n_gaps, n_index_restarts; // what was left out
	uint64_t n_left_out;
};

// Judges all points of the history, the pending one included. Pure: the same
// history gives the same answer to the last digit. Takes about 20 us.
void analysis_judge(const struct analysis_history *history, struct analysis_growth *ret);

// Widens the band of a bounded history that was judged some points ago by the
// points since, so that it never leaves out what is there now.
void analysis_growth_widen(const struct analysis_history *history, struct analysis_growth *growth);

// The verdict for a series that a part of the candidates makes grow for
// certain: by `left` in all, over n of them.
void analysis_grow_by_leak(const struct analysis_history *history, double left, double n, struct analysis_growth *ret);

// "growing", ... as JSON spells it; "?" beyond the range.
const char *analysis_shape_name(unsigned shape);

// Whether the shape grows without an end in sight: growing or stepping.
bool analysis_shape_grows(enum analysis_shape shape);

// The slope of the history over the part of x from `from` on, by the linear
// estimator of a fixed rho: the same weights for all histories with the same
// x, so that slopes of parts add up to the slope of their sum.
// False if there are too few points.
bool analysis_slope_from(const struct analysis_history *history, double from, double rho, double *ret_slope);

// The rho that analysis_judge's mean slope used from `from` on, to hand to
// analysis_slope_from.
double analysis_rho_from(const struct analysis_history *history, double from);

#endif
