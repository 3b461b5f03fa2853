// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The order of the rules is the method: a competition of shapes says whether
// the series still rises, floors and teeth may overrule it, rare steps have a
// rule of their own, and only what is left is called draining, one_time,
// bounded or not enough. Each rule is there because a kind of quiet series was
// called growing without it, or a kind of growth missed (docs/verdict.md).

#include "growth.h"

#include <math.h>

#include "series.h"
#include "shapes.h"
#include "student.h"
#include "teeth.h"

#include "../libtelemetry/banned.h"

#define POINTS_MIN 12
#define POINTS_MIN_EXACT 8
#define STEPS_MIN 4
#define FLAT_SHARE 0.001
#define EVEN_HEIGHT 1.3

static const char *const shape_names[ANALYSIS_SHAPE_COUNT] = {
	[ANALYSIS_NOT_ENOUGH_DATA] = "not_enough_data", [ANALYSIS_FLAT] = "flat",
	[ANALYSIS_ONE_TIME] = "one_time",               [ANALYSIS_BOUNDED] = "bounded",
	[ANALYSIS_GROWING] = "growing",                 [ANALYSIS_STEPPING] = "stepping",
	[ANALYSIS_DRAINING] = "draining",
};

const char *analysis_shape_name(unsigned shape)
{
	return shape < ANALYSIS_SHAPE_COUNT ? shape_names[shape] : "?";
}

bool analysis_shape_grows(enum analysis_shape shape)
{
	return shape == ANALYSIS_GROWING || shape == ANALYSIS_STEPPING;
}

// Points and band of cells [from, n_cells); `behind` is the first cell of the
// band.
static void set_window(const struct analysis_history *history, const struct analysis_series *series, unsigned from,
		       unsigned behind, struct analysis_growth *ret)
{
	double low = INFINITY, high = -INFINITY;

	if (from == 0) {
		ret->points = history->n_points;
		ret->from = 0;
	} else {
		uint64_t skipped = 0;
		for (unsigned i = 0; i < from; i++)
			skipped += (uint64_t)series->n[i];
		ret->points = history->n_points - skipped;
		ret->from = series->x[from] * history->last_x;
	}
	ret->window = history->last_x - ret->from;
	if (behind == 0) {
		low = history->low_y;
		high = history->high_y;
	}
	for (unsigned i = behind; i < series->n_cells; i++) {
		low = fmin(low, series->low[i]);
		high = fmax(high, series->high[i]);
	}
	ret->low = history->first_y + fmin(low, history->last_y);
	ret->high = history->first_y + fmax(high, history->last_y);
}

static void set_slope(const struct analysis_history *history, const struct analysis_window *window,
		      struct analysis_growth *ret)
{
	double scale = history->last_x > 0 ? 1 / history->last_x : 1;

	ret->slope = window->slope * scale;
	ret->slope_low = window->slope_low * scale;
	ret->slope_high = window->slope_high * scale;
}

// The level that reaches a limit first: the fitted line's end and the largest
// residual of the last quarter above it.
static void set_level(const struct analysis_history *history, const struct analysis_series *series,
		      struct analysis_growth *ret)
{
	unsigned m = series->n_cells;
	double slope = ret->slope, highest = history->last_y;

	for (unsigned i = m - (m + 3) / 4; i < m; i++)
		highest = fmax(highest, series->high[i] + slope * history->last_x * (1 - series->x[i]));
	ret->level_high = history->first_y + highest;
}

// Few points, but every one higher than the last by nearly the same.
static bool rises_exactly(const struct analysis_history *history)
{
	uint64_t n = history->n_points;

	return n >= POINTS_MIN_EXACT && history->n_rises == n - 1 &&
	       history->largest_rise <= 1.25 * history->sum_rises / (double)history->n_rises;
}

static void grow_exactly(const struct analysis_history *history, struct analysis_growth *ret)
{
	double n = (double)history->n_rises, mean = history->sum_rises / history->last_x;
	double spread = (history->largest_rise * n / history->sum_rises - 1) * mean;

	ret->shape = ANALYSIS_GROWING;
	ret->slope = mean;
	ret->slope_low = mean - 2 * spread / sqrt(n);
	ret->slope_high = mean + 2 * spread / sqrt(n);
	ret->level_high = history->first_y + history->last_y;
}

