// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Points become dots, two by four in a cell, joined by lines; then cells are made
// of dots: braille where the terminal has it, else the halves of a block, else
// ASCII. Two layers: the points, and lines behind them. What a cell shows is the
// dots of both, in the style of the upper one.

#include "chart.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "format.h"
#include "utf8.h"

#include "../libtelemetry/banned.h"

#define CELLS_MAX    32768 // of a plot: a larger one is cut
#define LABEL_COLUMNS 7
#define NEAR	     3.0 // a capacity is drawn up to so many times the highest point

void mon_chart_init(struct mon_chart *chart)
{
	*chart = (struct mon_chart){.style = MON_ACCENT, .capacity = NAN};
}

// ---- Steps ------------------------------------------------------------------------

static double decimal_step(double least)
{
	double power = pow(10, floor(log10(least)));
	double times = least / power;
	return power * (times <= 1 ? 1 : times <= 2 ? 2 : times <= 5 ? 5 : 10);
}

static double clock_step(double least)
{
	static const double steps[] = {1,    2,	   5,	 10,   15,    30,    60,    120,
				       300,  600,  900,	 1800, 3600,  7200,  10800, 21600,
				       43200, 86400};
	for (size_t i = 0; i < TELE_ARRAY_LEN(steps); i++)
		if (least > 0.5 && steps[i] >= least)
			return steps[i];
	return least <= 0.5 ? decimal_step(least) : 86400 * decimal_step(least / 86400);
}

double mon_chart_step(double range, int n, bool is_time, bool is_binary)
{
	double least = range / (n > 0 ? n : 1);
	if (!(least > 0) || !isfinite(least))
		return 1;
	if (is_time)
		return clock_step(least);
	return is_binary ? exp2(ceil(log2(least))) : decimal_step(least);
}

// ---- Dots -------------------------------------------------------------------------

struct plot {
	int width, height; // in cells
	double x_low, x_high, y_low, y_high;
	uint8_t (*dots)[2]; // a byte for each cell and layer, a bit for each dot
};

enum { LAYER_LINES, LAYER_POINTS };

static void set_dot(const struct plot *plot, int x, int y, unsigned layer)
{
	// The bits of braille: dots 1 to 3 and 7 at the left, 4 to 6 and 8 at the right.
	static const uint8_t bits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
	if (x < 0 || y < 0 || x >= plot->width * 2 || y >= plot->height * 4)
		return;
	plot->dots[y / 4 * plot->width + x / 2][layer] |= bits[y % 4][x % 2];
}

// The dot of a value, at most a little outside of the plot.
static int dot_of(double value, double low, double high, int n_dots)
{
	if (!(high > low))
		return (n_dots - 1) / 2;
	double at = (value - low) / (high - low) * (n_dots - 1);
	return at < -1 ? -1 : at > n_dots ? n_dots : (int)lround(at);
}

static int dot_x(const struct plot *plot, double x)
{
	return dot_of(x, plot->x_low, plot->x_high, plot->width * 2);
}

static int dot_y(const struct plot *plot, double y)
{
	int n_dots = plot->height * 4;
	return n_dots - 1 - dot_of(y, plot->y_low, plot->y_high, n_dots);
}

// Every dot between two: one column after the other, so that what rises never
// falls on the way.
static void join(const struct plot *plot, int x0, int y0, int x1, int y1)
{
	int last_y = y0;
	for (int x = x0; x <= x1; x++) {
		int y = x1 == x0 ? y1 : y0 + (int)lround((double)(y1 - y0) * (x - x0) / (x1 - x0));
		int from = x == x0 ? y0 : last_y + (y > last_y) - (y < last_y);
		for (int dot = from; dot != y; dot += y > from ? 1 : -1)
			set_dot(plot, x, dot, LAYER_POINTS);
		set_dot(plot, x, y, LAYER_POINTS);
		last_y = y;
	}
}

static void plot_points(const struct plot *plot, const struct mon_chart *chart)
{
	for (size_t i = 0; i < chart->n_points; i++) {
		const struct mon_chart_point *point = &chart->points[i];
		const struct mon_chart_point *before = i > 0 ? point - 1 : point;
		if (point->x < plot->x_low || point->x > plot->x_high)
			continue;
		bool is_joined = !point->is_after_gap && before->x >= plot->x_low;
		const struct mon_chart_point *from = is_joined ? before : point;
		join(plot, dot_x(plot, from->x), dot_y(plot, from->y), dot_x(plot, point->x),
		     dot_y(plot, point->y));
	}
}

