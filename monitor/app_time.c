// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Keys that stop and move time. In a live monitor the opened process has a
// player of its own, which tapes what its ring holds and whatever comes: pausing
// stops what is shown, never the taping. The list stands still as a copy.

#include "app.h"

#include <errno.h>
#include <stdio.h>

#include "../libtelemetry/banned.h"

struct mon_player *mon_app_player(struct mon_app *app)
{
	if (app->player)
		return app->player;
	return app->focus.source && app->view.opened ? &app->focus : NULL;
}

void mon_time_blur(struct mon_app *app)
{
	if (!app->focus.source)
		return;
	mon_model_fini(&app->focused);
	mon_player_close(&app->focus);
}

// What was seen from outside lies in no process's ring, so it is taped beside it,
// from now on.
static int tell_outside(struct mon_app *app)
{
	struct tele_record row;
	int failed = 0;
	if (!mon_live_outside_row(app->live, &row) || row.seq < app->focus_told)
		return 0;
	const struct tele_record instance = {.kind = TELE_RECORD_INSTANCE, .instance = row.instance};
	if (app->focus_told == 0)
		failed = mon_tape_add(app->focus.past.tape, &instance);
	if (!failed)
		failed = mon_tape_add(app->focus.past.tape, &row);
	app->focus_told = row.seq + 1;
	return failed;
}

void mon_time_refresh(struct mon_app *app)
{
	struct tele_error error = {0};
	if (!app->focus.source)
		return;
	if (tell_outside(app))
		(void)tele_fail(&error, -ENOMEM, "out of memory");
	if (error.code == 0 && mon_player_refresh(&app->focus, &error) == 0)
		return;
	mon_time_blur(app);
	mon_app_note(app, error.text);
}

void mon_time_focus(struct mon_app *app, uint64_t instance_id)
{
	struct tele_source *source;
	struct tele_error error = {0};
	mon_time_blur(app);
	if (app->player)
		app->player->instance_id = instance_id;
	// What has no ring to read is shown by its latest rows.
	if (!app->live || !mon_live_ring(app->live, instance_id, &source))
		return;
	mon_feed_init(&app->focused, MON_HISTORY_FULL, app->options);
	if (mon_player_open_live(&app->focus, source, &app->focused, &error) < 0) {
		mon_model_fini(&app->focused);
		mon_app_note(app, error.text);
		return;
	}
	app->focus.instance_id = instance_id;
	app->focus_told = 0;
	mon_time_refresh(app);
	if (!app->focus.source)
		return;
	if (app->is_frozen) {
		const struct mon_process *then = mon_model_find(&app->frozen, instance_id);
		const struct mon_row *row = then ? mon_process_latest(then) : NULL;
		mon_player_toggle(&app->focus, NULL);
		if (row)
			mon_player_show(&app->focus, row->at_ns, NULL);
	}
	mon_model_settle(&app->focused);
}

// ---- Pause ----------------------------------------------------------------------

// The list stands still, too, and says so.
static int freeze(struct mon_app *app, bool is_frozen, struct tele_error *ret_error)
{
	if (is_frozen == app->is_frozen)
		return 0;
	if (!is_frozen) {
		mon_model_fini(&app->frozen);
	} else {
		int failed = mon_model_copy(&app->model, &app->frozen);
		if (failed)
			return tele_fail(ret_error, failed, "out of memory");
	}
	app->is_frozen = app->view.is_paused = is_frozen;
	return 0;
}

static int toggle_pause(struct mon_app *app, struct tele_error *ret_error)
{
	struct mon_player *player = mon_app_player(app);
	struct tele_error error = {0};
	if (app->player) {
		if (mon_player_toggle(app->player, &error) < 0)
			mon_app_note(app, error.text);
		return 0;
	}
	bool is_pause = !app->is_frozen;
	if (player && player->is_following == is_pause && mon_player_toggle(player, &error) < 0)
		mon_app_note(app, error.text);
	return freeze(app, is_pause, ret_error);
}

// ---- Moves ----------------------------------------------------------------------

// Whoever goes to another moment has stopped.
static int after_move(struct mon_app *app, int status, const struct tele_error *error,
		      struct tele_error *ret_error)
{
	struct mon_player *player = mon_app_player(app);
	if (status < 0)
		mon_app_note(app, error->text);
	if (status == -ENOMEM)
		return tele_fail(ret_error, status, "out of memory");
	mon_model_settle(player->cursor.model);
	int failed = player->is_live && !player->is_following ? freeze(app, true, ret_error) : 0;
	return failed < 0 ? failed : 1;
}

int mon_time_show(struct mon_app *app, uint64_t at_ns, struct tele_error *ret_error)
{
	struct mon_player *player = mon_app_player(app);
	struct tele_error error = {0};
	if (!player)
		return 0;
	return after_move(app, mon_player_show(player, at_ns, &error), &error, ret_error);
}

void mon_time_jump(struct mon_app *app, const char *text)
{
	struct mon_player *player = mon_app_player(app);
	struct tele_error error = {0};
	struct mon_at at;
	if (!player)
		return;
	int status = mon_at_parse(text, &at, &error);
	if (status == 0)
		status = mon_player_jump(player, &at, &error);
	after_move(app, status, &error, NULL);
}

