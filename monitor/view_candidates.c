// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The candidates of a search, newest first: what became of each, and what it
// left behind. Sorted by what was left, the expensive ones are on top.

#include "view_candidates.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "format.h"
#include "view_table.h"

#include "../libtelemetry/banned.h"

enum column { NUMBER, MARK, LABEL, PHASE, OUTCOME, TOOK, POOLS, BYTES, CONTEXTS, MODULES, COLUMN_COUNT };

static const struct mon_table_column columns[COLUMN_COUNT] = {
	[NUMBER] = {"#", 6, false, 8},	       [MARK] = {"", 1, true, 9},
	[LABEL] = {"CANDIDATE", 0, true, 9},   [PHASE] = {"PHASE", 9, true, 1},
	[OUTCOME] = {"OUTCOME", 16, true, 4},  [TOOK] = {"TOOK", 7, false, 5},
	[POOLS] = {"POOLS", 5, false, 6},      [BYTES] = {"BYTES", 8, false, 7},
	[CONTEXTS] = {"CTX", 4, false, 3},     [MODULES] = {"MOD", 4, false, 2},
};

static uint64_t took_ns(const struct mon_process *process, const struct mon_candidate *candidate)
{
	const struct mon_row *row = mon_process_latest(process);
	uint64_t end_ns = candidate->end_at_ns;
	if (candidate->outcome == TELE_OUTCOME_OPEN && row)
		end_ns = row->at_ns;
	if (candidate->begin_at_ns == TELE_UNKNOWN || end_ns == TELE_UNKNOWN || end_ns < candidate->begin_at_ns)
		return TELE_UNKNOWN;
	return end_ns - candidate->begin_at_ns;
}

static double signed_key(struct analysis_signed value)
{
	return value.is_known ? (double)value.value : NAN;
}

static void set_key(const struct mon_process *process, const struct mon_candidate *candidate, int column,
		    struct mon_table_row *row)
{
	const struct mon_phase *phase = mon_process_phase_at(process, candidate->phase);
	uint64_t ns = took_ns(process, candidate);
	struct mon_left left;
	mon_candidate_left(process, candidate, &left);
	switch (column) {
	case LABEL:
		row->text = candidate->label;
		break;
	case PHASE:
		row->text = phase ? phase->name : "";
		break;
	case MARK:
	case OUTCOME:
		row->text = tele_outcome_name(candidate->outcome);
		break;
	case TOOK:
		row->number = ns == TELE_UNKNOWN ? NAN : (double)ns;
		break;
	case POOLS:
		row->number = signed_key(left.pools);
		break;
	case BYTES:
		row->number = signed_key(left.pool_bytes);
		break;
	case CONTEXTS:
		row->number = signed_key(left.contexts);
		break;
	case MODULES:
		row->number = signed_key(left.modules);
		break;
	default:
		row->number = (double)row->index;
		break;
	}
}

static bool is_shown(const struct mon_process *process, const struct mon_candidate *candidate, const char *filter)
{
	const struct mon_phase *phase = mon_process_phase_at(process, candidate->phase);
	return !filter[0] || strstr(candidate->label, filter) ||
	       strstr(tele_outcome_name(candidate->outcome), filter) || (phase && strstr(phase->name, filter));
}

// The rows in the order in which they are shown; `index` counts from the oldest
// that is known.
static uint32_t order(const struct mon_process *process, const struct mon_view *view,
		      struct mon_table_row rows[MON_CANDIDATES_MAX])
{
	uint64_t n = process->n_candidates;
	uint64_t oldest = n > MON_CANDIDATES_MAX ? n - MON_CANDIDATES_MAX : 0;
	uint32_t n_rows = 0;
	for (uint64_t i = oldest; i < n; i++) {
		const struct mon_candidate *candidate = mon_process_candidate_at(process, i);
		if (!is_shown(process, candidate, view->filters[MON_SCREEN_CANDIDATES]))
			continue;
		rows[n_rows] = (struct mon_table_row){.index = (uint32_t)(i - oldest)};
		set_key(process, candidate, view->lens.sort[MON_SCREEN_CANDIDATES], &rows[n_rows]);
		n_rows++;
	}
	mon_table_sort(rows, n_rows, view->lens.is_inverted[MON_SCREEN_CANDIDATES]);
	return n_rows;
}

static const struct mon_candidate *candidate_of(const struct mon_process *process, uint32_t index)
{
	uint64_t n = process->n_candidates;
	return mon_process_candidate_at(process, (n > MON_CANDIDATES_MAX ? n - MON_CANDIDATES_MAX : 0) + index);
}

const struct mon_candidate *mon_candidates_selected(const struct mon_process *process, const struct mon_view *view)
{
	struct mon_table_row rows[MON_CANDIDATES_MAX];
	uint32_t n_rows = order(process, view, rows);
	uint32_t at = (uint32_t)view->lens.at[MON_SCREEN_CANDIDATES];
	return at < n_rows ? candidate_of(process, rows[at].index) : NULL;
}

