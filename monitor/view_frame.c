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
#include "screens.h"

#include "../libtelemetry/banned.h"

const char *mon_glyph(const struct mon_grid *grid, const char *utf8, const char *ascii)
{
	return grid->is_ascii ? ascii : utf8;
}

void mon_view_init(struct mon_view *view)
{
	*view = (struct mon_view){.sort = MON_COLUMN_VERDICT};
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

// Rate or pause, and the time, stand at the right end in places of their own.
#define CLOCK_COLUMNS 9
#define TRACK_MIN     8 // columns of the track of time
#define TABS_HEIGHT   20 // of a screen with a line for the names of the views
#define RATE_COLUMNS  13

static void format_interval(uint64_t interval_ms, char *buffer, size_t size)
{
	if (interval_ms % 1000 == 0)
		snprintf(buffer, size, "every %llus", (unsigned long long)(interval_ms / 1000));
	else
		snprintf(buffer, size, "every %llums", (unsigned long long)interval_ms);
}

// Returns the columns that are left of it.
static int draw_clock(struct mon_grid *grid, const struct mon_model *model,
		      const struct mon_view *view)
{
	char text[MON_NUMBER_BYTES];
	int x = grid->width - CLOCK_COLUMNS;
	if (model->now_ns && model->realtime_offset_ns != TELE_UNKNOWN) {
		mon_format_clock(model->now_ns + model->realtime_offset_ns, text, sizeof(text));
		mon_draw_right(grid, x, 0, CLOCK_COLUMNS - 1, MON_TITLE, text);
	}
	x -= RATE_COLUMNS;
	if (view->is_paused) {
		mon_draw_right(grid, x, 0, RATE_COLUMNS - 1, MON_WARN, "PAUSED");
		return grid->width - CLOCK_COLUMNS - 8;
	}
	if (!view->interval_ms || grid->width < 60)
		return grid->width - CLOCK_COLUMNS - 1;
	format_interval(view->interval_ms, text, sizeof(text));
	mon_draw_right(grid, x, 0, RATE_COLUMNS - 1, MON_TITLE, text);
	return x - 1;
}

static void format_position(uint64_t ns, char *buffer, size_t size)
{
	unsigned long long s = ns / 1000000000;
	snprintf(buffer, size, "%02llu:%02llu:%02llu", s / 3600, s / 60 % 60, s % 60);
}

// Phases stand on the track as rules.
static void draw_track(struct mon_grid *grid, const struct mon_transport *transport, int x, int y,
		       int width)
{
	if (width < TRACK_MIN)
		return;
	double length_ns = (double)tele_max_u64(transport->length_ns, 1);
	int at = (int)((double)tele_min_u64(transport->position_ns, transport->length_ns) / length_ns *
		       (width - 1));
	for (int i = 0; i < width; i++)
		mon_draw_text(grid, x + i, y, 1, i < at ? MON_ACCENT : MON_DIM,
			      i < at ? mon_glyph(grid, "━", "=") : mon_glyph(grid, "┈", "-"));
	for (unsigned i = 0; i < transport->n_phases; i++) {
		int phase = (int)((double)transport->phase_at_ns[i] / length_ns * (width - 1));
		if (phase > 0 && phase < width)
			mon_draw_text(grid, x + phase, y, 1, MON_NORMAL, mon_glyph(grid, "│", "|"));
	}
	mon_draw_text(grid, x + at, y, 1, MON_ACCENT, mon_glyph(grid, "●", "O"));
}

// "▶ 1x  trace.rct" of a replay; "PAUSED  1m20s ago" of a live process.
static int draw_transport_head(struct mon_grid *grid, const struct mon_transport *transport, int y)
{
	char age[MON_NUMBER_BYTES];
	const char *slash = transport->file ? strrchr(transport->file, '/') : NULL;
	int x = 1;
	if (transport->is_live) {
		x += mon_draw_text(grid, x, y, 6, MON_WARN, "PAUSED") + 2;
		mon_format_duration(transport->length_ns - tele_min_u64(transport->position_ns, transport->length_ns),
				    age, sizeof(age));
		return x + mon_draw_format(grid, x, y, 12, MON_NORMAL, "%s ago", age);
	}
	x += mon_draw_text(grid, x, y, 2, MON_ACCENT,
			   transport->is_playing ? mon_glyph(grid, "▶", ">")
						 : mon_glyph(grid, "■", "="));
	x += mon_draw_format(grid, x + 1, y, 8, MON_NORMAL, "%gx", transport->speed) + 1;
	const char *name = slash ? slash + 1 : transport->file;
	name = strcmp(name, "-") == 0 ? "standard input" : name;
	return x + mon_draw_text(grid, x + 2, y, grid->width / 4, MON_BOLD, name) + 2;
}

static void draw_transport(struct mon_grid *grid, struct mon_view *view, int y)
{
	const struct mon_transport *transport = view->transport;
	char position[MON_NUMBER_BYTES], length[MON_NUMBER_BYTES], counts[96] = "", gaps[32] = "";
	format_position(transport->position_ns, position, sizeof(position));
	format_position(transport->length_ns, length, sizeof(length));
	// As wide as it will ever be: nothing to its right moves.
	if (transport->n_candidates != TELE_UNKNOWN) {
		char number[MON_NUMBER_BYTES] = "-", all[MON_NUMBER_BYTES];
		if (transport->candidate != TELE_UNKNOWN)
			snprintf(number, sizeof(number), "%llu", (unsigned long long)transport->candidate);
		int len = snprintf(all, sizeof(all), "%llu", (unsigned long long)transport->n_candidates);
		snprintf(counts, sizeof(counts), "candidate %*s of %s", len, number, all);
	}
	if (transport->n_gaps > 0)
		snprintf(gaps, sizeof(gaps), "gaps %llu", (unsigned long long)transport->n_gaps);
	int x = draw_transport_head(grid, transport, y);
	x += mon_draw_format(grid, x + 2, y, 20, MON_NORMAL, "%s / %s", position, length) + 2;
	if (counts[0] && x + 2 < grid->width)
		x += mon_draw_text(grid, x + 2, y, grid->width - x - 2, MON_NORMAL, counts) + 2;
	int gaps_width = gaps[0] && grid->width - x > 24 ? (int)strlen(gaps) + 2 : 0;
	if (gaps_width)
		mon_draw_right(grid, grid->width - 1 - gaps_width, y, gaps_width, MON_WARN, gaps);
	int width = grid->width - x - 3 - gaps_width;
	draw_track(grid, transport, x + 2, y, width);
	if (width >= TRACK_MIN)
		mon_view_add_hit(view, x + 2, y, width, 1, MON_HIT_TRACK,
				 (uint64_t)(x + 2) | (uint64_t)width << 32);
}

// Draws the names of keys from x on, as far as they fit before `end`, and
// returns where it stopped. Each can be clicked.
static int draw_keys(struct mon_grid *grid, struct mon_view *view, const enum mon_key *keys, int x,
		     int y, int end)
{
	for (unsigned i = 0; i < MON_FOOT_KEYS_MAX && keys[i] != MON_KEY_NONE; i++) {
		char name[16], text[32];
		mon_key_name(keys[i], name, sizeof(name));
		snprintf(text, sizeof(text), "%s %s", name, mon_key_row(keys[i])->word);
		int columns = mon_text_width(grid, text);
		if (x + columns > end)
			continue;
		mon_draw_text(grid, x, y, columns, MON_DIM, text);
		mon_draw_text(grid, x, y, columns, MON_NORMAL, name);
		mon_view_add_hit(view, x, y, columns, 1, MON_HIT_KEY, keys[i]);
		x += columns + 2;
	}
	return x;
}

// What keeps rows out stands first; a click on it lets them in again. Values of
// the hit: 0 the text, 1 the user, 2 the dead.
static int draw_filters(struct mon_grid *grid, struct mon_view *view, int y, int width)
{
	const char *filter = view->filters[mon_view_screen(view)];
	bool is_list = mon_view_screen(view) == MON_SCREEN_OVERVIEW;
	char texts[3][96] = {"", "", ""};
	int x = 1;
	if (filter[0])
		snprintf(texts[0], sizeof(texts[0]), "\\ %s", filter);
	if (view->has_user && is_list)
		snprintf(texts[1], sizeof(texts[1]), "user %llu", (unsigned long long)view->user);
	if (view->is_dead_hidden && is_list)
		snprintf(texts[2], sizeof(texts[2]), "no dead");
	for (unsigned i = 0; i < TELE_ARRAY_LEN(texts); i++) {
		if (!texts[i][0])
			continue;
		const char *off = mon_glyph(grid, " ×", " x");
		int from = x;
		x += mon_draw_text(grid, x, y, width / 3, MON_ACCENT, texts[i]);
		x += mon_draw_text(grid, x, y, width - x, MON_ACCENT, off);
		mon_view_add_hit(view, from, y, x - from, 1, MON_HIT_FILTER, i);
		x += 2;
	}
	return x;
}

// What does not fit is in the help, which always fits.
static void draw_foot_keys(struct mon_grid *grid, const struct mon_screen_row *screen,
			   struct mon_view *view, int y, int end)
{
	static const enum mon_key always[] = {MON_KEY_HELP, MON_KEY_QUIT, MON_KEY_NONE};
	static const enum mon_key in_help[] = {MON_KEY_BACK, MON_KEY_QUIT, MON_KEY_NONE};
	static const enum mon_key in_replay[] = {MON_KEY_PAUSE,		   MON_KEY_STEP_BACK,
						 MON_KEY_STEP_FORWARD,	   MON_KEY_CANDIDATE_BACK,
						 MON_KEY_CANDIDATE_FORWARD, MON_KEY_JUMP,
						 MON_KEY_NONE};
	const int always_columns = 16;
	bool is_moved = view->transport && !view->transport->is_following;
	if (view->is_help) {
		draw_keys(grid, view, in_help, 1, y, end);
		return;
	}
	int x = draw_filters(grid, view, y, end - always_columns);
	x = draw_keys(grid, view, screen->foot, x, y, is_moved ? 26 : end - always_columns);
	if (is_moved)
		x = draw_keys(grid, view, in_replay, x, y, end - always_columns);
	draw_keys(grid, view, always, x, y, end);
}

static void draw_foot(struct mon_grid *grid, const struct mon_screen_row *screen,
		      struct mon_view *view)
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
		draw_foot_keys(grid, screen, view, y, width);
}

