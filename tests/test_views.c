// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Screens as text fixtures: tests/golden/NAME.screen holds the characters and
// then the style letters of a screen. UPDATE=1 rewrites them. The other tests
// hold every size and every crowd to not crashing.

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../monitor/text.h"
#include "../monitor/view.h"
#include "support/scene.h"

static void the_process_screen_is_as_drawn(void **state)
{
	struct scene scene;
	(void)state;
	scene_usual(&scene);
	scene.view.opened = scene.fixtures[0]->instance.identity.instance_id;
	scene_check_sizes(&scene, "process");
	scene_end(&scene);
}

static void a_process_without_books_says_so(void **state)
{
	struct scene scene;
	(void)state;
	scene_usual(&scene);
	scene.view.opened = scene.fixtures[2]->instance.identity.instance_id;
	scene_check(&scene, "process_plain", 80, 24);
	scene_end(&scene);
}

static void a_killed_process_is_dimmed_and_dated(void **state)
{
	struct scene scene;
	(void)state;
	scene_usual(&scene);
	scene.view.opened = scene.fixtures[3]->instance.identity.instance_id;
	scene_check(&scene, "process_killed", 80, 24);
	scene_end(&scene);
}

static void broken_books_are_named_in_red(void **state)
{
	struct scene scene;
	(void)state;
	scene_start(&scene);
	struct fixture *fixture = scene_add(&scene, fixture_search(&scene.model, 4711, 20));
	fixture_set(fixture, "heap.cache_bytes", 4096);
	fixture_set(fixture, "census.pools_freed", 3);
	fixture_row(&scene.model, fixture, 90 * FIXTURE_S);
	mon_model_settle(&scene.model);
	scene.view.opened = fixture->instance.identity.instance_id;
	scene_check(&scene, "process_broken", 80, 24);
	scene_end(&scene);
}

static void eight_devices_have_a_block_each(void **state)
{
	struct scene scene;
	(void)state;
	scene_start(&scene);
	struct fixture *fixture = scene_add(&scene, fixture_search(&scene.model, 4711, 12));
	for (uint32_t device = 1; device < 8; device++) {
		char name[64];
		fixture_add_device(fixture, device);
		snprintf(name, sizeof(name), "device[%u].live_working_pools", device);
		fixture_set(fixture, name, device);
		snprintf(name, sizeof(name), "device[%u].live_working_bytes", device);
		fixture_set(fixture, name, (uint64_t)device << 28);
	}
	fixture_row(&scene.model, fixture, 90 * FIXTURE_S);
	mon_model_settle(&scene.model);
	scene.view.opened = fixture->instance.identity.instance_id;
	scene_check(&scene, "process_devices", 120, 40);
	scene_end(&scene);
}

static void ascii_screens_hold_ascii_only(void **state)
{
	struct scene scene;
	struct mon_grid grid = {0};
	(void)state;
	scene_usual(&scene);
	scene.view.is_ascii = true;
	struct fixture *wide = scene_add(&scene, fixture_new(77, "日本語 \xff λ"));
	fixture_tell(&scene.model, wide);
	fixture_row(&scene.model, wide, 84 * FIXTURE_S);
	mon_model_settle(&scene.model);
	for (uint32_t i = 0; i <= scene.n_fixtures; i++) {
		scene.view.opened =
			i < scene.n_fixtures ? scene.fixtures[i]->instance.identity.instance_id : 0;
		scene_draw(&scene, 120, 40, &grid);
		for (size_t cell = 0; cell < 120 * 40; cell++)
			assert_true(grid.cells[cell].ch >= 0x20 && grid.cells[cell].ch < 0x7f);
	}
	scene.view.opened = scene.fixtures[0]->instance.identity.instance_id;
	scene_check(&scene, "process_ascii", 80, 24);
	mon_grid_fini(&grid);
	scene_end(&scene);
}

static void help_lists_every_key(void **state)
{
	struct scene scene;
	(void)state;
	scene_start(&scene);
	scene.view.is_help = true;
	scene_check_sizes(&scene, "help");
	scene_check(&scene, "help", 80, 80);
	scene.view.is_ascii = true;
	scene_check(&scene, "help_ascii", 80, 80);
	scene_end(&scene);
}

