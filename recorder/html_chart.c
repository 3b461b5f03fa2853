// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Charts as SVG, one for each class and axis; radio buttons of the page choose
// the axis without a script. Coordinates are whole numbers, and a line says
// nothing twice, so that a chart is a few kilobytes.

#include "html_axis.h"

#include "../monitor/monitor.h"

#include <inttypes.h>
#include <math.h>

#include "../libtelemetry/banned.h"

// A capacity is drawn from where it is within reach.
#define CAPACITY_REACH 4

struct chart {
	struct mon_out *out;
	const struct rec_html_process *process;
	const struct rec_axis *axis;
	size_t class_index;
	unsigned unit;
	double low, high; // of y
	double capacity;  // 0: not drawn
};

// Neighbouring buckets as one point.
struct point {
	double x;
	struct rec_range range;
	bool has_gap; // before it
};

static const char *const axis_words[ANALYSIS_AXIS_COUNT] = {"time", "attempted", "linked", "timed", "kept"};

static double y_of(const struct chart *chart, double value)
{
	return REC_CHART_BOTTOM - (value - chart->low) / (chart->high - chart->low) * (REC_CHART_BOTTOM - REC_CHART_TOP);
}

// Point number `number`, or false where there is none with a value.
static bool get_point(const struct chart *chart, uint32_t number, uint32_t n_each, struct point *ret_point)
{
	const struct rec_series *series = chart->process->series;
	struct point point = {0};
	uint32_t end = (number + 1) * n_each < series->n_buckets ? (number + 1) * n_each : series->n_buckets;
	for (uint32_t b = number * n_each; b < end; b++) {
		const struct rec_range *range = &series->ranges[chart->class_index][b];
		const struct rec_bucket *bucket = &series->buckets[b];
		point.has_gap |= bucket->has_gap;
		if (!range->is_known)
			continue;
		double value = rec_axis_value(chart->process, chart->axis->axis, bucket->last_at_ns, bucket->counts);
		if (isnan(value))
			continue;
		point.x = rec_axis_x(chart->axis, value);
		if (!point.range.is_known)
			point.range = *range;
		point.range.low = range->low < point.range.low ? range->low : point.range.low;
		point.range.high = range->high > point.range.high ? range->high : point.range.high;
		point.range.last = range->last;
	}
	*ret_point = point;
	return point.range.is_known;
}

static uint32_t points_each(const struct chart *chart)
{
	uint32_t n = chart->process->series->n_buckets, most = chart->process->n_points;
	return (n + most - 1) / most;
}

// From the lowest to the highest value; a piece for each run without a gap.
static void put_band(const struct chart *chart)
{
	uint32_t n_each = points_each(chart), n = (chart->process->series->n_buckets + n_each - 1) / n_each;
	struct point point;
	bool has_path = false;
	for (uint32_t begin = 0; begin < n;) {
		uint32_t end = begin;
		bool is_wide = false;
		while (end < n && get_point(chart, end, n_each, &point) && (end == begin || !point.has_gap)) {
			is_wide |= point.range.low != point.range.high;
			end++;
		}
		if (is_wide) {
			mon_out_text(chart->out, has_path ? "" : "<path class=\"band\" d=\"");
			has_path = true;
			for (uint32_t i = begin; i < end; i++) {
				get_point(chart, i, n_each, &point);
				mon_out_format(chart->out, "%c%.0f %.0f", i == begin ? 'M' : 'L', point.x, y_of(chart, (double)point.range.high));
			}
			for (uint32_t i = end; i-- > begin;) {
				get_point(chart, i, n_each, &point);
				mon_out_format(chart->out, "L%.0f %.0f", point.x, y_of(chart, (double)point.range.low));
			}
			mon_out_text(chart->out, "z");
		}
		begin = end > begin ? end : begin + 1;
	}
	mon_out_text(chart->out, has_path ? "\"/>" : "");
}

// A flat stretch is one line, drawn once its end is known.
static void end_flat(const struct chart *chart, long from_x, long *to_x)
{
	if (*to_x > from_x)
		mon_out_format(chart->out, "H%ld", *to_x);
	*to_x = -1;
}

static void put_line(const struct chart *chart)
{
	uint32_t n_each = points_each(chart), n = (chart->process->series->n_buckets + n_each - 1) / n_each;
	long last_x = 0, last_y = 0, flat_x = -1;
	bool is_on = false, has_path = false;
	for (uint32_t i = 0; i < n; i++) {
		struct point point;
		if (!get_point(chart, i, n_each, &point)) {
			end_flat(chart, last_x, &flat_x);
			is_on = false;
			continue;
		}
		long x = lround(point.x), y = lround(y_of(chart, (double)point.range.last));
		bool is_move = !is_on || point.has_gap;
		if (!is_move && y == last_y) {
			flat_x = x;
			continue;
		}
		if (!has_path)
			mon_out_text(chart->out, "<path class=\"line\" d=\"");
		end_flat(chart, last_x, &flat_x);
		mon_out_format(chart->out, is_move ? "M%ld %ldh1" : "L%ld %ld", x, y);
		last_x = x;
		last_y = y;
		is_on = has_path = true;
	}
	end_flat(chart, last_x, &flat_x);
	if (has_path)
		mon_out_text(chart->out, "\"/>");
}

