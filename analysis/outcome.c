// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Two questions, in this order. Growth between candidates is measured where it
// happens: it would be collinear with the sum of all outcomes once cells
// average. What is left is summed by outcome where the class never falls, and
// else is a regression of the class on the running counts of each outcome, with
// the noise model of gls.h; sums name wrong outcomes as soon as a collector
// runs.

#include "outcome.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gls.h"

#include "../libtelemetry/banned.h"

#define OCCURRENCES_MIN 5
#define CELLS_MIN 8
#define T_MIN 4.0
#define SHARE_MIN 0.8
// What a search fills once and keeps (its beam) is growth of some outcome too,
// but beyond no doubt.
#define SHARE_MIN_ALL 0.5
#define NOISE_MAX 0.2 // of the growth
#define T_LEAK 6.0
#define LEAKS_IN_A_ROW 0x1f
#define SILENCE_GAPS 5

void analysis_outcomes_init(struct analysis_outcomes *outcomes)
{
	*outcomes = (struct analysis_outcomes){.ends_per_cell = 1};
}

void analysis_outcomes_fini(struct analysis_outcomes *outcomes)
{
	free(outcomes->cells);
	*outcomes = (struct analysis_outcomes){0};
}

void analysis_class_outcomes_fini(struct analysis_class_outcomes *class)
{
	free(class->cells);
	*class = (struct analysis_class_outcomes){0};
}

// A copy of cells that may not be there; false: no memory.
static bool copy_cells(const void *cells, size_t cell_bytes, void **ret_copy)
{
	*ret_copy = cells ? malloc(ANALYSIS_CELLS * cell_bytes) : NULL;
	if (*ret_copy)
		memcpy(*ret_copy, cells, ANALYSIS_CELLS * cell_bytes);
	return *ret_copy || !cells;
}

bool analysis_outcomes_copy(const struct analysis_outcomes *outcomes, struct analysis_outcomes *ret_copy)
{
	void *cells;
	bool is_whole = copy_cells(outcomes->cells, sizeof(*outcomes->cells), &cells);
	*ret_copy = *outcomes;
	ret_copy->cells = cells;
	return is_whole;
}

bool analysis_class_outcomes_copy(const struct analysis_class_outcomes *class,
				  struct analysis_class_outcomes *ret_copy)
{
	void *cells;
	bool is_whole = copy_cells(class->cells, sizeof(*class->cells), &cells);
	*ret_copy = *class;
	ret_copy->cells = cells;
	return is_whole;
}

void analysis_outcomes_end(struct analysis_outcomes *outcomes, unsigned outcome, bool *ret_merged)
{
	*ret_merged = false;
	if (outcome < TELE_OUTCOME_COUNT)
		outcomes->counts[outcome]++;
	outcomes->n_ends++;
	// Without memory there are counts and no cells.
	if (!outcomes->cells)
		outcomes->cells = calloc(ANALYSIS_CELLS, sizeof(*outcomes->cells));
	struct analysis_outcome_cell *cells = outcomes->cells;
	if (!cells)
		return;
	if (outcomes->n_cells == 0 || cells[outcomes->n_cells - 1].n >= outcomes->ends_per_cell) {
		if (outcomes->n_cells == ANALYSIS_CELLS) {
			for (uint32_t i = 0; i < ANALYSIS_CELLS / 2; i++) {
				struct analysis_outcome_cell sum = cells[2 * i];
				sum.n += cells[2 * i + 1].n;
				for (unsigned o = 0; o < TELE_OUTCOME_COUNT; o++)
					sum.sum_counts[o] += cells[2 * i + 1].sum_counts[o];
				cells[i] = sum;
			}
			outcomes->n_cells = ANALYSIS_CELLS / 2;
			outcomes->ends_per_cell *= 2;
			*ret_merged = true;
		}
		cells[outcomes->n_cells++] = (struct analysis_outcome_cell){.n = 0};
	}
	struct analysis_outcome_cell *last = &cells[outcomes->n_cells - 1];
	last->n += 1;
	for (unsigned o = 0; o < TELE_OUTCOME_COUNT; o++)
		last->sum_counts[o] += (double)outcomes->counts[o];
}

