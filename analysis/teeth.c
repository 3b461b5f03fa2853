// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A zigzag of height H walks over the cells' exact lows and highs; a trough is
// a low with a climb of at least H after it and, but for the first, a fall of
// at least H before. Only troughs carry evidence about what a collector leaves.

#include "teeth.h"

#include <math.h>

#include "student.h"

#include "../libtelemetry/banned.h"

#define STRETCHES 10
#define TEETH_MIN 5
#define SIGMAS_TROUGHS 4.0
#define FLOOR_NOISE 0.12 // of the height of a tooth: above, the teeth are noise
#define FALLS_A_GROUP 3
#define GROUPS_MIN 8
#define GROUPS_MAX 64

struct line {
	double slope, error, intercept;
	double rms; // of what the line leaves
};

static struct line ols_line(const double *x, const double *y, unsigned m)
{
	double mean_x = 0, mean_y = 0, sxx = 0, sxy = 0, sse = 0;

	for (unsigned i = 0; i < m; i++) {
		mean_x += x[i] / m;
		mean_y += y[i] / m;
	}
	for (unsigned i = 0; i < m; i++) {
		sxx += (x[i] - mean_x) * (x[i] - mean_x);
		sxy += (x[i] - mean_x) * (y[i] - mean_y);
	}
	struct line line = {.slope = sxx > 0 ? sxy / sxx : 0};
	line.intercept = mean_y - line.slope * mean_x;
	for (unsigned i = 0; i < m; i++) {
		double left = y[i] - line.intercept - line.slope * x[i];
		sse += left * left;
	}
	line.rms = sqrt(sse / m);
	line.error = sxx > 0 && m > 2 ? sqrt(sse / (m - 2) / sxx) : 0;
	return line;
}

bool analysis_floor_is_flat(const struct analysis_series *series, const struct analysis_window *window)
{
	unsigned m = series->n_cells - window->from, stretches = m < STRETCHES ? m : STRETCHES;
	double x[STRETCHES], y[STRETCHES];

	for (unsigned part = 0; part < stretches; part++) {
		unsigned from = window->from + part * m / stretches, to = window->from + (part + 1) * m / stretches;
		unsigned lowest = from;
		for (unsigned i = from + 1; i < to; i++)
			if (series->low[i] < series->low[lowest])
				lowest = i;
		x[part] = series->low_x[lowest];
		y[part] = series->low[lowest];
	}
	struct line floor = ols_line(x, y, stretches);
	return floor.slope + 2 * floor.error < 0.5 * window->slope;
}

struct zigzag {
	unsigned n_troughs;
	double x[ANALYSIS_CELLS], y[ANALYSIS_CELLS];
	double rise_x, fall_x; // spent climbing and falling
	unsigned last_trough_cell;
};

struct extreme {
	double x, y;
	unsigned cell;
};

static void zigzag(const struct analysis_series *series, double height, struct zigzag *ret)
{
	struct extreme low = {0, INFINITY, 0}, high = {0, -INFINITY, 0};
	bool is_rising = false, is_known = false;

	*ret = (struct zigzag){0};
	for (unsigned k = 0; k < 2 * series->n_cells; k++) {
		unsigned i = k / 2;
		bool is_low = (series->low_x[i] <= series->high_x[i]) == (k % 2 == 0);
		struct extreme at = {is_low ? series->low_x[i] : series->high_x[i],
				     is_low ? series->low[i] : series->high[i], i};

		if ((!is_known || !is_rising) && at.y < low.y)
			low = at;
		if ((!is_known || is_rising) && at.y > high.y)
			high = at;
		if ((!is_known || !is_rising) && at.y - low.y >= height && at.x > low.x) {
			if (ret->n_troughs == ANALYSIS_CELLS)
				return;
			ret->x[ret->n_troughs] = low.x;
			ret->y[ret->n_troughs++] = low.y;
			ret->last_trough_cell = low.cell;
			if (is_known)
				ret->fall_x += low.x - high.x;
			is_rising = is_known = true;
			high = at;
		} else if ((!is_known || is_rising) && high.y - at.y >= height && at.x > high.x) {
			if (ret->n_troughs > 0)
				ret->rise_x += high.x - ret->x[ret->n_troughs - 1];
			is_rising = false;
			is_known = true;
			low = at;
		}
	}
}

static bool quarters_rise(const struct analysis_series *series, double rise)
{
	double before = 0;

	for (unsigned part = 0; part < 4; part++) {
		double low = INFINITY;
		for (unsigned i = part * series->n_cells / 4; i < (part + 1) * series->n_cells / 4; i++)
			low = fmin(low, series->low[i]);
		if (part > 0 && low - before < 0.03 * rise)
			return false;
		before = low;
	}
	return true;
}

// Whether the troughs of z rise, for teeth of at least this height.
static bool troughs_rise(const struct analysis_series *series, const struct zigzag *z, double height,
			 struct analysis_window *ret)
{
	unsigned k = z->n_troughs;

