// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The overview: one row a process. Which columns stand is decided by the width
// and the units alone, so that no column jumps while numbers change; the
// verdict and the label take what is left.

#include "view_parts.h"

#include <stdio.h>
#include <string.h>

#include "format.h"
#include "view_list.h"

#include "../libtelemetry/banned.h"

#define DETAIL_HEIGHT	     14 // of the area, from which on columns are explained
#define TREND_COLUMNS	     5

// ---- Layout -------------------------------------------------------------------

struct layout {
	int width[MON_COLUMN_COUNT]; // 0: not shown
};

// Who gets how much of the width, one after the other. All of it or nothing, but
// for the label and the phrase of a verdict, which are widened as far as there is
// room.
static const struct claim {
	enum mon_column column;
	int width; // 0: the column's own
} claims[] = {
	{MON_COLUMN_PID, 0},
	{MON_COLUMN_LABEL, 0},
	{MON_COLUMN_STATE, 6},
	{MON_COLUMN_RSS, 0},
	{MON_COLUMN_VERDICT, 1}, // its mark alone
	{MON_COLUMN_VERDICT, 0},
	{MON_COLUMN_STATE, 0},
	{MON_COLUMN_POOLS, 0},
	{MON_COLUMN_HISTORY, 0},
	{MON_COLUMN_UP, 0},
	{MON_COLUMN_LABEL, 16},
	{MON_COLUMN_VERDICT, 32},
	{MON_COLUMN_CONTEXTS, 0},
	{MON_COLUMN_VERDICT, 40}, // with a forecast
	{MON_COLUMN_LIVE, 0},
	{MON_COLUMN_MODULES, 0},
	{MON_COLUMN_LABEL, 20},
	{MON_COLUMN_PREDICTED, 0},
	{MON_COLUMN_RESIDUAL, 0},
	{MON_COLUMN_MAPPED, 0},
	{MON_COLUMN_POOL_BYTES, 0},
	{MON_COLUMN_CANDIDATES, 0},
	{MON_COLUMN_VERDICT, 72},
	{MON_COLUMN_LABEL, 60},
};

static int own_width(enum mon_column column, enum mon_units units)
{
	int width = mon_column_row(column)->width;
	return width > 0 ? width : mon_bytes_columns(units) + (width < 0 ? 1 : 0);
}

static struct layout lay_out(int width, enum mon_units units)
{
	struct layout layout = {0};
	int left = width - 1;
	for (size_t i = 0; i < TELE_ARRAY_LEN(claims); i++) {
		enum mon_column column = claims[i].column;
		int *now = &layout.width[column];
		int by = (claims[i].width ? claims[i].width : own_width(column, units)) - *now;
		bool is_elastic = *now > 1 && (column == MON_COLUMN_LABEL || column == MON_COLUMN_VERDICT);
		int gap = *now == 0 ? 1 : 0;
		if (by + gap > left && !is_elastic)
			continue;
		by = by < left ? by : left;
		*now += by;
		left -= by + gap;
	}
	return layout;
}

static void draw_titles(struct mon_grid *grid, const struct layout *layout, struct mon_view *view,
			int y)
{
	int x = 1;
	for (int c = 0; c < MON_COLUMN_COUNT; c++) {
		const struct mon_column_row *column = mon_column_row((enum mon_column)c);
		bool is_sorted = !view->is_text && (int)view->sort == c;
		const char *arrow = view->is_inverted ? mon_glyph(grid, "▴", "^") : mon_glyph(grid, "▾", "v");
		char title[32];
		int width = layout->width[c];
		if (width == 0)
			continue;
		int len = (int)strlen(column->title);
		// Where there is no room for an arrow the style has to do.
		snprintf(title, sizeof(title), "%s%s", width < len ? "" : column->title,
			 is_sorted && (len < width || width == 1) ? arrow : "");
		unsigned style = is_sorted ? MON_ACCENT : MON_BOLD;
		if (column->is_right)
			mon_draw_right(grid, x, y, width, style, title);
		else
			mon_draw_text(grid, x, y, width, style, title);
		mon_view_add_hit(view, x, y, width + 1, 1, MON_HIT_COLUMN, (uint64_t)c);
		x += width + 1;
	}
}