void analysis_class_outcomes_end(const struct analysis_outcomes *outcomes, struct analysis_class_outcomes *class,
				 unsigned outcome, bool merged, bool is_known, double y)
{
	TELE_ASSERT(outcomes->n_cells <= ANALYSIS_CELLS);
	if (!class->cells && is_known)
		class->cells = calloc(ANALYSIS_CELLS, sizeof(*class->cells));
	struct analysis_class_cell *cells = class->cells;
	if (!cells || outcomes->n_cells == 0)
		return;
	if (merged) {
		for (uint32_t i = 0; i < ANALYSIS_CELLS / 2; i++) {
			cells[i] = (struct analysis_class_cell){cells[2 * i].n + cells[2 * i + 1].n,
								cells[2 * i].sum_y + cells[2 * i + 1].sum_y};
		}
		for (uint32_t i = ANALYSIS_CELLS / 2; i < ANALYSIS_CELLS; i++)
			cells[i] = (struct analysis_class_cell){0, 0};
	}
	if (!is_known)
		return;
	if (!class->has_y) {
		class->first_y = class->last_y = y;
		class->has_y = true;
	}
	class->has_fallen |= y < class->last_y;
	if (class->has_last && outcome < TELE_OUTCOME_COUNT) {
		double left = y - class->last_y - class->since_last;
		class->left[outcome] += left;
		class->left_squared[outcome] += left * left;
		class->n_left[outcome]++;
		class->is_open = true;
		class->open_outcome = outcome;
		class->open_left = left;
		class->last_end[outcome] = outcomes->n_ends;
	}
	class->last_y = y;
	class->has_last = true;
	class->since_last = 0;
	cells[outcomes->n_cells - 1].n += 1;
	cells[outcomes->n_cells - 1].sum_y += y - class->first_y;
}

void analysis_class_outcomes_between(struct analysis_class_outcomes *class, double change)
{
	class->stretch += change;
	class->since_last += change;
	class->has_stretch = true;
}

// Settles the last end. More given back than it can have left is somebody
// else's: a phase that clears up.
static void settle_open(struct analysis_class_outcomes *class)
{
	unsigned o = class->open_outcome;
	bool is_own = class->stretch < 0 && class->stretch >= -class->open_left;
	double back = is_own ? class->stretch : 0, net = class->open_left + back;

	if (!class->is_open)
		return;
	class->is_open = false;
	class->net[o] += net;
	class->net_squared[o] += net * net;
	class->n_net[o]++;
	class->sum_back += back;
	class->sum_falls += fmax(-net, 0);
	class->recent[o] = (uint8_t)(class->recent[o] << 1 | (net > 0));
}

void analysis_class_outcomes_close(struct analysis_class_outcomes *class, bool is_complete)
{
	if (is_complete)
		settle_open(class);
	class->is_open = false;
	class->sum_up += fmax(class->stretch, 0);
	if (class->has_stretch && is_complete) {
		class->n_stretches += 1;
		class->sum_between += class->stretch;
		class->sum_between_squared += class->stretch * class->stretch;
	}
	if (!is_complete)
		class->has_last = false;
	class->stretch = 0;
	class->has_stretch = false;
}

// Whether the mean of the stretches is above 0 beyond doubt.
static bool between_is_real(const struct analysis_class_outcomes *class)
{
	double n = class->n_stretches, mean = class->sum_between / n;

	if (n < OCCURRENCES_MIN || !(mean > 0))
		return false;
	double variance = fmax(class->sum_between_squared / n - mean * mean, 0) * n / (n - 1);
	return mean > T_MIN * sqrt(variance / n);
}

// The cells that the class shares with the counts, as columns.
struct table {
	unsigned m;
	double y[ANALYSIS_CELLS], one[ANALYSIS_CELLS], rare[ANALYSIS_CELLS];
	double count[TELE_OUTCOME_COUNT][ANALYSIS_CELLS];
};

static void make_table(const struct analysis_outcomes *outcomes, const struct analysis_class_outcomes *class,
		       struct table *ret)
{
	ret->m = 0;
	for (uint32_t i = 0; class->cells && i < outcomes->n_cells; i++) {
		const struct analysis_outcome_cell *cell = &outcomes->cells[i];
		// Half known at least, so that both averages speak of the same ends.
		if (class->cells[i].n * 2 < outcomes->ends_per_cell || class->cells[i].n * 2 < cell->n)
			continue;
		ret->y[ret->m] = class->cells[i].sum_y / class->cells[i].n;
		ret->one[ret->m] = 1;
		for (unsigned o = 0; o < TELE_OUTCOME_COUNT; o++)
			ret->count[o][ret->m] = cell->sum_counts[o] / cell->n;
		ret->m++;
	}
}

