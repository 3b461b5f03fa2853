// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// One tall chart of the chosen class, with the classes to choose from beside it
// (or below, on a narrow screen) and the verdict as a sentence under it.

#include "view_trends.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "format.h"
#include "view_table.h"

#include "../libtelemetry/banned.h"

#define SIDE_WIDTH   110 // of a screen that has room for the list beside the chart
#define LIST_COLUMNS_MAX 64
#define LIST_LINES_MIN	 3
#define SENTENCE_HEIGHT	 14 // of an area with room for it

enum column { MARK, NAME, SPARK, LAST, SLOPE, COLUMN_COUNT };

static const struct mon_table_column columns[COLUMN_COUNT] = {
	[MARK] = {"", 1, true, 9, false},	[NAME] = {"CLASS", 0, true, 9, false},	  [SPARK] = {"", 8, true, 3, false},
	[LAST] = {"NOW", 7, false, 6, true},	[SLOPE] = {"", 13, true, 5, false},
};

// Classes in the order of their verdicts; those that never were anything but 0
// are left out.
static uint32_t list(const struct mon_process *process, const char *filter,
		     struct mon_table_row rows[ANALYSIS_CLASSES_MAX])
{
	uint32_t n_rows = 0;
	for (uint32_t i = 0; i < process->n_judged && n_rows < ANALYSIS_CLASSES_MAX; i++) {
		const struct analysis_verdict *verdict = &process->judged[i];
		const struct analysis_growth *growth = &verdict->growth;
		const char *name = analysis_watch_classes(process->watch)->items[verdict->class_index].name;
		bool is_zero = growth->first == 0 && growth->last == 0 && growth->low == 0 && growth->high == 0 &&
			       growth->shape != ANALYSIS_NOT_ENOUGH_DATA;
		if (!verdict->is_headline || is_zero || (filter[0] && !strstr(name, filter)))
			continue;
		rows[n_rows++] = (struct mon_table_row){.text = name, .index = verdict->class_index};
	}
	return n_rows;
}

int mon_trends_find(const struct mon_process *process, const struct mon_view *view, const char *text, bool is_back)
{
	struct mon_table_row rows[ANALYSIS_CLASSES_MAX];
	int n_rows = (int)list(process, view->filters[MON_SCREEN_TRENDS], rows);
	int at = view->lens.at[MON_SCREEN_TRENDS];
	for (int i = 1; i <= n_rows; i++) {
		int row = (at + (is_back ? n_rows - i : i)) % n_rows;
		char name[ANALYSIS_CLASS_NAME_MAX];
		if (strstr(rows[row].text, text) ||
		    strstr(mon_class_text(rows[row].text, name, sizeof(name)), text))
			return row;
	}
	return -1;
}

static enum mon_mark mark_of(const struct analysis_verdict *verdict)
{
	if (!verdict || verdict->growth.shape == ANALYSIS_NOT_ENOUGH_DATA)
		return MON_MARK_UNKNOWN;
	return analysis_shape_grows(verdict->growth.shape) ? MON_MARK_GROWING : MON_MARK_QUIET;
}

static const struct analysis_verdict *headline_of(const struct mon_process *process, uint32_t class_index)
{
	for (uint32_t i = 0; i < process->n_judged; i++)
		if (process->judged[i].is_headline && process->judged[i].class_index == class_index)
			return &process->judged[i];
	return NULL;
}

static const char *value_text(double value, const struct mon_chart *chart, enum mon_units units, char *buffer,
			      size_t size)
{
	char number[MON_NUMBER_BYTES];
	if (chart->is_bytes)
		mon_format_size(fabs(value), units, number, sizeof(number));
	else
		snprintf(number, sizeof(number), fabs(value) >= 1e7 ? "%.3g" : "%.0f", fabs(value));
	snprintf(buffer, size, "%s%.24s", value < 0 ? "-" : "", number);
	return buffer;
}

