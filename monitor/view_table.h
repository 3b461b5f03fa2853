// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Tables with a selected row: heads that sort when they are clicked, columns that
// give way by importance, and a window on the rows that holds the selection.
// Private to monitor/view_*.c.

#ifndef MON_VIEW_TABLE_H
#define MON_VIEW_TABLE_H

#include "view_parts.h"

#define MON_TABLE_COLUMNS_MAX 12

struct mon_table_column {
	const char *title;
	int width;	// 0: what is left, at least 16
	bool is_left;	// text; else numbers, at the right end
	int importance; // columns of the least go first where the screen is narrow
	bool is_bytes;	// wider in plain bytes
};

struct mon_table {
	struct mon_grid *grid;
	struct mon_view *view;
	int x, y, width, height; // with its head
	const struct mon_table_column *columns;
	int n_columns;
	uint32_t n_rows;
	// Filled by mon_table_start: the rows to draw, and where columns stand (-1:
	// left out).
	uint32_t first, end;
	int at[MON_TABLE_COLUMNS_MAX], widths[MON_TABLE_COLUMNS_MAX];
};

// A row to be put in order: by number, or by text where there is one.
struct mon_table_row {
	double number; // NAN: unknown, always at the end
	const char *text;
	uint32_t index;
};

// Keeps the selection on what was selected, though rows come and go: rows are
// known by `base` plus their index. The first row stays the first, whatever it is.
void mon_table_follow(struct mon_view *view, const struct mon_table_row *rows, uint32_t n_rows, uint64_t base);

// Draws the head and chooses which rows are shown: [first, end).
void mon_table_start(struct mon_table *table);

// Draws a cell of a row that is shown.
void mon_table_cell(const struct mon_table *table, uint32_t row, int column, unsigned style, const char *text);

// Where the cell of a column is, for a bar; false when it is left out.
bool mon_table_place(const struct mon_table *table, uint32_t row, int column, int *ret_x, int *ret_y,
		     int *ret_width);

// Marks the selected row, once all is drawn.
void mon_table_finish(const struct mon_table *table);

// Sorts rows, greatest number or first text first; the other way when inverted.
// Equal ones stay in order of their index.
void mon_table_sort(struct mon_table_row *rows, uint32_t n_rows, bool is_inverted);

#endif
