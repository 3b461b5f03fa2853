// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The frame of every screen: a head line with the clock at its right end, the
// transport line of a replay, the area, and a foot with the keys. The clock is
// the wall time of the newest row, never the time of drawing.

#include "view_parts.h"

#include <stdio.h>
#include <string.h>

#include "format.h"

#include "../libtelemetry/banned.h"

const char *mon_glyph(const struct mon_grid *grid, const char *utf8, const char *ascii)
{
	return grid->is_ascii ? ascii : utf8;
}

void mon_view_init(struct mon_view *view)
{
	*view = (struct mon_view){.sort = MON_COLUMN_RSS};
}

unsigned mon_state_style(enum tele_state state)
{
	switch (state) {
	case TELE_LIVE:
	case TELE_STARTING:
		return MON_NORMAL;
	case TELE_KILLED:
	case TELE_DISABLED:
		return MON_BAD;
	case TELE_STALE:
	case TELE_LIVE_UNLOCKED:
	case TELE_PARKED:
		return MON_WARN;
	default:
		return MON_DIM;
	}
}

const char *mon_state_text(enum tele_state state)
{
	if (state == TELE_LIVE_UNLOCKED)
		return "unlocked";
	if (state == TELE_UNREADABLE)
		return "unread";
	return tele_state_name(state);
}

static void draw_clock(struct mon_grid *grid, const struct mon_model *model,
		       const struct mon_view *view)
{
	char clock[MON_NUMBER_BYTES];
	if (model->now_ns && model->realtime_offset_ns != TELE_UNKNOWN) {
		mon_format_clock(model->now_ns + model->realtime_offset_ns, clock, sizeof(clock));
		mon_draw_right(grid, grid->width - 9, 0, 8, MON_TITLE, clock);
	}
	if (view->is_paused)
		mon_draw_text(grid, grid->width - 17, 0, 7, MON_WARN, "PAUSED");
}

static void format_position(uint64_t ns, char *buffer, size_t size)
{
	unsigned long long s = ns / 1000000000;
	snprintf(buffer, size, "%02llu:%02llu:%02llu", s / 3600, s / 60 % 60, s % 60);
}

static void draw_track(struct mon_grid *grid, const struct mon_transport *transport, int x, int y,
		       int width)
{
	if (width < 8)
		return;
	uint64_t length_ns = tele_max_u64(transport->length_ns, 1);
	uint64_t position_ns = tele_min_u64(transport->position_ns, length_ns);
	int at = (int)((double)position_ns / (double)length_ns * (width - 1));
	for (int i = 0; i < width; i++) {
		const char *glyph = i < at ? mon_glyph(grid, "━", "=") : mon_glyph(grid, "┈", "-");
		if (i == at)
			glyph = mon_glyph(grid, "●", "O");
		mon_draw_text(grid, x + i, y, 1, i <= at ? MON_ACCENT : MON_DIM, glyph);
	}
}

static void draw_transport(struct mon_grid *grid, const struct mon_transport *transport, int y)
{
	char position[MON_NUMBER_BYTES], length[MON_NUMBER_BYTES], counts[64] = "";
	const char *slash = strrchr(transport->file, '/');
	format_position(transport->position_ns, position, sizeof(position));
	format_position(transport->length_ns, length, sizeof(length));
	if (transport->candidate != TELE_UNKNOWN && transport->n_candidates != TELE_UNKNOWN)
		snprintf(counts, sizeof(counts), "candidate %llu of %llu",
			 (unsigned long long)transport->candidate,
			 (unsigned long long)transport->n_candidates);
	int x = 1;
	x += mon_draw_text(grid, x, y, 2, MON_ACCENT,
			   transport->is_playing ? mon_glyph(grid, "▶", ">")
						 : mon_glyph(grid, "■", "="));
	x += mon_draw_format(grid, x + 1, y, 8, MON_NORMAL, "%gx", transport->speed) + 1;
	x += mon_draw_text(grid, x + 2, y, grid->width / 4, MON_BOLD,
			   slash ? slash + 1 : transport->file) +
	     2;
	x += mon_draw_format(grid, x + 2, y, 20, MON_NORMAL, "%s / %s", position, length) + 2;
	if (counts[0] && x + 2 < grid->width)
		x += mon_draw_text(grid, x + 2, y, grid->width - x - 2, MON_NORMAL, counts) + 2;
	draw_track(grid, transport, x + 2, y, grid->width - x - 3);
}

// The keys that matter here; what does not fit is in the help.
static const char *foot_keys(const struct mon_view *view)
{
	if (view->is_help)
		return "Esc back  q quit";
	if (view->transport)
		return view->opened ? "SPACE play  <- -> row  [ ] candidate  b go to  Esc list  "
				      "? help  q quit"
				    : "Enter open  SPACE play  <- -> row  [ ] candidate  b go to  "
				      "? help  q quit";
	if (view->opened)
		return "Esc list  SPACE pause  e units  ? help  q quit";
	return "Enter open  / find  s sort  I invert  SPACE pause  e units  ? help  q quit";
}

static void draw_foot(struct mon_grid *grid, const struct mon_view *view)
{
	int y = grid->height - 1;
	int width = grid->width - 2;
	mon_draw_style(grid, 0, y, grid->width, MON_DIM);
	if (view->entry_prompt[0]) {
		int x = 1 + mon_draw_text(grid, 1, y, width, MON_BOLD, view->entry_prompt) + 1;
		x += mon_draw_text(grid, x, y, width - x, MON_NORMAL, view->entry);
		mon_draw_text(grid, x, y, 1, MON_ACCENT, "_");
		return;
	}
	if (view->has_more) {
		const char *more = mon_glyph(grid, "▼ more", "v more");
		width -= 8;
		mon_draw_right(grid, width + 2, y, 7, MON_ACCENT, more);
	}
	if (view->note[0])
		mon_draw_text(grid, 1, y, width, MON_WARN, view->note);
	else
		mon_draw_text(grid, 1, y, width, MON_DIM, foot_keys(view));
}

static void draw_too_small(struct mon_grid *grid)
{
	mon_draw_format(grid, 0, 0, grid->width, MON_NORMAL, "rollcall needs %dx%d,", MON_WIDTH_MIN,
			MON_HEIGHT_MIN);
	mon_draw_format(grid, 0, 1, grid->width, MON_NORMAL, "this is %dx%d", grid->width,
			grid->height);
}

void mon_view_draw(struct mon_grid *grid, const struct mon_model *model, struct mon_view *view)
{
	if (grid->width < MON_WIDTH_MIN || grid->height < MON_HEIGHT_MIN) {
		draw_too_small(grid);
		return;
	}
	const struct mon_process *process =
		view->opened ? mon_model_find(model, view->opened) : NULL;
	int y = 1, bottom = grid->height - (view->is_text ? 0 : 1);
	int head_width = grid->width - 10 - (view->is_paused ? 8 : 0);
	mon_draw_style(grid, 0, 0, grid->width, MON_TITLE);
	if (process)
		mon_process_head(grid, model, process, head_width);
	else
		mon_overview_head(grid, model, view, head_width);
	draw_clock(grid, model, view);
	if (view->transport)
		draw_transport(grid, view->transport, y++);
	if (view->is_help)
		mon_help_draw(grid, view, y, bottom - y);
	else if (process)
		mon_process_draw(grid, model, process, view, y, bottom - y);
	else
		mon_overview_draw(grid, model, view, y, bottom - y);
	if (!view->is_text)
		draw_foot(grid, view);
}