	if (k < TEETH_MIN || k > series->n_cells / 4 || 2 * z->fall_x > z->rise_x)
		return false;
	struct line floor = ols_line(z->x, z->y, k);
	double rise = floor.slope * (z->x[k - 1] - z->x[0]);
	double t = floor.error > 0 ? floor.slope / floor.error : copysign(INFINITY, floor.slope);
	if (!(rise > 0) || rise < 0.02 * analysis_series_range(series, 0) ||
	    !analysis_student_exceeds(t, SIGMAS_TROUGHS, k - 2) || !quarters_rise(series, rise))
		return false;
	double step, flat;
	analysis_stopped_share(z->x, z->y, k, &step, &flat);
	if (step < 0.8 || flat < 0.7 || floor.rms > FLOOR_NOISE * height)
		return false;

	double one[ANALYSIS_CELLS];
	struct analysis_fit fit;
	for (unsigned i = 0; i < k; i++)
		one[i] = 1;
	struct analysis_design design = {k, 2, {one, z->x}};
	if (!analysis_fit_adaptive(z->y, &design, true, &fit))
		return false;
	*ret = (struct analysis_window){.was_judged = true, .is_growing = true, .is_up = true};
	ret->slope = fit.value[1];
	ret->error = analysis_fit_error(&fit, 1);
	double margin = analysis_student_at(1.959964, k - 2) * ret->error;
	ret->slope_low = ret->slope - margin;
	ret->slope_high = ret->slope + margin;
	return true;
}

bool analysis_teeth_rise(const struct analysis_series *series, const struct analysis_history *history,
			 struct analysis_window *ret, unsigned *ret_n_troughs)
{
	unsigned m = series->n_cells;

	*ret_n_troughs = 0;
	if (series->never_falls)
		return false;
	struct line lows = ols_line(series->low_x, series->low, m);
	double below = INFINITY, above = -INFINITY;
	struct zigzag z;

	for (unsigned i = 0; i < m; i++) {
		below = fmin(below, series->low[i] - lows.intercept - lows.slope * series->low_x[i]);
		above = fmax(above, series->high[i] - lows.intercept - lows.slope * series->x[i]);
	}
	double height = 0.4 * (above - below);
	if (!(height > 0))
		return false;
	zigzag(series, height, &z);
	*ret_n_troughs = z.n_troughs;
	if (troughs_rise(series, &z, height, ret))
		return true;
	// Where falls are rare they are sweeps: short teeth tell too.
	if (3 * history->n_falls >= history->n_rises)
		return false;
	zigzag(series, height / 8, &z);
	return troughs_rise(series, &z, height, ret);
}

bool analysis_many_teeth_rise(const struct analysis_series *series, const struct analysis_history *history,
			      struct analysis_window *ret)
{
	uint64_t n_groups = history->n_falls / FALLS_A_GROUP;
	struct analysis_series floor = {.n_cells = 0};

	if (n_groups < GROUPS_MIN || 3 * history->n_falls > history->n_rises)
		return false;
	floor.n_cells = n_groups < GROUPS_MAX ? (unsigned)n_groups : GROUPS_MAX;
	if (floor.n_cells > series->n_cells / 2)
		floor.n_cells = series->n_cells / 2;
	for (unsigned group = 0; group < floor.n_cells; group++) {
		unsigned from = group * series->n_cells / floor.n_cells;
		unsigned to = (group + 1) * series->n_cells / floor.n_cells, lowest = from;
		for (unsigned i = from; i < to; i++) {
			floor.n[group] += series->n[i];
			if (series->low[i] < series->low[lowest])
				lowest = i;
		}
		floor.x[group] = floor.low_x[group] = series->low_x[lowest];
		floor.high_x[group] = floor.x[group];
		floor.y[group] = floor.low[group] = floor.high[group] = series->low[lowest];
	}
	analysis_window_judge(&floor, 0, 0, ret);
	if (!ret->is_growing)
		return false;
	// Cells of the floor are not cells of the series: speak of all of it.
	ret->from = 0;
	ret->is_tail = false;
	return true;
}

bool analysis_is_within_a_tooth(const struct analysis_series *series, const struct analysis_history *history)
{
	double fall = history->draw_down, highest;
	struct zigzag z;

	if (4 * history->n_falls >= history->n_rises || history->largest_fall < 0.25 * fall ||
	    fall < 0.08 * (history->high_y - history->low_y) || fall <= 0)
		return false;
	zigzag(series, 0.5 * fall, &z);
	if (z.n_troughs == 0)
		return true; // swept, and not climbed again
	highest = series->high[z.last_trough_cell];
	for (unsigned i = z.last_trough_cell; i < series->n_cells; i++)
		highest = fmax(highest, series->high[i]);
	return highest - z.y[z.n_troughs - 1] < 4 * fall;
}