// ---- Cells --------------------------------------------------------------------

static unsigned cell_style(const struct mon_process *process, enum mon_column column)
{
	bool is_broken = process->derived.books.is_known && !process->derived.books.is_balanced;
	if (column == MON_COLUMN_STATE)
		return mon_state_style(process->state);
	if (!tele_state_is_alive(process->state) || process->state == TELE_STALE)
		return MON_DIM;
	if (column == MON_COLUMN_MAPPED && mon_process_latest(process) && is_broken)
		return MON_BAD;
	return column == MON_COLUMN_LABEL ? MON_BOLD : MON_NORMAL;
}

// The verdict; of what does not publish any more, how old it is. What goes on
// after the phrase is drawn whole or not at all.
static void draw_phrase(struct mon_grid *grid, const struct mon_model *model,
			const struct mon_process *process, int x, int y, int width)
{
	const struct mon_row *row = mon_process_latest(process);
	bool is_old = !tele_state_is_alive(process->state) || process->state == TELE_STALE;
	bool is_growing = process->mark == MON_MARK_GROWING;
	bool is_dim = is_old || process->mark == MON_MARK_UNKNOWN;
	unsigned style = is_dim ? MON_DIM : is_growing ? MON_BAD : MON_NORMAL;
	char more[64] = "", age[MON_NUMBER_BYTES];
	if (process->mark != MON_MARK_NONE)
		mon_draw_text(grid, x, y, 1, style, mon_mark_glyph(grid, process->mark));
	if (width < 3)
		return;
	int at = x + 2, end = x + width;
	if (!is_old)
		snprintf(more, sizeof(more), "%s", process->phrase_more);
	else if (row && model->now_ns > row->at_ns)
		snprintf(more, sizeof(more), "%s%s ago", process->phrase[0] ? ", " : "",
			 mon_format_duration(model->now_ns - row->at_ns, age, sizeof(age)));
	at += mon_draw_text(grid, at, y, end - at, style, process->phrase);
	if (at + mon_text_width(grid, more) <= end)
		mon_draw_text(grid, at, y, end - at, style, more);
}

// Five readings, evenly over the time seen, between the least and the most of
// them. Little change is drawn as little.
static void draw_trend(struct mon_grid *grid, const struct mon_process *process, int x, int y,
		       unsigned style)
{
	static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	static const char *const ascii[] = {"_", "_", ".", ".", "-", "=", "#", "#"};
	const struct mon_trend *trend = &process->trend;
	const struct mon_row *latest = mon_process_latest(process);
	uint64_t values[TREND_COLUMNS], least = TELE_UNKNOWN, most = 0;
	if (!latest || trend->n < 2)
		return;
	uint64_t from_ns = trend->points[0].at_ns;
	uint64_t step_ns = (tele_max_u64(latest->at_ns, from_ns) - from_ns) / TREND_COLUMNS;
	values[TREND_COLUMNS - 1] = mon_process_course_bytes(process, latest);
	if (values[TREND_COLUMNS - 1] == TELE_UNKNOWN)
		return;
	for (unsigned i = 0; i < TREND_COLUMNS; i++) {
		if (i + 1 < TREND_COLUMNS)
			values[i] = mon_trend_at(trend, from_ns + step_ns * (i + 1));
		least = tele_min_u64(least, values[i]);
		most = tele_max_u64(most, values[i]);
	}
	double span = (double)tele_max_u64(most - least, most / 16 + 1);
	for (int i = 0; i < TREND_COLUMNS; i++) {
		unsigned level = (unsigned)((double)(values[i] - least) / span * 7 + 0.5);
		mon_draw_text(grid, x + i, y, 1, style, mon_glyph(grid, blocks[level & 7], ascii[level & 7]));
	}
}

