// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The overview: one row a process. Which columns stand is decided by the width
// alone, so that no column jumps while numbers change; the label takes what is
// left. The living stand before the dead, whatever the order is.

#include "view_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"

#include "../libtelemetry/banned.h"

#define LABEL_COLUMNS_MIN 10
#define LABEL_COLUMNS_MAX 60
#define LABEL_COLUMNS_ENOUGH 20
#define VERDICT_COLUMNS   30
#define VERDICT_ENOUGH    43
#define VERDICT_COLUMNS_MAX 64
#define WIDE_COLUMNS      100 // from here on the verdict has a column
#define ROWS_MAX	  4096

static const struct {
	const char *title;
	int width;     // 0: that of a size, -1: a size with its sign
	int priority;  // the lowest go first when there is no room
	bool is_right; // aligned
} columns[MON_COLUMN_COUNT] = {
	[MON_COLUMN_PID] = {"PID", 7, 100, true},
	[MON_COLUMN_LABEL] = {"LABEL", LABEL_COLUMNS_MIN, 99, false},
	[MON_COLUMN_STATE] = {"STATE", 8, 98, false},
	[MON_COLUMN_UP] = {"UP", 6, 90, true},
	[MON_COLUMN_MAPPED] = {"MAPPED", 0, 60, true},
	[MON_COLUMN_LIVE] = {"LIVE", 0, 65, true},
	[MON_COLUMN_PREDICTED] = {"PREDICT", 0, 64, true},
	[MON_COLUMN_RSS] = {"RSS", 0, 97, true},
	[MON_COLUMN_RESIDUAL] = {"RESIDUAL", -1, 63, true},
	[MON_COLUMN_POOLS] = {"POOLS", 6, 96, true},
	[MON_COLUMN_POOL_BYTES] = {"POOLMEM", 0, 95, true},
	[MON_COLUMN_CONTEXTS] = {"CTX", 6, 94, true},
	[MON_COLUMN_MODULES] = {"MOD", 6, 93, true},
	[MON_COLUMN_CANDIDATES] = {"CAND", 6, 92, true},
	[MON_COLUMN_VERDICT] = {"VERDICT", VERDICT_COLUMNS, 91, false},
};

const char *mon_column_title(enum mon_column column)
{
	TELE_ASSERT(column < MON_COLUMN_COUNT);
	return columns[column].title;
}

static int column_width(enum mon_column column, enum mon_units units)
{
	int width = columns[column].width;
	if (width > 0)
		return width;
	return mon_bytes_columns(units) + (width < 0 ? 1 : 0);
}

// ---- The order ----------------------------------------------------------------

struct sort_row {
	const struct mon_process *process;
	double key; // NaN-free; unknown is -1 and below everything
	uint32_t number;
};

static double known(uint64_t value)
{
	return value == TELE_UNKNOWN ? -1e300 : (double)value;
}

static double known_signed(struct analysis_signed value)
{
	return value.is_known ? (double)value.value : -1e300;
}

static double key_of(const struct mon_process *process, enum mon_column column)
{
	if (column == MON_COLUMN_PID)
		return -known(process->identity.pid);
	if (column == MON_COLUMN_STATE)
		return -(double)process->state;
	if (!mon_process_latest(process) || column == MON_COLUMN_LABEL)
		return -1e300;
	switch (column) {
	case MON_COLUMN_UP:
		return known(mon_process_age_ns(process));
	case MON_COLUMN_MAPPED:
		return known(process->derived.books.mapped_bytes);
	case MON_COLUMN_LIVE:
		return known(process->derived.books.bucket_bytes[TELE_BUCKET_LIVE]);
	case MON_COLUMN_PREDICTED:
		return known(process->derived.residency.predicted_bytes);
	case MON_COLUMN_RSS:
		return known(process->derived.residency.rss_bytes);
	case MON_COLUMN_RESIDUAL:
		return known_signed(process->derived.residency.residual_bytes);
	case MON_COLUMN_POOLS:
		return known(process->derived.live_pools);
	case MON_COLUMN_POOL_BYTES:
		return known(process->derived.live_pool_bytes);
	case MON_COLUMN_CONTEXTS:
		return known_signed(process->derived.unreleased_contexts);
	case MON_COLUMN_MODULES:
		return known_signed(process->derived.live_modules);
	case MON_COLUMN_CANDIDATES:
		return known(mon_process_field(process, TELE_ID_search_candidates_attempted));
	case MON_COLUMN_VERDICT:
		return process->mark == MON_MARK_GROWING ? process->growth : -(double)process->mark;
	default:
		return -1e300;
	}
}

