// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The screen of one process: verdicts first, then what they are about. A wide
// screen has two columns of blocks; what does not fit is one keypress away and
// nothing is squeezed.

#include "view_parts.h"

#include <stdio.h>
#include <string.h>

#include "format.h"

#include "../libtelemetry/banned.h"

#define WIDE_COLUMNS	  100
#define LABEL_COLUMNS_MIN 10 // in the head

uint64_t mon_process_age_ns(const struct mon_process *process)
{
	const struct mon_row *row = mon_process_latest(process);
	if (process->identity.is_untimed)
		return TELE_UNKNOWN;
	if (!row || row->at_ns < process->identity.created_at_ns)
		return row ? 0 : TELE_UNKNOWN;
	return row->at_ns - process->identity.created_at_ns;
}

void mon_draw_title(struct mon_pen *pen, const char *title, const char *rest, unsigned style)
{
	int x = pen->x + mon_draw_text(pen->grid, pen->x, pen->y, pen->width, MON_TITLE, title);
	int left = pen->x + pen->width - x - 2;
	mon_draw_text(pen->grid, x + 2, pen->y, left, style, rest);
	pen->y++;
}

// Draws a part of the head if it fits whole, and returns the new x.
static int head_part(struct mon_grid *grid, int x, int width, unsigned style, const char *text)
{
	if (x + mon_text_width(grid, text) > width)
		return x;
	return x + mon_draw_text(grid, x, 0, width - x, style, text) + 2;
}

void mon_process_head(struct mon_grid *grid, const struct mon_model *model,
		      const struct mon_process *process, int width)
{
	char text[64], age[MON_NUMBER_BYTES];
	uint64_t up_ns = mon_process_age_ns(process);
	const char *state = tele_state_name(process->state);
	text[0] = '\0';
	if (process->identity.pid) // an import has none
		snprintf(text, sizeof(text), "%llu", (unsigned long long)process->identity.pid);
	// Who it is and whether it lives stand whole before the label does.
	int label_width = width - (int)strlen(text) - (int)strlen(state) - 5;
	label_width = label_width < width / 2 ? label_width : width / 2;
	label_width = label_width > LABEL_COLUMNS_MIN ? label_width : LABEL_COLUMNS_MIN;
	int x = 1 + mon_draw_text(grid, 1, 0, label_width, MON_TITLE, process->identity.label) + 2;
	if (text[0])
		x = head_part(grid, x, width, MON_TITLE, text);
	unsigned style = mon_state_style(process->state);
	x = head_part(grid, x, width, style == MON_NORMAL ? MON_GOOD : style, state);
	if (up_ns != TELE_UNKNOWN)
		x = head_part(grid, x, width, MON_TITLE,
			      mon_format_duration(up_ns, age, sizeof(age)));
	snprintf(text, sizeof(text), "lost %llu", (unsigned long long)process->lost);
	x = head_part(grid, x, width, process->lost ? MON_WARN : MON_TITLE, text);
	const struct mon_row *row = mon_process_latest(process);
	if (row && model->now_ns - tele_min_u64(row->at_ns, model->now_ns) > 2000000000) {
		mon_format_duration(model->now_ns - row->at_ns, age, sizeof(age));
		snprintf(text, sizeof(text), "last reading %s ago", age);
		head_part(grid, x, width, MON_WARN, text);
	}
}

static void draw_outcomes(struct mon_pen *pen)
{
	int x = pen->x, end = pen->x + pen->width;
	for (unsigned outcome = 1; outcome < TELE_OUTCOME_COUNT; outcome++) {
		char text[64], count[MON_NUMBER_BYTES];
		uint64_t n = mon_process_outcomes(pen->process, outcome);
		if (n == 0 || n == TELE_UNKNOWN)
			continue;
		snprintf(text, sizeof(text), "%s %s", tele_outcome_name(outcome),
			 mon_format_count(n, count, sizeof(count)));
		int width = mon_text_width(pen->grid, text);
		if (x > pen->x && x + width > end) {
			x = pen->x;
			pen->y++;
		}
		x += mon_draw_text(pen->grid, x, pen->y, end - x, MON_NORMAL, text) + 2;
	}
	if (x > pen->x)
		pen->y++;
}