static bool fit_outcomes(struct table *table, const uint64_t counts[], struct analysis_by_outcome *ret,
			 double ret_t[], unsigned *ret_n_fitted)
{
	struct analysis_design design = {table->m, 1, {table->one}};
	unsigned outcome_of[ANALYSIS_COLUMNS_MAX] = {0};
	struct analysis_fit fit;

	for (unsigned o = 1; o < TELE_OUTCOME_COUNT; o++) {
		if (counts[o] < OCCURRENCES_MIN)
			continue;
		outcome_of[design.n_columns] = o;
		design.column[design.n_columns++] = table->count[o];
	}
	*ret_n_fitted = design.n_columns - 1;
	// What is too rare to be told apart is told apart from the rest.
	bool has_rare = false;
	for (unsigned i = 0; i < table->m; i++)
		table->rare[i] = 0;
	for (unsigned o = 1; o < TELE_OUTCOME_COUNT; o++) {
		if (counts[o] == 0 || counts[o] >= OCCURRENCES_MIN)
			continue;
		for (unsigned i = 0; i < table->m; i++)
			table->rare[i] += table->count[o][i];
		has_rare = true;
	}
	unsigned n_named = design.n_columns;
	if (has_rare && n_named > 1 && n_named < ANALYSIS_COLUMNS_MAX)
		design.column[design.n_columns++] = table->rare;
	if (table->m < CELLS_MIN || design.n_columns < 2 || table->m < design.n_columns + 3 ||
	    !analysis_fit_adaptive(table->y, &design, false, &fit))
		return false;
	for (unsigned c = 1; c < n_named; c++) {
		double error = analysis_fit_error(&fit, c), value = fit.value[c];
		ret->growth[outcome_of[c]] = value * (double)counts[outcome_of[c]];
		ret_t[outcome_of[c]] = error > 1e-9 * fabs(value) ? value / error : value > 0 ? INFINITY : 0;
	}
	return true;
}

_Static_assert(TELE_OUTCOME_COUNT < ANALYSIS_COLUMNS_MAX, "columns for the outcomes, the constant and the rare");

// Whether nearly all that the class did is what candidates left, without noise
// that comes and goes by itself.
static bool is_clean(const struct analysis_class_outcomes *class, double growth)
{
	return class->sum_falls <= NOISE_MAX * growth && class->sum_up <= NOISE_MAX * growth;
}

bool analysis_one_outcome_leaks(const struct analysis_outcomes *outcomes, const struct analysis_class_outcomes *class,
				double *ret_left, double *ret_n)
{
	struct analysis_class_outcomes copy = *class;
	double best = 0;

	settle_open(&copy);
	for (unsigned o = 1; o < TELE_OUTCOME_COUNT; o++) {
		double n = (double)copy.n_net[o], left = copy.net[o], mean = left / n;
		if (n < OCCURRENCES_MIN || !(left > best) || (copy.recent[o] & LEAKS_IN_A_ROW) != LEAKS_IN_A_ROW)
			continue;
		double variance = fmax(copy.net_squared[o] / n - mean * mean, 0) * n / (n - 1);
		double since = (double)(outcomes->n_ends - copy.last_end[o]), gap = (double)outcomes->n_ends / n;
		if (mean * mean * n <= T_LEAK * T_LEAK * variance || since > SILENCE_GAPS * gap + 1 ||
		    !is_clean(&copy, left) || copy.last_y - copy.first_y < SHARE_MIN_ALL * left)
			continue;
		best = left;
		*ret_left = left;
		*ret_n = n;
	}
	return best > 0;
}