// Whether steps come as often late as early. The highest of random needs so far
// (a heap that is never given back) rises for ever too, but ever more rarely:
// its steps are even in the logarithm of x. The sum of log(end / x) over k
// steps is k on average for steady ones, and several times that for those.
static bool steps_are_steady(const struct analysis_history *history, const struct analysis_series *series)
{
	double k = (double)history->n_rises;

	if (history->n_rises <= ANALYSIS_RISES_KEPT) {
		double sum = 0, late = 0;
		for (unsigned i = 0; i < history->n_rises; i++) {
			sum += log(history->last_x / history->rise_x[i]);
			late += history->rise_x[i] > history->last_x / 2;
		}
		// Steps of one height are a leak's rather than records of chance.
		bool are_even = history->largest_rise <= EVEN_HEIGHT * history->sum_rises / k;
		return 5 * late >= k && sum <= k + (are_even ? 1.65 * sqrt(k) : 0);
	}
	double half = series->y[series->n_cells / 2];
	return history->last_y - half >= 0.2 * history->sum_rises;
}

// A counter that rises in at most a tenth of its points. True if the rule
// decides; *ret_steps if it decides for stepping.
static bool judge_steps(const struct analysis_history *history, const struct analysis_series *series,
			bool *ret_steps)
{
	uint64_t k = history->n_rises;

	*ret_steps = false;
	if (history->n_falls > 0 || k * 10 > history->n_points)
		return false;
	if (k < STEPS_MIN)
		return true;
	double gap = history->last_x / (double)k;
	*ret_steps = history->largest_rise <= 0.5 * history->sum_rises &&
		     history->last_x - history->last_rise_x <= 3 * gap && history->first_rise_x <= 6 * gap &&
		     steps_are_steady(history, series);
	return *ret_steps;
}

static void grow_by_steps(const struct analysis_history *history, struct analysis_growth *ret)
{
	double k = (double)history->n_rises;

	ret->shape = ANALYSIS_STEPPING;
	ret->slope = history->sum_rises / history->last_x;
	ret->slope_low = ret->slope * (1 - 1.959964 / sqrt(k));
	ret->slope_high = ret->slope * (1 + 1.959964 / sqrt(k));
	ret->step_height = history->sum_rises / k;
	ret->step_gap = history->last_x / k;
	ret->level_high = history->first_y + history->last_y;
}

static bool is_one_time(const struct analysis_series *series, unsigned *ret_break, double *ret_rise)
{
	double explained, rise, low = INFINITY, high = -INFINITY, before = 0, after = 0;
	unsigned k = analysis_best_step(series->y, series->n_cells, &explained, &rise);

	if (explained < 0.9 || rise <= 0)
		return false;
	unsigned from = k + 1 < series->n_cells && series->n[k] > 1 ? k + 1 : k;
	for (unsigned i = from; i < series->n_cells; i++) {
		low = fmin(low, series->low[i]);
		high = fmax(high, series->high[i]);
	}
	// The cell of the step holds both levels: its lowest point is the old one.
	for (unsigned i = 0; i < k; i++)
		before += series->low[i] / k;
	for (unsigned i = from; i < series->n_cells; i++)
		after += series->y[i] / (series->n_cells - from);
	rise = after - before;
	*ret_break = from;
	*ret_rise = rise;
	return high - low <= 0.5 * rise;
}

// Whether the trend's uncertainty is wider than everything that was seen.
static bool is_too_noisy(const struct analysis_series *series, double range)
{
	double one[ANALYSIS_CELLS], clipped[ANALYSIS_CELLS];
	struct analysis_design design = {series->n_cells, 2, {one, series->x}};
	struct analysis_fit fit;

	for (unsigned i = 0; i < series->n_cells; i++)
		one[i] = 1;
	double unclipped = analysis_winsorise(series->x, series->y, series->n_cells, clipped);
	if (!analysis_fit_adaptive(clipped, &design, false, &fit))
		return true;
	double error = analysis_fit_error(&fit, 1) / unclipped;
	return analysis_student_at(1.959964, fit.df) * error > range;
}

