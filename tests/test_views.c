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
#include "support/golden.h"
#include "support/mon_fixture.h"

#define CROWD_MAX 80

struct scene {
	struct mon_model model;
	struct fixture *fixtures[CROWD_MAX];
	uint32_t n_fixtures;
	struct mon_view view;
};

static void scene_start(struct scene *scene)
{
	*scene = (struct scene){0};
	mon_model_init(&scene->model, MON_HISTORY_FULL);
	mon_view_init(&scene->view);
}

static struct fixture *scene_add(struct scene *scene, struct fixture *fixture)
{
	assert_true(scene->n_fixtures < CROWD_MAX);
	scene->fixtures[scene->n_fixtures++] = fixture;
	return fixture;
}

static void scene_end(struct scene *scene)
{
	mon_model_fini(&scene->model);
	for (uint32_t i = 0; i < scene->n_fixtures; i++)
		fixture_free(scene->fixtures[i]);
}

// A live search, a server, a program without our malloc, and a killed search.
static void scene_usual(struct scene *scene)
{
	scene_start(scene);
	struct fixture *search = scene_add(scene, fixture_search(&scene->model, 4711, 82));
	fixture_event(&scene->model, search, TELE_EVENT_OUT_OF_MEMORY, 84 * FIXTURE_S,
		      UINT64_C(102) << 20, 0, "cuMemAlloc");
	fixture_row(&scene->model, search, 85 * FIXTURE_S);
	scene_add(scene, fixture_server(&scene->model, 4698, "redis-server *:6379"));
	struct fixture *plain = scene_add(scene, fixture_new(4602, "python3 trainer.py"));
	fixture_tell(&scene->model, plain);
	fixture_set(plain, "host.rss_bytes", UINT64_C(9) << 30);
	fixture_row(&scene->model, plain, 84 * FIXTURE_S);
	struct fixture *killed = scene_add(scene, fixture_search(&scene->model, 4377, 20));
	fixture_state(&scene->model, killed, TELE_KILLED);
	mon_model_settle(&scene->model);
}

static void draw(struct scene *scene, int width, int height, struct mon_grid *grid)
{
	assert_int_equal(mon_grid_reset(grid, width, height, scene->view.is_ascii), 0);
	mon_view_draw(grid, &scene->model, &scene->view);
}

static void check_golden(struct scene *scene, const char *name, int width, int height)
{
	struct mon_grid grid = {0};
	draw(scene, width, height, &grid);
	golden_check(&grid, name);
	mon_grid_fini(&grid);
}

static void check_all_sizes(struct scene *scene, const char *name)
{
	check_golden(scene, name, 80, 24);
	check_golden(scene, name, 120, 40);
	check_golden(scene, name, 200, 60);
	check_golden(scene, name, 40, 12);
}

static void the_overview_is_as_drawn(void **state)
{
	struct scene scene;
	(void)state;
	scene_usual(&scene);
	scene.view.selected = scene.fixtures[1]->instance.identity.instance_id;
	mon_model_add_unreadable(&scene.model, "/dev/shm/rollcall-0/99.x.rcs",
				 "made by an incompatible version: 7, this is 1");
	mon_model_add_unreadable(&scene.model, "/dev/shm/rollcall-0/7.y.rcs",
				 "/dev/shm/rollcall-0/7.y.rcs is too short for a segment");
	check_all_sizes(&scene, "overview");
	scene.view.is_ascii = true;
	check_golden(&scene, "overview_ascii", 80, 24);
	scene.view.is_ascii = false;
	scene.view.units = MON_UNITS_PLAIN;
	check_golden(&scene, "overview_plain", 120, 40);
	scene_end(&scene);
}

// The columns of a title, as a click finds it; 0 for one that is not shown.
static int title_columns(const struct mon_view *view, enum mon_column column)
{
	for (unsigned i = 0; i < view->n_hits; i++)
		if (view->hits[i].kind == MON_HIT_COLUMN && view->hits[i].value == (uint64_t)column)
			return view->hits[i].width - 1;
	return 0;
}

static void label_and_verdict_can_be_read_before_more_columns_come(void **state)
{
	struct scene scene;
	struct mon_grid grid = {0};
	(void)state;
	scene_usual(&scene);
	for (int width = MON_WIDTH_MIN; width < 240; width++) {
		draw(&scene, width, 24, &grid);
		int label = title_columns(&scene.view, MON_COLUMN_LABEL);
		int verdict = title_columns(&scene.view, MON_COLUMN_VERDICT);
		assert_true(label >= 12);
		assert_true(width < 70 || verdict >= 26);
		if (width >= 100 || title_columns(&scene.view, MON_COLUMN_CONTEXTS))
			assert_true(label >= 16 && verdict >= 32);
		if (title_columns(&scene.view, MON_COLUMN_LIVE))
			assert_true(verdict >= 40);
	}
	mon_grid_fini(&grid);
	scene_end(&scene);
}

