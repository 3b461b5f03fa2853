// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Charts on a grid: points along an axis, in braille dots, half blocks or ASCII.
// Pure, and everything clips: nothing is drawn outside of the given rectangle,
// whatever the numbers are.

#ifndef MON_CHART_H
#define MON_CHART_H

#include "cells.h"
#include "monitor.h"

struct mon_chart_point {
	double x, y; // finite; x never falls
	bool is_after_gap; // no line from the point before
};

// A line behind the points: a floor, a fit, a limit.
struct mon_chart_line {
	double x0, y0, x1, y1;
};

#define MON_CHART_LINES	 2
#define MON_CHART_RULES	 64
#define MON_CHART_TICKS	 512

struct mon_chart {
	const struct mon_chart_point *points;
	size_t n_points;
	unsigned style; // of the points
	double x_low, x_high;
	bool is_time;  // x is seconds, else a count
	bool is_bytes; // y, else a count
	enum mon_units units;
	double capacity; // drawn where it lies near; NAN: none
	struct mon_chart_line lines[MON_CHART_LINES];
	unsigned n_lines;
	struct mon_chart_rule {
		double x;
		const char *name;
	} rules[MON_CHART_RULES]; // phases and gaps: vertical rules with their names
	unsigned n_rules;
	struct mon_chart_tick {
		double x;
		unsigned rank; // of those in one column the highest is shown
		unsigned style;
		const char *glyph, *ascii;
	} ticks[MON_CHART_TICKS]; // outcomes, below the axis
	unsigned n_ticks;
	bool is_blocks; // the terminal has no braille
};

// All empty, with no capacity.
void mon_chart_init(struct mon_chart *chart);

// Draws the chart with its axes. From 16 x 4 on; smaller ones stay empty.
void mon_chart_draw(struct mon_grid *grid, int x, int y, int width, int height,
		    const struct mon_chart *chart);

// A small one in one line of `width` cells, without axes; its range is that of
// its points. A flat series is a line in the middle.
void mon_spark_draw(struct mon_grid *grid, int x, int y, int width, const struct mon_chart *chart);

// The distance of labels on an axis that shows `range` in about n steps: 1, 2 or
// 5 times a power of ten, a power of two for bytes in IEC units, or what clocks
// have for seconds; never 0.
double mon_chart_step(double range, int n, bool is_time, bool is_binary);

#endif
