// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Drawing on cells. Every write goes through put(), which clips and keeps wide
// characters whole: whatever overwrites one half of one blanks the other, so a
// painter never meets half a character.

#include "cells.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utf8.h"

#include "../libtelemetry/banned.h"

char mon_style_letter(unsigned style)
{
	static const char letters[MON_STYLE_COUNT] = {
#define X(name, letter) [name] = (letter),
		MON_STYLE_MAP(X)
#undef X
	};
	TELE_ASSERT(style < MON_STYLE_COUNT);
	return letters[style];
}

static int clamp(int value, int max)
{
	if (value < 0)
		return 0;
	return value < max ? value : max;
}

int mon_grid_reset(struct mon_grid *grid, int width, int height, bool is_ascii)
{
	width = clamp(width, MON_GRID_WIDTH_MAX);
	height = clamp(height, MON_GRID_HEIGHT_MAX);
	size_t n_cells = (size_t)width * (size_t)height;
	if (n_cells > grid->capacity) {
		struct mon_cell *cells = realloc(grid->cells, n_cells * sizeof(*cells));
		if (!cells) {
			grid->width = grid->height = 0;
			return -ENOMEM;
		}
		grid->cells = cells;
		grid->capacity = n_cells;
	}
	grid->width = width;
	grid->height = height;
	grid->is_ascii = is_ascii;
	for (size_t i = 0; i < n_cells; i++)
		grid->cells[i] = (struct mon_cell){.ch = ' ', .mark = 0, .style = MON_NORMAL};
	return 0;
}

void mon_grid_fini(struct mon_grid *grid)
{
	free(grid->cells);
	*grid = (struct mon_grid){0};
}

struct mon_cell *mon_grid_at(const struct mon_grid *grid, int x, int y)
{
	if (x < 0 || y < 0 || x >= grid->width || y >= grid->height)
		return NULL;
	return &grid->cells[(size_t)y * (size_t)grid->width + (size_t)x];
}

static void put(struct mon_grid *grid, int x, int y, uint32_t ch, unsigned style)
{
	struct mon_cell *cell = mon_grid_at(grid, x, y);
	if (!cell)
		return;
	struct mon_cell *left = mon_grid_at(grid, x - 1, y);
	struct mon_cell *right = mon_grid_at(grid, x + 1, y);
	if (cell->ch == 0 && ch != 0 && left)
		left->ch = ' ';
	if (right && right->ch == 0)
		right->ch = ' ';
	*cell = (struct mon_cell){.ch = ch, .mark = 0, .style = (uint8_t)style};
}

// The character as this grid shows it, and its columns.
static uint32_t shown(const struct mon_grid *grid, uint32_t ch, int *ret_width)
{
	*ret_width = grid->is_ascii && ch >= 0x80 ? -1 : mon_char_width(ch);
	if (*ret_width >= 0)
		return ch;
	*ret_width = 1;
	return '?';
}

int mon_text_width(const struct mon_grid *grid, const char *text)
{
	int columns = 0;
	for (uint32_t ch = mon_utf8_next(&text); ch; ch = mon_utf8_next(&text)) {
		int width;
		shown(grid, ch, &width);
		columns += width;
	}
	return columns;
}

static void put_mark(struct mon_grid *grid, int x, int y, uint32_t ch)
{
	struct mon_cell *cell = mon_grid_at(grid, x, y);
	if (cell && cell->ch == 0)
		cell = mon_grid_at(grid, x - 1, y);
	if (cell && cell->mark == 0)
		cell->mark = ch;
}