int mon_candidates_find(const struct mon_process *process, const struct mon_view *view, const char *text,
			bool is_back)
{
	struct mon_table_row rows[MON_CANDIDATES_MAX];
	int n_rows = (int)order(process, view, rows), at = view->lens.at[MON_SCREEN_CANDIDATES];
	for (int i = 1; i <= n_rows; i++) {
		int row = (at + (is_back ? n_rows - i : i)) % n_rows;
		if (strstr(candidate_of(process, rows[row].index)->label, text))
			return row;
	}
	return -1;
}

static const char *left_text(struct analysis_signed left, bool is_bytes, enum mon_units units, char *buffer,
			     size_t size)
{
	char number[MON_NUMBER_BYTES];
	if (left.is_known && left.value == 0) {
		snprintf(buffer, size, "0");
	} else if (is_bytes) {
		mon_format_signed_bytes(left, units, buffer, size);
	} else {
		mon_format_signed_count(left, number, sizeof(number));
		snprintf(buffer, size, "%s%.24s", left.is_known && left.value > 0 ? "+" : "", number);
	}
	return buffer;
}

static unsigned left_style(struct analysis_signed left)
{
	return left.is_known && left.value > 0 ? MON_BAD : MON_DIM;
}

static void draw_row(const struct mon_table *table, const struct mon_process *process, uint32_t row,
		     const struct mon_candidate *candidate)
{
	const struct mon_phase *phase = mon_process_phase_at(process, candidate->phase);
	unsigned style = mon_outcome_style(candidate->outcome);
	enum mon_units units = table->view->units;
	char text[MON_NUMBER_BYTES];
	struct mon_left left;
	mon_candidate_left(process, candidate, &left);
	mon_table_cell(table, row, NUMBER, MON_DIM, mon_format_count(candidate->number, text, sizeof(text)));
	mon_table_cell(table, row, MARK, style, mon_outcome_glyph(candidate->outcome, table->grid->is_ascii));
	mon_table_cell(table, row, LABEL, MON_NORMAL, candidate->label);
	mon_table_cell(table, row, PHASE, MON_DIM, phase ? phase->name : "");
	mon_table_cell(table, row, OUTCOME, style, tele_outcome_name(candidate->outcome));
	mon_table_cell(table, row, TOOK, MON_NORMAL,
		       mon_format_elapsed(took_ns(process, candidate), text, sizeof(text)));
	mon_table_cell(table, row, POOLS, left_style(left.pools), left_text(left.pools, false, units, text, sizeof(text)));
	mon_table_cell(table, row, BYTES, left_style(left.pool_bytes),
		       left_text(left.pool_bytes, true, units, text, sizeof(text)));
	mon_table_cell(table, row, CONTEXTS, left_style(left.contexts),
		       left_text(left.contexts, false, units, text, sizeof(text)));
	mon_table_cell(table, row, MODULES, left_style(left.modules),
		       left_text(left.modules, false, units, text, sizeof(text)));
}

static void set_about(struct mon_view *view, const struct mon_process *process)
{
	const struct mon_candidate *candidate = mon_candidates_selected(process, view);
	if (!candidate)
		view->about[0] = '\0';
	else if (candidate->is_shared)
		snprintf(view->about, sizeof(view->about),
			 "Others were open meanwhile: what this one left cannot be told");
	else
		snprintf(view->about, sizeof(view->about),
			 "What it left behind%s, less what was given back right after; Enter goes there",
			 candidate->outcome == TELE_OUTCOME_OPEN ? " so far" : "");
}

void mon_candidates_draw(struct mon_grid *grid, const struct mon_model *model, const struct mon_process *process,
			 struct mon_view *view, int y, int height)
{
	struct mon_table_row rows[MON_CANDIDATES_MAX];
	struct mon_table_column here[COLUMN_COUNT];
	uint32_t n_rows = order(process, view, rows);
	(void)model;
	view->about[0] = '\0';
	if (process->n_candidates == 0) {
		mon_draw_text(grid, 2, y + 1, grid->width - 4, MON_DIM,
			      "No candidate was seen: a search tells of them by rollcall_candidate_begin.");
		return;
	}
	memcpy(here, columns, sizeof(here));
	if (view->units == MON_UNITS_PLAIN)
		here[BYTES].width = mon_bytes_columns(view->units) + 1;
	struct mon_table table = {.grid = grid,
				  .view = view,
				  .x = 1,
				  .y = y,
				  .width = grid->width - 2,
				  .height = mon_has_about(view, height) ? height - 1 : height,
				  .columns = here,
				  .n_columns = COLUMN_COUNT,
				  .n_rows = n_rows};
	mon_table_follow(view, rows, n_rows, process->n_candidates > MON_CANDIDATES_MAX
						     ? process->n_candidates - MON_CANDIDATES_MAX
						     : 0);
	mon_table_start(&table);
	for (uint32_t row = table.first; row < table.end; row++)
		draw_row(&table, process, row, candidate_of(process, rows[row].index));
	mon_table_finish(&table);
	set_about(view, process);
	mon_about_draw(grid, view, y, height);
}