enum mon_screen mon_view_screen(const struct mon_view *view)
{
	if (!view->opened || view->is_absent)
		return MON_SCREEN_OVERVIEW;
	return view->screen == MON_SCREEN_OVERVIEW ? MON_SCREEN_PROCESS : view->screen;
}

void mon_view_add_hit(struct mon_view *view, int x, int y, int width, int height,
		      enum mon_hit_kind kind, uint64_t value)
{
	if (view->n_hits < MON_HITS_MAX)
		view->hits[view->n_hits++] = (struct mon_hit){x, y, width, height, kind, value};
}

enum mon_hit_kind mon_view_hit(const struct mon_view *view, int x, int y, uint64_t *ret_value)
{
	for (unsigned i = view->n_hits; i > 0; i--) {
		const struct mon_hit *hit = &view->hits[i - 1];
		if (x < hit->x || x >= hit->x + hit->width || y < hit->y || y >= hit->y + hit->height)
			continue;
		*ret_value = hit->value + (hit->kind == MON_HIT_ROW ? (uint64_t)(y - hit->y) : 0);
		return hit->kind;
	}
	return MON_HIT_NONE;
}

static void draw_too_small(struct mon_grid *grid)
{
	mon_draw_format(grid, 0, 0, grid->width, MON_NORMAL, "%sneeds %dx%d",
			grid->width < 20 ? "" : "rollcall ", MON_WIDTH_MIN, MON_HEIGHT_MIN);
	mon_draw_format(grid, 0, 1, grid->width, MON_NORMAL, "this is %dx%d", grid->width,
			grid->height);
}