// Every third dot of a line.
static void plot_line(const struct plot *plot, const struct mon_chart_line *line)
{
	int x0 = dot_x(plot, line->x0), x1 = dot_x(plot, line->x1);
	for (int x = x0; x <= x1 && x1 > x0; x++) {
		double share = (double)(x - x0) / (x1 - x0);
		if (x % 3 == 0)
			set_dot(plot, x, dot_y(plot, line->y0 + share * (line->y1 - line->y0)), LAYER_LINES);
	}
}

// ---- Cells ------------------------------------------------------------------------

#define DOTS_UPPER 0x1b // of a cell, and its rows from above
static const uint8_t dot_rows[4] = {0x09, 0x12, 0x24, 0xc0};

static const char *ascii_of(uint8_t dots)
{
	unsigned n_rows = 0;
	for (unsigned i = 0; i < 4; i++)
		n_rows += (dots & dot_rows[i]) != 0;
	if (n_rows > 2)
		return "|";
	if (n_rows == 2)
		return dots & dot_rows[0] ? "\"" : dots & dot_rows[3] ? ":" : "-";
	return dots & dot_rows[0] ? "'" : dots & dot_rows[3] ? "_" : "-";
}

static void draw_dots(struct mon_grid *grid, int x, int y, unsigned style, const uint8_t dots[2],
		      bool is_blocks)
{
	uint8_t all = dots[0] | dots[1];
	if (!all)
		return;
	style = dots[LAYER_POINTS] ? style : MON_DIM;
	if (grid->is_ascii) {
		mon_draw_text(grid, x, y, 1, style, dots[LAYER_POINTS] ? ascii_of(dots[LAYER_POINTS]) : ".");
	} else if (is_blocks) {
		bool is_upper = all & DOTS_UPPER, is_lower = all & (uint8_t)~DOTS_UPPER;
		mon_draw_text(grid, x, y, 1, style, is_upper && is_lower ? "█" : is_upper ? "▀" : "▄");
	} else {
		char text[MON_CHAR_BYTES_MAX + 1];
		text[mon_utf8_put(0x2800u + all, text)] = '\0';
		mon_draw_text(grid, x, y, 1, style, text);
	}
}

static void draw_plot(struct mon_grid *grid, int x, int y, const struct plot *plot,
		      const struct mon_chart *chart)
{
	for (int row = 0; row < plot->height; row++)
		for (int column = 0; column < plot->width; column++)
			draw_dots(grid, x + column, y + row, chart->style,
				  plot->dots[row * plot->width + column], chart->is_blocks);
}

// Takes room for n_max cells, of which the plot uses as many as it can.
static void start_plot(struct plot *plot, uint8_t (*dots)[2], int n_max)
{
	if (plot->width > n_max / plot->height)
		plot->width = n_max / plot->height;
	plot->dots = dots;
	memset(dots, 0, (size_t)(plot->width * plot->height) * sizeof(dots[0]));
}

// The range of y in the shown stretch of x; false without a point.
static bool range_of(const struct mon_chart *chart, double *ret_low, double *ret_high)
{
	bool is_any = false;
	for (size_t i = 0; i < chart->n_points; i++) {
		const struct mon_chart_point *point = &chart->points[i];
		if (point->x < chart->x_low || point->x > chart->x_high)
			continue;
		*ret_low = !is_any || point->y < *ret_low ? point->y : *ret_low;
		*ret_high = !is_any || point->y > *ret_high ? point->y : *ret_high;
		is_any = true;
	}
	return is_any;
}

void mon_spark_draw(struct mon_grid *grid, int x, int y, int width, const struct mon_chart *chart)
{
	struct plot plot = {.width = width, .height = 1, .x_low = chart->x_low, .x_high = chart->x_high};
	uint8_t dots[MON_GRID_WIDTH_MAX][2];
	if (width < 1 || !range_of(chart, &plot.y_low, &plot.y_high))
		return;
	start_plot(&plot, dots, MON_GRID_WIDTH_MAX);
	plot_points(&plot, chart);
	draw_plot(grid, x, y, &plot, chart);
}

// ---- Axes -------------------------------------------------------------------------

