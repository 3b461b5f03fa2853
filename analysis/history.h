// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What is remembered of one class along one axis: a bounded summary of any
// number of points (x, y), exact where the judge needs exactness.
//
// A history is plain memory of the caller's (no pointers inside, may be copied
// with =), holds at most ANALYSIS_CELLS cells of equally many points, and costs
// the same for ten points and for ten million. Not thread-safe.

#ifndef ANALYSIS_HISTORY_H
#define ANALYSIS_HISTORY_H

#include "../libtelemetry/base.h"

#define ANALYSIS_CELLS 128
#define ANALYSIS_RISES_KEPT 16

// Some points in a row; y relative to the history's first y, x to its first x.
struct analysis_cell {
	double n;
	double sum_x, sum_y;
	double low_y, low_x; // smallest y and where
	double high_y, high_x; // largest y and where
};

struct analysis_history {
	uint32_t n_cells;         // in use, the last may be open
	uint32_t points_per_cell; // a power of two

	// Over all points, exact. x here has gaps and restarts of the index taken
	// out; first_y is the caller's number, all other y are relative to it.
	uint64_t n_points;
	double first_x, first_y;
	double last_x, last_y;
	double low_y, high_y;
	double draw_down;    // largest fall from the highest y before
	uint64_t n_rises, n_falls;
	double sum_rises;
	double largest_rise, largest_fall;
	double first_rise_x, last_rise_x;
	double rise_x[ANALYSIS_RISES_KEPT]; // of the first rises

	// The point at the newest x, which a later row at that x may still replace.
	double pending_x, pending_y; // pending_y as the caller gave it
	bool has_pending;
	bool pending_is_settled;

	bool gap_ahead; // the next point does not follow the last one
	double shift_x; // added to the caller's x
	uint32_t n_gaps;
	uint32_t n_index_restarts;
	uint64_t n_left_out; // points forgotten by a restart

	// Last, so that a short history touches the first of its pages alone.
	struct analysis_cell cells[ANALYSIS_CELLS];
};

_Static_assert(sizeof(struct analysis_history) <= 8192, "a history stays under 8 KiB");

// Makes an empty history.
void analysis_history_init(struct analysis_history *history);

// Adds a point. There is one point for each distinct x: of several rows at the
// same x the last counts, but a settled row (taken outside candidates, or at a
// candidate's end) is never replaced by one that is not. An x smaller than the
// one before is an index that starts again: it goes on one mean step later,
// and is counted. x and y must be finite.
void analysis_history_add(struct analysis_history *history, double x, double y, bool is_settled);

// Records were lost, or the clock jumped: the way from the last point to the
// next is not evidence. x goes on one mean step later and the difference of y
// counts neither as a rise nor as a fall.
void analysis_history_gap(struct analysis_history *history);

// The source began anew (another process): all points so far are forgotten,
// their number is kept in n_left_out.
void analysis_history_restart(struct analysis_history *history);

// Turns the pending point into one that counts. The judge does this to its own
// copy; nobody else needs to.
void analysis_history_flush(struct analysis_history *history);

// Points so far, the pending one included.
uint64_t analysis_history_points(const struct analysis_history *history);

#endif
