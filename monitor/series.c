// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Rows are read back into classes by the watch's own table, so that a chart and
// the verdict on it speak of the same numbers.

#include "series.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "format.h"

#include "../libtelemetry/banned.h"

#define TICKS_MIN 2 // candidates; one is told by the list

static const struct {
	const char *glyph, *ascii;
	unsigned style, rank;
} outcomes[TELE_OUTCOME_COUNT] = {
	[TELE_OUTCOME_OPEN] = {"○", "o", MON_ACCENT, 3},
	[TELE_OUTCOME_DECLINED] = {"-", "-", MON_DIM, 1},
	[TELE_OUTCOME_LINK_FAILED] = {"×", "x", MON_WARN, 6},
	[TELE_OUTCOME_NON_DISPATCHABLE] = {"×", "x", MON_WARN, 5},
	[TELE_OUTCOME_DEDUPLICATED] = {"=", "=", MON_DIM, 4},
	[TELE_OUTCOME_FAILED] = {"×", "x", MON_WARN, 7},
	[TELE_OUTCOME_TIMED] = {"·", ".", MON_NORMAL, 2},
	[TELE_OUTCOME_KEPT] = {"●", "K", MON_GOOD, 8},
};

const char *mon_outcome_glyph(unsigned outcome, bool is_ascii)
{
	TELE_ASSERT(outcome < TELE_OUTCOME_COUNT);
	return is_ascii ? outcomes[outcome].ascii : outcomes[outcome].glyph;
}

unsigned mon_outcome_style(unsigned outcome)
{
	TELE_ASSERT(outcome < TELE_OUTCOME_COUNT);
	return outcomes[outcome].style;
}

// ---- The axis ---------------------------------------------------------------------

static int64_t axis_position(const struct mon_process *process, enum analysis_axis axis)
{
	static const enum tele_field_id ids[ANALYSIS_AXIS_COUNT] = {
		[ANALYSIS_ATTEMPTED] = TELE_ID_search_candidates_attempted,
		[ANALYSIS_LINKED] = TELE_ID_search_candidates_linked,
		[ANALYSIS_TIMED] = TELE_ID_search_candidates_timed,
		[ANALYSIS_KEPT] = TELE_ID_search_candidates_kept,
	};
	return tele_schema_position(process->instance->schema, ids[axis], TELE_NO_INSTANCE);
}

static double seconds_of(const struct mon_process *process, uint64_t at_ns)
{
	uint64_t began_ns = process->identity.created_at_ns;
	if (process->n_history && process->history[0].at_ns < began_ns)
		began_ns = process->history[0].at_ns;
	return ((double)at_ns - (double)began_ns) / 1e9;
}

static double row_x(const struct mon_process *process, enum analysis_axis axis, int64_t position,
		    const struct mon_row *row)
{
	if (axis == ANALYSIS_TIME)
		return seconds_of(process, row->at_ns);
	if (position < 0 || position >= row->n_fields || row->values[position] == TELE_UNKNOWN)
		return NAN;
	return (double)row->values[position];
}

double mon_series_x(const struct mon_process *process, enum analysis_axis axis, uint64_t at_ns)
{
	int64_t position = axis == ANALYSIS_TIME ? -1 : axis_position(process, axis);
	uint32_t low = 0, high = process->n_history;
	if (axis == ANALYSIS_TIME)
		return seconds_of(process, at_ns);
	// The first row at or after that moment.
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (process->history[middle].at_ns < at_ns)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == process->n_history && low > 0)
		low--;
	return process->n_history ? row_x(process, axis, position, &process->history[low]) : NAN;
}

// ---- Points -----------------------------------------------------------------------

static double value_of(const struct mon_process *process, struct mon_series series,
		       const struct analysis_classes *classes, const struct mon_row *row)
{
	const struct tele_schema *schema = process->instance->schema;
	uint64_t value = TELE_UNKNOWN;
	if (series.is_class)
		value = analysis_classes_value(classes, series.index, schema, row->values, row->n_fields);
	else if (series.index < row->n_fields)
		value = row->values[series.index];
	if (value == TELE_UNKNOWN)
		return NAN;
	return series.is_class ? (double)(int64_t)value : (double)value;
}

