// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A history is a row of cells, each the summary of equally many points. When
// all cells are full, neighbours are merged and cells hold twice as many: so
// the number of cells stays between 64 and 128 for ever and each cell keeps
// its exact lowest and highest point. Beside the cells stand the figures that
// cannot be had from them: how often and how far y rose and fell.
//
// Invariant: every cell but the last holds points_per_cell points.

#include "history.h"

#include <math.h>

#include "../libtelemetry/banned.h"

void analysis_history_init(struct analysis_history *history)
{
	// A cell is whole once it counts; those beyond are never read.
	memset(history, 0, offsetof(struct analysis_history, cells));
	history->points_per_cell = 1;
}

void analysis_history_restart(struct analysis_history *history)
{
	uint64_t left_out = history->n_left_out + analysis_history_points(history);
	uint32_t gaps = history->n_gaps, restarts = history->n_index_restarts;

	analysis_history_init(history);
	history->n_left_out = left_out;
	history->n_gaps = gaps;
	history->n_index_restarts = restarts;
}

uint64_t analysis_history_points(const struct analysis_history *history)
{
	return history->n_points + history->has_pending;
}

// The usual distance of two points, for where the real one says nothing.
static double mean_step_x(const struct analysis_history *history)
{
	return history->n_points > 1 ? history->last_x / (double)(history->n_points - 1) : 1;
}

static void merge_pairs(struct analysis_history *history)
{
	for (uint32_t i = 0; i < ANALYSIS_CELLS / 2; i++) {
		const struct analysis_cell a = history->cells[2 * i], b = history->cells[2 * i + 1];

		history->cells[i] = (struct analysis_cell){
			.n = a.n + b.n,
			.sum_x = a.sum_x + b.sum_x,
			.sum_y = a.sum_y + b.sum_y,
			.low_y = a.low_y <= b.low_y ? a.low_y : b.low_y,
			.low_x = a.low_y <= b.low_y ? a.low_x : b.low_x,
			.high_y = a.high_y >= b.high_y ? a.high_y : b.high_y,
			.high_x = a.high_y >= b.high_y ? a.high_x : b.high_x,
		};
	}
	history->n_cells = ANALYSIS_CELLS / 2;
	history->points_per_cell *= 2;
}

static void add_to_cells(struct analysis_history *history, double x, double y)
{
	struct analysis_cell *last = history->n_cells ? &history->cells[history->n_cells - 1] : NULL;

	if (!last || last->n >= history->points_per_cell) {
		if (history->n_cells == ANALYSIS_CELLS)
			merge_pairs(history);
		last = &history->cells[history->n_cells++];
		*last = (struct analysis_cell){1, x, y, y, x, y, x};
		return;
	}
	last->n += 1;
	last->sum_x += x;
	last->sum_y += y;
	if (y < last->low_y) {
		last->low_y = y;
		last->low_x = x;
	}
	if (y > last->high_y) {
		last->high_y = y;
		last->high_x = x;
	}
}

static void count_change(struct analysis_history *history, double x, double change)
{
	if (change > 0) {
		if (history->n_rises < ANALYSIS_RISES_KEPT)
			history->rise_x[history->n_rises] = x;
		if (history->n_rises == 0)
			history->first_rise_x = x;
		history->last_rise_x = x;
		history->n_rises++;
		history->sum_rises += change;
		history->largest_rise = fmax(history->largest_rise, change);
	} else if (change < 0) {
		history->n_falls++;
		history->largest_fall = fmax(history->largest_fall, -change);
	}
}

void analysis_history_flush(struct analysis_history *history)
{
	if (!history->has_pending)
		return;
	if (history->n_points == 0) {
		history->first_x = history->pending_x;
		history->first_y = history->pending_y;
	}
	double x = history->pending_x - history->first_x;
	double y = history->pending_y - history->first_y;

	if (history->n_points > 0) {
		if (history->gap_ahead) {
			double next_x = history->last_x + mean_step_x(history);
			history->shift_x += next_x - x;
			x = next_x;
		} else {
			count_change(history, x, y - history->last_y);
		}
		history->gap_ahead = false;
	}
	history->low_y = fmin(history->low_y, y);
	history->high_y = fmax(history->high_y, y);
	history->draw_down = fmax(history->draw_down, history->high_y - y);
	add_to_cells(history, x, y);
	history->last_x = x;
	history->last_y = y;
	history->n_points++;
	history->has_pending = false;
}

void analysis_history_add(struct analysis_history *history, double x, double y, bool is_settled)
{
	x += history->shift_x;
	if (history->has_pending && x <= history->pending_x) {
		if (x == history->pending_x) {
			if (is_settled || !history->pending_is_settled) {
				history->pending_y = y;
				history->pending_is_settled = is_settled;
			}
			return;
		}
		history->n_index_restarts++;
		analysis_history_flush(history);
		double next_x = history->first_x + history->last_x + mean_step_x(history);
		history->shift_x += next_x - x;
		x = next_x;
	} else {
		// A flush that takes out a gap moves the axis under this x too.
		double shift_x = history->shift_x;
		analysis_history_flush(history);
		x += history->shift_x - shift_x;
	}
	history->pending_x = x;
	history->pending_y = y;
	history->has_pending = true;
	history->pending_is_settled = is_settled;
}

void analysis_history_gap(struct analysis_history *history)
{
	if (analysis_history_points(history) == 0)
		return;
	analysis_history_flush(history);
	history->gap_ahead = true;
	history->n_gaps++;
}
