// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Walking about in a recording: wherever the player stands, and whichever way it
// came, the screen is the one that a fresh reading up to that row gives.

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../libtelemetry/trace.h"
#include "../monitor/player.h"
#include "support/golden.h"
#include "support/random.h"

#define RECORDING "docs/example.rct"

struct setting {
	struct mon_model model;
	struct mon_player player;
};

static void start(struct setting *setting)
{
	mon_model_init(&setting->model, MON_HISTORY_FULL);
	assert_int_equal(mon_player_open(&setting->player, RECORDING, &setting->model, NULL, NULL), 0);
}

static void stop(struct setting *setting)
{
	mon_player_close(&setting->player);
	mon_model_fini(&setting->model);
}

// Every view of the only process, without the transport line.
static char *screen_of(struct mon_model *model)
{
	struct mon_grid grid = {0};
	struct mon_out out = {0};
	struct mon_view view;
	mon_model_settle(model);
	mon_view_init(&view);
	view.opened = model->n_processes ? model->processes[0]->identity.instance_id : 0;
	for (int screen = MON_SCREEN_OVERVIEW; screen < MON_SCREEN_COUNT; screen++) {
		view.screen = (enum mon_screen)screen;
		view.scroll = 0;
		assert_int_equal(mon_grid_reset(&grid, 160, 70, false), 0);
		mon_view_draw(&grid, model, &view);
		golden_write(&grid, &out);
	}
	mon_grid_fini(&grid);
	assert_int_equal(mon_out_status(&out), 0);
	mon_out_text(&out, "");
	return out.bytes;
}

static void assert_is_fresh(struct setting *setting)
{
	const struct mon_position *position = &setting->player.cursor.position;
	struct tele_source *source;
	struct mon_model model;
	mon_model_init(&model, MON_HISTORY_FULL);
	assert_int_equal(tele_trace_open(RECORDING, &source, NULL), 0);
	for (uint64_t i = 0; i < position->n_records; i++) {
		struct tele_record record;
		assert_int_equal(tele_source_next(source, &record, NULL), 1);
		assert_int_equal(mon_model_apply(&model, &record), 0);
	}
	char *here = screen_of(&setting->model), *fresh = screen_of(&model);
	assert_string_equal(here, fresh);
	free(here);
	free(fresh);
	mon_model_fini(&model);
	tele_source_close(source);
}

static void a_recording_opens_at_its_end(void **state)
{
	struct setting setting;
	(void)state;
	start(&setting);
	assert_true(setting.player.transport.length_ns > UINT64_C(10000000000));
	assert_int_equal(setting.player.transport.position_ns, setting.player.transport.length_ns);
	assert_int_equal(setting.player.transport.candidate, 120);
	assert_int_equal(setting.player.transport.n_phases, 2);
	assert_is_fresh(&setting);
	stop(&setting);
}

static void steps_back_and_forward_show_what_was_shown_then(void **state)
{
	struct setting setting;
	(void)state;
	start(&setting);
	for (int i = 0; i < 40; i++) {
		assert_int_equal(mon_player_step(&setting.player, MON_TARGET_ROW, i % 5 != 4, NULL), 0);
		if (i % 7 == 0)
			assert_is_fresh(&setting);
	}
	stop(&setting);
}

static void any_walk_shows_what_was_shown_then(void **state)
{
	static const enum mon_target_kind kinds[] = {MON_TARGET_ROW, MON_TARGET_CANDIDATE,
						     MON_TARGET_PHASE, MON_TARGET_LOG};
	struct test_random random = {.state = 20261130};
	struct setting setting;
	(void)state;
	start(&setting);
	for (int i = 0; i < 60; i++) {
		uint64_t dice = test_random_below(&random, 10);
		struct mon_at at = {.offset_ns = test_random_below(&random, 31000) * 1000000};
		if (dice < 2)
			assert_int_equal(mon_player_jump(&setting.player, &at, NULL), 0);
		else
			mon_player_step(&setting.player, kinds[dice % 4], test_random_below(&random, 2), NULL);
		if (i % 4 == 0)
			assert_is_fresh(&setting);
	}
	stop(&setting);
}