static void put_y_ticks(const struct chart *chart)
{
	double step = rec_axis_step((chart->high - chart->low) * 1.15, chart->unit == TELE_BYTES);
	if (chart->unit != TELE_BYTES && chart->unit != TELE_NS && step < 1)
		step = 1;
	for (double value = ceil(chart->low / step) * step; value <= chart->high; value += step) {
		char figure[REC_FIGURE_BYTES];
		double y = y_of(chart, value);
		mon_out_format(chart->out, "<path class=\"%s\" d=\"M%d %.0fH%d\"/><text x=\"%d\" y=\"%.0f\" text-anchor=\"end\">%s</text>",
			       value == 0 ? "zero" : "grid", REC_CHART_LEFT, y, REC_CHART_RIGHT, REC_CHART_LEFT - 10, y + 8,
			       rec_html_figure(chart->unit, (int64_t)value, false, figure));
	}
}

static void put_capacity(const struct chart *chart)
{
	char figure[REC_FIGURE_BYTES];
	if (chart->capacity <= 0)
		return;
	double y = y_of(chart, chart->capacity);
	mon_out_format(chart->out, "<path class=\"capacity\" d=\"M%d %.0fH%d\"/><text class=\"small\" x=\"%d\" y=\"%.0f\" text-anchor=\"end\">capacity %s</text>",
		       REC_CHART_LEFT, y, REC_CHART_RIGHT, REC_CHART_RIGHT - 6, y + 24,
		       rec_html_figure(TELE_BYTES, (int64_t)chart->capacity, false, figure));
}

// What the script says under the pointer: where each value begins, exactly as it
// was, and nothing where records are missing.
static void put_values(const struct chart *chart)
{
	uint32_t n_each = points_each(chart), n = (chart->process->series->n_buckets + n_each - 1) / n_each;
	bool is_on = false;
	int64_t last = 0;
	long last_x = 0;
	mon_out_format(chart->out, " data-end=\"%.9g\" data-unit=\"%s\" data-values=\"", chart->axis->last,
		       chart->unit == TELE_BYTES ? "bytes" : chart->unit == TELE_NS ? "ns" : "count");
	for (uint32_t i = 0; i < n; i++) {
		struct point point;
		bool is_known = get_point(chart, i, n_each, &point);
		if (is_on && (!is_known || point.has_gap))
			mon_out_format(chart->out, "%ld,;", last_x + 1);
		bool is_new = is_known && (!is_on || point.has_gap || point.range.last != last);
		is_on = is_known;
		if (is_known)
			last_x = lround(point.x);
		if (is_new)
			mon_out_format(chart->out, "%ld,%" PRId64 ";", last_x, last = point.range.last);
	}
	mon_out_text(chart->out, "\"");
}

static void put_chart(const struct chart *chart)
{
	const struct rec_class *class = &chart->process->summary->classes[chart->class_index];
	mon_out_format(chart->out, "<svg class=\"x%u\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"", chart->axis->axis,
		       REC_CHART_WIDTH, REC_CHART_HEIGHT);
	rec_html_text(chart->out, class->name);
	mon_out_format(chart->out, " over %s%s\"", axis_words[chart->axis->axis],
		       chart->axis->axis == ANALYSIS_TIME ? "" : " candidates");
	put_values(chart);
	mon_out_format(chart->out, "><use href=\"#b%u-%u\"/>", chart->process->number, chart->axis->axis);
	put_y_ticks(chart);
	put_capacity(chart);
	put_band(chart);
	put_line(chart);
	mon_out_text(chart->out, "</svg>\n");
}

// Extent of y, from 0 where nothing is below, with what is drawn of a capacity.
static void find_extent(struct chart *chart)
{
	const struct rec_series *series = chart->process->series;
	const struct analysis_verdict *verdict = rec_html_verdict(chart->process, chart->class_index, ANALYSIS_AXIS_COUNT);
	chart->low = chart->high = 0;
	for (uint32_t b = 0; b < series->n_buckets; b++) {
		const struct rec_range *range = &series->ranges[chart->class_index][b];
		chart->low = range->is_known ? fmin(chart->low, (double)range->low) : chart->low;
		chart->high = range->is_known ? fmax(chart->high, (double)range->high) : chart->high;
	}
	if (verdict && verdict->capacity_bytes != TELE_UNKNOWN && chart->unit == TELE_BYTES &&
	    chart->high * CAPACITY_REACH >= (double)verdict->capacity_bytes)
		chart->capacity = (double)verdict->capacity_bytes;
	chart->high = fmax(chart->high, chart->capacity);
	double room = (chart->high - chart->low) * 0.04;
	chart->high += room > 0 ? room : 1;
	chart->low -= chart->low < 0 ? room : 0;
}

