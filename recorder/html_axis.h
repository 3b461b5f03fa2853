// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The axes of charts, and the picture's measures: 960 by 330, of which the plot
// takes the part below.

#ifndef REC_HTML_AXIS_H
#define REC_HTML_AXIS_H

#include "html.h"

enum {
	REC_CHART_WIDTH = 960, REC_CHART_HEIGHT = 330,
	REC_CHART_LEFT = 132, REC_CHART_RIGHT = 944, REC_CHART_TOP = 34, REC_CHART_BOTTOM = 250,
};

struct rec_axis {
	unsigned axis; // enum analysis_axis
	double first, last; // in seconds or candidates
};

// Whether the process has that axis at all, and its extent.
bool rec_axis_find(const struct rec_html_process *process, unsigned axis, struct rec_axis *ret_axis);

// Where a place is on an axis, or NAN; and where that is in the picture.
double rec_axis_value(const struct rec_html_process *process, unsigned axis, uint64_t at_ns, const uint64_t *counts);
double rec_axis_x(const struct rec_axis *axis, double value);

// A round distance of ticks for a span; of bytes, a power of two.
double rec_axis_step(double span, bool is_binary);

// The group that all charts of the axis use, with the id "bPROCESS-AXIS".
void rec_axis_put(struct mon_out *out, const struct rec_html_process *process, const struct rec_axis *axis);

#endif
