// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// From the rows of a process to the points of a chart, with what happened beside
// them. Pure.

#ifndef MON_SERIES_H
#define MON_SERIES_H

#include "chart.h"
#include "lens.h"

// What is drawn: a class of the process's verdicts, or a field of its schema.
struct mon_series {
	bool is_class;
	uint32_t index; // of the class, or the field's position
};

#define MON_SERIES_POINTS MON_HISTORY_FULL

// Where a moment stands on an axis: seconds since the process began, or
// candidates. NAN where the axis does not say.
double mon_series_x(const struct mon_process *process, enum analysis_axis axis, uint64_t at_ns);

// Fills points, unit and range of a chart along the axis; of it all the last
// 1 / 2^zoom. `points` has room for MON_SERIES_POINTS and has to outlive the
// chart. Returns the points, 0 when nothing is known.
size_t mon_series_read(const struct mon_process *process, struct mon_series series, enum analysis_axis axis,
		       unsigned zoom, struct mon_chart_point *points, struct mon_chart *chart);

// The verdict on a class along an axis; NULL for none.
const struct analysis_verdict *mon_series_verdict(const struct mon_process *process, uint32_t class_index,
						  enum analysis_axis axis);

// Adds to a chart that was read what belongs to it: the floor of what grows or
// the band of what is bounded, and the capacity; phases and gaps as rules;
// outcomes as ticks.
void mon_series_add_verdict(const struct mon_process *process, uint32_t class_index, enum analysis_axis axis,
			    struct mon_chart *chart);
void mon_series_add_events(const struct mon_process *process, enum analysis_axis axis,
			   struct mon_chart *chart);

// "+1.00", "+102M", "flat", "2..5", "one step": what the verdict says in at most
// 12 columns; "" where there is none.
const char *mon_series_slope(const struct mon_process *process, uint32_t class_index,
			     enum analysis_axis axis, enum mon_units units, char *buffer, size_t size);

// The class of that name, or -1.
int mon_series_class(const struct mon_process *process, const char *name);

// The glyph of an outcome in charts and lists, and its style.
const char *mon_outcome_glyph(unsigned outcome, bool is_ascii);
unsigned mon_outcome_style(unsigned outcome);

#endif