// The window's verdict after the floor and the teeth have been asked.
static bool judge_growing(const struct analysis_history *history, const struct analysis_series *series,
			  struct analysis_window *window)
{
	struct analysis_window floor;
	unsigned n_troughs;

	if (window->is_growing && analysis_floor_is_flat(series, window))
		window->is_growing = false;
	if (analysis_teeth_rise(series, history, &floor, &n_troughs)) {
		if (!window->is_growing || window->is_tail || window->error > floor.error)
			*window = floor;
	} else if (window->is_growing && n_troughs < 5 && analysis_is_within_a_tooth(series, history)) {
		window->is_growing = false;
	}
	if (!window->is_growing && analysis_many_teeth_rise(series, history, &floor))
		*window = floor;
	return window->is_growing;
}

static bool is_draining(const struct analysis_series *series, const struct analysis_window *up,
			struct analysis_window *ret)
{
	if (!(-up->mean_t > 2.9))
		return false;
	struct analysis_series down = *series;
	analysis_series_negate(&down);
	analysis_window_judge(&down, 0, 0, ret);
	if (!ret->is_growing)
		return false;
	double low = ret->slope_low;
	ret->slope = -ret->slope;
	ret->slope_low = -ret->slope_high;
	ret->slope_high = -low;
	return true;
}

// A swing too small to matter beside the level. Only what does not grow is
// called flat for it: a slow leak on a large base is a leak.
static bool is_nearly_flat(const struct analysis_history *history)
{
	double low = fabs(history->first_y + history->low_y), high = fabs(history->first_y + history->high_y);

	return history->high_y - history->low_y <= FLAT_SHARE * fmax(low, high);
}

static void judge_rest(const struct analysis_history *history, const struct analysis_series *series,
		       const struct analysis_window *up, struct analysis_growth *ret)
{
	struct analysis_window down;
	unsigned behind;

	if (is_draining(series, up, &down)) {
		ret->shape = ANALYSIS_DRAINING;
		set_slope(history, &down, ret);
		set_window(history, series, down.from, down.from, ret);
		return;
	}
	if (is_nearly_flat(history)) {
		ret->shape = ANALYSIS_FLAT;
		return;
	}
	if (is_one_time(series, &behind, &ret->step_height)) {
		ret->shape = ANALYSIS_ONE_TIME;
		set_window(history, series, 0, behind, ret);
		return;
	}
	// The band of a rise that levels off is its plateau; steps up and down are
	// swings, and belong to it.
	bool has_plateau = up->form == ANALYSIS_RISE_THEN_FLAT || up->form == ANALYSIS_EXPONENTIAL;
	set_window(history, series, 0, has_plateau ? up->break_at : 0, ret);
	ret->step_height = 0;
	bool is_noise = !up->is_stopped && is_too_noisy(series, history->high_y - history->low_y);
	ret->shape = is_noise ? ANALYSIS_NOT_ENOUGH_DATA : ANALYSIS_BOUNDED;
}

// Makes the pending point count, or leaves it out while its candidate is open:
// what that will leave behind is not known yet.
static void settle(struct analysis_history *copy)
{
	if (copy->pending_is_settled || copy->n_points == 0)
		analysis_history_flush(copy);
	else
		copy->has_pending = false;
}

static void judge_flushed(const struct analysis_history *history, struct analysis_growth *ret)
{
	double range = history->high_y - history->low_y;
	struct analysis_series series;
	struct analysis_window window;
	bool has_steps;

	ret->n_gaps = history->n_gaps;
	ret->n_index_restarts = history->n_index_restarts;
	ret->n_left_out = history->n_left_out;
	if (history->n_points == 0)
		return;
	analysis_series_make(history, &series);
	set_window(history, &series, 0, 0, ret);
	ret->first = history->first_y;
	ret->last = ret->level_high = history->first_y + history->last_y;
	if (range == 0) {
		if (history->n_points >= POINTS_MIN_EXACT)
			ret->shape = ANALYSIS_FLAT;
		return;
	}
	if (history->n_points < POINTS_MIN) {
		if (rises_exactly(history))
			grow_exactly(history, ret);
		return;
	}
	analysis_window_judge(&series, 0, 0, &window);
	if (judge_steps(history, &series, &has_steps)) {
		if (has_steps)
			grow_by_steps(history, ret);
		else
			judge_rest(history, &series, &window, ret);
		return;
	}
	if (judge_growing(history, &series, &window)) {
		ret->shape = ANALYSIS_GROWING;
		set_slope(history, &window, ret);
		set_window(history, &series, window.from, window.from, ret);
		set_level(history, &series, ret);
		return;
	}
	judge_rest(history, &series, &window, ret);
}