// Draws the branches of the tree left of a label and returns their columns.
static int draw_branches(struct mon_grid *grid, const struct mon_list_row *row, int x, int y, int width)
{
	int used = 0;
	for (unsigned d = 1; d <= row->depth && used + 2 < width; d++) {
		bool has_rail = row->rails & UINT32_C(1) << (d - 1);
		const char *glyph = has_rail ? mon_glyph(grid, "│ ", "| ") : "  ";
		if (d == row->depth)
			glyph = has_rail ? mon_glyph(grid, "├ ", "|-") : mon_glyph(grid, "└ ", "`-");
		used += mon_draw_text(grid, x + used, y, 2, MON_DIM, glyph);
	}
	return used;
}

// ---- Rows ---------------------------------------------------------------------

static void draw_cell(struct mon_grid *grid, const struct mon_model *model,
		      const struct mon_list_row *row, enum mon_column column,
		      const struct mon_view *view, int x, int y, int width)
{
	char buffer[MON_NUMBER_BYTES];
	const struct mon_process *process = row->process;
	unsigned style = cell_style(process, column);
	if (column == MON_COLUMN_VERDICT) {
		draw_phrase(grid, model, process, x, y, width);
	} else if (column == MON_COLUMN_HISTORY) {
		draw_trend(grid, process, x, y, style == MON_NORMAL ? MON_ACCENT : style);
	} else if (mon_column_row(column)->is_right) {
		mon_draw_right(grid, x, y, width, style,
			       mon_column_text(process, column, view->units, buffer, sizeof(buffer)));
	} else {
		if (column == MON_COLUMN_LABEL) {
			int used = draw_branches(grid, row, x, y, width);
			x += used;
			width -= used;
		}
		mon_draw_text(grid, x, y, width, style,
			      mon_column_text(process, column, view->units, buffer, sizeof(buffer)));
	}
}

static void draw_total_cell(struct mon_grid *grid, const struct mon_list *list,
			    const struct mon_list_row *row, enum mon_column column,
			    const struct mon_view *view, int x, int y, int width)
{
	char buffer[MON_NUMBER_BYTES];
	if (column == MON_COLUMN_LABEL)
		mon_draw_format(grid, x, y, width, MON_DIM, "%s %u together", mon_glyph(grid, "Σ", "="),
				row->n_members);
	if (!mon_column_row(column)->is_summed)
		return;
	mon_draw_right(grid, x, y, width, MON_DIM,
		       mon_column_format(column, mon_list_total(list, row, column), view->units, buffer,
					 sizeof(buffer)));
}

static void draw_unreadable(struct mon_grid *grid, const struct mon_unreadable *unreadable, int y)
{
	const char *slash = strrchr(unreadable->path, '/'), *why = unreadable->why;
	const char *before = "  unreadable: ";
	size_t len = strlen(unreadable->path);
	// Reasons name the file, which stands there already.
	if (len && strncmp(why, unreadable->path, len) == 0 && why[len] == ' ') {
		why += len + 1;
		before = "  unreadable: it ";
	}
	int x = 1 + mon_draw_text(grid, 1, y, grid->width - 2, MON_DIM,
				  slash ? slash + 1 : unreadable->path);
	x += mon_draw_text(grid, x, y, grid->width - 1 - x, MON_WARN, before);
	mon_draw_text(grid, x, y, grid->width - 1 - x, MON_DIM, why);
}

static void draw_row(struct mon_grid *grid, const struct mon_model *model, const struct mon_list *list,
		     const struct mon_list_row *row, const struct layout *layout,
		     const struct mon_view *view, int y)
{
	int x = 1;
	if (row->unreadable) {
		draw_unreadable(grid, row->unreadable, y);
		return;
	}
	for (int c = 0; c < MON_COLUMN_COUNT; c++) {
		int width = layout->width[c];
		if (width == 0)
			continue;
		if (row->process)
			draw_cell(grid, model, row, (enum mon_column)c, view, x, y, width);
		else
			draw_total_cell(grid, list, row, (enum mon_column)c, view, x, y, width);
		x += width + 1;
	}
	if (!view->is_text && row->process && row->process->identity.instance_id == view->selected)
		mon_draw_style(grid, 0, y, grid->width, MON_SELECTED);
}

