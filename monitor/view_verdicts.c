// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The verdicts of a process, first on its screen: a line for each class that
// grows, with its evidence, then the quiet ones beside each other. Told apart
// by the glyph as well as by the colour.

#include "view_parts.h"

#include <stdio.h>
#include <string.h>

#include "../libtelemetry/banned.h"

#define WIDE_COLUMNS  100
#define HEAD_COLUMNS  40
#define GROWING_LINES 5
#define WRAP_LINES    3

static const char *const shape_texts[ANALYSIS_SHAPE_COUNT] = {
	[ANALYSIS_NOT_ENOUGH_DATA] = "Too few points, or too much noise for them, to say what these do",
	[ANALYSIS_FLAT] = "Flat: nothing comes or goes beyond the noise",
	[ANALYSIS_ONE_TIME] = "One step, then flat: paid once, and no leak",
	[ANALYSIS_BOUNDED] = "Bounded: it swings or levels off in this band; its floor does not rise",
	[ANALYSIS_GROWING] = "Growing: the least it falls back to rises; in brackets the slope at 95 %",
	[ANALYSIS_STEPPING] = "Growing by rare steps, none of which is given back",
	[ANALYSIS_DRAINING] = "Draining: it falls",
};

const char *mon_mark_glyph(const struct mon_grid *grid, enum mon_mark mark)
{
	switch (mark) {
	case MON_MARK_GROWING:
		return mon_glyph(grid, "▲", "^");
	case MON_MARK_QUIET:
		return mon_glyph(grid, "●", "*");
	case MON_MARK_UNKNOWN:
		return mon_glyph(grid, "·", "-");
	case MON_MARK_NONE:
		break;
	}
	return " ";
}

void mon_draw_wrapped(struct mon_pen *pen, int x, int indent, int n_lines, unsigned style, const char *text)
{
	int end = pen->x + pen->width;
	for (int line = 0; *text; line++) {
		char piece[ANALYSIS_SENTENCE_MAX];
		size_t n = strlen(text);
		snprintf(piece, sizeof(piece), "%s", text);
		while (line + 1 < n_lines && mon_text_width(pen->grid, piece) > end - x) {
			char *blank = strrchr(piece, ' ');
			if (!blank || blank == piece)
				break;
			*blank = '\0';
			n = (size_t)(blank - piece);
		}
		mon_draw_text(pen->grid, x, pen->y++, end - x, style, piece);
		if (line + 1 == n_lines || strlen(piece) < n)
			return;
		for (text += n; *text == ' ';)
			text++;
		x = indent;
	}
}

// Where the head of a sentence ends: "working pools grow so far".
static size_t head_len(const char *text)
{
	const char *colon = strstr(text, ": +");
	return colon ? (size_t)(colon - text) : strlen(text);
}

// The evidence behind the head; what follows "; " stands apart. In brief, without
// the interval.
static void evidence_text(const char *text, bool is_brief, char *buffer, size_t size)
{
	size_t len = 0;
	for (text += strncmp(text, ": ", 2) == 0 ? 2 : 0; *text && len + 4 < size; text++) {
		const char *end = is_brief && strncmp(text, " (95", 4) == 0 ? strchr(text, ')') : NULL;
		if (end) {
			text = end;
		} else if (strncmp(text, "; ", 2) == 0) {
			memcpy(buffer + len, "   ", 3);
			len += 3;
			text++;
		} else {
			buffer[len++] = *text;
		}
	}
	buffer[len] = '\0';
}

static void draw_growing(struct mon_pen *pen, const struct mon_verdict *verdict, int column)
{
	char head[ANALYSIS_SENTENCE_MAX], evidence[ANALYSIS_SENTENCE_MAX];
	size_t len = head_len(verdict->text);
	snprintf(head, sizeof(head), "%.*s", (int)len, verdict->text);
	bool is_wide = pen->width >= WIDE_COLUMNS;
	evidence_text(verdict->text + len, verdict->is_effect && !is_wide, evidence, sizeof(evidence));
	mon_draw_text(pen->grid, pen->x, pen->y, 1, MON_BAD, mon_mark_glyph(pen->grid, verdict->mark));
	int used = 2 + mon_draw_text(pen->grid, pen->x + 2, pen->y, pen->width - 2, MON_BAD, head) + 2;
	mon_pen_field(pen, "%s", shape_texts[verdict->shape]);
	mon_draw_wrapped(pen, pen->x + (is_wide && used < column ? column : used), pen->x + (is_wide ? column : 4),
			 WRAP_LINES, MON_NORMAL, evidence);
}

// Quiet ones beside each other, as many as fit.
static void draw_quiet(struct mon_pen *pen, const struct mon_verdict *verdict, int *x)
{
	int width = mon_text_width(pen->grid, verdict->text) + 2, end = pen->x + pen->width;
	if (*x > pen->x && *x + width > end) {
		*x = pen->x;
		pen->y++;
	}
	unsigned style = verdict->mark == MON_MARK_QUIET ? MON_GOOD : MON_DIM;
	mon_draw_text(pen->grid, *x, pen->y, end - *x, style, mon_mark_glyph(pen->grid, verdict->mark));
	mon_draw_text(pen->grid, *x + 2, pen->y, end - *x - 2,
		      verdict->mark == MON_MARK_QUIET ? MON_NORMAL : MON_DIM, verdict->text);
	struct mon_pen part = *pen;
	part.x = *x;
	part.width = width < end - *x ? width : end - *x;
	mon_pen_field(&part, "%s", shape_texts[verdict->shape]);
	*x += width + 3;
}

void mon_draw_verdicts(struct mon_pen *pen)
{
	const struct mon_process *process = pen->process;
	int column = 0, n_growing = 0, x = pen->x;
	for (uint32_t i = 0; i < process->n_verdicts; i++) {
		int len = (int)head_len(process->verdicts[i].text);
		if (process->verdicts[i].mark == MON_MARK_GROWING && len > column && len <= HEAD_COLUMNS)
			column = len;
	}
	for (uint32_t i = 0; i < process->n_verdicts; i++) {
		const struct mon_verdict *verdict = &process->verdicts[i];
		if (verdict->mark != MON_MARK_GROWING)
			draw_quiet(pen, verdict, &x);
		else if (n_growing++ < GROWING_LINES)
			draw_growing(pen, verdict, column + 4);
		bool is_last = i + 1 == process->n_verdicts || process->verdicts[i + 1].mark != MON_MARK_GROWING;
		if (verdict->mark == MON_MARK_GROWING && is_last && n_growing > GROWING_LINES)
			mon_draw_format(pen->grid, pen->x + 2, pen->y++, pen->width - 2, MON_BAD, "and %d more",
					n_growing - GROWING_LINES);
	}
	if (x > pen->x)
		pen->y++;
}
