// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What all charts of one axis share: phases, gaps, how candidates ended, and the
// scale below. It is drawn once for each process and axis.

#include "html_axis.h"

#include "../monitor/monitor.h"

#include <inttypes.h>
#include <math.h>

#include "../libtelemetry/banned.h"

enum { STRIP_TOP = REC_CHART_BOTTOM + 8, STRIP_HEIGHT = 16, LABELS_AT = 306, SLOTS = 116, TICKS = 7 };

// ---- Where things are -------------------------------------------------------------------

// x of a place on the axis, or NAN.
double rec_axis_value(const struct rec_html_process *process, unsigned axis, uint64_t at_ns, const uint64_t *counts)
{
	uint64_t first = process->series->first_at_ns;
	if (axis == ANALYSIS_TIME)
		return at_ns < first ? 0 : (double)(at_ns - first) / 1e9;
	return counts[axis] == TELE_UNKNOWN ? NAN : (double)counts[axis];
}

double rec_axis_x(const struct rec_axis *scale, double value)
{
	double span = scale->last - scale->first;
	double share = span > 0 ? (value - scale->first) / span : 0;
	return REC_CHART_LEFT + fmin(fmax(share, 0), 1) * (REC_CHART_RIGHT - REC_CHART_LEFT);
}

// Whether the process has that axis at all, and its extent.
bool rec_axis_find(const struct rec_html_process *process, unsigned axis, struct rec_axis *ret_scale)
{
	const struct rec_series *series = process->series;
	if (series->n_buckets == 0 || (axis == ANALYSIS_TIME && process->summary->instance->identity.is_untimed))
		return false;
	const struct rec_bucket *last = &series->buckets[series->n_buckets - 1];
	double end = rec_axis_value(process, axis, last->last_at_ns, last->counts);
	if (!(end > 0))
		return false;
	*ret_scale = (struct rec_axis){.axis = axis, .last = end};
	return true;
}

// ---- Scales with round numbers ------------------------------------------------------------

double rec_axis_step(double span, bool is_binary)
{
	double wanted = span / (TICKS - 1);
	if (!(wanted > 0))
		return 1;
	if (is_binary)
		return exp2(ceil(log2(wanted)));
	double power = pow(10, floor(log10(wanted)));
	double head = wanted / power;
	return (head <= 1 ? 1 : head <= 2 ? 2 : head <= 5 ? 5 : 10) * power;
}

static double time_step(double span_s)
{
	static const double steps[] = {1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200};
	for (size_t i = 0; i < TELE_ARRAY_LEN(steps); i++)
		if (span_s / steps[i] <= TICKS)
			return span_s < 4 ? rec_axis_step(span_s, false) : steps[i];
	return 86400 * ceil(span_s / 86400 / TICKS);
}

static void put_time(struct mon_out *out, double seconds, double step)
{
	uint64_t s = (uint64_t)(seconds + 0.5);
	if (step < 1)
		mon_out_format(out, "%g s", seconds);
	else if (step < 60)
		mon_out_format(out, s < 60 ? "%" PRIu64 " s" : "%" PRIu64 ":%02" PRIu64, s < 60 ? s : s / 60, s % 60);
	else if (step < 3600)
		mon_out_format(out, s < 3600 ? "%" PRIu64 " min" : "%" PRIu64 "h%02" PRIu64, s < 3600 ? s / 60 : s / 3600, s / 60 % 60);
	else
		mon_out_format(out, step < 86400 ? "%" PRIu64 " h" : "%" PRIu64 " d", step < 86400 ? s / 3600 : s / 86400);
}

static void put_x_ticks(struct mon_out *out, const struct rec_axis *scale)
{
	double step = scale->axis == ANALYSIS_TIME ? time_step(scale->last) : fmax(1, rec_axis_step(scale->last, false));
	for (double value = 0; value <= scale->last * 1.0001; value += step) {
		double x = rec_axis_x(scale, value);
		const char *anchor = x > REC_CHART_RIGHT - 40 ? "end" : "middle";
		mon_out_format(out, "<path class=\"tick\" d=\"M%.0f %dv8\"/><text x=\"%.0f\" y=\"%d\" text-anchor=\"%s\">", x, REC_CHART_BOTTOM, x,
			       LABELS_AT, anchor);
		if (scale->axis == ANALYSIS_TIME)
			put_time(out, value, step);
		else
			mon_out_format(out, "%.0f", value);
		mon_out_text(out, "</text>");
	}
}

// ---- What the charts of an axis share -------------------------------------------------------

