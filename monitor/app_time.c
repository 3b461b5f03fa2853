// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Keys that stop and move time. Live and replay share everything but Space,
// which freezes the picture of a live monitor (sampling goes on) and plays a
// replay.

#include "app.h"

#include "../libtelemetry/banned.h"

static int toggle_pause(struct mon_app *app, struct tele_error *ret_error)
{
	struct tele_error error = {0};
	if (app->player) {
		if (mon_player_toggle(app->player, &error) < 0)
			mon_app_note(app, error.text);
		return 1;
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
	return 1;
}

void mon_time_jump(struct mon_app *app, const char *text)
{
	struct tele_error error = {0};
	struct mon_at at;
	if (mon_at_parse(text, &at, &error) || mon_player_jump(app->player, &at, &error))
		mon_app_note(app, error.text);
}

int mon_time_key(struct mon_app *app, struct mon_input input, struct tele_error *ret_error)
{
	struct tele_error error = {0};
	int status = 0;
	if (input.key == MON_KEY_PAUSE)
		return toggle_pause(app, ret_error);
	if (!app->player)
		return 0;
	switch (input.key) {
	case MON_KEY_STEP_BACK:
	case MON_KEY_STEP_FORWARD:
		status = mon_player_step_row(app->player, input.key == MON_KEY_STEP_BACK, &error);
		break;
	case MON_KEY_CANDIDATE_BACK:
	case MON_KEY_CANDIDATE_FORWARD:
		status = mon_player_step_candidate(
			app->player, input.key == MON_KEY_CANDIDATE_BACK, &error);
		break;
	case MON_KEY_SLOWER:
	case MON_KEY_FASTER:
		mon_player_faster(app->player, input.key == MON_KEY_FASTER);
		break;
	case MON_KEY_JUMP:
		mon_app_start_entry(app, MON_ENTRY_JUMP, "go to time or candidate:", "");
		break;
	default:
		return 0;
	}
	if (status < 0)
		mon_app_note(app, error.text);
	return 1;
}
