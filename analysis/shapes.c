// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Eight shapes are fitted to a stretch, each with at most one break, found by
// ordinary least squares in one pass of suffix sums. All are then scored at
// the same rho, the smallest any of them leaves, so that a shape cannot win by
// calling what it does not explain noise. Penalties keep the simpler shape
// unless the data insist; they are the measured trade between calling a step
// growth and calling growth a step (docs/verdict.md).

#include "shapes.h"

#include <math.h>

#include "student.h"

#include "../libtelemetry/banned.h"

#define SIGMAS_MEAN 2.9  // for the mean slope of a whole window
#define SIGMAS_BREAK 4.2 // for a slope behind a break that was searched for
#define TAIL_WIDER 1.5   // for the interval of a slope behind such a break
#define DEPTH_MAX 3
#define CELLS_MIN 8
// A new rate lasts at least as many points: two declined candidates in a row
// are no end of a leak that was exact until then.
#define TAIL_POINTS_MIN 5

// One window while it is judged.
struct stretch {
	unsigned m;
	unsigned tail_min; // cells behind a change of rate
	const double *x; // shifted to start at 0
	const double *y;
	double one[ANALYSIS_CELLS];
	double left_mean[ANALYSIS_CELLS]; // y minus its mean
	double left_line[ANALYSIS_CELLS]; // y minus its OLS line
	double mean_x, sxx;
	double column[ANALYSIS_FORM_COUNT][2][ANALYSIS_CELLS];
	struct analysis_design design[ANALYSIS_FORM_COUNT];
	unsigned break_at[ANALYSIS_FORM_COUNT];
};

static void residuals(struct stretch *s)
{
	double mean_y = 0, sxy = 0;

	s->mean_x = s->sxx = 0;
	for (unsigned i = 0; i < s->m; i++) {
		s->mean_x += s->x[i] / s->m;
		mean_y += s->y[i] / s->m;
	}
	for (unsigned i = 0; i < s->m; i++) {
		s->sxx += (s->x[i] - s->mean_x) * (s->x[i] - s->mean_x);
		sxy += (s->x[i] - s->mean_x) * (s->y[i] - mean_y);
	}
	double slope = s->sxx > 0 ? sxy / s->sxx : 0;
	for (unsigned i = 0; i < s->m; i++) {
		s->left_mean[i] = s->y[i] - mean_y;
		s->left_line[i] = s->left_mean[i] - slope * (s->x[i] - s->mean_x);
	}
}

// The best break of each one-break family: what a column c gains is
// (c.r)^2 / (c'.c') with r the residual without it and c' its part outside the
// columns already there.
struct best {
	double gain;
	unsigned k;
};

static void offer(struct best *best, double dot, double square, double scale, unsigned k)
{
	if (square <= 1e-9 * scale)
		return;
	double gain = dot * dot / square;
	if (gain > best->gain)
		*best = (struct best){gain, k};
}