static void a_replay_has_a_transport_line(void **state)
{
	const struct mon_transport transport = {.file = "runs/trace.rct",
						.is_playing = true,
						.speed = 1,
						.position_ns = 67 * FIXTURE_S,
						.length_ns = 143 * FIXTURE_S,
						.candidate = 61,
						.n_candidates = 261};
	struct scene scene;
	(void)state;
	scene_usual(&scene);
	scene.view.transport = &transport;
	scene_check(&scene, "transport", 80, 24);
	scene_check(&scene, "transport", 40, 12);
	scene_end(&scene);
}

static void the_track_of_time_stays_where_it_is(void **state)
{
	static const uint64_t candidates[] = {TELE_UNKNOWN, 0, 61, 1261};
	struct mon_transport transport = {.file = "trace.rct", .speed = 1, .n_candidates = 1261};
	struct scene scene;
	struct mon_grid grid = {0};
	uint64_t track = 0;
	(void)state;
	scene_usual(&scene);
	scene.view.transport = &transport;
	for (size_t i = 0; i < sizeof(candidates) / sizeof(candidates[0]); i++) {
		uint64_t value = 0;
		transport.candidate = candidates[i];
		scene_draw(&scene, 120, 24, &grid);
		assert_int_equal(mon_view_hit(&scene.view, 110, 1, &value), MON_HIT_TRACK);
		assert_true(track == 0 || value == track);
		track = value;
	}
	mon_grid_fini(&grid);
	scene_end(&scene);
}

static void the_head_says_whether_it_lives_before_the_whole_label(void **state)
{
	struct scene scene;
	struct mon_grid grid = {0};
	struct mon_out out = {0};
	(void)state;
	scene_start(&scene);
	struct fixture *fixture = scene_add(&scene, fixture_server(&scene.model, 1234567, "a label that is long"));
	fixture_state(&scene.model, fixture, TELE_KILLED);
	mon_model_settle(&scene.model);
	scene.view.opened = fixture->instance.identity.instance_id;
	scene_draw(&scene, 40, 12, &grid);
	mon_text_write(&grid, &out);
	assert_non_null(strstr(out.bytes, "1234567  killed"));
	mon_out_fini(&out);
	mon_grid_fini(&grid);
	scene_end(&scene);
}

static void paused_stands_beside_the_clock(void **state)
{
	struct scene scene;
	(void)state;
	scene_usual(&scene);
	scene.view.is_paused = true;
	scene_check(&scene, "paused", 80, 24);
	scene_end(&scene);
}

static void hostile_text_never_reaches_a_cell(void **state)
{
	static const char hostile[] = "\x1b]0;owned\x07\x1b[31mred\r\n\xe2\x80\xae"
				      "desrever \xc2\x9b"
				      "31m \xff\xfe \xed\xa0\x80 ok";
	struct scene scene;
	struct mon_grid grid = {0};
	struct mon_out out = {0};
	(void)state;
	scene_start(&scene);
	struct fixture *fixture = scene_add(&scene, fixture_new(66, hostile));
	fixture_tell(&scene.model, fixture);
	fixture_event(&scene.model, fixture, TELE_EVENT_PHASE, 3 * FIXTURE_S, 0, 0, hostile);
	fixture_event(&scene.model, fixture, TELE_EVENT_CANDIDATE_BEGIN, 3 * FIXTURE_S, 1, 0,
		      hostile);
	fixture_event(&scene.model, fixture, TELE_EVENT_MARK, 3 * FIXTURE_S, 0, 0, hostile);
	fixture_row(&scene.model, fixture, 4 * FIXTURE_S);
	mon_model_add_unreadable(&scene.model, hostile, hostile);
	mon_model_settle(&scene.model);
	scene.view.selected = fixture->instance.identity.instance_id;
	snprintf(scene.view.note, sizeof(scene.view.note), "%s", hostile);
	for (int opened = 0; opened < 2; opened++) {
		scene.view.opened = opened ? fixture->instance.identity.instance_id : 0;
		scene_draw(&scene, 200, 40, &grid);
		mon_text_write(&grid, &out);
	}
	assert_null(memchr(out.bytes, 0x1b, out.n_bytes));
	assert_null(memchr(out.bytes, '\r', out.n_bytes));
	assert_null(memchr(out.bytes, 0x07, out.n_bytes));
	assert_null(strstr(out.bytes, "\xe2\x80\xae"));
	assert_null(strstr(out.bytes, "\xc2\x9b"));
	assert_non_null(strstr(out.bytes, "?]0;owned??[31mred???desrever"));
	mon_out_fini(&out);
	mon_grid_fini(&grid);
	scene_end(&scene);
}

