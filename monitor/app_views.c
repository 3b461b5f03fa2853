// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What keys do in the views of a process: all of them move a selection, and
// drawing says how far it can go. Lists sort and find, too; Enter goes to the
// moment that a row tells of.

#include "app.h"

#include <string.h>

#include "view_candidates.h"
#include "view_log.h"
#include "view_trends.h"

#include "../libtelemetry/banned.h"

#define ROWS_MAX 100000

// Columns that a view can be sorted by; 0: it has an order of its own.
static int columns_of(enum mon_screen screen)
{
	switch (screen) {
	case MON_SCREEN_CANDIDATES:
		return 10;
	case MON_SCREEN_CLASSES:
		return 8;
	default:
		return 0;
	}
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

static bool sort(struct mon_app *app, struct mon_input input)
{
	struct mon_lens *lens = &app->view.lens;
	enum mon_screen screen = mon_view_screen(&app->view);
	int n_columns = columns_of(screen), *column = &lens->sort[screen];
	if (n_columns == 0)
		return false;
	switch (input.key) {
	case MON_KEY_SORT:
		*column = (*column + 1) % n_columns;
		return true;
	case MON_KEY_SORT_BACK:
		*column = (*column + n_columns - 1) % n_columns;
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
	if (input.hit != MON_HIT_COLUMN || (int)input.hit_value >= columns_of(screen))
		return input.hit == MON_HIT_ROW;
	if (lens->sort[screen] == (int)input.hit_value)
		lens->is_inverted[screen] = !lens->is_inverted[screen];
	lens->sort[screen] = (int)input.hit_value;
	return true;
}

// The moment a row tells of; TELE_UNKNOWN for none.
static uint64_t moment_of(const struct mon_app *app, const struct mon_process *process)
{
	if (mon_view_screen(&app->view) == MON_SCREEN_LOG) {
		const struct mon_log_entry *entry = mon_log_selected(process, &app->view);
		return entry ? entry->at_ns : TELE_UNKNOWN;
	}
	if (mon_view_screen(&app->view) != MON_SCREEN_CANDIDATES)
		return TELE_UNKNOWN;
	const struct mon_candidate *candidate = mon_candidates_selected(process, &app->view);
	if (!candidate)
		return TELE_UNKNOWN;
	return candidate->end_at_ns != TELE_UNKNOWN ? candidate->end_at_ns : candidate->begin_at_ns;
}

static bool search(struct mon_app *app, struct mon_input input)
{
	const struct mon_process *process = opened(app);
	enum mon_screen screen = mon_view_screen(&app->view);
	bool is_back = input.key == MON_KEY_FIND_PREVIOUS;
	int row;
	if (screen != MON_SCREEN_CANDIDATES && screen != MON_SCREEN_TRENDS)
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
	row = screen == MON_SCREEN_TRENDS ? mon_trends_find(process, &app->view, app->find, is_back)
					  : mon_candidates_find(process, &app->view, app->find, is_back);
	if (row >= 0)
		select_row(app, row);
	else
		mon_app_note(app, "not found");
	return true;
}

static bool filter(struct mon_app *app, struct mon_input input)
{
	enum mon_screen screen = mon_view_screen(&app->view);
	if (input.key != MON_KEY_FILTER || (screen != MON_SCREEN_CANDIDATES && screen != MON_SCREEN_LOG &&
					    screen != MON_SCREEN_TRENDS))
		return false;
	mon_app_start_entry(app, MON_ENTRY_FILTER, "only rows with:", app->view.filters[screen]);
	return true;
}

int mon_views_key(struct mon_app *app, struct mon_input input, struct tele_error *ret_error)
{
	if (move(app, input) || sort(app, input) || click(app, input) || search(app, input) || filter(app, input))
		return 1;
	const struct mon_process *process = opened(app);
	if (input.key != MON_KEY_OPEN || !process)
		return 0;
	uint64_t at_ns = moment_of(app, process);
	return at_ns == TELE_UNKNOWN ? 0 : mon_time_show(app, at_ns, ret_error);
}