static void search_breaks(const struct stretch *s, struct best best[ANALYSIS_FORM_COUNT])
{
	double m = s->m, n = 0, sum_x = 0, sum_xx = 0;
	double mean_r = 0, mean_xr = 0, line_r = 0, line_xr = 0; // suffix sums of residuals
	double all_x = 0, all_xx = 0, all_xr = 0;

	for (unsigned i = 0; i < s->m; i++) {
		all_x += s->x[i];
		all_xx += s->x[i] * s->x[i];
		all_xr += s->x[i] * s->left_mean[i];
	}
	for (unsigned k = s->m - 1; k >= 1; k--) {
		double x = s->x[k], before = s->x[k - 1];

		n += 1;
		sum_x += x;
		sum_xx += x * x;
		mean_r += s->left_mean[k];
		mean_xr += x * s->left_mean[k];
		line_r += s->left_line[k];
		line_xr += x * s->left_line[k];

		// A step up to the new level at k.
		offer(&best[ANALYSIS_STEP], mean_r, n - n * n / m, 1, k);
		double along = sum_x - n * s->mean_x;
		if (k >= 2 && k <= s->m - 2)
			offer(&best[ANALYSIS_LINE_AND_STEP], line_r, n - n * n / m - along * along / s->sxx, 1, k);

		// A hinge that starts at the point before k.
		if (k < 2 || k > s->m - s->tail_min)
			continue;
		double h = sum_x - n * before;
		double hh = sum_xx - 2 * before * sum_x + n * before * before;
		double hx = sum_xx - before * sum_x;
		double h_along = hx - s->mean_x * h;
		offer(&best[ANALYSIS_FLAT_THEN_RISING], mean_xr - before * mean_r, hh - h * h / m, s->sxx, k);
		offer(&best[ANALYSIS_TWO_RATES], line_xr - before * line_r, hh - h * h / m - h_along * h_along / s->sxx,
		      s->sxx, k);
		double c = all_x - h, cc = all_xx - 2 * hx + hh;
		offer(&best[ANALYSIS_RISE_THEN_FLAT], all_xr - (mean_xr - before * mean_r), cc - c * c / m, s->sxx, k);
	}
}

// The second step of two, given the first.
static unsigned second_step(const struct stretch *s, unsigned first)
{
	struct best best = {0, 0};
	double after = 0, sum;

	for (unsigned k = first; k < s->m; k++)
		after += s->y[k] / (s->m - first);
	sum = 0;
	for (unsigned k = s->m - 1; k > first; k--) {
		double n = s->m - k, in = s->m - first;
		sum += s->y[k] - after;
		offer(&best, sum, n * (in - n) / in, 1, k);
	}
	double before = 0;
	for (unsigned k = 0; k < first; k++)
		before += s->y[k] / first;
	sum = 0;
	for (unsigned k = first - 1; k >= 1; k--) {
		double n = first - k, in = first;
		sum += s->y[k] - before;
		offer(&best, sum, n * (in - n) / in, 1, k);
	}
	return best.k;
}

static void set_step(double *column, unsigned m, unsigned k)
{
	for (unsigned i = 0; i < m; i++)
		column[i] = i >= k;
}

static void set_hinge(const struct stretch *s, double *column, unsigned k)
{
	for (unsigned i = 0; i < s->m; i++)
		column[i] = i < k ? 0 : s->x[i] - s->x[k - 1];
}

static void set_design(struct stretch *s, enum analysis_form form, const double *a, const double *b)
{
	s->design[form] = (struct analysis_design){s->m, b ? 3 : 2, {s->one, a, b}};
}

static void set_exponential(struct stretch *s)
{
	static const double divisors[] = {24, 16, 11, 8, 6, 4.5, 3.3};
	double best = -1;
	unsigned best_at = 0;

	for (unsigned t = 0; t < TELE_ARRAY_LEN(divisors); t++) {
		double decay = exp(-divisors[t] / s->m), e = 1, sum = 0, squares = 0, dot = 0;
		for (unsigned i = 0; i < s->m; i++, e *= decay) {
			sum += e;
			squares += e * e;
			dot += e * s->left_mean[i];
		}
		double gain = dot * dot / (squares - sum * sum / s->m);
		if (gain > best) {
			best = gain;
			best_at = t;
		}
	}
	double decay = exp(-divisors[best_at] / s->m), e = 1;
	for (unsigned i = 0; i < s->m; i++, e *= decay)
		s->column[ANALYSIS_EXPONENTIAL][0][i] = e;
	set_design(s, ANALYSIS_EXPONENTIAL, s->column[ANALYSIS_EXPONENTIAL][0], NULL);
	unsigned level = (unsigned)(3 * s->m / divisors[best_at]);
	s->break_at[ANALYSIS_EXPONENTIAL] = level < s->m - 1 ? level : s->m - 1;
}

