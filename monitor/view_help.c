// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The help screen, from the table of keys, so that it cannot say something
// else than what the keys do.

#include "view_parts.h"

#include "keys.h"

#include "../libtelemetry/banned.h"

#define NAME_COLUMNS	9
#define WIDE_COLUMNS	100 // from here on in two columns
#define SHEET_LINES	(MON_KEY_COUNT + 4 * MON_GROUP_COUNT)

static int draw_group(struct mon_grid *grid, enum mon_key_group group, int x, int y, int width)
{
	mon_draw_text(grid, x, y++, width, MON_BOLD, mon_key_group_title(group));
	for (int key = 0; key < MON_KEY_COUNT; key++) {
		const struct mon_key_row *row = mon_key_row((enum mon_key)key);
		if (!row || row->group != group)
			continue;
		mon_draw_text(grid, x + 2, y, NAME_COLUMNS, MON_ACCENT, row->shown);
		mon_draw_text(grid, x + NAME_COLUMNS + 3, y++, width - NAME_COLUMNS - 3, MON_NORMAL,
			      row->help);
	}
	return y + 1;
}

static int draw_words(struct mon_grid *grid, int x, int y, int width)
{
	static const char *const lines[] = {
		"predicted  what the malloc's books say is resident",
		"residual   RSS minus predicted, named part by part",
		"linked     candidates that reached linking",
		"dim        old: the process has ended, or says nothing",
	};
	mon_draw_text(grid, x, y++, width, MON_BOLD, "What the words mean");
	for (size_t i = 0; i < TELE_ARRAY_LEN(lines); i++)
		mon_draw_text(grid, x + 2, y++, width - 2, MON_NORMAL, lines[i]);
	return y + 1;
}

// Draws everything and returns the lines it took.
static int draw_sheet(struct mon_grid *sheet)
{
	bool is_wide = sheet->width >= WIDE_COLUMNS;
	int width = is_wide ? (sheet->width - 4) / 2 : sheet->width - 2;
	int x = 1, y = 0, left = 0;
	for (int group = 0; group < MON_GROUP_COUNT; group++) {
		if (is_wide && group == MON_GROUP_EVERYWHERE) {
			left = y;
			x += width + 2;
			y = 0;
		}
		y = draw_group(sheet, (enum mon_key_group)group, x, y, width);
	}
	y = draw_words(sheet, x, y, width);
	return (y > left ? y : left) - 1;
}

void mon_help_draw(struct mon_grid *grid, struct mon_view *view, int y, int height)
{
	struct mon_grid sheet = {0};
	if (mon_grid_reset(&sheet, grid->width, SHEET_LINES, grid->is_ascii))
		return;
	int n_lines = draw_sheet(&sheet);
	int most = n_lines > height ? n_lines - height : 0;
	if (view->scroll > most)
		view->scroll = most;
	if (view->scroll < 0)
		view->scroll = 0;
	view->has_more = view->scroll < most;
	mon_grid_copy(grid, y, height, &sheet, view->scroll);
	mon_grid_fini(&sheet);
}
