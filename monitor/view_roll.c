// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Rows are made anew for every question, in the order in which they are shown;
// their index counts from the oldest thing that is known, and the selection
// follows the thing by its number.

#include "view_roll.h"

#include <stdio.h>

#include "../libtelemetry/banned.h"

static uint64_t oldest(const struct mon_roll *roll, const struct mon_process *process)
{
	uint64_t n = roll->count(process);
	return n > roll->n_known ? n - roll->n_known : 0;
}

static uint32_t order(const struct mon_roll *roll, const struct mon_process *process, const struct mon_view *view,
		      struct mon_table_row rows[MON_ROLL_ROWS_MAX])
{
	uint64_t n = roll->count(process), first = oldest(roll, process);
	const char *filter = view->filters[roll->screen];
	uint32_t n_rows = 0;
	TELE_ASSERT(n - first <= MON_ROLL_ROWS_MAX);
	for (uint64_t i = first; i < n; i++) {
		if (filter[0] && !roll->has_text(process, i, filter))
			continue;
		rows[n_rows] = (struct mon_table_row){.index = (uint32_t)(i - first)};
		roll->set_key(process, i, view->lens.sort[roll->screen], &rows[n_rows++]);
	}
	mon_table_sort(rows, n_rows, view->lens.is_inverted[roll->screen]);
	return n_rows;
}

uint64_t mon_roll_selected_at_ns(const struct mon_roll *roll, const struct mon_process *process,
				 const struct mon_view *view)
{
	struct mon_table_row rows[MON_ROLL_ROWS_MAX];
	uint32_t n_rows = order(roll, process, view, rows), at = (uint32_t)view->lens.at[roll->screen];
	return at < n_rows ? roll->at_ns(process, oldest(roll, process) + rows[at].index) : TELE_UNKNOWN;
}

int mon_roll_find(const struct mon_roll *roll, const struct mon_process *process, const struct mon_view *view,
		  const char *text, bool is_back)
{
	struct mon_table_row rows[MON_ROLL_ROWS_MAX];
	int n_rows = (int)order(roll, process, view, rows), at = view->lens.at[roll->screen];
	for (int i = 1; i <= n_rows; i++) {
		int row = (at + (is_back ? n_rows - i : i)) % n_rows;
		if (roll->has_text(process, oldest(roll, process) + rows[row].index, text))
			return row;
	}
	return -1;
}

void mon_roll_draw(const struct mon_roll *roll, struct mon_grid *grid, const struct mon_process *process,
		   struct mon_view *view, int y, int height)
{
	struct mon_table_row rows[MON_ROLL_ROWS_MAX];
	uint32_t n_rows = order(roll, process, view, rows);
	uint64_t first = oldest(roll, process);
	view->about[0] = '\0';
	if (n_rows == 0) {
		mon_draw_text(grid, 2, y + 1, grid->width - 4, MON_DIM,
			      roll->count(process) ? "Nothing here has this text." : roll->empty);
		return;
	}
	struct mon_table table = {.grid = grid,
				  .view = view,
				  .x = 1,
				  .y = y,
				  .width = grid->width - 2,
				  .height = mon_has_about(view, height) ? height - 1 : height,
				  .columns = roll->columns,
				  .n_columns = roll->n_columns,
				  .n_rows = n_rows};
	mon_table_follow(view, rows, n_rows, first);
	mon_table_start(&table);
	for (uint32_t row = table.first; row < table.end; row++)
		roll->draw_row(&table, process, row, first + rows[row].index);
	mon_table_finish(&table);
	roll->tell(process, first + rows[view->lens.at[roll->screen]].index, view->about, sizeof(view->about));
	mon_about_draw(grid, view, y, height);
}