int mon_draw_text(struct mon_grid *grid, int x, int y, int width, unsigned style, const char *text)
{
	int used = 0;
	TELE_ASSERT(style < MON_STYLE_COUNT);
	if (width <= 0)
		return 0;
	bool is_cut = mon_text_width(grid, text) > width;
	int room = is_cut ? width - 1 : width;
	for (uint32_t ch = mon_utf8_next(&text); ch; ch = mon_utf8_next(&text)) {
		int columns;
		ch = shown(grid, ch, &columns);
		if (columns == 0) {
			if (used > 0)
				put_mark(grid, x + used - 1, y, ch);
			continue;
		}
		if (used + columns > room)
			break;
		// A wide character that does not fit whole is not drawn at all.
		bool is_split = columns == 2 && (!mon_grid_at(grid, x + used, y) ||
						 !mon_grid_at(grid, x + used + 1, y));
		put(grid, x + used, y, is_split ? ' ' : ch, style);
		if (columns == 2)
			put(grid, x + used + 1, y, is_split ? ' ' : 0, style);
		used += columns;
	}
	if (is_cut)
		put(grid, x + used++, y, grid->is_ascii ? '~' : 0x2026, style);
	return used;
}

void mon_draw_right(struct mon_grid *grid, int x, int y, int width, unsigned style,
		    const char *text)
{
	int columns = mon_text_width(grid, text);
	int indent = columns < width ? width - columns : 0;
	mon_draw_text(grid, x + indent, y, width - indent, style, text);
}

int mon_draw_format(struct mon_grid *grid, int x, int y, int width, unsigned style,
		    const char *format, ...)
{
	char text[256];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	return mon_draw_text(grid, x, y, width, style, text);
}

void mon_draw_style(struct mon_grid *grid, int x, int y, int width, unsigned style)
{
	TELE_ASSERT(style < MON_STYLE_COUNT);
	for (int i = 0; i < width; i++) {
		struct mon_cell *cell = mon_grid_at(grid, x + i, y);
		if (cell)
			cell->style = (uint8_t)style;
	}
}

// part * columns * 8 / whole, exactly enough and without overflow.
static int eighths(uint64_t part, uint64_t whole, int columns)
{
	uint64_t most = (uint64_t)columns * 8;
	if (part >= whole)
		return (int)most;
	while (whole > UINT64_MAX / (MON_GRID_WIDTH_MAX * 8)) {
		whole >>= 1;
		part >>= 1;
	}
	uint64_t n = part * most / whole;
	return n == 0 ? 1 : (int)n;
}

void mon_draw_bar(struct mon_grid *grid, int x, int y, int width, unsigned style, bool is_resident,
		  uint64_t part, uint64_t whole)
{
	if (part == TELE_UNKNOWN || whole == TELE_UNKNOWN || whole == 0 || part == 0 ||
	    width <= 0 || width > MON_GRID_WIDTH_MAX)
		return;
	int n = eighths(part, whole, width);
	uint32_t full = is_resident ? 0x2588 : 0x2591;
	if (grid->is_ascii)
		full = is_resident ? '#' : '.';
	for (int i = 0; i < n / 8; i++)
		put(grid, x + i, y, full, style);
	int rest = n % 8;
	if (rest == 0)
		return;
	uint32_t last = 0x2590u - (uint32_t)rest; // U+2589 is 7/8, U+258F is 1/8
	if (!is_resident)
		last = 0x2591;
	if (grid->is_ascii)
		last = rest >= 4 ? full : (is_resident ? '|' : '.');
	put(grid, x + n / 8, y, last, style);
}

void mon_grid_copy(struct mon_grid *grid, int y, int height, const struct mon_grid *source,
		   int from_y)
{
	int width = grid->width < source->width ? grid->width : source->width;
	for (int row = 0; row < height; row++) {
		struct mon_cell *to = mon_grid_at(grid, 0, y + row);
		const struct mon_cell *from = mon_grid_at(source, 0, from_y + row);
		if (to && from)
			memcpy(to, from, (size_t)width * sizeof(*to));
	}
}

bool mon_grid_is_equal(const struct mon_grid *a, const struct mon_grid *b)
{
	if (a->width != b->width || a->height != b->height)
		return false;
	size_t n_cells = (size_t)a->width * (size_t)a->height;
	for (size_t i = 0; i < n_cells; i++)
		if (a->cells[i].ch != b->cells[i].ch || a->cells[i].mark != b->cells[i].mark ||
		    a->cells[i].style != b->cells[i].style)
			return false;
	return true;
}