static void a_step_back_and_forward_again_is_the_same_row(void **state)
{
	struct setting setting;
	struct mon_at at = {.offset_ns = UINT64_C(6000000000)};
	(void)state;
	start(&setting);
	assert_int_equal(mon_player_jump(&setting.player, &at, NULL), 0);
	assert_int_equal(mon_player_step(&setting.player, MON_TARGET_ROW, true, NULL), 0);
	uint64_t row = setting.player.cursor.position.n_rows;
	char *before = screen_of(&setting.model);
	assert_int_equal(mon_player_step(&setting.player, MON_TARGET_ROW, true, NULL), 0);
	assert_int_equal(setting.player.cursor.position.n_rows, row - 1);
	assert_int_equal(mon_player_step(&setting.player, MON_TARGET_ROW, false, NULL), 0);
	char *after = screen_of(&setting.model);
	assert_string_equal(before, after);
	free(before);
	free(after);
	stop(&setting);
}

static void where_there_is_no_other_nothing_moves(void **state)
{
	struct setting setting;
	struct tele_error error;
	(void)state;
	start(&setting);
	uint64_t here = setting.player.cursor.position.n_records;
	assert_int_equal(mon_player_step(&setting.player, MON_TARGET_PHASE, false, &error), TELE_ENOTFOUND);
	assert_string_equal(error.text, "no phase after this one");
	assert_int_equal(setting.player.cursor.position.n_records, here);
	stop(&setting);
}

static void back_to_a_phase_is_to_its_begin_and_then_to_the_one_before(void **state)
{
	struct setting setting;
	(void)state;
	start(&setting);
	const struct mon_process *process = setting.model.processes[0];
	assert_int_equal(mon_player_step(&setting.player, MON_TARGET_PHASE, true, NULL), 0);
	process = setting.model.processes[0];
	assert_int_equal(process->n_phases, 2);
	assert_true(mon_process_latest(process)->at_ns - mon_process_phase_at(process, 2)->at_ns < UINT64_C(1000000000));
	uint64_t begin = setting.player.cursor.position.n_records;
	assert_int_equal(mon_player_step(&setting.player, MON_TARGET_PHASE, true, NULL), 0);
	assert_int_equal(setting.model.processes[0]->n_phases, 1);
	assert_int_equal(mon_player_step(&setting.player, MON_TARGET_PHASE, false, NULL), 0);
	assert_int_equal(setting.player.cursor.position.n_records, begin);
	stop(&setting);
}

// A tape that may not grow on forgets its oldest part, and what is left is right.
static void the_oldest_is_forgotten_when_the_tape_is_full(void **state)
{
	struct setting setting;
	struct mon_past *past = &setting.player.past;
	struct mon_cursor *cursor = &setting.player.cursor;
	const struct mon_target end = {.kind = MON_TARGET_END}, first = {.kind = MON_TARGET_ROW, .value = 1};
	struct tele_source *source;
	(void)state;
	mon_model_init(&setting.model, MON_HISTORY_FULL);
	mon_cursor_init(cursor, NULL, &setting.model);
	assert_int_equal(mon_past_open(past, cursor, MON_PAST_FORKS_LIVE, 65536), 0);
	assert_int_equal(tele_trace_open(RECORDING, &source, NULL), 0);
	int n_taped;
	do {
		n_taped = mon_past_fill(past, source, 100, NULL);
		assert_true(n_taped >= 0);
		assert_int_equal(mon_cursor_go(cursor, &end, NULL), 0);
	} while (n_taped > 0);
	assert_is_fresh(&setting);
	uint64_t n_records = cursor->position.n_records;
	assert_int_equal(mon_cursor_go(cursor, &first, NULL), 1);
	assert_true(cursor->position.n_rows > 1);
	assert_true(cursor->position.n_records < n_records);
	assert_is_fresh(&setting);
	assert_int_equal(mon_cursor_go(cursor, &end, NULL), 0);
	assert_int_equal(cursor->position.n_records, n_records);
	assert_is_fresh(&setting);
	mon_past_close(past);
	mon_model_fini(&setting.model);
	tele_source_close(source);
}