static void draw_row(const struct mon_table *table, const struct mon_process *process, enum analysis_axis axis,
		     uint32_t row, const struct mon_table_row *class)
{
	struct mon_chart_point points[MON_SERIES_POINTS];
	struct mon_chart chart;
	const struct analysis_verdict *verdict = headline_of(process, class->index);
	enum mon_mark mark = mark_of(verdict);
	char text[ANALYSIS_CLASS_NAME_MAX];
	int x, y, width;
	unsigned style = mark == MON_MARK_GROWING ? MON_BAD : mark == MON_MARK_QUIET ? MON_GOOD : MON_DIM;
	mon_table_cell(table, row, MARK, style, mon_mark_glyph(table->grid, mark));
	mon_table_cell(table, row, NAME, mark == MON_MARK_GROWING ? MON_BAD : MON_NORMAL,
		       mon_class_text(class->text, text, sizeof(text)));
	mon_chart_init(&chart);
	chart.is_blocks = table->view->is_blocks;
	chart.style = mark == MON_MARK_GROWING ? MON_BAD : MON_ACCENT;
	size_t n = mon_series_read(process, (struct mon_series){true, class->index}, axis, table->view->lens.zoom,
				   points, &chart);
	if (n == 0)
		return;
	if (n > 1 && mon_table_place(table, row, SPARK, &x, &y, &width))
		mon_spark_draw(table->grid, x, y, width, &chart);
	mon_table_cell(table, row, LAST, MON_NORMAL,
		       value_text(points[n - 1].y, &chart, table->view->units, text, sizeof(text)));
	mon_table_cell(table, row, SLOPE, mark == MON_MARK_GROWING ? MON_BAD : MON_DIM,
		       mon_series_slope(process, class->index, axis, table->view->units, text, sizeof(text)));
}

static void draw_list(struct mon_table *table, const struct mon_process *process, enum analysis_axis axis,
		      const struct mon_table_row *rows)
{
	mon_table_start(table);
	for (uint32_t row = table->first; row < table->end; row++)
		draw_row(table, process, axis, row, &rows[row]);
	mon_table_finish(table);
}

// What is drawn along what, and how much of it.
static void draw_chart_title(struct mon_grid *grid, int x, int y, int width, const struct mon_view *view,
			     const char *class_name, enum analysis_axis axis, const struct mon_chart *chart)
{
	char name[ANALYSIS_CLASS_NAME_MAX], rest[96], capacity[MON_NUMBER_BYTES];
	int used = mon_draw_text(grid, x, y, width, MON_TITLE, mon_class_text(class_name, name, sizeof(name)));
	int len = snprintf(rest, sizeof(rest), axis == ANALYSIS_TIME ? "over time" : "over %s candidates",
			   analysis_axis_name(axis));
	if (view->lens.zoom > 0)
		len += snprintf(rest + len, sizeof(rest) - (size_t)len, ", the last 1/%d", 1 << view->lens.zoom);
	if (chart->capacity > 0)
		snprintf(rest + len, sizeof(rest) - (size_t)len, ", capacity %s",
			 mon_format_size(chart->capacity, view->units, capacity, sizeof(capacity)));
	mon_draw_text(grid, x + used + 2, y, width - used - 2, MON_DIM, rest);
}

static void draw_chart(struct mon_grid *grid, const struct mon_process *process, const struct mon_view *view, int x,
		       int y, int width, int height, const struct mon_table_row *class)
{
	struct mon_chart_point points[MON_SERIES_POINTS];
	struct mon_chart chart;
	enum analysis_axis axis = mon_lens_axis(&view->lens, process);
	mon_chart_init(&chart);
	chart.units = view->units;
	chart.is_blocks = view->is_blocks;
	size_t n = mon_series_read(process, (struct mon_series){true, class->index}, axis, view->lens.zoom, points,
				   &chart);
	if (n > 0) {
		mon_series_add_verdict(process, class->index, axis, &chart);
		mon_series_add_events(process, axis, &chart);
	}
	draw_chart_title(grid, x, y, width, view, class->text, axis, &chart);
	if (n < 2)
		mon_draw_text(grid, x + 2, y + 2, width - 2, MON_DIM, "No two points along this axis yet: x changes it.");
	else
		mon_chart_draw(grid, x, y + 1, width, height - 1, &chart);
}

