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
	enum mon_colours chosen; // as asked for
	const struct palette *palette;
	bool is_chosen, is_mouse_on;
};

// What a style looks like: attributes, and a colour and a background where the
// terminal has 8, 16, 256, or all colours. NO_COLOUR is the terminal's own.
#define NO_COLOUR (-1)

struct look {
	attr_t attributes;
	int colours[4]; // 8, 16, 256, RGB
	int backgrounds[4];
};

struct palette {
	struct look looks[MON_STYLE_COUNT];
};

#define OWN {NO_COLOUR, NO_COLOUR, NO_COLOUR, NO_COLOUR}

// Without colour the attributes and the glyphs alone tell them apart.
static const struct palette no_colours = {{
	[MON_NORMAL] = {A_NORMAL, OWN, OWN},
	[MON_BOLD] = {A_BOLD, OWN, OWN},
	[MON_DIM] = {A_DIM, OWN, OWN},
	[MON_GOOD] = {A_NORMAL, OWN, OWN},
	[MON_WARN] = {A_BOLD, OWN, OWN},
	[MON_BAD] = {A_BOLD, OWN, OWN},
	[MON_ACCENT] = {A_NORMAL, OWN, OWN},
	[MON_TITLE] = {A_BOLD, OWN, OWN},
	[MON_SELECTED] = {A_REVERSE, OWN, OWN},
}};

// A title has both its colours, so that it can be read whatever the terminal's
// own are.
static const struct palette dark = {{
	[MON_NORMAL] = {A_NORMAL, OWN, OWN},
	[MON_BOLD] = {A_BOLD, OWN, OWN},
	[MON_DIM] = {A_DIM, OWN, OWN},
	[MON_GOOD] = {A_NORMAL, {COLOR_GREEN, 10, 114, 0x87d787}, OWN},
	[MON_WARN] = {A_BOLD, {COLOR_YELLOW, 11, 221, 0xffd75f}, OWN},
	[MON_BAD] = {A_BOLD, {COLOR_RED, 9, 203, 0xff5f5f}, OWN},
	[MON_ACCENT] = {A_NORMAL, {COLOR_CYAN, 14, 80, 0x5fd7d7}, OWN},
	[MON_TITLE] = {A_BOLD, {NO_COLOUR, NO_COLOUR, 252, 0xd0d0d0}, {NO_COLOUR, NO_COLOUR, 236, 0x303030}},
	[MON_SELECTED] = {A_REVERSE, OWN, OWN},
}};

// Yellow and cyan cannot be read on white.
static const struct palette light = {{
	[MON_NORMAL] = {A_NORMAL, OWN, OWN},
	[MON_BOLD] = {A_BOLD, OWN, OWN},
	[MON_DIM] = {A_DIM, OWN, OWN},
	[MON_GOOD] = {A_NORMAL, {COLOR_GREEN, COLOR_GREEN, 28, 0x008700}, OWN},
	[MON_WARN] = {A_BOLD, {COLOR_MAGENTA, COLOR_MAGENTA, 130, 0xaf5f00}, OWN},
	[MON_BAD] = {A_BOLD, {COLOR_RED, COLOR_RED, 160, 0xd70000}, OWN},
	[MON_ACCENT] = {A_NORMAL, {COLOR_BLUE, COLOR_BLUE, 25, 0x005faf}, OWN},
	[MON_TITLE] = {A_BOLD, {NO_COLOUR, NO_COLOUR, 235, 0x262626}, {NO_COLOUR, NO_COLOUR, 254, 0xe4e4e4}},
	[MON_SELECTED] = {A_REVERSE, OWN, OWN},
}};

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

// Index into the colours of a look.
static unsigned depth(void)
{
	if (COLORS >= 1 << 24)
		return 3;
	return COLORS >= 256 ? 2 : COLORS >= 16 ? 1 : 0;
}

// COLORFGBG is "foreground;background", with something between in some.
static bool is_background_light(void)
{
	const char *colours = getenv("COLORFGBG");
	const char *last = colours ? strrchr(colours, ';') : NULL;
	return last && (strcmp(last, ";7") == 0 || strcmp(last, ";15") == 0);
}

static const struct palette *palette_of(enum mon_colours colours)
{
	const char *no_color = getenv("NO_COLOR");
	if (!has_colors() || colours == MON_COLOURS_NONE ||
	    (colours == MON_COLOURS_AUTO && no_color && no_color[0]))
		return &no_colours;
	if (colours == MON_COLOURS_AUTO)
		return is_background_light() ? &light : &dark;
	return colours == MON_COLOURS_LIGHT ? &light : &dark;
}

void mon_paint_set_colours(struct mon_paint *paint, enum mon_colours colours)
{
	if (paint->is_chosen && paint->chosen == colours)
		return;
	set_term(paint->screen);
	paint->is_chosen = true;
	paint->chosen = colours;
	paint->palette = palette_of(colours);
	for (int style = 0; has_colors() && style < MON_STYLE_COUNT; style++)
		init_extended_pair(style + 1, paint->palette->looks[style].colours[depth()],
				   paint->palette->looks[style].backgrounds[depth()]);
	mon_paint_forget(paint);
}

void mon_paint_set_mouse(struct mon_paint *paint, bool is_on)
{
	if (paint->is_mouse_on == is_on)
		return;
	set_term(paint->screen);
	paint->is_mouse_on = is_on;
	// What is held down is told at once, not after a possible second click.
	mouseinterval(0);
	mousemask(is_on ? BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED : 0, NULL);
}

static void start_colours(struct mon_paint *paint)
{
	if (has_colors() && start_color() == OK)
		use_default_colors();
	mon_paint_set_colours(paint, MON_COLOURS_AUTO);
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
	mon_paint_set_mouse(paint, false);
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
	const struct look *look = &paint->palette->looks[cell->style];
	bool has_pair = paint->palette != &no_colours;
	short pair = has_pair ? (short)(cell->style + 1) : 0;
	cchar_t complex;
	if (cell->ch == 0)
		return; // drawn with its left half
	if (setcchar(&complex, text, look->attributes, pair, NULL) == OK)
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
