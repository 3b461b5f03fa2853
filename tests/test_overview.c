// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The overview: its columns, its order, its tree and what it keeps out. Screens
// are text fixtures, as in test_views.c.

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

#include "../monitor/view.h"
#include "support/scene.h"

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
	scene_check_sizes(&scene, "overview");
	scene.view.is_ascii = true;
	scene_check(&scene, "overview_ascii", 80, 24);
	scene.view.is_ascii = false;
	scene.view.units = MON_UNITS_PLAIN;
	scene_check(&scene, "overview_plain", 120, 40);
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
		scene_draw(&scene, width, 24, &grid);
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
	scene_check(&scene, "overview_text", 80, 24);
	scene_end(&scene);
}

static void the_empty_overview_teaches_how_to_start(void **state)
{
	struct scene scene;
	(void)state;
	scene_start(&scene);
	scene_check_sizes(&scene, "empty");
	scene.view.is_ascii = true;
	scene_check(&scene, "empty_ascii", 80, 24);
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
	scene_check(&scene, "tree", 80, 24);
	scene_check(&scene, "tree", 40, 12);
	assert_int_equal(mon_overview_order(&scene.model, &scene.view, ids, 8), 6);
	assert_int_equal(ids[0], 0x1000 + 200); // 50 MiB is more than the 10 of make
	assert_int_equal(ids[1], 0x1000 + 100);
	assert_int_equal(ids[2], 0x1000 + 101);
	assert_int_equal(mon_overview_row(&scene.model, &scene.view, 6), 0); // the total
	scene.view.is_ascii = true;
	scene_check(&scene, "tree_ascii", 80, 24);
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
	scene_check(&scene, "filtered", 80, 24);
	scene.view.user = 33;
	scene_check(&scene, "filtered_away", 80, 24);
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
	scene_draw(&scene, 80, 24, &grid);
	assert_int_equal(scene.view.scroll, 64 - mon_overview_page(&scene.view, 24));
	scene.view.selected = ids[0];
	scene_draw(&scene, 80, 24, &grid);
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
		cmocka_unit_test(a_tree_hangs_children_below_parents_and_sums_them_up),
		cmocka_unit_test(a_child_hangs_below_the_latest_that_was_there_before_it),
		cmocka_unit_test(a_tree_of_hostile_parents_ends),
		cmocka_unit_test(filter_user_and_h_keep_rows_out_and_the_foot_says_so),
		cmocka_unit_test(every_column_sorts_and_unknown_is_last),
		cmocka_unit_test(the_order_follows_the_column_and_keeps_the_living_on_top),
		cmocka_unit_test(a_list_longer_than_the_screen_scrolls_to_the_selected_row),
	};
	setenv("TZ", "UTC", 1);
	tzset();
	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