// Where the axis starts anew (another search in the same process), older points
// are left out: x never falls.
static size_t keep_rising(struct mon_chart_point *points, size_t n_points)
{
	size_t first = 0;
	for (size_t i = 1; i < n_points; i++)
		if (points[i].x < points[i - 1].x)
			first = i;
	memmove(points, points + first, (n_points - first) * sizeof(*points));
	return n_points - first;
}

size_t mon_series_read(const struct mon_process *process, struct mon_series series, enum analysis_axis axis,
		       unsigned zoom, struct mon_chart_point *points, struct mon_chart *chart)
{
	const struct analysis_classes *classes = process->watch ? analysis_watch_classes(process->watch) : NULL;
	int64_t position = axis == ANALYSIS_TIME ? -1 : axis_position(process, axis);
	size_t n = 0;
	bool is_after_gap = false;
	if (series.is_class && (!classes || series.index >= classes->n_items))
		return 0;
	for (uint32_t i = 0; i < process->n_history && n < MON_SERIES_POINTS; i++) {
		const struct mon_row *row = &process->history[i];
		double x = row_x(process, axis, position, row);
		double y = isnan(x) ? NAN : value_of(process, series, classes, row);
		is_after_gap |= row->is_after_gap;
		// A figure that was not known for a while is a gap, too.
		if (isnan(y)) {
			is_after_gap |= n > 0;
			continue;
		}
		points[n++] = (struct mon_chart_point){x, y, is_after_gap};
		is_after_gap = false;
	}
	n = keep_rising(points, n);
	if (n == 0)
		return 0;
	chart->points = points;
	chart->n_points = n;
	chart->is_time = axis == ANALYSIS_TIME;
	chart->x_high = points[n - 1].x;
	chart->x_low = chart->x_high - (chart->x_high - points[0].x) / exp2(zoom);
	unsigned unit = series.is_class ? classes->items[series.index].unit
					: process->instance->schema->fields[series.index].unit;
	chart->is_bytes = unit == TELE_BYTES;
	return n;
}

// ---- Verdicts ---------------------------------------------------------------------

int mon_series_class(const struct mon_process *process, const char *name)
{
	return process->watch ? analysis_classes_find(analysis_watch_classes(process->watch), name) : -1;
}

const struct analysis_verdict *mon_series_verdict(const struct mon_process *process, uint32_t class_index,
						  enum analysis_axis axis)
{
	for (uint32_t i = 0; i < process->n_judged; i++)
		if (process->judged[i].class_index == class_index && process->judged[i].axis == axis)
			return &process->judged[i];
	return NULL;
}

// The line of the slope that all points of its window lie on or above.
static void add_floor(const struct analysis_growth *growth, struct mon_chart *chart)
{
	double least = INFINITY, from = chart->x_high - growth->window;
	if (!(from > chart->x_low))
		from = chart->x_low;
	for (size_t i = 0; i < chart->n_points; i++) {
		const struct mon_chart_point *point = &chart->points[i];
		if (point->x >= from)
			least = fmin(least, point->y - growth->slope * point->x);
	}
	if (!isfinite(least))
		return;
	chart->lines[chart->n_lines++] =
		(struct mon_chart_line){from, least + growth->slope * from, chart->x_high,
					least + growth->slope * chart->x_high};
}

static void add_level(double level, struct mon_chart *chart)
{
	chart->lines[chart->n_lines++] = (struct mon_chart_line){chart->x_low, level, chart->x_high, level};
}

void mon_series_add_verdict(const struct mon_process *process, uint32_t class_index, enum analysis_axis axis,
			    struct mon_chart *chart)
{
	const struct analysis_verdict *verdict = mon_series_verdict(process, class_index, axis);
	chart->n_lines = 0;
	if (!verdict)
		return;
	if (verdict->capacity_bytes != TELE_UNKNOWN && chart->is_bytes)
		chart->capacity = (double)verdict->capacity_bytes;
	if (analysis_shape_grows(verdict->growth.shape)) {
		chart->style = MON_BAD;
		add_floor(&verdict->growth, chart);
	} else if (verdict->growth.shape == ANALYSIS_BOUNDED) {
		add_level(verdict->growth.low, chart);
		add_level(verdict->growth.high, chart);
	}
}