// ---- When there is nothing ------------------------------------------------------

static void draw_nothing_wanted(struct mon_grid *grid, uint32_t n_left_out, int y)
{
	static const char *const lines[] = {
		"\\ and Enter shows all names again,",
		"u and Enter those of all users, H the dead.",
	};
	mon_draw_format(grid, 2, y + 1, grid->width - 4, MON_BOLD, "None of %u process%s is wanted here.",
			n_left_out, n_left_out == 1 ? "" : "es");
	for (size_t i = 0; i < TELE_ARRAY_LEN(lines); i++)
		mon_draw_text(grid, 2, y + 3 + (int)i, grid->width - 4, MON_NORMAL, lines[i]);
}

static void draw_empty(struct mon_grid *grid, const struct mon_view *view, uint32_t n_left_out, int y)
{
	static const struct {
		unsigned style;
		const char *text;
	} lines[] = {
		{MON_BOLD, "No process publishes here."},
		{MON_NORMAL, ""},
		{MON_NORMAL, "Start one, in another terminal:"},
		{MON_ACCENT, "  rollcall run -- CMD ..."},
		{MON_NORMAL, "and it appears here; or in one step:"},
		{MON_ACCENT, "  rollcall run --top -- CMD ..."},
		{MON_NORMAL, ""},
		{MON_DIM, "`rollcall doctor` says what works here."},
	};
	if (n_left_out) {
		draw_nothing_wanted(grid, n_left_out, y);
		return;
	}
	if (view->transport) {
		mon_draw_text(grid, 2, y + 1, grid->width - 4, MON_DIM,
			      "No process has started at this point of the trace.");
		return;
	}
	for (size_t i = 0; i < TELE_ARRAY_LEN(lines); i++)
		mon_draw_text(grid, 2, y + 1 + (int)i, grid->width - 4, lines[i].style,
			      lines[i].text);
}

// ---- What is selected -----------------------------------------------------------

// The selected process in full, and what the column sorted by means.
static void draw_selected(struct mon_grid *grid, const struct mon_process *process, int y)
{
	const struct mon_candidate *candidate = mon_process_candidate(process);
	const char *phase = mon_process_phase(process);
	int x = 1, end = grid->width - 1;
	if (process->identity.pid)
		x += mon_draw_format(grid, x, y, end - x, MON_DIM, "%llu ",
				     (unsigned long long)process->identity.pid);
	x += mon_draw_text(grid, x, y, end - x, MON_NORMAL, process->identity.label);
	if (process->identity.euid != TELE_UNKNOWN && process->identity.pid)
		x += mon_draw_format(grid, x, y, end - x, MON_DIM, "   user %llu",
				     (unsigned long long)process->identity.euid);
	if (phase) {
		x += mon_draw_text(grid, x, y, end - x, MON_DIM, "   phase ");
		x += mon_draw_text(grid, x, y, end - x, MON_NORMAL, phase);
	}
	if (candidate) {
		x += mon_draw_text(grid, x, y, end - x, MON_DIM, "   candidate ");
		mon_draw_text(grid, x, y, end - x, MON_NORMAL, candidate->label);
	}
}

static void draw_column_help(struct mon_grid *grid, enum mon_column sort, int y)
{
	const struct mon_column_row *column = mon_column_row(sort);
	int x = 1 + mon_draw_text(grid, 1, y, grid->width - 2, MON_ACCENT, column->title);
	x += mon_draw_text(grid, x, y, grid->width - 1 - x, MON_DIM, "  ");
	mon_draw_text(grid, x, y, grid->width - 1 - x, MON_DIM, column->help);
}

