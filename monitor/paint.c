// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Cells to curses. The last grid is kept, and a cell is given to curses only
// when it differs from what was shown; curses then sends the least bytes. The
// painter adds nothing of its own: what the grid holds is what is shown.

#include "paint.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <term.h>

#include "../libtelemetry/banned.h"

struct mon_paint {
	SCREEN *screen;
	struct mon_grid shown;
	bool has_colours;
};

// What a style looks like. Without colour the attributes alone tell them apart.
static const struct {
	attr_t attributes;
	short colour; // -1: the terminal's own
} looks[MON_STYLE_COUNT] = {
	[MON_NORMAL] = {A_NORMAL, -1},
	[MON_BOLD] = {A_BOLD, -1},
	[MON_DIM] = {A_DIM, -1},
	[MON_GOOD] = {A_NORMAL, COLOR_GREEN},
	[MON_WARN] = {A_BOLD, COLOR_YELLOW},
	[MON_BAD] = {A_BOLD, COLOR_RED},
	[MON_ACCENT] = {A_NORMAL, COLOR_CYAN},
	[MON_TITLE] = {A_BOLD, -1},
	[MON_SELECTED] = {A_REVERSE, -1},
};

static int check_terminal(const char *term, FILE *out, struct tele_error *ret_error)
{
	int found = 0;
	const char *name = term ? term : getenv("TERM");
	if (!name || !name[0])
		return tele_fail(ret_error, -ENOTTY,
				 "TERM is not set: set it, or use --once for text");
	if (setupterm(name, fileno(out), &found) != OK)
		return tele_fail(ret_error, -ENOTTY,
				 "TERM=%.40s is not a known terminal: set another, or use --once "
				 "for text",
				 name);
	const char *move = tigetstr("cup");
	bool can_move = move && move != (const char *)-1;
	del_curterm(cur_term);
	if (!can_move)
		return tele_fail(ret_error, -ENOTTY,
				 "TERM=%.40s cannot place its cursor: set another, or use --once "
				 "for text",
				 name);
	return 0;
}

static void start_colours(struct mon_paint *paint)
{
	const char *no_color = getenv("NO_COLOR");
	if ((no_color && no_color[0]) || !has_colors() || start_color() != OK)
		return;
	use_default_colors();
	for (short style = 0; style < MON_STYLE_COUNT; style++)
		init_pair((short)(style + 1), looks[style].colour, -1);
	paint->has_colours = true;
}

int mon_paint_open(const char *term, FILE *out, FILE *in, struct mon_paint **ret_paint,
		   struct tele_error *ret_error)
{
	int failed = check_terminal(term, out, ret_error);
	if (failed)
		return failed;
	struct mon_paint *paint = calloc(1, sizeof(*paint));
	if (!paint)
		return tele_fail(ret_error, -ENOMEM, "out of memory");
	paint->screen = newterm(term, out, in);
	if (!paint->screen) {
		free(paint);
		return tele_fail(ret_error, -ENOTTY,
				 "cannot use this terminal: try another TERM, or --once for text");
	}
	set_term(paint->screen);
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	leaveok(stdscr, TRUE);
	set_escdelay(25);
	curs_set(0);
	start_colours(paint);
	*ret_paint = paint;
	return 0;
}

void mon_paint_close(struct mon_paint *paint)
{
	if (!paint)
		return;
	set_term(paint->screen);
	endwin();
	delscreen(paint->screen);
	mon_grid_fini(&paint->shown);
	free(paint);
}

void mon_paint_size(const struct mon_paint *paint, int *ret_width, int *ret_height)
{
	set_term(paint->screen);
	*ret_width = getmaxx(stdscr);
	*ret_height = getmaxy(stdscr);
}

void mon_paint_forget(struct mon_paint *paint)
{
	set_term(paint->screen);
	clearok(curscr, TRUE);
	paint->shown.width = paint->shown.height = 0;
}

void mon_paint_resume(const struct mon_paint *paint)
{
	set_term(paint->screen);
	reset_prog_mode();
}

static void put_cell(const struct mon_paint *paint, int x, int y, const struct mon_cell *cell)
{
	wchar_t text[3] = {(wchar_t)cell->ch, (wchar_t)cell->mark, 0};
	short pair = paint->has_colours ? (short)(cell->style + 1) : 0;
	cchar_t complex;
	if (cell->ch == 0)
		return; // drawn with its left half
	if (setcchar(&complex, text, looks[cell->style].attributes, pair, NULL) == OK)
		mvadd_wch(y, x, &complex);
}

static bool is_same_cell(const struct mon_cell *a, const struct mon_cell *b)
{
	return a->ch == b->ch && a->mark == b->mark && a->style == b->style;
}

// Writes a row's cells that changed. A wide character is written again whenever
// one of its halves changed.
static void put_row(const struct mon_paint *paint, const struct mon_grid *grid, int y, bool is_all)
{
	for (int x = 0; x < grid->width; x++) {
		const struct mon_cell *cell = mon_grid_at(grid, x, y);
		const struct mon_cell *right = mon_grid_at(grid, x + 1, y);
		bool is_changed = is_all || !is_same_cell(cell, mon_grid_at(&paint->shown, x, y));
		if (!is_changed && right && right->ch == 0)
			is_changed = !is_same_cell(right, mon_grid_at(&paint->shown, x + 1, y));
		if (is_changed)
			put_cell(paint, x, y, cell);
	}
}

int mon_paint_draw(struct mon_paint *paint, const struct mon_grid *grid)
{
	set_term(paint->screen);
	bool is_all = paint->shown.width != grid->width || paint->shown.height != grid->height;
	if (!is_all && mon_grid_is_equal(&paint->shown, grid))
		return 0;
	if (is_all)
		erase();
	for (int y = 0; y < grid->height; y++)
		put_row(paint, grid, y, is_all);
	if (mon_grid_reset(&paint->shown, grid->width, grid->height, grid->is_ascii))
		return -ENOMEM;
	mon_grid_copy(&paint->shown, 0, grid->height, grid, 0);
	refresh();
	return 0;
}
