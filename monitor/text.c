// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Cells as lines. A blank is a blank whatever its style is, so the same screen
// gives the same text with and without colours.

#include "text.h"

#include "utf8.h"

#include "../libtelemetry/banned.h"

// Columns of a row up to its last character that is not a blank.
static int used_columns(const struct mon_grid *grid, int y)
{
	int used = grid->width;
	while (used > 0) {
		const struct mon_cell *cell = mon_grid_at(grid, used - 1, y);
		if (cell->ch != ' ' || cell->mark)
			break;
		used--;
	}
	return used;
}

static int used_rows(const struct mon_grid *grid)
{
	int used = grid->height;
	while (used > 0 && used_columns(grid, used - 1) == 0)
		used--;
	return used;
}

static void write_char(struct mon_out *out, uint32_t ch)
{
	char bytes[MON_CHAR_BYTES_MAX];
	mon_out_bytes(out, bytes, mon_utf8_put(ch, bytes));
}

void mon_text_write(const struct mon_grid *grid, struct mon_out *out)
{
	int n_rows = used_rows(grid);
	for (int y = 0; y < n_rows; y++) {
		int n_columns = used_columns(grid, y);
		for (int x = 0; x < n_columns; x++) {
			const struct mon_cell *cell = mon_grid_at(grid, x, y);
			if (cell->ch)
				write_char(out, cell->ch);
			if (cell->mark)
				write_char(out, cell->mark);
		}
		mon_out_text(out, "\n");
	}
}

void mon_text_write_styles(const struct mon_grid *grid, struct mon_out *out)
{
	int n_rows = used_rows(grid);
	for (int y = 0; y < n_rows; y++) {
		int n_columns = used_columns(grid, y);
		for (int x = 0; x < n_columns; x++) {
			char letter = mon_style_letter(mon_grid_at(grid, x, y)->style);
			mon_out_bytes(out, &letter, 1);
		}
		mon_out_text(out, "\n");
	}
}