void mon_view_draw(struct mon_grid *grid, const struct mon_model *model, struct mon_view *view)
{
	const struct mon_process *process =
		view->opened ? mon_model_find(model, view->opened) : NULL;
	view->n_hits = 0;
	view->has_more = false;
	view->is_absent = view->opened && !process;
	if (grid->width < MON_WIDTH_MIN || grid->height < MON_HEIGHT_MIN) {
		draw_too_small(grid);
		return;
	}
	const struct mon_screen_row *screen = mon_screen(view);
	int y = 1, bottom = grid->height - (view->is_text ? 0 : 1);
	mon_draw_style(grid, 0, 0, grid->width, MON_TITLE);
	int head_width = draw_clock(grid, model, view);
	if (process)
		mon_process_head(grid, model, process, head_width);
	else
		mon_overview_head(grid, model, view, head_width);
	if (view->transport && !view->transport->is_following)
		draw_transport(grid, view, y++);
	if (process && !view->is_help && !view->is_text && grid->height >= TABS_HEIGHT)
		mon_tabs_draw(grid, view, y++);
	if (view->is_help)
		mon_help_draw(grid, view, y, bottom - y);
	else
		screen->draw(grid, model, process, view, y, bottom - y);
	if (!view->is_text)
		draw_foot(grid, screen, view);
}