static const char *y_text(const struct mon_chart *chart, double y, char *buffer, size_t size)
{
	char number[MON_NUMBER_BYTES];
	double magnitude = fabs(y);
	if (!chart->is_bytes)
		snprintf(number, sizeof(number), magnitude >= 100000 ? "%.3g" : "%.6g", magnitude);
	else
		mon_format_size(magnitude, chart->units, number, sizeof(number));
	// "2.00G" is 2G: labels are round.
	char *dot = chart->is_bytes && chart->units != MON_UNITS_PLAIN ? strchr(number, '.') : NULL;
	size_t n_zeros = dot ? strspn(dot + 1, "0") : 0;
	if (dot && dot[1 + n_zeros] != '\0' && strchr("KMGTPE", dot[1 + n_zeros]))
		memmove(dot, dot + 1 + n_zeros, strlen(dot + 1 + n_zeros) + 1);
	snprintf(buffer, size, "%s%.20s", y < 0 ? "-" : "", number);
	return buffer;
}

static const char *x_text(const struct mon_chart *chart, double x, char *buffer, size_t size)
{
	if (!chart->is_time)
		snprintf(buffer, size, "%.0f", x);
	else if (x == floor(x))
		mon_format_seconds(x, buffer, size);
	else
		snprintf(buffer, size, "%.3gs", x);
	return buffer;
}

// A round range around the points, and the capacity where it is near.
static double choose_range(const struct mon_chart *chart, struct plot *plot)
{
	double low = plot->y_low, high = plot->y_high;
	if (chart->capacity > 0 && high > 0 && chart->capacity <= NEAR * high)
		high = chart->capacity > high ? chart->capacity : high;
	if (low > 0 && low < 0.6 * high)
		low = 0;
	if (!(high > low)) {
		double room = fabs(high) > 0 ? fabs(high) * 0.1 : 1;
		low = low > 0 && low - room < 0 ? 0 : low - room;
		high += room;
		low = plot->y_low >= 0 && low < 0 ? 0 : low;
	}
	int n_steps = plot->height / 3 > 0 ? plot->height / 3 : 1;
	double step = mon_chart_step(high - low, n_steps, false,
				     chart->is_bytes && chart->units == MON_UNITS_IEC);
	if (step < 1)
		step = 1;
	plot->y_low = floor(low / step) * step;
	plot->y_high = ceil(high / step) * step;
	if (!(plot->y_high > plot->y_low))
		plot->y_high = plot->y_low + step;
	return step;
}

static void draw_y_axis(struct mon_grid *grid, int x, int y, const struct plot *plot,
			const struct mon_chart *chart, double step)
{
	int n_steps = (int)((plot->y_high - plot->y_low) / step + 0.5), last = -1;
	for (int row = 0; row < plot->height; row++)
		mon_draw_text(grid, x + LABEL_COLUMNS, y + row, 1, MON_DIM, grid->is_ascii ? "|" : "│");
	for (int i = 0; i <= n_steps && i < 1000; i++) {
		char text[MON_NUMBER_BYTES];
		double value = plot->y_low + i * step;
		int row = dot_y(plot, value) / 4;
		if (row < 0 || row >= plot->height || row == last)
			continue;
		last = row;
		mon_draw_right(grid, x, y + row, LABEL_COLUMNS - 1, MON_DIM,
			       y_text(chart, value, text, sizeof(text)));
		mon_draw_text(grid, x + LABEL_COLUMNS, y + row, 1, MON_DIM, grid->is_ascii ? "+" : "┤");
	}
}

static void draw_x_axis(struct mon_grid *grid, int x, int y, const struct plot *plot,
			const struct mon_chart *chart)
{
	double range = plot->x_high - plot->x_low;
	double step = mon_chart_step(range, plot->width / 10, chart->is_time, false);
	int free_x = x;
	if (!chart->is_time && step < 1)
		step = 1;
	for (int i = 0; i < plot->width; i++)
		mon_draw_text(grid, x + i, y, 1, MON_DIM, grid->is_ascii ? "-" : "─");
	mon_draw_text(grid, x - 1, y, 1, MON_DIM, grid->is_ascii ? "+" : "└");
	for (double value = ceil(plot->x_low / step) * step; value <= plot->x_high + step * 1e-9;
	     value += step) {
		char text[MON_NUMBER_BYTES];
		x_text(chart, value, text, sizeof(text));
		int columns = (int)strlen(text), at = x + dot_x(plot, value) / 2;
		if (at < x || at >= x + plot->width)
			continue;
		mon_draw_text(grid, at, y, 1, MON_DIM, grid->is_ascii ? "+" : "┴");
		int left = at - columns / 2;
		if (left + columns > x + plot->width)
			left = x + plot->width - columns;
		if (left < free_x)
			continue;
		mon_draw_text(grid, left, y + 1, columns, MON_DIM, text);
		free_x = left + columns + 1;
		if (!(value + step > value))
			break;
	}
}