// What the chart comes to, in a sentence at the bottom; returns its lines.
static int draw_sentence(struct mon_grid *grid, const struct mon_process *process, enum analysis_axis axis,
			 uint32_t class_index, int y, int height)
{
	const struct analysis_verdict *verdict = mon_series_verdict(process, class_index, axis);
	struct mon_pen pen = {.grid = grid, .x = 1, .width = grid->width - 2};
	char sentence[ANALYSIS_SENTENCE_MAX];
	enum mon_mark mark = mark_of(verdict);
	if (!verdict || height < SENTENCE_HEIGHT)
		return 0;
	analysis_sentence(analysis_watch_engine(process->watch), verdict, sentence, sizeof(sentence));
	int n_lines = mon_text_width(grid, sentence) > pen.width - 2 ? 2 : 1;
	pen.y = y + height - n_lines;
	mon_draw_text(grid, 1, pen.y, 1, mark == MON_MARK_GROWING ? MON_BAD : MON_GOOD, mon_mark_glyph(grid, mark));
	mon_draw_wrapped(&pen, 3, 3, 2, MON_NORMAL, sentence);
	return n_lines;
}

void mon_trends_draw(struct mon_grid *grid, const struct mon_model *model, const struct mon_process *process,
		     struct mon_view *view, int y, int height)
{
	struct mon_table_row rows[ANALYSIS_CLASSES_MAX];
	enum analysis_axis axis = mon_lens_axis(&view->lens, process);
	uint32_t n_rows = list(process, view->filters[MON_SCREEN_TRENDS], rows);
	int shown = mon_has_about(view, height) ? height - 1 : height;
	(void)model;
	view->about[0] = '\0';
	if (n_rows == 0) {
		mon_draw_text(grid, 2, y + 1, grid->width - 4, MON_DIM,
			      process->n_judged ? "No class has this text." : "Nothing to draw yet: two readings are needed.");
		return;
	}
	bool is_beside = grid->width >= SIDE_WIDTH;
	int list_width = is_beside ? grid->width * 2 / 5 : grid->width - 2;
	mon_table_follow(view, rows, n_rows, 0);
	int *at = &view->lens.at[MON_SCREEN_TRENDS];
	*at = *at < (int)n_rows ? *at : (int)n_rows - 1;
	const struct mon_table_row *class = &rows[*at];
	shown -= draw_sentence(grid, process, axis, class->index, y, shown);
	int list_lines = (int)n_rows + 1 < shown / 3 ? (int)n_rows + 1 : shown / 3;
	list_lines = is_beside ? shown : list_lines < LIST_LINES_MIN ? LIST_LINES_MIN : list_lines;
	struct mon_table table = {.grid = grid,
				  .view = view,
				  .x = 1,
				  .y = y + shown - list_lines,
				  .width = list_width < LIST_COLUMNS_MAX || !is_beside ? list_width : LIST_COLUMNS_MAX,
				  .height = list_lines,
				  .columns = columns,
				  .n_columns = COLUMN_COUNT,
				  .n_rows = n_rows};
	draw_list(&table, process, axis, rows);
	if (is_beside)
		draw_chart(grid, process, view, table.width + 3, y, grid->width - table.width - 4, shown, class);
	else
		draw_chart(grid, process, view, 1, y, grid->width - 2, shown - list_lines, class);
	snprintf(view->about, sizeof(view->about),
		 "%s kept %s failed %s duplicate %s declined %s timed; dotted: floor, or band",
		 mon_outcome_glyph(TELE_OUTCOME_KEPT, grid->is_ascii), mon_outcome_glyph(TELE_OUTCOME_FAILED, grid->is_ascii),
		 mon_outcome_glyph(TELE_OUTCOME_DEDUPLICATED, grid->is_ascii),
		 mon_outcome_glyph(TELE_OUTCOME_DECLINED, grid->is_ascii),
		 mon_outcome_glyph(TELE_OUTCOME_TIMED, grid->is_ascii));
	mon_about_draw(grid, view, y, height);
}