static void put_caption(const struct chart *chart)
{
	const struct rec_class *class = &chart->process->summary->classes[chart->class_index];
	const struct analysis_verdict *verdict = rec_html_verdict(chart->process, chart->class_index, ANALYSIS_AXIS_COUNT);
	char last[REC_FIGURE_BYTES], peak[REC_FIGURE_BYTES];
	mon_out_text(chart->out, "<figcaption><b>");
	rec_html_text(chart->out, class->name);
	mon_out_format(chart->out, "</b> <span class=\"badge %s\">%s</span> <span class=\"quiet\">last %s, peak %s</span> <output></output></figcaption>\n",
		       rec_html_shape_style(verdict), rec_html_shape_word(verdict),
		       class->is_last_known ? rec_html_figure(class->unit, class->last, false, last) : "n/a",
		       rec_html_figure(class->unit, class->peak, false, peak));
}

// The axis to begin with: of the first class that grows; else the first one.
static unsigned first_axis(const struct rec_html_process *process, const struct rec_axis *axes, const bool *has_axis)
{
	for (size_t i = 0; i < process->n_verdicts; i++) {
		const struct analysis_verdict *verdict = &process->verdicts[i];
		if (verdict->is_headline && analysis_shape_grows(verdict->growth.shape) && has_axis[verdict->axis])
			return verdict->axis;
	}
	for (unsigned axis = 0; axis < ANALYSIS_AXIS_COUNT; axis++)
		if (has_axis[axis])
			return axes[axis].axis;
	return ANALYSIS_TIME;
}

static void put_axes(struct mon_out *out, const struct rec_html_process *process, const bool *has_axis, unsigned chosen)
{
	for (unsigned axis = 0; axis < ANALYSIS_AXIS_COUNT; axis++)
		if (has_axis[axis])
			mon_out_format(out, "<input type=\"radio\" class=\"a%u\" name=\"a%u\" id=\"a%u-%u\"%s><label for=\"a%u-%u\">%s</label>\n", axis,
				       process->number, process->number, axis, axis == chosen ? " checked" : "", process->number, axis,
				       axis_words[axis]);
}

// Classes in the order of their verdicts, so that what grows comes first; those
// without one after them.
static uint32_t order_classes(const struct rec_html_process *process, size_t *ret_order)
{
	bool is_taken[ANALYSIS_CLASSES_MAX] = {false};
	uint32_t n = 0;
	for (size_t i = 0; i < process->n_verdicts; i++) {
		size_t index = process->verdicts[i].class_index;
		if (!is_taken[index] && rec_html_has_class(process, index))
			ret_order[n++] = index;
		is_taken[index] = true;
	}
	for (size_t index = 0; index < process->summary->n_classes; index++)
		if (!is_taken[index] && rec_html_has_class(process, index))
			ret_order[n++] = index;
	return n;
}

void rec_html_charts(struct mon_out *out, const struct rec_html_process *process)
{
	struct rec_axis axes[ANALYSIS_AXIS_COUNT];
	bool has_axis[ANALYSIS_AXIS_COUNT];
	size_t order[ANALYSIS_CLASSES_MAX];
	uint32_t n = order_classes(process, order);
	bool has_any = false;
	for (unsigned axis = 0; axis < ANALYSIS_AXIS_COUNT; axis++)
		has_any |= has_axis[axis] = rec_axis_find(process, axis, &axes[axis]);
	if (n == 0 || !has_any)
		return;
	mon_out_text(out, "<h3>Classes over time and candidates</h3>\n<svg class=\"shared\" aria-hidden=\"true\"><defs>\n");
	for (unsigned axis = 0; axis < ANALYSIS_AXIS_COUNT; axis++)
		if (has_axis[axis])
			rec_axis_put(out, process, &axes[axis]);
	mon_out_text(out, "</defs></svg>\n<div class=\"charts\">\n");
	put_axes(out, process, has_axis, first_axis(process, axes, has_axis));
	mon_out_text(out, "<div class=\"figures\">\n");
	for (uint32_t i = 0; i < n && i < REC_HTML_CHARTS_MAX; i++) {
		struct chart chart = {
			.out = out,
			.process = process,
			.class_index = order[i],
			.unit = process->summary->classes[order[i]].unit,
		};
		find_extent(&chart);
		mon_out_text(out, "<figure>\n");
		put_caption(&chart);
		for (unsigned axis = 0; axis < ANALYSIS_AXIS_COUNT; axis++)
			if (has_axis[axis]) {
				chart.axis = &axes[axis];
				put_chart(&chart);
			}
		mon_out_text(out, "</figure>\n");
	}
	mon_out_text(out, "</div></div>\n");
	if (n > REC_HTML_CHARTS_MAX)
		mon_out_format(out, "<p class=\"quiet\">The first %d of %" PRIu32 " classes are drawn.</p>\n", REC_HTML_CHARTS_MAX, n);
	if (process->series->n_gaps_left_out || process->series->n_phases_left_out)
		mon_out_format(out, "<p class=\"quiet\">%" PRIu32 " more gaps and %" PRIu32 " more phases are not drawn.</p>\n",
			       process->series->n_gaps_left_out, process->series->n_phases_left_out);
}