// ---- What happened ----------------------------------------------------------------

static void draw_rules(struct mon_grid *grid, int x, int y, const struct plot *plot,
		       const struct mon_chart *chart)
{
	int free_x = x;
	for (unsigned i = 0; i < chart->n_rules; i++) {
		const struct mon_chart_rule *rule = &chart->rules[i];
		if (!(rule->x >= plot->x_low && rule->x <= plot->x_high))
			continue;
		int column = x + dot_x(plot, rule->x) / 2;
		for (int row = 0; row < plot->height; row++)
			mon_draw_text(grid, column, y + row, 1, MON_DIM, grid->is_ascii ? ":" : "┊");
		int room = x + plot->width - column - 1;
		if (column + 1 < free_x || room < 1)
			continue;
		free_x = column + 2 + mon_draw_text(grid, column + 1, y, room < 16 ? room : 16, MON_NORMAL,
						    rule->name);
	}
}

static void draw_ticks(struct mon_grid *grid, int x, int y, const struct plot *plot,
		       const struct mon_chart *chart)
{
	unsigned ranks[MON_GRID_WIDTH_MAX] = {0};
	for (unsigned i = 0; i < chart->n_ticks; i++) {
		const struct mon_chart_tick *tick = &chart->ticks[i];
		if (!(tick->x >= plot->x_low && tick->x <= plot->x_high))
			continue;
		int column = dot_x(plot, tick->x) / 2;
		if (column < 0 || column >= plot->width || column >= MON_GRID_WIDTH_MAX ||
		    tick->rank < ranks[column])
			continue;
		ranks[column] = tick->rank;
		mon_draw_text(grid, x + column, y, 1, tick->style, grid->is_ascii ? tick->ascii : tick->glyph);
	}
}

static void draw_capacity(struct mon_grid *grid, int x, int y, const struct plot *plot,
			  const struct mon_chart *chart)
{
	char number[MON_NUMBER_BYTES], text[64];
	if (!(chart->capacity >= plot->y_low && chart->capacity <= plot->y_high))
		return;
	int row = y + dot_y(plot, chart->capacity) / 4;
	for (int i = 0; i < plot->width; i++)
		mon_draw_text(grid, x + i, row, 1, MON_WARN, grid->is_ascii ? "=" : "━");
	snprintf(text, sizeof(text), " capacity %s ", y_text(chart, chart->capacity, number, sizeof(number)));
	mon_draw_right(grid, x, row, plot->width - 1, MON_WARN, text);
}

void mon_chart_draw(struct mon_grid *grid, int x, int y, int width, int height,
		    const struct mon_chart *chart)
{
	bool has_ticks = chart->n_ticks > 0 && height >= 6;
	struct plot plot = {.width = width - LABEL_COLUMNS - 1,
			    .height = height - 2 - has_ticks,
			    .x_low = chart->x_low,
			    .x_high = chart->x_high};
	if (width < 16 || height < 4 || !range_of(chart, &plot.y_low, &plot.y_high))
		return;
	uint8_t dots[CELLS_MAX][2];
	double step = choose_range(chart, &plot);
	start_plot(&plot, dots, CELLS_MAX);
	int left = x + LABEL_COLUMNS + 1;
	draw_y_axis(grid, x, y, &plot, chart, step);
	draw_x_axis(grid, left, y + plot.height + has_ticks, &plot, chart);
	draw_rules(grid, left, y, &plot, chart);
	draw_capacity(grid, left, y, &plot, chart);
	for (unsigned i = 0; i < chart->n_lines && i < MON_CHART_LINES; i++)
		plot_line(&plot, &chart->lines[i]);
	plot_points(&plot, chart);
	draw_plot(grid, left, y, &plot, chart);
	if (has_ticks)
		draw_ticks(grid, left, y + plot.height, &plot, chart);
}