static void make_designs(struct stretch *s)
{
	struct best best[ANALYSIS_FORM_COUNT] = {{0, 0}};

	residuals(s);
	search_breaks(s, best);
	for (unsigned form = 0; form < ANALYSIS_FORM_COUNT; form++) {
		unsigned k = best[form].k ? best[form].k : s->m / 2;
		double *column = s->column[form][0];

		s->break_at[form] = k;
		switch ((enum analysis_form)form) {
		case ANALYSIS_LINE:
			s->break_at[form] = 0;
			set_design(s, ANALYSIS_LINE, s->x, NULL);
			break;
		case ANALYSIS_FLAT_THEN_RISING:
			set_hinge(s, column, k);
			set_design(s, ANALYSIS_FLAT_THEN_RISING, column, NULL);
			break;
		case ANALYSIS_TWO_RATES:
			set_hinge(s, column, k);
			for (unsigned i = 0; i < s->m; i++)
				s->column[form][1][i] = s->x[i] - column[i];
			set_design(s, ANALYSIS_TWO_RATES, column, s->column[form][1]);
			break;
		case ANALYSIS_LINE_AND_STEP:
			set_step(column, s->m, k);
			set_design(s, ANALYSIS_LINE_AND_STEP, s->x, column);
			break;
		case ANALYSIS_STEP:
			set_step(column, s->m, k);
			set_design(s, ANALYSIS_STEP, column, NULL);
			break;
		case ANALYSIS_RISE_THEN_FLAT:
			for (unsigned i = 0; i < s->m; i++)
				column[i] = i < k ? s->x[i] : s->x[k - 1];
			set_design(s, ANALYSIS_RISE_THEN_FLAT, column, NULL);
			break;
		case ANALYSIS_TWO_STEPS: {
			unsigned first = s->break_at[ANALYSIS_STEP], second = second_step(s, first);
			set_step(column, s->m, first);
			if (second == 0)
				second = first;
			set_step(s->column[form][1], s->m, second);
			set_design(s, ANALYSIS_TWO_STEPS, column, second == first ? NULL : s->column[form][1]);
			s->break_at[form] = first > second ? first : second;
			break;
		}
		case ANALYSIS_EXPONENTIAL:
			set_exponential(s);
			break;
		case ANALYSIS_FORM_COUNT:
			break;
		}
	}
}

// What each shape pays, in units of 2 log likelihood. Stopped shapes pay less
// on few rows: there a false alarm is likelier than a missed leak.
static double penalty(enum analysis_form form, double n_rows)
{
	double f = n_rows >= 100 ? 1 : n_rows <= 40 ? 0.4 : 0.4 + 0.6 * (n_rows - 40) / 60;

	switch (form) {
	case ANALYSIS_LINE:
		return 0;
	case ANALYSIS_FLAT_THEN_RISING:
		return 12;
	case ANALYSIS_TWO_RATES:
	case ANALYSIS_LINE_AND_STEP:
		return 18;
	case ANALYSIS_TWO_STEPS:
		return 18 * (0.5 + 0.5 * f);
	case ANALYSIS_STEP:
	case ANALYSIS_RISE_THEN_FLAT:
	case ANALYSIS_EXPONENTIAL:
	case ANALYSIS_FORM_COUNT:
		break;
	}
	return 10 * f;
}

static enum analysis_form compete(const struct stretch *s, bool never_falls, double n_rows)
{
	double rho = 1, floor = 0, best_score = INFINITY;
	enum analysis_form winner = ANALYSIS_LINE;

	for (unsigned i = 0; i < s->m; i++)
		floor += 1e-12 * s->left_mean[i] * s->left_mean[i];
	if (!never_falls)
		for (unsigned form = 0; form < ANALYSIS_FORM_COUNT; form++)
			rho = fmin(rho, analysis_rho(s->y, &s->design[form], false));
	for (unsigned form = 0; form < ANALYSIS_FORM_COUNT; form++) {
		struct analysis_fit fit;
		if (!analysis_gls(s->y, &s->design[form], rho, &fit))
			continue;
		double score = s->m * log(fit.sse + floor) + penalty((enum analysis_form)form, n_rows);
		if (score < best_score) {
			best_score = score;
			winner = (enum analysis_form)form;
		}
	}
	return winner;
}