static void the_overview_as_text_has_no_keys_and_no_selection(void **state)
{
	struct scene scene;
	(void)state;
	scene_usual(&scene);
	scene.view.is_text = true;
	check_golden(&scene, "overview_text", 80, 24);
	scene_end(&scene);
}

static void the_empty_overview_teaches_how_to_start(void **state)
{
	struct scene scene;
	(void)state;
	scene_start(&scene);
	check_all_sizes(&scene, "empty");
	scene.view.is_ascii = true;
	check_golden(&scene, "empty_ascii", 80, 24);
	scene_end(&scene);
}

static void the_process_screen_is_as_drawn(void **state)
{
	struct scene scene;
	(void)state;
	scene_usual(&scene);
	scene.view.opened = scene.fixtures[0]->instance.identity.instance_id;
	check_all_sizes(&scene, "process");
	scene_end(&scene);
}

static void a_process_without_books_says_so(void **state)
{
	struct scene scene;
	(void)state;
	scene_usual(&scene);
	scene.view.opened = scene.fixtures[2]->instance.identity.instance_id;
	check_golden(&scene, "process_plain", 80, 24);
	scene_end(&scene);
}

static void a_killed_process_is_dimmed_and_dated(void **state)
{
	struct scene scene;
	(void)state;
	scene_usual(&scene);
	scene.view.opened = scene.fixtures[3]->instance.identity.instance_id;
	check_golden(&scene, "process_killed", 80, 24);
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
	check_golden(&scene, "process_broken", 80, 24);
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
	check_golden(&scene, "process_devices", 120, 40);
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
		draw(&scene, 120, 40, &grid);
		for (size_t cell = 0; cell < 120 * 40; cell++)
			assert_true(grid.cells[cell].ch >= 0x20 && grid.cells[cell].ch < 0x7f);
	}
	scene.view.opened = scene.fixtures[0]->instance.identity.instance_id;
	check_golden(&scene, "process_ascii", 80, 24);
	mon_grid_fini(&grid);
	scene_end(&scene);
}

static void help_lists_every_key(void **state)
{
	struct scene scene;
	(void)state;
	scene_start(&scene);
	scene.view.is_help = true;
	check_all_sizes(&scene, "help");
	check_golden(&scene, "help", 80, 80);
	scene.view.is_ascii = true;
	check_golden(&scene, "help_ascii", 80, 80);
	scene_end(&scene);
}

// A family of three generations, one of whom has died, and a stranger.
static void scene_family(struct scene *scene)
{
	static const struct {
		uint64_t pid, parent_pid, created_s, rss_mib;
		const char *label;
	} people[] = {{100, 1, 1, 10, "make -j4"},   {101, 100, 2, 300, "cc1 a.c"},
		      {102, 100, 3, 200, "sh -c link"}, {103, 102, 4, 900, "ld -o prog"},
		      {104, 100, 5, 100, "cc1 b.c"},   {200, 1, 6, 50, "redis-server"}};
	scene_start(scene);
	for (size_t i = 0; i < sizeof(people) / sizeof(people[0]); i++) {
		struct fixture *fixture = scene_add(scene, fixture_new(people[i].pid, people[i].label));
		fixture->instance.identity.parent_pid = people[i].parent_pid;
		fixture->instance.identity.created_at_ns = people[i].created_s * FIXTURE_S;
		fixture->instance.identity.euid = people[i].pid == 200 ? 33 : 1000;
		fixture_tell(&scene->model, fixture);
		fixture_set(fixture, "host.rss_bytes", people[i].rss_mib << 20);
		fixture_row(&scene->model, fixture, 60 * FIXTURE_S);
	}
	fixture_state(&scene->model, scene->fixtures[4], TELE_EXITED);
	mon_model_settle(&scene->model);
	scene->view.sort = MON_COLUMN_RSS;
}