static int compare(const void *left, const void *right, void *context)
{
	const struct sort_row *a = left, *b = right;
	const struct mon_view *view = context;
	bool is_alive_a = tele_state_is_alive(a->process->state);
	bool is_alive_b = tele_state_is_alive(b->process->state);
	int order = 0;
	if (is_alive_a != is_alive_b)
		return is_alive_a ? -1 : 1;
	if (view->sort == MON_COLUMN_LABEL)
		order = strcmp(a->process->identity.label, b->process->identity.label);
	else if (a->key != b->key)
		order = a->key > b->key ? -1 : 1;
	if (view->is_inverted)
		order = -order;
	return order ? order : (a->number < b->number ? -1 : 1);
}

// The listed processes in order; *ret_rows is to be freed. 0 when there is no
// memory.
static uint32_t sorted(const struct mon_model *model, const struct mon_view *view,
		       struct sort_row **ret_rows)
{
	uint32_t n_rows = 0;
	struct sort_row *rows = malloc((model->n_processes + 1u) * sizeof(*rows));
	*ret_rows = rows;
	if (!rows)
		return 0;
	for (uint32_t i = 0; i < model->n_processes && n_rows < ROWS_MAX; i++) {
		const struct mon_process *process = model->processes[i];
		if (!mon_process_is_listed(process))
			continue;
		rows[n_rows] = (struct sort_row){process, key_of(process, view->sort), i};
		n_rows++;
	}
	struct mon_view copy = *view;
	qsort_r(rows, n_rows, sizeof(*rows), compare, &copy);
	return n_rows;
}

uint32_t mon_overview_order(const struct mon_model *model, const struct mon_view *view,
			    uint64_t *ret_ids, uint32_t capacity)
{
	struct sort_row *rows;
	uint32_t n_rows = sorted(model, view, &rows);
	for (uint32_t i = 0; i < n_rows && i < capacity; i++)
		ret_ids[i] = rows[i].process->identity.instance_id;
	free(rows);
	return n_rows;
}

// ---- Layout -------------------------------------------------------------------

struct layout {
	int width[MON_COLUMN_COUNT]; // 0: not shown
};

// Widens a shown column to `most` as far as there is room; returns what it took.
static int widen(struct layout *layout, enum mon_column column, int most, int room)
{
	int by = most - layout->width[column];
	if (layout->width[column] == 0 || by <= 0)
		return 0;
	by = by < room ? by : room;
	layout->width[column] += by;
	return by;
}

// Beside a verdict, which says how many bytes, those of the pools come late.
static int priority_of(int column, int width)
{
	if (column == MON_COLUMN_VERDICT && width < WIDE_COLUMNS)
		return 0;
	return column == MON_COLUMN_POOL_BYTES && width >= WIDE_COLUMNS ? 62 : columns[column].priority;
}

static struct layout lay_out(int width, enum mon_units units)
{
	struct layout layout = {0};
	int left = width - 1;
	for (int priority = 100; priority > 0; priority--) {
		for (int c = 0; c < MON_COLUMN_COUNT; c++) {
			int need = column_width((enum mon_column)c, units) + 1;
			if (priority_of(c, width) != priority)
				continue;
			// A wide screen gives the label some room before more columns.
			int reserve = layout.width[MON_COLUMN_LABEL] && width >= 60 ? 6 : 0;
			if (need + reserve > left)
				continue;
			layout.width[c] = need - 1;
			left -= need;
		}
	}
	// What is left goes to the verdict and the label in turn.
	left -= widen(&layout, MON_COLUMN_VERDICT, VERDICT_ENOUGH, left);
	left -= widen(&layout, MON_COLUMN_LABEL, layout.width[MON_COLUMN_VERDICT] ? LABEL_COLUMNS_ENOUGH : LABEL_COLUMNS_MAX, left);
	left -= widen(&layout, MON_COLUMN_VERDICT, VERDICT_COLUMNS_MAX, left);
	widen(&layout, MON_COLUMN_LABEL, LABEL_COLUMNS_MAX, left);
	return layout;
}

static void draw_titles(struct mon_grid *grid, const struct layout *layout,
			const struct mon_view *view, int y)
{
	int x = 1;
	for (int c = 0; c < MON_COLUMN_COUNT; c++) {
		int width = layout->width[c];
		unsigned style = !view->is_text && (int)view->sort == c ? MON_ACCENT : MON_BOLD;
		if (width == 0)
			continue;
		if (columns[c].is_right)
			mon_draw_right(grid, x, y, width, style, columns[c].title);
		else
			mon_draw_text(grid, x, y, width, style, columns[c].title);
		x += width + 1;
	}
}