// T1: sizes from 1x1 up, with each crowd, every screen.
static void no_size_and_no_crowd_crashes_a_view(void **state)
{
	static const uint32_t crowds[] = {0, 1, 8, 64};
	struct mon_grid grid = {0};
	(void)state;
	for (size_t i = 0; i < sizeof(crowds) / sizeof(crowds[0]); i++) {
		struct scene scene;
		scene_start(&scene);
		for (uint32_t n = 0; n < crowds[i]; n++)
			scene_add(&scene,
				  n % 8 == 0 ? fixture_search(&scene.model, 100 + n, 3 + n % 5)
					     : fixture_server(&scene.model, 100 + n, "server"));
		mon_model_settle(&scene.model);
		uint64_t first = crowds[i] ? scene.fixtures[0]->instance.identity.instance_id : 0;
		for (uint32_t device = 1; crowds[i] && device < 8; device++)
			fixture_add_device(scene.fixtures[0], device);
		for (uint32_t n = 1; n < scene.model.n_processes; n++)
			scene.model.processes[n]->identity.parent_pid = 100 + n / 2;
		for (int height = 1; height <= 60; height += height < 14 ? 1 : 7) {
			for (int width = 1; width <= 200; width += width < 45 ? 1 : 11) {
				for (int screen = 0; screen < 4; screen++) {
					scene.view.opened = screen == 1 ? first : 0;
					scene.view.is_help = screen == 2;
					scene.view.is_text = screen == 3;
					scene.view.selected = first;
					scene.view.scroll = height * 3;
					scene.view.screen = (enum mon_screen)(width % MON_SCREEN_COUNT);
					scene.view.units = (enum mon_units)(width % MON_UNITS_COUNT);
					scene.view.is_tree = height % 2;
					scene.view.is_ascii = width % 2;
					scene.view.is_paused = height % 3 == 0;
					scene_draw(&scene, width, height, &grid);
				}
			}
		}
		scene_end(&scene);
	}
	mon_grid_fini(&grid);
}

static void a_terminal_too_small_says_what_it_needs(void **state)
{
	struct scene scene;
	(void)state;
	scene_usual(&scene);
	scene_check(&scene, "too_small", 39, 12);
	scene_end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_process_screen_is_as_drawn),
		cmocka_unit_test(a_process_without_books_says_so),
		cmocka_unit_test(a_killed_process_is_dimmed_and_dated),
		cmocka_unit_test(broken_books_are_named_in_red),
		cmocka_unit_test(eight_devices_have_a_block_each),
		cmocka_unit_test(ascii_screens_hold_ascii_only),
		cmocka_unit_test(help_lists_every_key),
		cmocka_unit_test(a_replay_has_a_transport_line),
		cmocka_unit_test(the_track_of_time_stays_where_it_is),
		cmocka_unit_test(the_head_says_whether_it_lives_before_the_whole_label),
		cmocka_unit_test(paused_stands_beside_the_clock),
		cmocka_unit_test(hostile_text_never_reaches_a_cell),
		cmocka_unit_test(no_size_and_no_crowd_crashes_a_view),
		cmocka_unit_test(a_terminal_too_small_says_what_it_needs),
	};
	setenv("TZ", "UTC", 1);
	tzset();
	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