static void a_tree_hangs_children_below_parents_and_sums_them_up(void **state)
{
	struct scene scene;
	uint64_t ids[8];
	(void)state;
	scene_family(&scene);
	scene.view.is_tree = true;
	check_golden(&scene, "tree", 80, 24);
	check_golden(&scene, "tree", 40, 12);
	assert_int_equal(mon_overview_order(&scene.model, &scene.view, ids, 8), 6);
	assert_int_equal(ids[0], 0x1000 + 200); // 50 MiB is more than the 10 of make
	assert_int_equal(ids[1], 0x1000 + 100);
	assert_int_equal(ids[2], 0x1000 + 101);
	assert_int_equal(mon_overview_row(&scene.model, &scene.view, 6), 0); // the total
	scene.view.is_ascii = true;
	check_golden(&scene, "tree_ascii", 80, 24);
	scene_end(&scene);
}

// A PID that was used again is two processes: whoever was born in between is a
// child of the first.
static void a_child_hangs_below_the_latest_that_was_there_before_it(void **state)
{
	struct scene scene;
	uint64_t ids[8];
	(void)state;
	scene_family(&scene);
	scene.model.processes[5]->identity.pid = 100; // born at 6 s, after all children
	scene.view.is_tree = true;
	scene.view.sort = MON_COLUMN_PID;
	assert_int_equal(mon_overview_order(&scene.model, &scene.view, ids, 8), 6);
	assert_int_equal(ids[0], 0x1000 + 100);
	assert_int_equal(ids[5], 0x1000 + 200);
	scene.model.processes[5]->identity.created_at_ns = 2 * FIXTURE_S;
	assert_int_equal(mon_overview_order(&scene.model, &scene.view, ids, 8), 6);
	assert_int_equal(ids[1], 0x1000 + 101); // born in the same moment: the first one's
	assert_int_equal(ids[2], 0x1000 + 200);
	scene.model.processes[4]->identity.parent_instance_id = 0x1000 + 100;
	assert_int_equal(mon_overview_order(&scene.model, &scene.view, ids, 8), 6);
	assert_int_equal(ids[2], 0x1000 + 104); // by instance, which is exact
	scene_end(&scene);
}

// Segments are foreign: what they say of parents may be anything.
static void a_tree_of_hostile_parents_ends(void **state)
{
	struct scene scene;
	uint64_t ids[8];
	(void)state;
	scene_family(&scene);
	for (uint32_t i = 0; i < scene.model.n_processes; i++) {
		scene.model.processes[i]->identity.parent_instance_id =
			scene.model.processes[(i + 1) % 6]->identity.instance_id;
		scene.model.processes[i]->identity.created_at_ns = i < 3 ? 5 : UINT64_MAX;
	}
	scene.view.is_tree = true;
	assert_int_equal(mon_overview_order(&scene.model, &scene.view, ids, 8), 6);
	scene_end(&scene);
}

static void filter_user_and_h_keep_rows_out_and_the_foot_says_so(void **state)
{
	struct scene scene;
	uint64_t ids[8];
	(void)state;
	scene_family(&scene);
	snprintf(scene.view.filters[MON_SCREEN_OVERVIEW], 64, "CC1");
	assert_int_equal(mon_overview_order(&scene.model, &scene.view, ids, 8), 2);
	scene.view.is_dead_hidden = true;
	assert_int_equal(mon_overview_order(&scene.model, &scene.view, ids, 8), 1);
	assert_int_equal(ids[0], 0x1000 + 101);
	scene.view.has_user = true;
	scene.view.user = 1000;
	check_golden(&scene, "filtered", 80, 24);
	scene.view.user = 33;
	check_golden(&scene, "filtered_away", 80, 24);
	scene.view.filters[MON_SCREEN_OVERVIEW][0] = '\0';
	assert_int_equal(mon_overview_order(&scene.model, &scene.view, ids, 8), 1);
	snprintf(scene.view.filters[MON_SCREEN_OVERVIEW], 64, "200"); // a PID, whole
	assert_int_equal(mon_overview_order(&scene.model, &scene.view, ids, 8), 1);
	snprintf(scene.view.filters[MON_SCREEN_OVERVIEW], 64, "20");
	assert_int_equal(mon_overview_order(&scene.model, &scene.view, ids, 8), 0);
	scene_end(&scene);
}