static void set_slope(struct analysis_window *w, double slope, double error, double df)
{
	double margin = analysis_student_at(1.959964, df) * error;

	w->slope = slope;
	w->error = error;
	w->slope_low = slope - margin;
	w->slope_high = slope + margin;
}

static void widen(struct analysis_window *w, double rate, double error)
{
	w->slope_low = fmin(w->slope_low, rate - 2 * error);
	w->slope_high = fmax(w->slope_high, rate + 2 * error);
}

// The line won against every break, or a step on top of a line did.
static void judge_line_and_step(const struct stretch *s, struct analysis_window *w)
{
	struct analysis_fit fit;

	if (!analysis_fit_adaptive(s->y, &s->design[ANALYSIS_LINE_AND_STEP], true, &fit))
		return;
	double rise = fit.value[1] * (s->x[s->m - 1] - s->x[0]);
	if (fit.value[2] < -0.25 * rise)
		return; // the fall of a tooth
	double error = analysis_fit_error(&fit, 1);
	double t = error > 0 ? fit.value[1] / error : copysign(INFINITY, fit.value[1]);
	if (fit.value[1] > 0 && analysis_student_exceeds(t, SIGMAS_BREAK, fit.df)) {
		w->is_growing = true;
		set_slope(w, fit.value[1], error, fit.df);
	}
}

// Two rates, or none and then one: is the last one real?
static void judge_last_rate(const struct analysis_series *series, const struct stretch *s, unsigned depth,
			    struct analysis_window *w)
{
	const struct analysis_design *design = &s->design[w->form];
	struct analysis_fit fit;

	if (!analysis_fit_adaptive(s->y, design, true, &fit))
		return;
	double rate = fit.value[1], error = analysis_fit_error(&fit, 1);
	double first = design->n_columns > 2 ? fit.value[2] : 0;
	unsigned k = s->break_at[w->form];

	if (w->is_up && first > 0 && rate < 2 * first && first < 2 * rate) {
		w->is_growing = true;
		widen(w, rate, error);
		return;
	}
	double tail = s->x[s->m - 1] - s->x[k - 1];
	double range = analysis_series_range(series, w->from);
	double t = error > 0 ? rate / error : copysign(INFINITY, rate);
	if (rate > 0 && analysis_student_exceeds(t, SIGMAS_BREAK, fit.df) && rate * tail >= 0.02 * range &&
	    depth < DEPTH_MAX) {
		struct analysis_window later;
		analysis_window_judge(series, w->from + k - 1, depth + 1, &later);
		if (later.is_growing) {
			double mean_t = w->mean_t;
			*w = later;
			w->mean_t = mean_t;
			w->is_tail = true;
			// The break was chosen by the same points, which the
			// interval does not know.
			if (depth == 0) {
				w->slope_low -= (TAIL_WIDER - 1) * (w->slope - w->slope_low);
				w->slope_high += (TAIL_WIDER - 1) * (w->slope_high - w->slope);
			}
			return;
		}
	}
	if (w->is_up && rate >= 0.5 * w->slope) {
		w->is_growing = true;
		widen(w, rate, error);
	}
}

// For the shapes only outliers that stand alone are clipped: several in a row
// are what a break looks like from its line.
static void clip_alone(const double *y, const double *clipped, unsigned m, double *ret_y)
{
	for (unsigned i = 0; i < m; i++) {
		bool is_alone = i > 0 && i + 1 < m && clipped[i - 1] == y[i - 1] && clipped[i + 1] == y[i + 1];
		ret_y[i] = is_alone ? clipped[i] : y[i];
	}
}