void mon_series_add_events(const struct mon_process *process, enum analysis_axis axis,
			   struct mon_chart *chart)
{
	for (uint64_t n = 1; n <= process->n_phases && chart->n_rules < MON_CHART_RULES; n++) {
		const struct mon_phase *phase = mon_process_phase_at(process, n);
		if (phase)
			chart->rules[chart->n_rules++] =
				(struct mon_chart_rule){mon_series_x(process, axis, phase->at_ns), phase->name};
	}
	int64_t position = axis == ANALYSIS_TIME ? -1 : axis_position(process, axis);
	for (uint32_t i = 0; i < process->n_history && chart->n_rules < MON_CHART_RULES; i++)
		if (process->history[i].is_after_gap)
			chart->rules[chart->n_rules++] = (struct mon_chart_rule){
				row_x(process, axis, position, &process->history[i]), "gap"};
	for (uint64_t n = process->n_candidates; n > 0 && chart->n_ticks < MON_CHART_TICKS; n--) {
		const struct mon_candidate *candidate = mon_process_candidate_at(process, n - 1);
		if (!candidate)
			break;
		if (candidate->outcome == TELE_OUTCOME_OPEN || candidate->end_at_ns == TELE_UNKNOWN)
			continue;
		chart->ticks[chart->n_ticks++] = (struct mon_chart_tick){
			.x = mon_series_x(process, axis, candidate->end_at_ns),
			.rank = outcomes[candidate->outcome].rank,
			.style = outcomes[candidate->outcome].style,
			.glyph = outcomes[candidate->outcome].glyph,
			.ascii = outcomes[candidate->outcome].ascii,
		};
	}
	if (chart->n_ticks < TICKS_MIN)
		chart->n_ticks = 0;
}

// ---- In a few columns -------------------------------------------------------------

static const char *amount(double value, bool is_bytes, enum mon_units units, char *buffer, size_t size)
{
	char number[MON_NUMBER_BYTES];
	double magnitude = fabs(value);
	if (is_bytes)
		mon_format_size(magnitude, units, number, sizeof(number));
	else
		snprintf(number, sizeof(number), magnitude >= 1000 || magnitude == floor(magnitude) ? "%.0f" : "%.2f",
			 magnitude);
	snprintf(buffer, size, "%s%.16s", value < 0 ? "-" : "", number);
	return buffer;
}

const char *mon_series_slope(const struct mon_process *process, uint32_t class_index,
			     enum analysis_axis axis, enum mon_units units, char *buffer, size_t size)
{
	const struct analysis_verdict *verdict = mon_series_verdict(process, class_index, axis);
	bool is_bytes = verdict && analysis_watch_classes(process->watch)->items[class_index].unit == TELE_BYTES;
	char low[MON_NUMBER_BYTES], high[MON_NUMBER_BYTES];
	const struct analysis_growth *growth = verdict ? &verdict->growth : NULL;
	if (!growth || growth->shape == ANALYSIS_NOT_ENOUGH_DATA) {
		snprintf(buffer, size, "%s", "");
	} else if (analysis_shape_grows(growth->shape) || growth->shape == ANALYSIS_DRAINING) {
		amount(growth->slope, is_bytes, units, low, sizeof(low));
		snprintf(buffer, size, "%s%.16s", growth->slope > 0 ? "+" : "", low);
	} else if (growth->shape == ANALYSIS_BOUNDED && growth->high > growth->low) {
		amount(growth->low, is_bytes, units, low, sizeof(low));
		amount(growth->high, is_bytes, units, high, sizeof(high));
		snprintf(buffer, size, "%.12s..%.12s", low, high);
	} else {
		snprintf(buffer, size, "%s", growth->shape == ANALYSIS_ONE_TIME ? "one step" : "flat");
	}
	return buffer;
}