// "SEARCH  125 attempted  82 linked  80 timed  2.1/s", the current candidate
// and the counts by outcome.
void mon_draw_search(struct mon_pen *pen)
{
	const struct mon_process *process = pen->process;
	const struct mon_candidate *candidate = mon_process_candidate(process);
	const char *phase = mon_process_phase(process);
	uint64_t attempted = mon_process_field(process, TELE_ID_search_candidates_attempted);
	char a[MON_NUMBER_BYTES], l[MON_NUMBER_BYTES], t[MON_NUMBER_BYTES], rate[MON_NUMBER_BYTES];
	char rest[160];
	if (attempted == TELE_UNKNOWN && !candidate && !phase)
		return;
	mon_format_count(mon_process_field(process, TELE_ID_search_candidates_linked), l,
			 sizeof(l));
	mon_format_count(mon_process_field(process, TELE_ID_search_candidates_timed), t, sizeof(t));
	mon_format_rate(
		mon_process_rate(process, TELE_ID_search_candidates_attempted, TELE_NO_INSTANCE),
		rate, sizeof(rate));
	snprintf(rest, sizeof(rest), "%s attempted  %s linked  %s timed  %s",
		 mon_format_count(attempted, a, sizeof(a)), l, t, rate);
	mon_draw_title(pen, "SEARCH", rest, MON_NORMAL);
	pen->y--;
	mon_pen_field(pen, "Candidates begun, linked and timed, and how fast they come now: %s", rate);
	pen->y++;
	int x = pen->x, end = pen->x + pen->width;
	if (phase) {
		x += mon_draw_text(pen->grid, x, pen->y, end - x, MON_DIM, "phase ");
		x += mon_draw_text(pen->grid, x, pen->y, (end - x) / 2, MON_BOLD, phase) + 2;
	}
	if (candidate) {
		bool is_open = candidate->outcome == TELE_OUTCOME_OPEN;
		const char *outcome = tele_outcome_name(candidate->outcome);
		int room = end - x - 12 - (int)strlen(outcome);
		x += mon_draw_text(pen->grid, x, pen->y, end - x, MON_DIM, "candidate ");
		x += mon_draw_text(pen->grid, x, pen->y, room, MON_BOLD, candidate->label) + 2;
		mon_draw_text(pen->grid, x, pen->y, end - x, is_open ? MON_ACCENT : MON_DIM,
			      outcome);
	}
	if (phase || candidate) {
		mon_pen_field(pen, "The phase (arm) of the search, and its newest candidate");
		pen->y++;
	}
	draw_outcomes(pen);
}

// One blank line between blocks, none where a block drew nothing.
static void block(struct mon_pen *pen, void (*draw)(struct mon_pen *))
{
	int before = pen->y;
	draw(pen);
	if (pen->y > before)
		pen->y++;
}

static void draw_host(struct mon_pen *pen)
{
	mon_draw_section(pen, "host", "HOST");
}

static void draw_app(struct mon_pen *pen)
{
	mon_draw_section(pen, "app", "APPLICATION");
}

static void draw_self(struct mon_pen *pen)
{
	mon_draw_section(pen, "self", "ROLLCALL ITSELF");
}

static void draw_blocks(struct mon_pen *pen)
{
	void (*const left[])(struct mon_pen *) = {mon_draw_heap, mon_draw_residency, draw_app};
	void (*const right[])(struct mon_pen *) = {mon_draw_census, mon_draw_devices, mon_draw_log,
						    draw_host, draw_self};
	block(pen, mon_draw_verdicts);
	block(pen, mon_draw_search);
	if (pen->width < WIDE_COLUMNS) {
		block(pen, mon_draw_census);
		for (size_t i = 0; i < TELE_ARRAY_LEN(left); i++)
			block(pen, left[i]);
		for (size_t i = 1; i < TELE_ARRAY_LEN(right); i++)
			block(pen, right[i]);
		return;
	}
	struct mon_pen left_pen = *pen, right_pen = *pen;
	left_pen.width = (pen->width - 3) / 2;
	right_pen.x = left_pen.x + left_pen.width + 3;
	right_pen.width = pen->width - left_pen.width - 3;
	for (size_t i = 0; i < TELE_ARRAY_LEN(left); i++)
		block(&left_pen, left[i]);
	for (size_t i = 0; i < TELE_ARRAY_LEN(right); i++)
		block(&right_pen, right[i]);
	pen->y = left_pen.y > right_pen.y ? left_pen.y : right_pen.y;
}

void mon_process_draw(struct mon_grid *grid, const struct mon_model *model,
		      const struct mon_process *process, struct mon_view *view, int y, int height)
{
	mon_sheet_draw(grid, model, process, view, y, height, draw_blocks);
}