void analysis_window_judge(const struct analysis_series *series, unsigned from, unsigned depth,
			   struct analysis_window *ret)
{
	struct stretch s;
	double x[ANALYSIS_CELLS], clipped[ANALYSIS_CELLS], fitted[ANALYSIS_CELLS], n_rows = 0;

	*ret = (struct analysis_window){.from = from};
	if (from >= series->n_cells || series->n_cells - from < CELLS_MIN)
		return;
	ret->was_judged = true;
	s.m = series->n_cells - from;
	s.tail_min = series->n[from] > 1 ? 2 : TAIL_POINTS_MIN;
	s.x = x;
	s.y = series->y + from;
	for (unsigned i = 0; i < s.m; i++) {
		x[i] = series->x[from + i] - series->x[from];
		s.one[i] = 1;
		n_rows += series->n[from + i];
	}
	double unclipped = analysis_winsorise(s.x, s.y, s.m, clipped);
	clip_alone(s.y, clipped, s.m, fitted);
	s.y = fitted;
	make_designs(&s);
	struct analysis_fit mean;
	if (!analysis_fit_adaptive(clipped, &s.design[ANALYSIS_LINE], true, &mean))
		return;
	double error = analysis_fit_error(&mean, 1) / unclipped;
	ret->mean_t = error > 0 ? mean.value[1] / error : mean.value[1] != 0 ? copysign(INFINITY, mean.value[1]) : 0;
	ret->is_up = analysis_student_exceeds(ret->mean_t, depth ? SIGMAS_BREAK : SIGMAS_MEAN, mean.df);
	set_slope(ret, mean.value[1], error, mean.df);

	ret->form = compete(&s, series->never_falls, n_rows);
	ret->break_at = from + s.break_at[ret->form];
	if (ret->form >= ANALYSIS_STEP)
		ret->is_stopped = true;
	else if (ret->form == ANALYSIS_LINE)
		ret->is_growing = ret->is_up;
	else if (ret->form == ANALYSIS_LINE_AND_STEP)
		judge_line_and_step(&s, ret);
	else
		judge_last_rate(series, &s, depth, ret);
}

void analysis_stopped_share(const double *x, const double *y, unsigned m, double *ret_step, double *ret_flat)
{
	struct stretch s = {.m = m, .tail_min = 2, .x = x, .y = y};
	struct best best[ANALYSIS_FORM_COUNT] = {{0, 0}};
	double about_mean = 0, about_line = 0;

	TELE_ASSERT(m >= 4 && m <= ANALYSIS_CELLS);
	residuals(&s);
	search_breaks(&s, best);
	for (unsigned i = 0; i < m; i++) {
		about_mean += s.left_mean[i] * s.left_mean[i];
		about_line += s.left_line[i] * s.left_line[i];
	}
	about_line += 1e-12 * about_mean;
	*ret_step = fmax(about_mean - best[ANALYSIS_STEP].gain, 0) / about_line;
	*ret_flat = fmax(about_mean - best[ANALYSIS_RISE_THEN_FLAT].gain, 0) / about_line;
}

unsigned analysis_best_step(const double *y, unsigned m, double *ret_explained, double *ret_rise)
{
	double mean = 0, squares = 0, sum = 0;
	struct best best = {0, 0};
	unsigned k_best = 1;

	for (unsigned i = 0; i < m; i++)
		mean += y[i] / m;
	for (unsigned k = m - 1; k >= 1; k--) {
		double n = m - k;
		sum += y[k] - mean;
		squares += (y[k] - mean) * (y[k] - mean);
		offer(&best, sum, n - n * n / m, 1, k);
	}
	squares += (y[0] - mean) * (y[0] - mean);
	if (best.k)
		k_best = best.k;
	double before = 0, after = 0;
	for (unsigned i = 0; i < m; i++)
		*(i < k_best ? &before : &after) += y[i];
	*ret_rise = after / (m - k_best) - before / k_best;
	*ret_explained = squares > 0 ? best.gain / squares : 0;
	return k_best;
}
