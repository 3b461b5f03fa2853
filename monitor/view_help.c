// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The help screen, from the table of keys, so that it cannot say something
// else than what the keys do.

#include "view_parts.h"

#include "keys.h"

#include "../libtelemetry/banned.h"

static int draw_group(struct mon_grid *grid, enum mon_key_group group, int y)
{
	mon_draw_text(grid, 1, y++, grid->width - 2, MON_BOLD, mon_key_group_title(group));
	for (int key = 0; key < MON_KEY_COUNT; key++) {
		const struct mon_key_row *row = mon_key_row((enum mon_key)key);
		if (!row || row->group != group)
			continue;
		mon_draw_text(grid, 3, y, 9, MON_ACCENT, row->shown);
		mon_draw_text(grid, 13, y++, grid->width - 14, MON_NORMAL, row->help);
	}
	return y + 1;
}

void mon_help_draw(struct mon_grid *grid, struct mon_view *view, int y, int height)
{
	struct mon_grid all = {0};
	int n_lines = MON_KEY_COUNT + MON_GROUP_COUNT * 2;
	if (mon_grid_reset(&all, grid->width, n_lines + 4, grid->is_ascii))
		return;
	int at = 0;
	for (int group = 0; group < MON_GROUP_COUNT; group++)
		at = draw_group(&all, (enum mon_key_group)group, at);
	mon_draw_text(&all, 1, at++, all.width - 2, MON_BOLD, "What the words mean");
	mon_draw_text(&all, 3, at++, all.width - 4, MON_NORMAL,
		      "predicted   what the malloc's books say is resident");
	mon_draw_text(&all, 3, at++, all.width - 4, MON_NORMAL,
		      "residual    RSS minus predicted, named part by part");
	int most = at > height ? at - height : 0;
	if (view->scroll > most)
		view->scroll = most;
	if (view->scroll < 0)
		view->scroll = 0;
	view->has_more = view->scroll < most;
	mon_grid_copy(grid, y, height, &all, view->scroll);
	mon_grid_fini(&all);
}