// What a key steps by; END for no such key.
static enum mon_target_kind step_of(enum mon_key key, bool *ret_is_back)
{
	*ret_is_back = key == MON_KEY_STEP_BACK || key == MON_KEY_CANDIDATE_BACK ||
		       key == MON_KEY_PHASE_BACK || key == MON_KEY_EVENT_BACK;
	switch (key) {
	case MON_KEY_STEP_BACK:
	case MON_KEY_STEP_FORWARD:
		return MON_TARGET_ROW;
	case MON_KEY_CANDIDATE_BACK:
	case MON_KEY_CANDIDATE_FORWARD:
		return MON_TARGET_CANDIDATE;
	case MON_KEY_PHASE_BACK:
	case MON_KEY_PHASE_FORWARD:
		return MON_TARGET_PHASE;
	case MON_KEY_EVENT_BACK:
	case MON_KEY_EVENT_FORWARD:
		return MON_TARGET_LOG;
	default:
		return MON_TARGET_END;
	}
}

static int player_key(struct mon_app *app, struct mon_input input, struct tele_error *ret_error)
{
	struct mon_player *player = mon_app_player(app);
	struct tele_error error = {0};
	bool is_back;
	enum mon_target_kind kind = step_of(input.key, &is_back);
	if (kind != MON_TARGET_END) {
		int status = mon_player_step(player, kind, is_back, &error);
		return after_move(app, status, &error, ret_error);
	}
	if (input.key == MON_KEY_CLICK && input.hit == MON_HIT_TRACK) {
		int x = (int)(input.hit_value & UINT32_MAX), width = (int)(input.hit_value >> 32);
		int status = mon_player_show_share(player, (double)(input.x - x) / (width - 1), &error);
		return after_move(app, status, &error, ret_error);
	}
	switch (input.key) {
	case MON_KEY_SLOWER:
	case MON_KEY_FASTER:
		if (player->is_live)
			return 0;
		mon_player_faster(player, input.key == MON_KEY_FASTER);
		return 1;
	case MON_KEY_JUMP:
		mon_app_start_entry(app, MON_ENTRY_JUMP, "go to time or candidate:", "");
		return 1;
	default:
		return 0;
	}
}

// ---- What is drawn of it --------------------------------------------------------

static void set_mark(struct mon_app *app, const struct mon_process *process)
{
	struct mon_lens *lens = &app->view.lens;
	const struct mon_row *row = mon_process_latest(process);
	bool is_here = row && lens->mark.instance_id == process->identity.instance_id &&
		       lens->mark.at_ns == row->at_ns;
	mon_lens_set_mark(lens, is_here ? NULL : process);
	lens->is_difference &= !is_here;
	mon_app_note(app, is_here ? "the mark is gone" : "marked: ' shows what has changed since");
}

static void toggle_difference(struct mon_app *app, const struct mon_process *process)
{
	struct mon_lens *lens = &app->view.lens;
	lens->is_difference = !lens->is_difference;
	if (!lens->is_difference || mon_lens_has_difference(lens, process))
		return;
	lens->is_difference = false;
	mon_app_note(app, "there is no mark: m sets one");
}

static void next_axis(struct mon_app *app, const struct mon_process *process)
{
	struct mon_lens *lens = &app->view.lens;
	char text[64];
	lens->axis = (enum analysis_axis)((mon_lens_axis(lens, process) + 1) % ANALYSIS_AXIS_COUNT);
	if (process->identity.is_untimed && lens->axis == ANALYSIS_TIME)
		lens->axis = ANALYSIS_ATTEMPTED;
	if (mon_process_field(process, TELE_ID_search_candidates_attempted) == TELE_UNKNOWN)
		lens->axis = ANALYSIS_TIME;
	lens->has_axis = true;
	snprintf(text, sizeof(text), "along %s%s", analysis_axis_name(lens->axis),
		 lens->axis == ANALYSIS_TIME ? "" : " candidates");
	mon_app_note(app, text);
}

static int lens_key(struct mon_app *app, enum mon_key key)
{
	struct mon_lens *lens = &app->view.lens;
	const struct mon_process *process =
		app->view.opened ? mon_model_find(mon_app_shown(app), app->view.opened) : NULL;
	if (!process)
		return 0;
	switch (key) {
	case MON_KEY_MARK:
		set_mark(app, process);
		return 1;
	case MON_KEY_DIFFERENCE:
		toggle_difference(app, process);
		return 1;
	case MON_KEY_AXIS:
		next_axis(app, process);
		return 1;
	case MON_KEY_ZOOM_IN:
		lens->zoom += lens->zoom < MON_ZOOM_MAX;
		return 1;
	case MON_KEY_ZOOM_OUT:
		lens->zoom -= lens->zoom > 0;
		return 1;
	default:
		return 0;
	}
}

int mon_time_key(struct mon_app *app, struct mon_input input, struct tele_error *ret_error)
{
	if (input.key == MON_KEY_PAUSE) {
		int status = toggle_pause(app, ret_error);
		return status < 0 ? status : 1;
	}
	if (lens_key(app, input.key))
		return 1;
	return mon_app_player(app) ? player_key(app, input, ret_error) : 0;
}