// ---- Rows ---------------------------------------------------------------------

static const char *dash_if_unknown(const char *text)
{
	return strcmp(text, "n/a") == 0 ? "-" : text;
}

static const char *cell_text(const struct mon_process *process, enum mon_column column,
			     enum mon_units units, char *buffer, size_t size)
{
	const struct analysis_derived *derived = &process->derived;
	if (column == MON_COLUMN_PID) {
		if (process->identity.pid == 0)
			return "-"; // an import
		snprintf(buffer, size, "%llu", (unsigned long long)process->identity.pid);
		return buffer;
	}
	if (column == MON_COLUMN_LABEL)
		return process->identity.label;
	if (column == MON_COLUMN_STATE)
		return mon_state_text(process->state);
	if (!mon_process_latest(process))
		return "-";
	switch (column) {
	case MON_COLUMN_UP:
		return mon_format_duration(mon_process_age_ns(process), buffer, size);
	case MON_COLUMN_MAPPED:
		return mon_format_bytes(derived->books.mapped_bytes, units, buffer, size);
	case MON_COLUMN_LIVE:
		return mon_format_bytes(derived->books.bucket_bytes[TELE_BUCKET_LIVE], units,
					buffer, size);
	case MON_COLUMN_PREDICTED:
		return mon_format_bytes(derived->residency.predicted_bytes, units, buffer, size);
	case MON_COLUMN_RSS:
		return mon_format_bytes(derived->residency.rss_bytes, units, buffer, size);
	case MON_COLUMN_RESIDUAL:
		return mon_format_signed_bytes(derived->residency.residual_bytes, units, buffer,
					       size);
	case MON_COLUMN_POOLS:
		return mon_format_count(derived->live_pools, buffer, size);
	case MON_COLUMN_POOL_BYTES:
		return mon_format_bytes(derived->live_pool_bytes, units, buffer, size);
	case MON_COLUMN_CONTEXTS:
		return mon_format_signed_count(derived->unreleased_contexts, buffer, size);
	case MON_COLUMN_MODULES:
		return mon_format_signed_count(derived->live_modules, buffer, size);
	case MON_COLUMN_CANDIDATES:
		return mon_format_count(
			mon_process_field(process, TELE_ID_search_candidates_attempted), buffer,
			size);
	default:
		return "-";
	}
}

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

static void draw_phrase(struct mon_grid *grid, const struct mon_process *process, int x, int y, int width)
{
	bool is_dim = !tele_state_is_alive(process->state) || process->mark == MON_MARK_UNKNOWN;
	unsigned style = process->mark == MON_MARK_GROWING ? MON_BAD : is_dim ? MON_DIM : MON_NORMAL;
	if (!process->phrase[0])
		return;
	mon_draw_text(grid, x, y, 1, style, mon_mark_glyph(grid, process->mark));
	mon_draw_text(grid, x + 2, y, width - 2, style, process->phrase);
}

static void draw_row(struct mon_grid *grid, const struct layout *layout,
		     const struct mon_process *process, const struct mon_view *view, int y)
{
	int x = 1;
	for (int c = 0; c < MON_COLUMN_COUNT; c++) {
		char buffer[MON_NUMBER_BYTES];
		enum mon_column column = (enum mon_column)c;
		int width = layout->width[c];
		if (width == 0)
			continue;
		if (column == MON_COLUMN_VERDICT) {
			draw_phrase(grid, process, x, y, width);
			continue;
		}
		unsigned style = cell_style(process, column);
		const char *text = cell_text(process, column, view->units, buffer, sizeof(buffer));
		if (columns[c].is_right)
			mon_draw_right(grid, x, y, width, style, dash_if_unknown(text));
		else
			mon_draw_text(grid, x, y, width, style, text);
		x += width + 1;
	}
	if (!view->is_text && process->identity.instance_id == view->selected)
		mon_draw_style(grid, 0, y, grid->width, MON_SELECTED);
}

static void draw_unreadable(struct mon_grid *grid, const struct mon_unreadable *unreadable, int y)
{
	const char *slash = strrchr(unreadable->path, '/');
	int x = 1 + mon_draw_text(grid, 1, y, grid->width - 2, MON_DIM,
				  slash ? slash + 1 : unreadable->path);
	x += mon_draw_text(grid, x, y, grid->width - 1 - x, MON_DIM, "  unreadable: ");
	mon_draw_text(grid, x, y, grid->width - 1 - x, MON_DIM, unreadable->why);
}

