// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The candidates of a search, newest first: what became of each, and what it
// left behind. Sorted by what was left, the expensive ones are on top.

#include "view_roll.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "format.h"

#include "../libtelemetry/banned.h"

enum column { NUMBER, MARK, LABEL, PHASE, OUTCOME, TOOK, POOLS, BYTES, CONTEXTS, MODULES, COLUMN_COUNT };

static const struct mon_table_column columns[COLUMN_COUNT] = {
	[NUMBER] = {"#", 6, false, 8, false},	       [MARK] = {"", 1, true, 9, false},
	[LABEL] = {"CANDIDATE", 0, true, 9, false},   [PHASE] = {"PHASE", 9, true, 1, false},
	[OUTCOME] = {"OUTCOME", 16, true, 4, false},  [TOOK] = {"TOOK", 7, false, 5, false},
	[POOLS] = {"POOLS", 5, false, 6, false},      [BYTES] = {"BYTES", 8, false, 7, true},
	[CONTEXTS] = {"CTX", 4, false, 3, false},     [MODULES] = {"MOD", 4, false, 2, false},
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

static uint64_t count(const struct mon_process *process)
{
	return process->n_candidates;
}

static void set_key(const struct mon_process *process, uint64_t number, int column, struct mon_table_row *row)
{
	const struct mon_candidate *candidate = mon_process_candidate_at(process, number);
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

static bool has_text(const struct mon_process *process, uint64_t number, const char *text)
{
	const struct mon_candidate *candidate = mon_process_candidate_at(process, number);
	const struct mon_phase *phase = mon_process_phase_at(process, candidate->phase);
	return strstr(candidate->label, text) || strstr(tele_outcome_name(candidate->outcome), text) ||
	       (phase && strstr(phase->name, text));
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

static void draw_row(const struct mon_table *table, const struct mon_process *process, uint32_t row, uint64_t number)
{
	const struct mon_candidate *candidate = mon_process_candidate_at(process, number);
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

static void tell(const struct mon_process *process, uint64_t number, char *buffer, size_t size)
{
	const struct mon_candidate *candidate = mon_process_candidate_at(process, number);
	if (candidate->is_shared)
		snprintf(buffer, size, "Others were open meanwhile: what this one left cannot be told");
	else
		snprintf(buffer, size, "What it left behind%s, less what was given back right after; Enter goes there",
			 candidate->outcome == TELE_OUTCOME_OPEN ? " so far" : "");
}

static uint64_t at_ns(const struct mon_process *process, uint64_t number)
{
	const struct mon_candidate *candidate = mon_process_candidate_at(process, number);
	return candidate->end_at_ns != TELE_UNKNOWN ? candidate->end_at_ns : candidate->begin_at_ns;
}

const struct mon_roll mon_candidates_roll = {
	.screen = MON_SCREEN_CANDIDATES,
	.columns = columns,
	.n_columns = COLUMN_COUNT,
	.empty = "No candidate was seen: a search tells of them by rollcall_candidate_begin.",
	.n_known = MON_CANDIDATES_MAX,
	.count = count,
	.has_text = has_text,
	.set_key = set_key,
	.draw_row = draw_row,
	.tell = tell,
	.at_ns = at_ns,
};

void mon_candidates_draw(struct mon_grid *grid, const struct mon_model *model, const struct mon_process *process,
			 struct mon_view *view, int y, int height)
{
	(void)model;
	mon_roll_draw(&mon_candidates_roll, grid, process, view, y, height);
}