static void playing_from_the_start_ends_at_the_end(void **state)
{
	struct setting setting;
	(void)state;
	start(&setting);
	uint64_t n_records = setting.player.cursor.position.n_records;
	assert_int_equal(mon_player_toggle(&setting.player, NULL), 0);
	assert_true(setting.player.transport.is_playing);
	assert_int_equal(setting.player.cursor.position.n_rows, 1);
	for (int i = 0; i < 90 && setting.player.transport.is_playing; i++)
		assert_int_equal(mon_player_tick(&setting.player, 500000000, NULL), 0);
	assert_false(setting.player.transport.is_playing);
	assert_int_equal(setting.player.cursor.position.n_records, n_records);
	assert_is_fresh(&setting);
	stop(&setting);
}

// ---- A sign of life -----------------------------------------------------------

struct shown {
	char text[128]; // the last
	unsigned n_shown, n_ended;
};

static void note_shown(void *context, const char *text)
{
	struct shown *shown = context;
	if (text)
		snprintf(shown->text, sizeof(shown->text), "%s", text);
	shown->n_shown += text != NULL;
	shown->n_ended += text == NULL;
}

static void what_takes_long_says_how_far_it_is_and_then_nothing(void **state)
{
	struct shown shown = {0};
	struct mon_progress progress = {.show = note_shown, .context = &shown, .file = RECORDING};
	struct setting setting;
	struct mon_at at = {.is_candidate = true, .candidate = 60};
	(void)state;
	mon_model_init(&setting.model, MON_HISTORY_FULL);
	assert_int_equal(mon_player_open(&setting.player, RECORDING, &setting.model, &progress, NULL), 0);
	assert_true(shown.n_shown > 0);
	assert_int_equal(shown.n_ended, 1);
	assert_memory_equal(shown.text, "reading example.rct  ", 21);
	assert_string_equal(shown.text + strlen(shown.text) - 2, " %");
	shown = (struct shown){0};
	assert_int_equal(mon_player_jump(&setting.player, &at, NULL), 0);
	assert_int_equal(shown.n_ended, shown.n_shown > 0);
	stop(&setting);
}

static void what_is_done_in_no_time_shows_nothing(void **state)
{
	struct shown shown = {0};
	struct mon_progress progress = {
		.show = note_shown, .context = &shown, .file = RECORDING, .after_ns = UINT64_MAX};
	struct setting setting;
	(void)state;
	mon_model_init(&setting.model, MON_HISTORY_FULL);
	assert_int_equal(mon_player_open(&setting.player, RECORDING, &setting.model, &progress, NULL), 0);
	assert_int_equal(shown.n_shown, 0);
	assert_int_equal(shown.n_ended, 0);
	stop(&setting);
}

int main(void)
{
	setlocale(LC_ALL, "C.UTF-8");
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_recording_opens_at_its_end),
		cmocka_unit_test(steps_back_and_forward_show_what_was_shown_then),
		cmocka_unit_test(any_walk_shows_what_was_shown_then),
		cmocka_unit_test(a_step_back_and_forward_again_is_the_same_row),
		cmocka_unit_test(where_there_is_no_other_nothing_moves),
		cmocka_unit_test(back_to_a_phase_is_to_its_begin_and_then_to_the_one_before),
		cmocka_unit_test(the_oldest_is_forgotten_when_the_tape_is_full),
		cmocka_unit_test(playing_from_the_start_ends_at_the_end),
		cmocka_unit_test(what_takes_long_says_how_far_it_is_and_then_nothing),
		cmocka_unit_test(what_is_done_in_no_time_shows_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
