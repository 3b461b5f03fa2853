// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What keys do. Each acts at once on the data in hand; live and replay share
// everything but Space, which freezes the picture of a live monitor (sampling
// goes on) and plays a replay.

#include "app.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utf8.h"

#include "../libtelemetry/banned.h"

#define ROWS_MAX 4096

const struct mon_model *mon_app_shown(const struct mon_app *app)
{
	return app->is_frozen ? &app->frozen : &app->model;
}

static void note(struct mon_app *app, const char *text)
{
	mon_text_clean(text, app->view.is_ascii, app->view.note, sizeof(app->view.note));
}

static void open_process(struct mon_app *app, uint64_t instance_id)
{
	struct tele_error error = {0};
	if (!instance_id)
		return;
	app->view.opened = instance_id;
	app->view.selected = instance_id;
	app->view.scroll = 0;
	if (!app->live)
		return;
	if (mon_model_want_history(&app->model, instance_id))
		return;
	if (mon_live_follow(app->live, instance_id, &error) < 0 ||
	    mon_feed_more(app->live, &app->model, &error) < 0)
		note(app, error.text);
	mon_model_settle(&app->model);
}

static void close_process(struct mon_app *app)
{
	app->view.opened = 0;
	app->view.scroll = 0;
}

void mon_app_open_first(struct mon_app *app)
{
	const struct mon_process *process = NULL;
	mon_model_settle(&app->model);
	if (app->options->select)
		process = mon_model_select(&app->model, app->options->select);
	else if (app->player)
		process = mon_feed_first_opened(&app->model, NULL);
	if (process)
		open_process(app, process->identity.instance_id);
}

// ---- The list -----------------------------------------------------------------

// Moves the selection by `by` rows, as far as there are any.
static void move_selection(struct mon_app *app, int by)
{
	static uint64_t ids[ROWS_MAX];
	uint32_t n_rows = mon_overview_order(mon_app_shown(app), &app->view, ids, ROWS_MAX);
	int64_t at = 0;
	if (n_rows == 0)
		return;
	for (uint32_t i = 0; i < n_rows; i++)
		if (ids[i] == app->view.selected)
			at = i;
	at += by;
	if (at < 0)
		at = 0;
	if (at >= n_rows)
		at = n_rows - 1;
	app->view.selected = ids[at];
}

static void find(struct mon_app *app, bool is_back)
{
	static uint64_t ids[ROWS_MAX];
	const struct mon_model *model = mon_app_shown(app);
	uint32_t n_rows = mon_overview_order(model, &app->view, ids, ROWS_MAX);
	uint32_t at = 0;
	for (uint32_t i = 0; i < n_rows; i++)
		if (ids[i] == app->view.selected)
			at = i;
	for (uint32_t i = 1; i <= n_rows; i++) {
		uint32_t row = (at + (is_back ? n_rows - i : i)) % n_rows;
		const struct mon_process *process = mon_model_find(model, ids[row]);
		if (process && mon_identity_match(&process->identity, app->find) > 0) {
			app->view.selected = ids[row];
			return;
		}
	}
	note(app, "not found");
}

// ---- Text entry ---------------------------------------------------------------

static void start_entry(struct mon_app *app, enum mon_entry entry, const char *prompt)
{
	app->entry = entry;
	app->view.entry[0] = '\0';
	snprintf(app->view.entry_prompt, sizeof(app->view.entry_prompt), "%s", prompt);
}

static void stop_entry(struct mon_app *app)
{
	app->entry = MON_ENTRY_NONE;
	app->view.entry_prompt[0] = '\0';
}

static int finish_entry(struct mon_app *app)
{
	enum mon_entry entry = app->entry;
	struct tele_error error = {0};
	struct mon_at at;
	stop_entry(app);
	if (entry == MON_ENTRY_FIND && app->view.entry[0]) {
		memcpy(app->find, app->view.entry, sizeof(app->find));
		find(app, false);
	} else if (entry == MON_ENTRY_JUMP && app->view.entry[0]) {
		if (mon_at_parse(app->view.entry, &at, &error) ||
		    mon_player_jump(app->player, &at, &error))
			note(app, error.text);
	}
	return 0;
}

static void erase_char(char *text)
{
	size_t len = strlen(text);
	while (len > 0 && ((unsigned char)text[len - 1] & 0xc0) == 0x80)
		len--;
	text[len > 0 ? len - 1 : 0] = '\0';
}

static int entry_key(struct mon_app *app, struct mon_input input)
{
	char bytes[MON_CHAR_BYTES_MAX];
	size_t len = strlen(app->view.entry);
	if (input.key == MON_KEY_OPEN)
		return finish_entry(app);
	if (input.ch == 0x1b) {
		stop_entry(app);
	} else if (input.ch == 0x7f || input.ch == 0x08 ||
		   (input.key == MON_KEY_BACK && input.ch == 0)) {
		erase_char(app->view.entry);
	} else if (input.ch && mon_char_is_safe(input.ch)) {
		size_t n = mon_utf8_put(input.ch, bytes);
		if (len + n < sizeof(app->view.entry)) {
			memcpy(app->view.entry + len, bytes, n);
			app->view.entry[len + n] = '\0';
		}
	}
	return 0;
}

// ---- Keys ---------------------------------------------------------------------

