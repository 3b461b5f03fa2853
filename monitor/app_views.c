// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What keys do in the views of a process: all of them move a selection, and
// drawing says how far it can go. Lists sort and find, too; Enter goes to the
// moment that a row tells of.

#include "app.h"

#include <string.h>

#include "screens.h"
#include "view_roll.h"
#include "view_trends.h"

#include "../libtelemetry/banned.h"

#define ROWS_MAX 100000

// The roll of the view, where it can be searched; else NULL.
static const struct mon_roll *roll_of(const struct mon_app *app)
{
	const struct mon_roll *roll = mon_screen(&app->view)->roll;
	return roll && roll->has_text ? roll : NULL;
}

static const struct mon_process *opened(const struct mon_app *app)
{
	return app->view.opened ? mon_model_find(mon_app_shown(app), app->view.opened) : NULL;
}

static void select_row(struct mon_app *app, int64_t at)
{
	struct mon_lens *lens = &app->view.lens;
	enum mon_screen screen = mon_view_screen(&app->view);
	lens->at[screen] = at < 0 ? 0 : at > ROWS_MAX ? ROWS_MAX : (int)at;
	lens->chosen[screen] = 0;
}

static bool move(struct mon_app *app, struct mon_input input)
{
	int page = app->height > 8 ? app->height - 6 : 2;
	int n_rows = input.n_rows ? (int)input.n_rows : 1;
	int at = app->view.lens.at[mon_view_screen(&app->view)];
	switch (input.key) {
	case MON_KEY_UP:
		select_row(app, (int64_t)at - n_rows);
		return true;
	case MON_KEY_DOWN:
		select_row(app, (int64_t)at + n_rows);
		return true;
	case MON_KEY_PAGE_UP:
		select_row(app, (int64_t)at - page);
		return true;
	case MON_KEY_PAGE_DOWN:
		select_row(app, (int64_t)at + page);
		return true;
	case MON_KEY_HOME:
		select_row(app, 0);
		return true;
	case MON_KEY_END:
		select_row(app, ROWS_MAX);
		return true;
	default:
		return false;
	}
}

// The next column that has a title, or the one before.
static int next_column(const struct mon_roll *roll, int column, bool is_back)
{
	do
		column = (column + (is_back ? roll->n_columns - 1 : 1)) % roll->n_columns;
	while (!roll->columns[column].title[0]);
	return column;
}

static bool sort(struct mon_app *app, struct mon_input input)
{
	struct mon_lens *lens = &app->view.lens;
	enum mon_screen screen = mon_view_screen(&app->view);
	const struct mon_roll *roll = mon_screen_row(screen)->roll;
	if (!roll)
		return false;
	switch (input.key) {
	case MON_KEY_SORT:
	case MON_KEY_SORT_BACK:
		lens->sort[screen] = next_column(roll, lens->sort[screen], input.key == MON_KEY_SORT_BACK);
		return true;
	case MON_KEY_INVERT:
		lens->is_inverted[screen] = !lens->is_inverted[screen];
		return true;
	default:
		return false;
	}
}

static bool click(struct mon_app *app, struct mon_input input)
{
	struct mon_lens *lens = &app->view.lens;
	enum mon_screen screen = mon_view_screen(&app->view);
	if (input.key != MON_KEY_CLICK)
		return false;
	if (input.hit == MON_HIT_VIEW) {
		app->view.screen = (enum mon_screen)input.hit_value;
		app->view.scroll = 0;
		return true;
	}
	if (input.hit == MON_HIT_ROW)
		select_row(app, (int64_t)input.hit_value);
	if (input.hit != MON_HIT_COLUMN || !mon_screen_row(screen)->roll)
		return input.hit == MON_HIT_ROW;
	if (lens->sort[screen] == (int)input.hit_value)
		lens->is_inverted[screen] = !lens->is_inverted[screen];
	lens->sort[screen] = (int)input.hit_value;
	return true;
}

static bool search(struct mon_app *app, struct mon_input input)
{
	const struct mon_process *process = opened(app);
	enum mon_screen screen = mon_view_screen(&app->view);
	bool is_back = input.key == MON_KEY_FIND_PREVIOUS;
	const struct mon_roll *roll = roll_of(app);
	int row;
	if (!roll && screen != MON_SCREEN_TRENDS)
		return false;
	if (input.key == MON_KEY_FIND) {
		mon_app_start_entry(app, MON_ENTRY_FIND, "find:", "");
		return true;
	}
	if ((input.key != MON_KEY_FIND_NEXT && !is_back) || !process)
		return false;
	if (!app->find[0]) {
		mon_app_note(app, "nothing to find again: / finds");
		return true;
	}
	row = roll ? mon_roll_find(roll, process, &app->view, app->find, is_back)
		   : mon_trends_find(process, &app->view, app->find, is_back);
	if (row >= 0)
		select_row(app, row);
	else
		mon_app_note(app, "not found");
	return true;
}

static bool filter(struct mon_app *app, struct mon_input input)
{
	enum mon_screen screen = mon_view_screen(&app->view);
	if (input.key != MON_KEY_FILTER || (!roll_of(app) && screen != MON_SCREEN_TRENDS))
		return false;
	mon_app_start_entry(app, MON_ENTRY_FILTER, "only rows with:", app->view.filters[screen]);
	return true;
}

int mon_views_key(struct mon_app *app, struct mon_input input, struct tele_error *ret_error)
{
	if (move(app, input) || sort(app, input) || click(app, input) || search(app, input) || filter(app, input))
		return 1;
	const struct mon_process *process = opened(app);
	const struct mon_roll *roll = roll_of(app);
	if (input.key != MON_KEY_OPEN || !process || !roll)
		return 0;
	uint64_t at_ns = mon_roll_selected_at_ns(roll, process, &app->view);
	return at_ns == TELE_UNKNOWN ? 0 : mon_time_show(app, at_ns, ret_error);
}