void analysis_judge(const struct analysis_history *history, struct analysis_growth *ret)
{
	*ret = (struct analysis_growth){.shape = ANALYSIS_NOT_ENOUGH_DATA};
	if (!history->has_pending) {
		judge_flushed(history, ret);
		return;
	}
	struct analysis_history copy = *history;
	settle(&copy);
	judge_flushed(&copy, ret);
}

void analysis_growth_widen(const struct analysis_history *history, struct analysis_growth *growth)
{
	double low = INFINITY, high = -INFINITY;

	if (growth->shape != ANALYSIS_BOUNDED || history->points_per_cell == 0)
		return;
	// Its window begins with the first point: the cell at its end may hold some
	// that were judged, and they are in the band.
	for (uint64_t i = growth->points / history->points_per_cell; i < history->n_cells; i++) {
		low = fmin(low, history->cells[i].low_y);
		high = fmax(high, history->cells[i].high_y);
	}
	growth->low = fmin(growth->low, history->first_y + low);
	growth->high = fmax(growth->high, history->first_y + high);
	if (history->has_pending && history->pending_is_settled) {
		growth->low = fmin(growth->low, history->pending_y);
		growth->high = fmax(growth->high, history->pending_y);
	}
}

void analysis_grow_by_leak(const struct analysis_history *history, double left, double n, struct analysis_growth *ret)
{
	struct analysis_history copy = *history;
	struct analysis_series series;

	settle(&copy);
	if (!(copy.last_x > 0))
		return;
	analysis_series_make(&copy, &series);
	set_window(&copy, &series, 0, 0, ret);
	ret->shape = ANALYSIS_GROWING;
	ret->slope = left / copy.last_x;
	// How often such candidates come is chance, what each leaves is not.
	ret->slope_low = ret->slope * (1 - 1.959964 / sqrt(n));
	ret->slope_high = ret->slope * (1 + 1.959964 / sqrt(n));
	ret->step_height = ret->step_gap = 0;
	set_level(&copy, &series, ret);
}

// The line of the cells behind `from`, in x as the history has it.
static bool make_line(const struct analysis_series *series, double from, double scale, double *one, double *x,
		      struct analysis_design *ret_design, unsigned *ret_first)
{
	unsigned first = 0;

	while (first < series->n_cells && series->x[first] * scale < from - 1e-9 * scale)
		first++;
	unsigned m = series->n_cells - first;
	for (unsigned i = 0; i < m; i++) {
		one[i] = 1;
		x[i] = series->x[first + i] * scale;
	}
	*ret_design = (struct analysis_design){m, 2, {one, x}};
	*ret_first = first;
	return m >= 8;
}

bool analysis_slope_from(const struct analysis_history *history, double from, double rho, double *ret_slope)
{
	struct analysis_history copy = *history;
	struct analysis_series series;
	double one[ANALYSIS_CELLS], x[ANALYSIS_CELLS];
	struct analysis_design design;
	struct analysis_fit fit;
	unsigned first;

	settle(&copy);
	analysis_series_make(&copy, &series);
	if (!make_line(&series, from, copy.last_x, one, x, &design, &first) ||
	    !analysis_gls(series.y + first, &design, rho, &fit))
		return false;
	*ret_slope = fit.value[1];
	return true;
}

double analysis_rho_from(const struct analysis_history *history, double from)
{
	struct analysis_history copy = *history;
	struct analysis_series series;
	double one[ANALYSIS_CELLS], x[ANALYSIS_CELLS];
	struct analysis_design design;
	unsigned first;

	settle(&copy);
	analysis_series_make(&copy, &series);
	if (!make_line(&series, from, copy.last_x, one, x, &design, &first))
		return 1;
	return analysis_rho(series.y + first, &design, true);
}
