// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Two sides are held together by what was judged of each: first whether they
// grow, then how fast, then where they are. A difference is one only where the
// two intervals, or the two bands, do not meet.

#include "compare.h"

#include <math.h>

#include "../libtelemetry/banned.h"

static const char *const change_names[ANALYSIS_CHANGE_KINDS] = {
	[ANALYSIS_SAME] = "same",       [ANALYSIS_FIXED] = "fixed",         [ANALYSIS_BROKEN] = "broken",
	[ANALYSIS_SLOWER] = "slower",   [ANALYSIS_FASTER] = "faster",       [ANALYSIS_LOWER] = "lower",
	[ANALYSIS_HIGHER] = "higher",   [ANALYSIS_CHANGED] = "changed",     [ANALYSIS_ONLY_A] = "only in a",
	[ANALYSIS_ONLY_B] = "only in b", [ANALYSIS_NOT_TOLD] = "not enough data",
};

const char *analysis_change_name(unsigned kind)
{
	return kind < ANALYSIS_CHANGE_KINDS ? change_names[kind] : "?";
}

void analysis_summarize(const struct analysis_history *history, struct analysis_side *ret)
{
	struct analysis_history copy = *history;
	double sum = 0;

	analysis_history_flush(&copy);
	*ret = (struct analysis_side){.n_points = copy.n_points};
	analysis_judge(&copy, &ret->growth);
	if (copy.n_points == 0)
		return;
	for (uint32_t i = 0; i < copy.n_cells; i++)
		sum += copy.cells[i].sum_y;
	ret->mean = copy.first_y + sum / (double)copy.n_points;
	ret->peak = copy.first_y + copy.high_y;
	ret->last = copy.first_y + copy.last_y;
}

static enum analysis_change_kind kind_of(const struct analysis_side *a, const struct analysis_side *b)
{
	const struct analysis_growth *before = &a->growth, *after = &b->growth;
	bool grew = analysis_shape_grows(before->shape), grows = analysis_shape_grows(after->shape);

	if (a->n_points == 0 || b->n_points == 0)
		return a->n_points ? ANALYSIS_ONLY_A : b->n_points ? ANALYSIS_ONLY_B : ANALYSIS_NOT_TOLD;
	if (before->shape == ANALYSIS_NOT_ENOUGH_DATA || after->shape == ANALYSIS_NOT_ENOUGH_DATA)
		return ANALYSIS_NOT_TOLD;
	if (grew != grows)
		return grew ? ANALYSIS_FIXED : ANALYSIS_BROKEN;
	if (grows) {
		if (after->slope_high < before->slope_low)
			return ANALYSIS_SLOWER;
		return after->slope_low > before->slope_high ? ANALYSIS_FASTER : ANALYSIS_SAME;
	}
	if (after->high < before->low)
		return ANALYSIS_LOWER;
	if (after->low > before->high)
		return ANALYSIS_HIGHER;
	return before->shape == after->shape ? ANALYSIS_SAME : ANALYSIS_CHANGED;
}

void analysis_compare(const struct analysis_side *a, const struct analysis_side *b, struct analysis_change *ret)
{
	*ret = (struct analysis_change){.kind = kind_of(a, b), .slope = NAN, .mean = NAN, .peak = NAN, .last = NAN};
	if (ret->kind == ANALYSIS_ONLY_A || ret->kind == ANALYSIS_ONLY_B || a->n_points == 0)
		return;
	if (ret->kind != ANALYSIS_NOT_TOLD)
		ret->slope = b->growth.slope - a->growth.slope;
	ret->mean = b->mean - a->mean;
	ret->peak = b->peak - a->peak;
	ret->last = b->last - a->last;
}
