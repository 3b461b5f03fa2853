// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What the views share: the pen that draws blocks of lines below each other,
// and the parts of a screen, one function each. Private to monitor/view_*.c.

#ifndef MON_VIEW_PARTS_H
#define MON_VIEW_PARTS_H

#include "series.h"
#include "view.h"

// A column of the screen in which blocks stand below each other.
struct mon_pen {
	struct mon_grid *grid;
	const struct mon_model *model;
	const struct mon_process *process;
	struct mon_view *view;
	enum mon_units units;
	enum analysis_axis axis; // of trends
	int x, y, width;
	// The fields drawn so far, and the line of the selected one (-1: not yet):
	// of a whole screen, whatever pens it is drawn with.
	struct mon_fields {
		int n, selected_y;
	} *fields;
};

// The line of the pen is a field that can be selected: it is drawn so, and
// documented by a sentence. To be called when the line is drawn, before the pen
// moves on.
void mon_pen_field(struct mon_pen *pen, const char *format, ...) __attribute__((format(printf, 2, 3)));

// A small chart of a class or a field in `columns` cells, where the process has
// more than one point of it.
void mon_pen_spark(struct mon_pen *pen, int x, int columns, struct mon_series series);

// What the mark's row said of a field; TELE_UNKNOWN where no difference is
// shown.
uint64_t mon_pen_marked(const struct mon_pen *pen, int64_t position);

// "+3", "-1.20M" against the mark; "" where no difference is shown.
const char *mon_pen_change(const struct mon_pen *pen, int64_t position, bool is_bytes, char *buffer,
			   size_t size);

// The glyph, or what stands for it in ASCII.
const char *mon_glyph(const struct mon_grid *grid, const char *utf8, const char *ascii);

// The glyph of a verdict: ▲ growing, ● quiet, · not enough data.
const char *mon_mark_glyph(const struct mon_grid *grid, enum mon_mark mark);

// The area between head and foot.
void mon_overview_draw(struct mon_grid *grid, const struct mon_model *model,
		       const struct mon_process *process, struct mon_view *view, int y, int height);
void mon_process_draw(struct mon_grid *grid, const struct mon_model *model,
		      const struct mon_process *process, struct mon_view *view, int y, int height);
void mon_trends_draw(struct mon_grid *grid, const struct mon_model *model,
		     const struct mon_process *process, struct mon_view *view, int y, int height);
void mon_candidates_draw(struct mon_grid *grid, const struct mon_model *model,
			 const struct mon_process *process, struct mon_view *view, int y, int height);
void mon_classes_draw(struct mon_grid *grid, const struct mon_model *model,
		      const struct mon_process *process, struct mon_view *view, int y, int height);
void mon_devices_draw(struct mon_grid *grid, const struct mon_model *model,
		      const struct mon_process *process, struct mon_view *view, int y, int height);
void mon_log_draw(struct mon_grid *grid, const struct mon_model *model,
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
void mon_draw_devices(struct mon_pen *pen);     // the pools of an only device are the census
void mon_draw_all_devices(struct mon_pen *pen); // with their pools, contexts and modules
void mon_draw_section(struct mon_pen *pen, const char *section, const char *title);
void mon_draw_log(struct mon_pen *pen);

// Draws text from x on, and on at most n_lines lines in all, the others from
// `indent` on, broken at blanks. Moves the pen behind the last line.
void mon_draw_wrapped(struct mon_pen *pen, int x, int indent, int n_lines, unsigned style, const char *text);

// The names of the views in a line, the shown one marked; each can be clicked.
void mon_tabs_draw(struct mon_grid *grid, struct mon_view *view, int y);

// A line of the log in words, and its style.
const char *mon_log_text(const struct mon_process *process, const struct mon_log_entry *entry, char *buffer,
			 size_t size);
unsigned mon_log_style(const struct mon_log_entry *entry);

// Draws a screen on a sheet as tall as it needs, and shows the part of it that
// holds the selected field; with a foot that documents the field where there is
// room.
void mon_sheet_draw(struct mon_grid *grid, const struct mon_model *model, const struct mon_process *process,
		    struct mon_view *view, int y, int height, void (*draw_blocks)(struct mon_pen *pen));

// The foot line that documents what is selected takes the last line of the area;
// returns the lines that are left.
int mon_about_draw(struct mon_grid *grid, const struct mon_view *view, int y, int height);
bool mon_has_about(const struct mon_view *view, int height);

// "TITLE  rest" as the first line of a block.
void mon_draw_title(struct mon_pen *pen, const char *title, const char *rest, unsigned style);

#endif