static void draw_empty(struct mon_grid *grid, const struct mon_view *view, int y)
{
	static const struct {
		unsigned style;
		const char *text;
	} lines[] = {
		{MON_BOLD, "No process publishes here."},
		{MON_NORMAL, ""},
		{MON_NORMAL, "Start one:"},
		{MON_ACCENT, "  rollcall run -- CMD ..."},
		{MON_NORMAL, "and watch it in this list, or in one step:"},
		{MON_ACCENT, "  rollcall run --top -- CMD ..."},
		{MON_NORMAL, ""},
		{MON_DIM, "`rollcall doctor` says what works here."},
	};
	if (view->transport) {
		mon_draw_text(grid, 2, y + 1, grid->width - 4, MON_DIM,
			      "No process has started at this point of the trace.");
		return;
	}
	for (size_t i = 0; i < TELE_ARRAY_LEN(lines); i++)
		mon_draw_text(grid, 2, y + 1 + (int)i, grid->width - 4, lines[i].style,
			      lines[i].text);
}

// One sentence on the selected row, at the foot of the list.
static void draw_selected(struct mon_grid *grid, const struct mon_process *process, int y)
{
	const struct mon_candidate *candidate = mon_process_candidate(process);
	const char *phase = mon_process_phase(process);
	int x = 1, end = grid->width - 1;
	if (process->identity.pid)
		x += mon_draw_format(grid, x, y, end - x, MON_DIM, "%llu ",
				     (unsigned long long)process->identity.pid);
	x += mon_draw_text(grid, x, y, end - x, MON_NORMAL, process->identity.label);
	if (phase) {
		x += mon_draw_text(grid, x, y, end - x, MON_DIM, "   phase ");
		x += mon_draw_text(grid, x, y, end - x, MON_NORMAL, phase);
	}
	if (candidate) {
		x += mon_draw_text(grid, x, y, end - x, MON_DIM, "   candidate ");
		mon_draw_text(grid, x, y, end - x, MON_NORMAL, candidate->label);
	}
}

int mon_overview_page(const struct mon_view *view, int height)
{
	int page = height - 2 - (view->transport ? 1 : 0) - (view->is_text ? 0 : 2);
	return page > 1 ? page : 1;
}

static void scroll_to_selected(struct mon_view *view, const struct sort_row *rows, uint32_t n_rows,
			       int page)
{
	int most = (int)n_rows > page ? (int)n_rows - page : 0;
	for (uint32_t i = 0; i < n_rows && !view->is_text; i++) {
		if (rows[i].process->identity.instance_id != view->selected)
			continue;
		if ((int)i < view->scroll)
			view->scroll = (int)i;
		if ((int)i >= view->scroll + page)
			view->scroll = (int)i - page + 1;
	}
	if (view->scroll > most)
		view->scroll = most;
	if (view->scroll < 0)
		view->scroll = 0;
}

void mon_overview_draw(struct mon_grid *grid, const struct mon_model *model,
		       const struct mon_process *process, struct mon_view *view, int y, int height)
{
	(void)process;
	struct sort_row *rows;
	uint32_t n_rows = sorted(model, view, &rows);
	int page = height - 1 - (view->is_text ? 0 : 1);
	struct layout layout = lay_out(grid->width, view->units);
	if (n_rows == 0 && model->n_unreadable == 0)
		draw_empty(grid, view, y);
	else
		draw_titles(grid, &layout, view, y);
	scroll_to_selected(view, rows, n_rows, page);
	int drawn = 0;
	for (uint32_t i = (uint32_t)view->scroll; i < n_rows && drawn < page; i++)
		draw_row(grid, &layout, rows[i].process, view, y + 1 + drawn++);
	for (uint32_t i = 0; i < model->n_unreadable && drawn < page; i++)
		draw_unreadable(grid, &model->unreadable[i], y + 1 + drawn++);
	view->has_more = (uint32_t)view->scroll + (uint32_t)drawn < n_rows + model->n_unreadable;
	const struct mon_process *selected =
		view->is_text ? NULL : mon_model_find(model, view->selected);
	if (selected)
		draw_selected(grid, selected, y + height - 1);
	free(rows);
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
	int x = 1 + mon_draw_format(grid, 1, 0, width - 1, MON_TITLE, "rollcall  %u live  %u dead",
				    n_alive, n_dead);
	if (model->n_unreadable)
		x += mon_draw_format(grid, x, 0, width - x, MON_TITLE, "  %u unreadable",
				     model->n_unreadable);
	if (view->is_text)
		return;
	mon_draw_format(grid, x + 3, 0, width - x - 3, MON_TITLE, "sort: %s%s",
			columns[view->sort].title, view->is_inverted ? ", inverted" : "");
}