static void put_phases(struct mon_out *out, const struct rec_html_process *process, const struct rec_axis *scale)
{
	const struct rec_series *series = process->series;
	for (uint32_t i = 0; i < series->n_phases; i++) {
		const struct rec_place *begin = &series->phases[i].begin;
		double from = rec_axis_value(process, scale->axis, begin->at_ns, begin->counts), to = scale->last;
		if (i + 1 < series->n_phases) {
			const struct rec_place *next = &series->phases[i + 1].begin;
			to = rec_axis_value(process, scale->axis, next->at_ns, next->counts);
		}
		// Before the first candidate nothing is counted.
		from = isnan(from) ? 0 : from;
		to = isnan(to) ? 0 : to;
		double left = rec_axis_x(scale, from), width = rec_axis_x(scale, to) - left;
		char name[64];
		if (width < 1)
			continue;
		mon_out_format(out, "<rect class=\"phase%s\" x=\"%.0f\" y=\"%d\" width=\"%.0f\" height=\"%d\"/>", i % 2 ? " odd" : "",
			       left, REC_CHART_TOP, width, REC_CHART_BOTTOM - REC_CHART_TOP);
		size_t room = (size_t)(width / 12);
		if (room < 2)
			continue;
		mon_text_clean(series->phases[i].name, false, name, room + 1 < sizeof(name) ? room + 1 : sizeof(name));
		mon_out_format(out, "<text class=\"small\" x=\"%.0f\" y=\"%d\">", left + 4, REC_CHART_TOP - 10);
		rec_html_text(out, name);
		mon_out_text(out, "</text>");
	}
}

static void put_gaps(struct mon_out *out, const struct rec_html_process *process, const struct rec_axis *scale)
{
	for (uint32_t i = 0; i < process->series->n_gaps; i++) {
		const struct rec_html_gap *gap = &process->series->gaps[i];
		double from = rec_axis_value(process, scale->axis, gap->from.at_ns, gap->from.counts);
		double to = rec_axis_value(process, scale->axis, gap->to.at_ns, gap->to.counts);
		if (isnan(from) || isnan(to))
			continue;
		double left = rec_axis_x(scale, from), width = fmax(rec_axis_x(scale, to) - left, 4);
		mon_out_format(out, "<rect class=\"gap\" x=\"%.0f\" y=\"%d\" width=\"%.0f\" height=\"%d\"><title>%" PRIu64 " records lost</title></rect>",
			       left, REC_CHART_TOP, width, REC_CHART_BOTTOM - REC_CHART_TOP, gap->lost);
	}
}

// How the candidates ended, a small column for each slot.
static void put_outcomes(struct mon_out *out, const struct rec_html_process *process, const struct rec_axis *scale)
{
	uint32_t counts[SLOTS][TELE_OUTCOME_COUNT] = {{0}}, sums[SLOTS] = {0};
	const double slot_width = (double)(REC_CHART_RIGHT - REC_CHART_LEFT) / SLOTS;
	for (uint32_t b = 0; b < process->series->n_buckets; b++) {
		const struct rec_bucket *bucket = &process->series->buckets[b];
		double value = rec_axis_value(process, scale->axis, bucket->last_at_ns, bucket->counts);
		if (isnan(value))
			continue;
		unsigned slot = (unsigned)((rec_axis_x(scale, value) - REC_CHART_LEFT) / slot_width);
		slot = slot < SLOTS ? slot : SLOTS - 1;
		for (unsigned i = 0; i < TELE_OUTCOME_COUNT; i++) {
			counts[slot][i] += bucket->outcomes[i];
			sums[slot] += bucket->outcomes[i];
		}
	}
	double tops[SLOTS];
	for (unsigned s = 0; s < SLOTS; s++)
		tops[s] = STRIP_TOP;
	for (unsigned i = 0; i < TELE_OUTCOME_COUNT; i++) {
		bool has_any = false;
		for (unsigned s = 0; s < SLOTS; s++) {
			if (counts[s][i] == 0)
				continue;
			double height = (double)counts[s][i] / sums[s] * STRIP_HEIGHT;
			if (!has_any)
				mon_out_format(out, "<path class=\"o%u\" d=\"", i);
			mon_out_format(out, "M%.0f %.1fh%.0fv%.1fh-%.0fz", REC_CHART_LEFT + s * slot_width, tops[s], slot_width, height,
				       slot_width);
			has_any = true;
			tops[s] += height;
		}
		if (has_any)
			mon_out_text(out, "\"/>");
	}
}

void rec_axis_put(struct mon_out *out, const struct rec_html_process *process, const struct rec_axis *scale)
{
	mon_out_format(out, "<g id=\"b%u-%u\">", process->number, scale->axis);
	put_phases(out, process, scale);
	put_outcomes(out, process, scale);
	put_x_ticks(out, scale);
	put_gaps(out, process, scale);
	mon_out_text(out, "</g>\n");
}
