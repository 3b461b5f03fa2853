// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A screen as data: a grid of cells, each a character and a style. Views draw
// on it, the painter and the text writer read it. Everything clips: no view
// can write outside, whatever the size is. No curses, no clock.

#ifndef MON_CELLS_H
#define MON_CELLS_H

#include "../libtelemetry/base.h"

// Styles by meaning, not by colour; the letter is what golden screens show.
#define MON_STYLE_MAP(X)                                                                           \
	X(MON_NORMAL, '.')                                                                         \
	X(MON_BOLD, 'b')                                                                           \
	X(MON_DIM, 'd') /* stale, or a label */                                                    \
	X(MON_GOOD, 'g')                                                                           \
	X(MON_WARN, 'w')                                                                           \
	X(MON_BAD, 'r')	     /* the guilty number */                                               \
	X(MON_ACCENT, 'a')   /* bars, what is current */                                           \
	X(MON_TITLE, 't')    /* title and column heads */                                          \
	X(MON_SELECTED, 's') /* the selected row */

enum mon_style {
#define X(name, letter) name,
	MON_STYLE_MAP(X)
#undef X
	MON_STYLE_COUNT
};

char mon_style_letter(unsigned style);

// `ch` 0 is the right half of the wide character before it. `mark` is one
// combining character, or 0.
struct mon_cell {
	uint32_t ch;
	uint32_t mark;
	uint8_t style;
};

#define MON_GRID_WIDTH_MAX  1000
#define MON_GRID_HEIGHT_MAX 1000

struct mon_grid {
	int width, height;
	bool is_ascii; // draw nothing beyond ASCII
	struct mon_cell *cells;
	size_t capacity;
};

// All zero is an empty grid. Makes it blank in this size, cut to the maxima;
// returns 0 or -ENOMEM (the grid is then 0 x 0).
int mon_grid_reset(struct mon_grid *grid, int width, int height, bool is_ascii);
void mon_grid_fini(struct mon_grid *grid);

// The cell, or NULL outside of the grid.
struct mon_cell *mon_grid_at(const struct mon_grid *grid, int x, int y);

// Draws text from any origin in at most `width` columns from x on, and returns
// the columns used. What mon_text_clean would replace is replaced here too, so
// nothing unclean can reach a cell. A text that is cut ends in '…' (ASCII: '~').
int mon_draw_text(struct mon_grid *grid, int x, int y, int width, unsigned style, const char *text);

// The same, at the right end of the columns [x, x + width).
void mon_draw_right(struct mon_grid *grid, int x, int y, int width, unsigned style,
		    const char *text);

// printf into the grid, for our own text: at most 255 bytes.
int mon_draw_format(struct mon_grid *grid, int x, int y, int width, unsigned style,
		    const char *format, ...) __attribute__((format(printf, 6, 7)));

// Columns that a text takes on this grid.
int mon_text_width(const struct mon_grid *grid, const char *text);

// Sets the style of a row's columns [x, x + width) without changing characters.
void mon_draw_style(struct mon_grid *grid, int x, int y, int width, unsigned style);

// A bar of part/whole over `width` columns, in eighths of a column; the rest
// stays as it is. Anything above 0 shows at least one eighth. Bars of what is
// not resident are drawn in another character, so that they can be told apart
// without colour. Unknown or whole 0: nothing is drawn.
void mon_draw_bar(struct mon_grid *grid, int x, int y, int width, unsigned style, bool is_resident,
		  uint64_t part, uint64_t whole);

// Copies the rows [from_y, ...) of `source` onto rows [y, y + height) of grid.
void mon_grid_copy(struct mon_grid *grid, int y, int height, const struct mon_grid *source,
		   int from_y);

// Whether both show the same.
bool mon_grid_is_equal(const struct mon_grid *a, const struct mon_grid *b);

#endif
