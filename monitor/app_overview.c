// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What keys do in the overview. The selection is a process, not a place: it
// follows the process when the order changes.

#include "app.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>

#include "../libtelemetry/banned.h"

// The rows as they are shown, and which is selected (the first when none is).
static uint32_t list(const struct mon_app *app, const uint64_t **ret_ids, uint32_t *ret_at)
{
	static uint64_t ids[MON_OVERVIEW_ROWS_MAX];
	uint32_t n_rows = mon_overview_order(mon_app_shown(app), &app->view, ids, MON_OVERVIEW_ROWS_MAX);
	*ret_ids = ids;
	*ret_at = 0;
	for (uint32_t i = 0; i < n_rows; i++)
		if (ids[i] == app->view.selected)
			*ret_at = i;
	return n_rows;
}

void mon_overview_select(struct mon_app *app, int64_t by)
{
	const uint64_t *ids;
	uint32_t row;
	uint32_t n_rows = list(app, &ids, &row);
	int64_t at = row + by;
	if (n_rows == 0)
		return;
	if (at < 0)
		at = 0;
	app->view.selected = ids[at < n_rows ? at : n_rows - 1];
}

static void find(struct mon_app *app, bool is_back)
{
	const struct mon_model *model = mon_app_shown(app);
	const uint64_t *ids;
	uint32_t at;
	uint32_t n_rows = list(app, &ids, &at);
	for (uint32_t i = 1; i <= n_rows; i++) {
		uint32_t row = (at + (is_back ? n_rows - i : i)) % n_rows;
		const struct mon_process *process = mon_model_find(model, ids[row]);
		if (process && mon_overview_matches(process, app->find)) {
			app->view.selected = ids[row];
			return;
		}
	}
	mon_app_note(app, "not found");
}

static void sort_by(struct mon_app *app, int by)
{
	int column = ((int)app->view.sort + by + MON_COLUMN_COUNT) % MON_COLUMN_COUNT;
	app->view.sort = (enum mon_column)column;
}

// A click selects a row, a second one on it opens it; a click on a title sorts,
// a second one inverts.
static int click(struct mon_app *app, struct mon_input input)
{
	if (input.hit == MON_HIT_COLUMN) {
		bool is_again = app->view.sort == (enum mon_column)input.hit_value;
		app->view.is_inverted = is_again && !app->view.is_inverted;
		app->view.sort = (enum mon_column)input.hit_value;
		return 1;
	}
	if (input.hit != MON_HIT_ROW)
		return 0;
	uint64_t id = mon_overview_row(mon_app_shown(app), &app->view, input.hit_value);
	bool is_again = id == app->clicked;
	if (id && is_again)
		mon_app_open(app, id);
	else if (id)
		app->view.selected = id;
	app->clicked = is_again ? 0 : id;
	return 1;
}

// The filter on users: a name or a number; nothing lifts it.
void mon_overview_user(struct mon_app *app, const char *text)
{
	char *end;
	app->view.has_user = false;
	if (!text[0])
		return;
	const struct passwd *user = getpwnam(text);
	app->view.user = user ? user->pw_uid : strtoull(text, &end, 10);
	if (!user && (*end || text[0] < '0' || text[0] > '9')) {
		mon_app_note(app, "no such user: a name or a number, or nothing for all");
		return;
	}
	app->view.has_user = true;
	mon_overview_select(app, 0);
}

static int64_t rows_of(const struct mon_app *app, struct mon_input input)
{
	int64_t page = mon_overview_page(&app->view, app->height);
	int64_t n_rows = input.n_rows ? input.n_rows : 1;
	switch (input.key) {
	case MON_KEY_UP:
		return -n_rows;
	case MON_KEY_DOWN:
		return n_rows;
	case MON_KEY_PAGE_UP:
		return -page;
	case MON_KEY_PAGE_DOWN:
		return page;
	default:
		return input.key == MON_KEY_HOME ? -MON_OVERVIEW_ROWS_MAX : MON_OVERVIEW_ROWS_MAX;
	}
}

int mon_overview_key(struct mon_app *app, struct mon_input input, struct tele_error *ret_error)
{
	(void)ret_error;
	switch (input.key) {
	case MON_KEY_OPEN:
		mon_app_open(app, app->view.selected);
		return 1;
	case MON_KEY_UP:
	case MON_KEY_DOWN:
	case MON_KEY_PAGE_UP:
	case MON_KEY_PAGE_DOWN:
	case MON_KEY_HOME:
	case MON_KEY_END:
		mon_overview_select(app, rows_of(app, input));
		return 1;
	case MON_KEY_SORT:
	case MON_KEY_SORT_BACK:
		sort_by(app, input.key == MON_KEY_SORT ? 1 : -1);
		return 1;
	case MON_KEY_INVERT:
		app->view.is_inverted = !app->view.is_inverted;
		return 1;
	case MON_KEY_FIND:
		mon_app_start_entry(app, MON_ENTRY_FIND, "find:", "");
		return 1;
	case MON_KEY_FILTER:
		mon_app_start_entry(app, MON_ENTRY_FILTER, "show only:",
				    app->view.filters[MON_SCREEN_OVERVIEW]);
		return 1;
	case MON_KEY_USER:
		mon_app_start_entry(app, MON_ENTRY_USER, "user:", "");
		return 1;
	case MON_KEY_TREE:
		app->view.is_tree = !app->view.is_tree;
		return 1;
	case MON_KEY_HIDE_DEAD:
		app->view.is_dead_hidden = !app->view.is_dead_hidden;
		mon_overview_select(app, 0);
		return 1;
	case MON_KEY_CLICK:
		return click(app, input);
	case MON_KEY_FIND_NEXT:
	case MON_KEY_FIND_PREVIOUS:
		if (!app->find[0])
			mon_app_note(app, "nothing to find again: / finds");
		else
			find(app, input.key == MON_KEY_FIND_PREVIOUS);
		return 1;
	default:
		return 0;
	}
}
