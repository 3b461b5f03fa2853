// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Before and after: one class in two traces, or in two windows of one.

#ifndef ANALYSIS_COMPARE_H
#define ANALYSIS_COMPARE_H

#include "growth.h"

// What one side is. Levels are y as the caller gave it.
struct analysis_side {
	struct analysis_growth growth;
	uint64_t n_points; // 0: the side does not have the class
	double mean, peak, last;
};

enum analysis_change_kind {
	ANALYSIS_SAME,      // neither shape nor slope nor level differ beyond the noise
	ANALYSIS_FIXED,     // grew, and does not any more
	ANALYSIS_BROKEN,    // did not grow, and does now
	ANALYSIS_SLOWER,    // grows on both sides; the intervals do not meet
	ANALYSIS_FASTER,
	ANALYSIS_LOWER,     // grows on neither side; the bands do not meet
	ANALYSIS_HIGHER,
	ANALYSIS_CHANGED,   // another shape, neither grows
	ANALYSIS_ONLY_A,
	ANALYSIS_ONLY_B,
	ANALYSIS_NOT_TOLD,  // a side has not enough data
	ANALYSIS_CHANGE_KINDS
};

struct analysis_change {
	enum analysis_change_kind kind;
	double slope; // b minus a; and so on
	double mean, peak, last;
};

// Summarises a history (judges it). Pure.
void analysis_summarize(const struct analysis_history *history, struct analysis_side *ret);

// What changed from a to b. Pure.
void analysis_compare(const struct analysis_side *a, const struct analysis_side *b, struct analysis_change *ret);

// "fixed", "slower", ... ; "?" beyond the range.
const char *analysis_change_name(unsigned kind);

#endif
