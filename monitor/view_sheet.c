// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Screens longer than the terminal: blocks are drawn on a sheet as tall as they
// need, most important first, and the screen is a window on that sheet. Lines
// register as fields while they are drawn; which of them is selected is a number,
// so that it stays where it is when figures change.

#include "view_parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "format.h"
#include "screens.h"

#include "../libtelemetry/banned.h"

#define SHEET_LINES  600
#define ABOUT_HEIGHT 14 // of an area that has room for the line about a field

bool mon_has_about(const struct mon_view *view, int height)
{
	return !view->is_text && height >= ABOUT_HEIGHT;
}

int mon_about_draw(struct mon_grid *grid, const struct mon_view *view, int y, int height)
{
	if (!mon_has_about(view, height))
		return height;
	mon_draw_text(grid, 1, y + height - 1, grid->width - 2, MON_DIM, view->about);
	return height - 1;
}

void mon_tabs_draw(struct mon_grid *grid, struct mon_view *view, int y)
{
	int x = 1;
	for (int i = MON_SCREEN_OVERVIEW + 1; i < MON_SCREEN_COUNT && x < grid->width; i++) {
		const char *name = mon_screen_row((enum mon_screen)i)->name;
		bool is_shown = mon_view_screen(view) == (enum mon_screen)i;
		int columns = mon_draw_format(grid, x, y, grid->width - x, MON_DIM, "%d", i - MON_SCREEN_OVERVIEW);
		columns += 1 + mon_draw_text(grid, x + columns + 1, y, grid->width - x - columns - 1,
					     is_shown ? MON_BOLD : MON_DIM, name);
		if (is_shown)
			mon_draw_text(grid, x + columns, y, 1, MON_ACCENT, mon_glyph(grid, "◂", "<"));
		mon_view_add_hit(view, x, y, columns, 1, MON_HIT_VIEW, (uint64_t)i);
		x += columns + 3;
	}
}

void mon_pen_field(struct mon_pen *pen, const char *format, ...)
{
	va_list arguments;
	struct mon_view *view = pen->view;
	int *at = &view->lens.at[mon_view_screen(view)];
	if (view->is_text || pen->fields->n++ != *at)
		return;
	pen->fields->selected_y = pen->y;
	mon_draw_style(pen->grid, pen->x, pen->y, pen->width, MON_SELECTED);
	va_start(arguments, format);
	vsnprintf(view->about, sizeof(view->about), format, arguments);
	va_end(arguments);
}

void mon_pen_spark(struct mon_pen *pen, int x, int columns, struct mon_series series)
{
	struct mon_chart_point points[MON_SERIES_POINTS];
	struct mon_chart chart;
	mon_chart_init(&chart);
	chart.is_blocks = pen->view->is_blocks;
	if (mon_series_read(pen->process, series, pen->axis, pen->view->lens.zoom, points, &chart) < 2)
		return;
	if (series.is_class)
		mon_series_add_verdict(pen->process, series.index, pen->axis, &chart);
	chart.n_lines = 0;
	mon_spark_draw(pen->grid, x, pen->y, columns, &chart);
}

uint64_t mon_pen_marked(const struct mon_pen *pen, int64_t position)
{
	const struct mon_lens *lens = &pen->view->lens;
	if (!mon_lens_has_difference(lens, pen->process) || position < 0 || position >= lens->mark.n_fields)
		return TELE_UNKNOWN;
	return lens->mark.values[position];
}

const char *mon_pen_change(const struct mon_pen *pen, int64_t position, bool is_bytes, char *buffer,
			   size_t size)
{
	const struct mon_row *row = mon_process_latest(pen->process);
	char number[MON_NUMBER_BYTES];
	buffer[0] = '\0';
	if (!mon_lens_has_difference(&pen->view->lens, pen->process) || position < 0 ||
	    position >= row->n_fields)
		return buffer;
	struct analysis_signed change = analysis_difference(row->values[position], mon_pen_marked(pen, position));
	if (is_bytes)
		return mon_format_signed_bytes(change, pen->units, buffer, size);
	mon_format_signed_count(change, number, sizeof(number));
	snprintf(buffer, size, "%s%s", change.is_known && change.value >= 0 ? "+" : "", number);
	return buffer;
}

static void dim_all(struct mon_grid *grid)
{
	size_t n_cells = (size_t)grid->width * (size_t)grid->height;
	for (size_t i = 0; i < n_cells; i++)
		if (grid->cells[i].style == MON_NORMAL || grid->cells[i].style == MON_ACCENT ||
		    grid->cells[i].style == MON_GOOD || grid->cells[i].style == MON_BOLD)
			grid->cells[i].style = MON_DIM;
}

static int clamp(int value, int low, int high)
{
	return value > high ? high : value < low ? low : value;
}

void mon_sheet_draw(struct mon_grid *grid, const struct mon_model *model, const struct mon_process *process,
		    struct mon_view *view, int y, int height, void (*draw_blocks)(struct mon_pen *pen))
{
	struct mon_grid sheet = {0};
	struct mon_fields fields = {.selected_y = -1};
	int *at = &view->lens.at[mon_view_screen(view)];
	if (!mon_process_latest(process)) {
		mon_draw_text(grid, 2, y + 1, grid->width - 4, MON_DIM, "No reading yet.");
		return;
	}
	if (mon_grid_reset(&sheet, grid->width, SHEET_LINES, grid->is_ascii))
		return;
	struct mon_pen pen = {.grid = &sheet,
			      .model = model,
			      .process = process,
			      .view = view,
			      .units = view->units,
			      .axis = mon_lens_axis(&view->lens, process),
			      .x = 1,
			      .width = grid->width - 2,
			      .fields = &fields};
	draw_blocks(&pen);
	if (fields.selected_y < 0 && fields.n > 0) {
		// Fewer fields than before: the last one.
		*at = clamp(*at, 0, fields.n - 1);
		fields = (struct mon_fields){.selected_y = -1};
		mon_grid_reset(&sheet, grid->width, SHEET_LINES, grid->is_ascii);
		pen.y = 0;
		draw_blocks(&pen);
	}
	int n_lines = pen.y - 1 < SHEET_LINES ? pen.y - 1 : SHEET_LINES;
	// What has ended is old news in a list of the living; a replay is all of it.
	bool is_replay = view->transport && !view->transport->is_live;
	if (!is_replay && (!tele_state_is_alive(process->state) || process->state == TELE_STALE))
		dim_all(&sheet);
	int shown = mon_about_draw(grid, view, y, height);
	int most = n_lines > shown ? n_lines - shown : 0;
	if (fields.selected_y >= 0) {
		// The first field shows what stands above it, too.
		int first = *at == 0 ? 0 : fields.selected_y - 1;
		view->scroll = clamp(view->scroll, fields.selected_y + 2 - shown, first);
	}
	view->scroll = clamp(view->scroll, 0, most);
	mon_grid_copy(grid, y, shown, &sheet, view->scroll);
	view->has_more = view->scroll < most;
	mon_grid_fini(&sheet);
}