// A class that never falls has no noise: what each candidate left is what it
// added. Then a change of rate cannot be laid on outcomes that were common when
// it came, as a regression would.
static bool sum_outcomes(const struct analysis_class_outcomes *class, struct analysis_by_outcome *ret, double ret_t[],
			 unsigned *ret_n_seen)
{
	*ret_n_seen = 0;
	for (unsigned o = 1; o < TELE_OUTCOME_COUNT; o++) {
		double n = (double)class->n_net[o], mean = class->net[o] / n;
		if (n < 1)
			continue;
		ret->growth[o] = class->net[o];
		++*ret_n_seen;
		if (n < 3 || !(mean > 0))
			continue;
		double variance = fmax(class->net_squared[o] / n - mean * mean, 0) * n / (n - 1);
		ret_t[o] = variance > 1e-18 * mean * mean ? mean / sqrt(variance / n) : INFINITY;
	}
	return *ret_n_seen > 0;
}

// Whether a candidate of another outcome leaves as much, but for a few: then
// the one has most of the growth for being most of the candidates. What cannot
// be told from half as much speaks against "only" too.
static bool others_leak(const uint64_t counts[], const struct analysis_by_outcome *split, const double t[], unsigned one)
{
	double each = split->growth[one] / (double)counts[one];

	for (unsigned o = 1; o < TELE_OUTCOME_COUNT; o++) {
		double other = split->growth[o] / (double)counts[o];
		if (o == one || !(t[o] > 0) || !(other > 0))
			continue;
		double at_most = other * (1 + 2 / t[o]);
		if ((t[o] > T_MIN && other > 0.2 * each) || (counts[o] >= OCCURRENCES_MIN && at_most > 0.5 * each))
			return true;
	}
	return false;
}

static void split(const struct analysis_outcomes *outcomes, const struct analysis_class_outcomes *class,
		  struct analysis_by_outcome *ret)
{
	double growth = class->last_y - class->first_y, t[TELE_OUTCOME_COUNT] = {0}, positive = 0, certain = 0;
	unsigned n_fitted;
	struct table table;

	*ret = (struct analysis_by_outcome){.between = NAN, .blame = ANALYSIS_BLAME_UNKNOWN};
	for (unsigned o = 0; o < TELE_OUTCOME_COUNT; o++)
		ret->growth[o] = NAN;
	if (class->n_stretches > 0 || class->has_stretch)
		ret->between = class->sum_between + class->stretch;
	bool is_fitted;
	bool is_exact = !class->has_fallen || is_clean(class, growth);
	if (!is_exact) {
		make_table(outcomes, class, &table);
		is_fitted = fit_outcomes(&table, outcomes->counts, ret, t, &n_fitted);
	} else {
		is_fitted = sum_outcomes(class, ret, t, &n_fitted);
		ret->between -= class->sum_back;
	}

	if (between_is_real(class) && class->sum_between >= SHARE_MIN * growth) {
		// The regression would hand the same growth to the outcomes again.
		for (unsigned o = 0; o < TELE_OUTCOME_COUNT; o++)
			if (!isnan(ret->growth[o]))
				ret->growth[o] = 0;
		ret->blame = ANALYSIS_BLAME_BETWEEN;
		return;
	}
	if (!is_fitted)
		return;
	for (unsigned o = 0; o < TELE_OUTCOME_COUNT; o++)
		if (ret->growth[o] > 0) {
			positive += ret->growth[o];
			certain += t[o] > T_MIN ? ret->growth[o] : 0;
		}
	bool any = false;
	for (unsigned o = 0; o < TELE_OUTCOME_COUNT; o++) {
		if (!(t[o] > T_MIN) || isnan(ret->growth[o]))
			continue;
		any = true;
		double share_of_all = is_exact ? SHARE_MIN_ALL : SHARE_MIN;
		if (n_fitted > 1 && ret->growth[o] >= SHARE_MIN * certain && ret->growth[o] >= share_of_all * positive &&
		    !others_leak(outcomes->counts, ret, t, o))
			ret->blame = (int)o;
	}
	if (any && ret->blame == ANALYSIS_BLAME_UNKNOWN)
		ret->blame = ANALYSIS_BLAME_MIXED;
}

void analysis_split_by_outcome(const struct analysis_outcomes *outcomes, const struct analysis_class_outcomes *class,
			       struct analysis_by_outcome *ret)
{
	struct analysis_class_outcomes copy = *class;

	// The last candidate's stretch so far is all there is of it.
	settle_open(&copy);
	split(outcomes, &copy, ret);
}
