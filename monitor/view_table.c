// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Which columns fit is decided by importance and width alone, so that a column
// never jumps when figures change.

#include "view_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"

#include "../libtelemetry/banned.h"

#define FLEXIBLE_MIN 16

static int width_of(const struct mon_table *table, const struct mon_table_column *column)
{
	int wider = mon_bytes_columns(table->view->units) - mon_bytes_columns(MON_UNITS_IEC);
	return (column->width ? column->width : FLEXIBLE_MIN) + (column->is_bytes ? wider : 0);
}

// Leaves columns out until the rest fits; the flexible one takes what is left.
static void place_columns(struct mon_table *table)
{
	bool is_out[MON_TABLE_COLUMNS_MAX] = {false};
	int used;
	for (;;) {
		int least = -1;
		used = -1;
		for (int i = 0; i < table->n_columns; i++) {
			if (is_out[i])
				continue;
			used += width_of(table, &table->columns[i]) + 1;
			if (least < 0 || table->columns[i].importance < table->columns[least].importance)
				least = i;
		}
		if (used <= table->width || least < 0)
			break;
		is_out[least] = true;
	}
	int x = table->x;
	for (int i = 0; i < table->n_columns; i++) {
		table->at[i] = is_out[i] ? -1 : x;
		table->widths[i] = width_of(table, &table->columns[i]);
		if (is_out[i])
			continue;
		if (table->columns[i].width == 0)
			table->widths[i] += table->width - used;
		x += table->widths[i] + 1;
	}
}

static void draw_cell(const struct mon_table *table, int y, int column, unsigned style, const char *text)
{
	if (table->at[column] < 0)
		return;
	if (table->columns[column].is_left)
		mon_draw_text(table->grid, table->at[column], y, table->widths[column], style, text);
	else
		mon_draw_right(table->grid, table->at[column], y, table->widths[column], style, text);
}

void mon_table_follow(struct mon_view *view, const struct mon_table_row *rows, uint32_t n_rows, uint64_t base)
{
	enum mon_screen screen = mon_view_screen(view);
	uint64_t *chosen = &view->lens.chosen[screen];
	int *at = &view->lens.at[screen];
	for (uint32_t i = 0; i < n_rows && *chosen; i++)
		if (base + rows[i].index + 1 == *chosen)
			*at = (int)i;
	*chosen = *at > 0 && *at < (int)n_rows ? base + rows[*at].index + 1 : 0;
}

void mon_table_start(struct mon_table *table)
{
	enum mon_screen screen = mon_view_screen(table->view);
	int *at = &table->view->lens.at[screen], page = table->height - 1;
	TELE_ASSERT(table->n_columns <= MON_TABLE_COLUMNS_MAX);
	place_columns(table);
	for (int i = 0; i < table->n_columns; i++) {
		bool is_sorted = table->view->lens.sort[screen] == i;
		draw_cell(table, table->y, i, is_sorted ? MON_ACCENT : MON_TITLE, table->columns[i].title);
		if (table->at[i] >= 0 && table->columns[i].title[0])
			mon_view_add_hit(table->view, table->at[i], table->y, table->widths[i], 1, MON_HIT_COLUMN,
					 (uint64_t)i);
	}
	if (*at >= (int)table->n_rows)
		*at = (int)table->n_rows - 1;
	if (*at < 0)
		*at = 0;
	int *scroll = &table->view->scroll, most = (int)table->n_rows - page;
	if (!table->view->is_text) {
		*scroll = *scroll > *at ? *at : *scroll;
		*scroll = *scroll < *at - page + 1 ? *at - page + 1 : *scroll;
	}
	*scroll = *scroll > most ? most : *scroll;
	*scroll = *scroll < 0 ? 0 : *scroll;
	table->first = (uint32_t)*scroll;
	table->end = table->first + (uint32_t)(page > 0 ? page : 0);
	if (table->end > table->n_rows)
		table->end = table->n_rows;
	table->view->has_more = table->end < table->n_rows;
	mon_view_add_hit(table->view, table->x, table->y + 1, table->width, (int)(table->end - table->first),
			 MON_HIT_ROW, table->first);
}

void mon_table_cell(const struct mon_table *table, uint32_t row, int column, unsigned style, const char *text)
{
	draw_cell(table, table->y + 1 + (int)(row - table->first), column, style, text);
}

bool mon_table_place(const struct mon_table *table, uint32_t row, int column, int *ret_x, int *ret_y,
		     int *ret_width)
{
	*ret_x = table->at[column];
	*ret_y = table->y + 1 + (int)(row - table->first);
	*ret_width = table->widths[column];
	return table->at[column] >= 0;
}

void mon_table_finish(const struct mon_table *table)
{
	uint32_t at = (uint32_t)table->view->lens.at[mon_view_screen(table->view)];
	if (!table->view->is_text && at >= table->first && at < table->end)
		mon_draw_style(table->grid, table->x - 1, table->y + 1 + (int)(at - table->first),
			       table->width + 2, MON_SELECTED);
}

static int compare(const void *a_pointer, const void *b_pointer)
{
	const struct mon_table_row *a = a_pointer, *b = b_pointer;
	if (a->text || b->text) {
		int order = strcmp(a->text ? a->text : "", b->text ? b->text : "");
		if (order)
			return order;
	} else if (isnan(a->number) != isnan(b->number)) {
		return isnan(a->number) ? 1 : -1;
	} else if (a->number > b->number || a->number < b->number) {
		return a->number > b->number ? -1 : 1;
	}
	return (a->index > b->index) - (a->index < b->index);
}

void mon_table_sort(struct mon_table_row *rows, uint32_t n_rows, bool is_inverted)
{
	qsort(rows, n_rows, sizeof(*rows), compare);
	if (!is_inverted)
		return;
	// What is unknown stays at the end.
	uint32_t n_known = n_rows;
	while (n_known > 0 && !rows[n_known - 1].text && isnan(rows[n_known - 1].number))
		n_known--;
	for (uint32_t i = 0; i < n_known / 2; i++) {
		struct mon_table_row row = rows[i];
		rows[i] = rows[n_known - 1 - i];
		rows[n_known - 1 - i] = row;
	}
}
