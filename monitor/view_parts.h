// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What the views share: the pen that draws blocks of lines below each other,
// and the parts of a screen, one function each. Private to monitor/view_*.c.

#ifndef MON_VIEW_PARTS_H
#define MON_VIEW_PARTS_H

#include "view.h"

// A column of the screen in which blocks stand below each other.
struct mon_pen {
	struct mon_grid *grid;
	const struct mon_model *model;
	const struct mon_process *process;
	enum mon_units units;
	int x, y, width;
};

// The glyph, or what stands for it in ASCII.
const char *mon_glyph(const struct mon_grid *grid, const char *utf8, const char *ascii);

// The glyph of a verdict: ▲ growing, ● quiet, · not enough data.
const char *mon_mark_glyph(const struct mon_grid *grid, enum mon_mark mark);

// The area between head and foot.
void mon_overview_draw(struct mon_grid *grid, const struct mon_model *model,
		       const struct mon_process *process, struct mon_view *view, int y, int height);
void mon_process_draw(struct mon_grid *grid, const struct mon_model *model,
		      const struct mon_process *process, struct mon_view *view, int y, int height);
void mon_help_draw(struct mon_grid *grid, struct mon_view *view, int y, int height);

// Head lines, left of the clock.
void mon_overview_head(struct mon_grid *grid, const struct mon_model *model,
		       const struct mon_view *view, int width);
void mon_process_head(struct mon_grid *grid, const struct mon_model *model,
		      const struct mon_process *process, int width);

// Style of a state: dead ones are dimmed, those in trouble stand out.
unsigned mon_state_style(enum tele_state state);

// A state in at most 8 columns.
const char *mon_state_text(enum tele_state state);

// Age of a process at its latest row; TELE_UNKNOWN before the first.
uint64_t mon_process_age_ns(const struct mon_process *process);

// Blocks of the process screen. Each draws at the pen, moves it down by its
// lines, and draws nothing when the process has nothing of the kind.
void mon_draw_verdicts(struct mon_pen *pen);
void mon_draw_search(struct mon_pen *pen);
void mon_draw_heap(struct mon_pen *pen);
void mon_draw_residency(struct mon_pen *pen);
void mon_draw_census(struct mon_pen *pen);
void mon_draw_devices(struct mon_pen *pen);
void mon_draw_section(struct mon_pen *pen, const char *section, const char *title);
void mon_draw_log(struct mon_pen *pen);

// "TITLE  rest" as the first line of a block.
void mon_draw_title(struct mon_pen *pen, const char *title, const char *rest, unsigned style);

#endif