static int toggle_pause(struct mon_app *app, struct tele_error *ret_error)
{
	struct tele_error error = {0};
	if (app->player) {
		if (mon_player_toggle(app->player, &error) < 0)
			note(app, error.text);
		return 0;
	}
	if (app->is_frozen) {
		mon_model_fini(&app->frozen);
		app->is_frozen = false;
	} else {
		int failed = mon_model_copy(&app->model, &app->frozen);
		if (failed)
			return tele_fail(ret_error, failed, "out of memory");
		app->is_frozen = true;
	}
	app->view.is_paused = app->is_frozen;
	return 0;
}

static void go_back(struct mon_app *app)
{
	if (app->view.is_help) {
		app->view.is_help = false;
		app->view.scroll = 0;
	} else if (app->view.opened) {
		close_process(app);
	}
}

// Keys that move about: rows of the list, or lines of a screen.
static void move(struct mon_app *app, enum mon_key key)
{
	int page = mon_overview_page(&app->view, app->height);
	int by = 0;
	switch (key) {
	case MON_KEY_UP:
		by = -1;
		break;
	case MON_KEY_DOWN:
		by = 1;
		break;
	case MON_KEY_PAGE_UP:
		by = -page;
		break;
	case MON_KEY_PAGE_DOWN:
		by = page;
		break;
	case MON_KEY_HOME:
		by = -ROWS_MAX;
		break;
	default:
		by = ROWS_MAX;
		break;
	}
	if (app->view.opened || app->view.is_help)
		app->view.scroll += by; // drawing corrects it
	else
		move_selection(app, by);
	if (app->view.scroll < 0)
		app->view.scroll = 0;
}

static int replay_key(struct mon_app *app, enum mon_key key)
{
	struct tele_error error = {0};
	int status = 0;
	switch (key) {
	case MON_KEY_STEP_BACK:
	case MON_KEY_STEP_FORWARD:
		status = mon_player_step_row(app->player, key == MON_KEY_STEP_BACK, &error);
		break;
	case MON_KEY_CANDIDATE_BACK:
	case MON_KEY_CANDIDATE_FORWARD:
		status = mon_player_step_candidate(app->player, key == MON_KEY_CANDIDATE_BACK,
						   &error);
		break;
	case MON_KEY_SLOWER:
	case MON_KEY_FASTER:
		mon_player_faster(app->player, key == MON_KEY_FASTER);
		break;
	case MON_KEY_JUMP:
		start_entry(app, MON_ENTRY_JUMP, "go to time or candidate:");
		break;
	default:
		break;
	}
	if (status < 0)
		note(app, error.text);
	return 0;
}

static void list_key(struct mon_app *app, enum mon_key key)
{
	if (app->view.opened || app->view.is_help)
		return;
	switch (key) {
	case MON_KEY_OPEN:
		open_process(app, app->view.selected);
		break;
	case MON_KEY_SORT:
		app->view.sort = (enum mon_column)((app->view.sort + 1) % MON_COLUMN_COUNT);
		break;
	case MON_KEY_INVERT:
		app->view.is_inverted = !app->view.is_inverted;
		break;
	case MON_KEY_FIND:
		start_entry(app, MON_ENTRY_FIND, "find:");
		break;
	default:
		if (app->find[0])
			find(app, key == MON_KEY_FIND_PREVIOUS);
		break;
	}
}

int mon_app_key(struct mon_app *app, struct mon_input input, struct tele_error *ret_error)
{
	if (input.key == MON_KEY_NONE || input.key == MON_KEY_RESIZE)
		return 0;
	app->view.note[0] = '\0';
	if (app->entry != MON_ENTRY_NONE)
		return entry_key(app, input);
	switch (input.key) {
	case MON_KEY_QUIT:
		app->is_quit = true;
		return 0;
	case MON_KEY_BACK:
		go_back(app);
		return 0;
	case MON_KEY_HELP:
		app->view.is_help = !app->view.is_help;
		app->view.scroll = 0;
		return 0;
	case MON_KEY_PAUSE:
		return toggle_pause(app, ret_error);
	case MON_KEY_UNITS:
		app->view.units = (enum mon_units)((app->view.units + 1) % MON_UNITS_COUNT);
		return 0;
	case MON_KEY_REDRAW:
		app->is_redraw = true;
		return 0;
	case MON_KEY_UP:
	case MON_KEY_DOWN:
	case MON_KEY_PAGE_UP:
	case MON_KEY_PAGE_DOWN:
	case MON_KEY_HOME:
	case MON_KEY_END:
		move(app, input.key);
		return 0;
	case MON_KEY_OPEN:
	case MON_KEY_SORT:
	case MON_KEY_INVERT:
	case MON_KEY_FIND:
	case MON_KEY_FIND_NEXT:
	case MON_KEY_FIND_PREVIOUS:
		list_key(app, input.key);
		return 0;
	default:
		return app->player ? replay_key(app, input.key) : 0;
	}
}

void mon_app_settle(struct mon_app *app)
{
	mon_model_settle(&app->model);
	if (app->is_frozen)
		mon_model_settle(&app->frozen);
	const struct mon_model *model = mon_app_shown(app);
	const struct mon_process *opened =
		app->view.opened ? mon_model_find(model, app->view.opened) : NULL;
	const char *select = app->options->select;
	if (app->view.opened && !opened && app->live) {
		close_process(app);
		note(app, "the process has gone from the list");
	}
	if (opened && select && app->live && !app->is_frozen &&
	    !tele_state_is_alive(opened->state)) {
		const struct mon_process *next = mon_model_select(model, select);
		if (next && next != opened && tele_state_is_alive(next->state)) {
			open_process(app, next->identity.instance_id);
			note(app, "started again");
		}
	}
	if (!mon_model_find(model, app->view.selected))
		move_selection(app, 0);
}