static void every_column_sorts_and_unknown_is_last(void **state)
{
	struct scene scene;
	uint64_t ids[8];
	(void)state;
	scene_usual(&scene);
	for (int column = 0; column < MON_COLUMN_COUNT; column++) {
		for (int inverted = 0; inverted < 2; inverted++) {
			scene.view.sort = (enum mon_column)column;
			scene.view.is_inverted = inverted;
			assert_int_equal(mon_overview_order(&scene.model, &scene.view, ids, 8), 4);
			assert_int_equal(ids[3], 0x1000 + 4377); // dead
			if (column >= MON_COLUMN_POOLS && column <= MON_COLUMN_CANDIDATES)
				assert_int_equal(ids[0], 0x1000 + 4711);
			if (column >= MON_COLUMN_MAPPED && column <= MON_COLUMN_PREDICTED)
				assert_int_equal(ids[2], 0x1000 + 4602);
		}
	}
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
	check_golden(&scene, "transport", 80, 24);
	check_golden(&scene, "transport", 40, 12);
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
		draw(&scene, 120, 24, &grid);
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
	draw(&scene, 40, 12, &grid);
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
	check_golden(&scene, "paused", 80, 24);
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
		draw(&scene, 200, 40, &grid);
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
					draw(&scene, width, height, &grid);
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
	check_golden(&scene, "too_small", 39, 12);
	scene_end(&scene);
}

static void the_order_follows_the_column_and_keeps_the_living_on_top(void **state)
{
	struct scene scene;
	uint64_t ids[8];
	(void)state;
	scene_usual(&scene);
	scene.view.sort = MON_COLUMN_PID;
	assert_int_equal(mon_overview_order(&scene.model, &scene.view, ids, 8), 4);
	assert_int_equal(ids[0], 0x1000 + 4602);
	assert_int_equal(ids[3], 0x1000 + 4377); // killed, though its PID is the lowest
	scene.view.is_inverted = true;
	mon_overview_order(&scene.model, &scene.view, ids, 8);
	assert_int_equal(ids[0], 0x1000 + 4711);
	assert_int_equal(ids[3], 0x1000 + 4377);
	scene.view.is_inverted = false;
	scene.view.sort = MON_COLUMN_POOLS;
	mon_overview_order(&scene.model, &scene.view, ids, 8);
	assert_int_equal(ids[0], 0x1000 + 4711);
	scene_end(&scene);
}

static void a_list_longer_than_the_screen_scrolls_to_the_selected_row(void **state)
{
	struct scene scene;
	struct mon_grid grid = {0};
	uint64_t ids[64];
	(void)state;
	scene_start(&scene);
	for (uint32_t n = 0; n < 64; n++)
		scene_add(&scene, fixture_server(&scene.model, 100 + n, "server"));
	mon_model_settle(&scene.model);
	mon_overview_order(&scene.model, &scene.view, ids, 64);
	scene.view.selected = ids[63];
	draw(&scene, 80, 24, &grid);
	assert_int_equal(scene.view.scroll, 64 - mon_overview_page(&scene.view, 24));
	scene.view.selected = ids[0];
	draw(&scene, 80, 24, &grid);
	assert_int_equal(scene.view.scroll, 0);
	mon_grid_fini(&grid);
	scene_end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_overview_is_as_drawn),
		cmocka_unit_test(label_and_verdict_can_be_read_before_more_columns_come),
		cmocka_unit_test(the_overview_as_text_has_no_keys_and_no_selection),
		cmocka_unit_test(the_empty_overview_teaches_how_to_start),
		cmocka_unit_test(the_process_screen_is_as_drawn),
		cmocka_unit_test(a_process_without_books_says_so),
		cmocka_unit_test(a_killed_process_is_dimmed_and_dated),
		cmocka_unit_test(broken_books_are_named_in_red),
		cmocka_unit_test(eight_devices_have_a_block_each),
		cmocka_unit_test(ascii_screens_hold_ascii_only),
		cmocka_unit_test(help_lists_every_key),
		cmocka_unit_test(a_tree_hangs_children_below_parents_and_sums_them_up),
		cmocka_unit_test(a_child_hangs_below_the_latest_that_was_there_before_it),
		cmocka_unit_test(a_tree_of_hostile_parents_ends),
		cmocka_unit_test(filter_user_and_h_keep_rows_out_and_the_foot_says_so),
		cmocka_unit_test(every_column_sorts_and_unknown_is_last),
		cmocka_unit_test(a_replay_has_a_transport_line),
		cmocka_unit_test(the_track_of_time_stays_where_it_is),
		cmocka_unit_test(the_head_says_whether_it_lives_before_the_whole_label),
		cmocka_unit_test(paused_stands_beside_the_clock),
		cmocka_unit_test(hostile_text_never_reaches_a_cell),
		cmocka_unit_test(no_size_and_no_crowd_crashes_a_view),
		cmocka_unit_test(a_terminal_too_small_says_what_it_needs),
		cmocka_unit_test(the_order_follows_the_column_and_keeps_the_living_on_top),
		cmocka_unit_test(a_list_longer_than_the_screen_scrolls_to_the_selected_row),
	};
	setenv("TZ", "UTC", 1);
	tzset();
	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