// Lines below the rows of an area of this height.
static int detail_lines(const struct mon_view *view, int height)
{
	if (view->is_text)
		return 0;
	return height < DETAIL_HEIGHT ? 1 : 2;
}

int mon_overview_page(const struct mon_view *view, int height)
{
	int area = height - 1 - (view->is_text ? 0 : 1) - (view->transport ? 1 : 0);
	int page = area - 1 - detail_lines(view, area);
	return page > 1 ? page : 1;
}

// ---- The screen -----------------------------------------------------------------

static void scroll_to_selected(struct mon_view *view, const struct mon_list *list, int page)
{
	int n_rows = (int)list->n_rows, most = n_rows > page ? n_rows - page : 0, last = -1;
	for (int i = 0; i < n_rows; i++)
		if (list->rows[i].process)
			last = i;
	for (int i = 0; i < n_rows && !view->is_text; i++) {
		const struct mon_process *process = list->rows[i].process;
		if (!process || process->identity.instance_id != view->selected)
			continue;
		if (i < view->scroll)
			view->scroll = i;
		if (i >= view->scroll + page)
			view->scroll = i - page + 1;
		// What cannot be selected follows the last that can.
		if (i == last && last >= most)
			view->scroll = most;
	}
	if (view->scroll > most)
		view->scroll = most;
	if (view->scroll < 0)
		view->scroll = 0;
}

void mon_overview_draw(struct mon_grid *grid, const struct mon_model *model,
		       const struct mon_process *process, struct mon_view *view, int y, int height)
{
	struct mon_list list;
	struct layout layout = lay_out(grid->width, view->units);
	int n_details = detail_lines(view, height), page = height - 1 - n_details;
	(void)process;
	mon_list_build(&list, model, view);
	if (list.n_rows == 0)
		draw_empty(grid, view, list.n_left_out, y);
	else
		draw_titles(grid, &layout, view, y);
	scroll_to_selected(view, &list, page);
	int n_drawn = 0;
	for (uint32_t i = (uint32_t)view->scroll; i < list.n_rows && n_drawn < page; i++)
		draw_row(grid, model, &list, &list.rows[i], &layout, view, y + 1 + n_drawn++);
	mon_view_add_hit(view, 0, y + 1, grid->width, n_drawn, MON_HIT_ROW, (uint64_t)view->scroll);
	view->has_more = (uint32_t)view->scroll + (uint32_t)n_drawn < list.n_rows;
	const struct mon_process *selected =
		n_details ? mon_model_find(model, view->selected) : NULL;
	if (selected && list.n_rows)
		draw_selected(grid, selected, y + height - n_details);
	if (n_details > 1 && list.n_rows)
		draw_column_help(grid, view->sort, y + height - 1);
	mon_list_fini(&list);
}

void mon_overview_head(struct mon_grid *grid, const struct mon_model *model,
		       const struct mon_view *view, int width)
{
	unsigned n_alive = 0, n_dead = 0;
	for (uint32_t i = 0; i < model->n_processes; i++) {
		if (!mon_process_is_listed(model->processes[i]))
			continue;
		if (tele_state_is_alive(model->processes[i]->state))
			n_alive++;
		else
			n_dead++;
	}
	int x = 1 + mon_draw_format(grid, 1, 0, width - 1, MON_TITLE, "rollcall  %u live  %u dead%s",
				    n_alive, n_dead, view->is_dead_hidden && n_dead ? " (hidden)" : "");
	if (model->n_unreadable)
		x += mon_draw_format(grid, x, 0, width - x, MON_TITLE, "  %u unreadable",
				     model->n_unreadable);
	if (view->is_text)
		return;
	char sort[64];
	snprintf(sort, sizeof(sort), "%s: %s%s", view->is_tree ? "tree" : "sort",
		 mon_column_title(view->sort), view->is_inverted ? ", inverted" : "");
	if (x + 3 + (int)strlen(sort) < width)
		mon_draw_text(grid, x + 3, 0, width - x - 3, MON_TITLE, sort);
}
