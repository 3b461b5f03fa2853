// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Every view of a process, on a search with everything there is to show: phases,
// all outcomes, a gap, owners that left pools, size classes, a device with a
// capacity. Screens are text fixtures; the rest holds for any size and text.

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

#include "../monitor/screens.h"
#include "../monitor/text.h"
#include "../monitor/view.h"
#include "support/golden.h"
#include "support/mon_fixture.h"

#define MIB	   (UINT64_C(1) << 20)
#define CANDIDATES 60

struct scene {
	struct mon_model model;
	struct fixture *fixture;
	struct mon_view view;
};

static void set(struct fixture *fixture, const char *section, const char *field, uint64_t value)
{
	char name[96];
	snprintf(name, sizeof(name), "%s.%s", section, field);
	fixture_set(fixture, name, value);
}

static void set_class(struct fixture *fixture, uint32_t number, uint64_t slot_bytes, uint64_t n_live)
{
	char section[32];
	snprintf(section, sizeof(section), "class[%u]", number);
	fixture_add_instance(fixture, TELE_SECTION_CLASS, number);
	set(fixture, section, "slot_bytes", slot_bytes);
	set(fixture, section, "live_slots", n_live);
	set(fixture, section, "free_slots", 40 * number);
	set(fixture, section, "spans", 1 + number);
	set(fixture, section, "rounding_bytes", 3 * n_live);
	set(fixture, section, "returned_bytes", number == 2 ? 128 << 10 : 0);
}

static void set_owner(struct fixture *fixture, uint32_t number, bool is_open, uint64_t pools, const char *name)
{
	char section[32];
	snprintf(section, sizeof(section), "owner[%u]", number);
	fixture_add_instance(fixture, TELE_SECTION_OWNER, number);
	set(fixture, section, "id", 100 + number);
	set(fixture, section, "name", fixture_string(fixture, name));
	set(fixture, section, "open", is_open);
	set(fixture, section, "live_pools", pools);
	set(fixture, section, "live_bytes", pools * 102 * MIB);
}

static void set_pools(struct fixture *fixture, uint64_t n_linked)
{
	static const char *const sections[] = {"census", "device[0]"};
	for (size_t i = 0; i < 2; i++) {
		set(fixture, sections[i], "live_working_pools", n_linked);
		set(fixture, sections[i], "live_working_bytes", n_linked * 102 * MIB);
		set(fixture, sections[i], "working_pools_allocated", n_linked);
		set(fixture, sections[i], "contexts_created", n_linked + 4);
		set(fixture, sections[i], "modules_loaded", n_linked);
		set(fixture, sections[i], "modules_unloaded", n_linked > 3 ? n_linked - 3 : 0);
	}
	fixture_set(fixture, "device[0].used_bytes", (n_linked * 102 + 310) * MIB);
}

static void count_candidates(struct fixture *fixture, uint64_t n, uint64_t n_linked, uint64_t n_open)
{
	fixture_set(fixture, "search.candidates_attempted", n);
	fixture_set(fixture, "search.candidates_linked", n_linked);
	fixture_set(fixture, "search.candidates_timed", n_linked - n_linked / 6);
	fixture_set(fixture, "search.open_candidates", n_open);
}

// A candidate of a search of which every second is declined; the others leave a
// pool of 102 MiB.
static void run_candidate(struct scene *scene, uint64_t i, uint64_t *n_linked, const char *label)
{
	static const unsigned outcomes[] = {TELE_OUTCOME_TIMED,	 TELE_OUTCOME_DECLINED, TELE_OUTCOME_KEPT,
					    TELE_OUTCOME_DECLINED, TELE_OUTCOME_FAILED, TELE_OUTCOME_DECLINED,
					    TELE_OUTCOME_DEDUPLICATED, TELE_OUTCOME_DECLINED,
					    TELE_OUTCOME_LINK_FAILED, TELE_OUTCOME_DECLINED};
	unsigned outcome = outcomes[i % 10];
	uint64_t at_ns = (i + 2) * FIXTURE_S;
	fixture_event(&scene->model, scene->fixture, TELE_EVENT_CANDIDATE_BEGIN, at_ns, 2 * i, 0, label);
	count_candidates(scene->fixture, i, *n_linked, 1);
	fixture_row(&scene->model, scene->fixture, at_ns);
	*n_linked += outcome != TELE_OUTCOME_DECLINED;
	set_pools(scene->fixture, *n_linked);
	fixture_event(&scene->model, scene->fixture, TELE_EVENT_CANDIDATE_END, at_ns + FIXTURE_S / 2, 2 * i,
		      outcome, label);
	count_candidates(scene->fixture, i, *n_linked, 0);
	fixture_row(&scene->model, scene->fixture, at_ns + FIXTURE_S / 2);
}

static void happen(struct scene *scene, uint64_t i)
{
	struct fixture *fixture = scene->fixture;
	uint64_t at_ns = (i + 2) * FIXTURE_S + FIXTURE_S * 3 / 4;
	if (i == 30) {
		fixture_event(&scene->model, fixture, TELE_EVENT_PHASE, at_ns, 0, 0, "B refine around the beam");
		fixture_set(fixture, "search.phase", fixture->next_string - 1);
	}
	if (i > 10 && i < 14)
		fixture_event(&scene->model, fixture, TELE_EVENT_FORK, at_ns, 5000 + i, 0, NULL);
	if (i == 20)
		fixture_event(&scene->model, fixture, TELE_EVENT_DISCARD_REFUSED, at_ns, MIB, 12, NULL);
	if (i == 50)
		fixture_event(&scene->model, fixture, TELE_EVENT_OWNER_CLOSED, at_ns, 101, 3, "autotuner");
}

static void scene_start(struct scene *scene, const char *label)
{
	uint64_t n_linked = 0;
	*scene = (struct scene){.fixture = fixture_new(4711, "tune gpt2_mini")};
	struct fixture *fixture = scene->fixture;
	mon_model_init(&scene->model, MON_HISTORY_FULL);
	mon_view_init(&scene->view);
	fixture_add_device(fixture, 0);
	for (uint32_t i = 0; i < 4; i++)
		set_class(fixture, i, UINT64_C(16) << (2 * i), i == 3 ? 0 : 1000u >> i);
	set_owner(fixture, 0, true, 2, "session");
	set_owner(fixture, 1, false, 3, "autotuner");
	for (size_t i = 0; i < 2; i++) {
		static const char *const sections[] = {"census", "device[0]"};
		static const char *const fields[] = {
			"live_constant_pools",	"live_constant_bytes",	"constant_pools_allocated",
			"live_staging_pools",	"live_staging_bytes",	"staging_pools_allocated",
			"live_unlabelled_pools", "live_unlabelled_bytes", "unlabelled_pools_allocated",
			"pools_freed",		"contexts_released"};
		for (size_t field = 0; field < sizeof(fields) / sizeof(fields[0]); field++)
			set(fixture, sections[i], fields[field], 0);
	}
	set_pools(fixture, 0);
	fixture_set(fixture, "census.peak_pool_bytes", 30 * 102 * MIB);
	fixture_set(fixture, "census.owners_open", 1);
	fixture_set(fixture, "census.outlived_pools", 3);
	fixture_set(fixture, "census.outlived_bytes", 306 * MIB);
	fixture_set(fixture, "device[0].total_bytes", 12227 * MIB);
	fixture_set(fixture, "device[0].name", fixture_string(fixture, "Tile 5070 Ti"));
	fixture_set(fixture, "heap.mapped_bytes", 64 * MIB);
	fixture_set(fixture, "host.rss_bytes", 80 * MIB);
	fixture_tell(&scene->model, fixture);
	fixture_event(&scene->model, fixture, TELE_EVENT_PHASE, 2 * FIXTURE_S, 0, 0, "A explore");
	for (uint64_t i = 1; i <= CANDIDATES; i++) {
		char text[64];
		snprintf(text, sizeof(text), "F_preset[bs=%d]", 1 << (i % 10));
		run_candidate(scene, i, &n_linked, label ? label : text);
		happen(scene, i);
		if (i == 40)
			fixture_gap(&scene->model, fixture, 12);
	}
	fixture_event(&scene->model, fixture, TELE_EVENT_OUT_OF_MEMORY, 63 * FIXTURE_S, 102 * MIB, 0, "cuMemAlloc");
	fixture_event(&scene->model, fixture, TELE_EVENT_CANDIDATE_BEGIN, 63 * FIXTURE_S, 999, 0, "W_preset[bs=64]");
	count_candidates(fixture, CANDIDATES + 1, n_linked, 1);
	fixture_row(&scene->model, fixture, 63 * FIXTURE_S);
	mon_model_settle(&scene->model);
	scene->view.opened = fixture->instance.identity.instance_id;
}

static void scene_end(struct scene *scene)
{
	mon_lens_set_mark(&scene->view.lens, NULL);
	mon_model_fini(&scene->model);
	fixture_free(scene->fixture);
}

static void check(struct scene *scene, const char *name, int width, int height)
{
	struct mon_grid grid = {0};
	assert_int_equal(mon_grid_reset(&grid, width, height, scene->view.is_ascii), 0);
	mon_view_draw(&grid, &scene->model, &scene->view);
	golden_check(&grid, name);
	mon_grid_fini(&grid);
}

static void every_view_is_as_drawn(void **state)
{
	struct scene scene;
	(void)state;
	scene_start(&scene, NULL);
	for (int screen = MON_SCREEN_OVERVIEW + 1; screen < MON_SCREEN_COUNT; screen++) {
		char name[64];
		snprintf(name, sizeof(name), "view_%s", mon_screen_row((enum mon_screen)screen)->name);
		scene.view.screen = (enum mon_screen)screen;
		scene.view.scroll = 0;
		check(&scene, name, 80, 24);
		check(&scene, name, 120, 40);
		check(&scene, name, 200, 60);
		check(&scene, name, 40, 12);
	}
	scene_end(&scene);
}

static void charts_have_blocks_and_ascii_to_fall_back_on(void **state)
{
	struct scene scene;
	(void)state;
	scene_start(&scene, NULL);
	scene.view.screen = MON_SCREEN_TRENDS;
	scene.view.is_blocks = true;
	check(&scene, "view_trends_blocks", 80, 24);
	scene.view.is_ascii = true;
	check(&scene, "view_trends_ascii", 80, 24);
	scene_end(&scene);
}

static void zoom_and_axis_change_what_is_drawn(void **state)
{
	struct scene scene;
	(void)state;
	scene_start(&scene, NULL);
	scene.view.screen = MON_SCREEN_TRENDS;
	scene.view.lens.zoom = 1;
	scene.view.lens.has_axis = true;
	scene.view.lens.axis = ANALYSIS_TIME;
	check(&scene, "view_trends_zoomed", 120, 40);
	scene_end(&scene);
}

static void a_mark_shows_what_has_changed_since(void **state)
{
	struct scene scene;
	(void)state;
	scene_start(&scene, NULL);
	mon_lens_set_mark(&scene.view.lens, scene.model.processes[0]);
	scene.view.lens.is_difference = true;
	set_pools(scene.fixture, 34);
	fixture_set(scene.fixture, "host.rss_bytes", 90 * MIB);
	fixture_row(&scene.model, scene.fixture, 64 * FIXTURE_S);
	mon_model_settle(&scene.model);
	check(&scene, "view_process_marked", 120, 40);
	scene_end(&scene);
}

static void candidates_sort_by_what_they_left_behind(void **state)
{
	struct scene scene;
	(void)state;
	scene_start(&scene, NULL);
	scene.view.screen = MON_SCREEN_CANDIDATES;
	scene.view.lens.sort[MON_SCREEN_CANDIDATES] = 7;
	check(&scene, "view_candidates_by_bytes", 80, 24);
	snprintf(scene.view.filters[MON_SCREEN_CANDIDATES], sizeof(scene.view.filters[0]), "failed");
	check(&scene, "view_candidates_failed", 80, 24);
	scene_end(&scene);
}

static void what_a_candidate_left_is_told_by_its_boundaries(void **state)
{
	struct scene scene;
	struct mon_left left;
	(void)state;
	scene_start(&scene, NULL);
	const struct mon_process *process = scene.model.processes[0];
	mon_candidate_left(process, mon_process_candidate_at(process, 1), &left);
	assert_true(left.pools.is_known);
	assert_int_equal(left.pools.value, 1);
	assert_int_equal(left.pool_bytes.value, 102 * MIB);
	assert_int_equal(left.contexts.value, 1);
	mon_candidate_left(process, mon_process_candidate_at(process, 0), &left);
	assert_int_equal(left.pool_bytes.value, 0);
	scene_end(&scene);
}

// What is selected is a candidate and not a line: new ones push it down.
static void the_selection_follows_its_candidate(void **state)
{
	struct scene scene;
	struct mon_grid grid = {0};
	uint64_t n_linked = 30;
	(void)state;
	scene_start(&scene, NULL);
	scene.view.screen = MON_SCREEN_CANDIDATES;
	scene.view.lens.at[MON_SCREEN_CANDIDATES] = 5;
	assert_int_equal(mon_grid_reset(&grid, 80, 24, false), 0);
	mon_view_draw(&grid, &scene.model, &scene.view);
	run_candidate(&scene, CANDIDATES + 2, &n_linked, "another");
	mon_model_settle(&scene.model);
	mon_view_draw(&grid, &scene.model, &scene.view);
	assert_int_equal(scene.view.lens.at[MON_SCREEN_CANDIDATES], 6);
	scene.view.lens.at[MON_SCREEN_CANDIDATES] = 0;
	scene.view.lens.chosen[MON_SCREEN_CANDIDATES] = 0;
	mon_view_draw(&grid, &scene.model, &scene.view);
	run_candidate(&scene, CANDIDATES + 3, &n_linked, "and another");
	mon_view_draw(&grid, &scene.model, &scene.view);
	assert_int_equal(scene.view.lens.at[MON_SCREEN_CANDIDATES], 0);
	mon_grid_fini(&grid);
	scene_end(&scene);
}

static void views_are_found_by_name(void **state)
{
	char names[128];
	(void)state;
	assert_true(mon_has_view("trends"));
	assert_true(mon_has_view("overview"));
	assert_false(mon_has_view("trend"));
	assert_string_equal(mon_view_names(names, sizeof(names)),
			    "overview, process, trends, candidates, classes, devices, log");
}

// T1, and labels of any kind: wide, combining, control characters, 10 kB.
static void no_size_and_no_label_breaks_a_view(void **state)
{
	static char long_label[10240];
	static const char *const labels[] = {"\xe5\xae\xbd\xe5\xad\x97\xe6\xa8\xa1\xe5\x9e\x8b\xe5\xae\xbd\xe5\xad\x97",
					     "e\xcc\x81\xcc\x81\xcc\x81 combining", "\x1b[31m\r\n\x07 control",
					     "\xff\xfe not UTF-8", "", long_label};
	struct mon_grid grid = {0};
	(void)state;
	memset(long_label, 'x', sizeof(long_label) - 1);
	for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++) {
		struct scene scene;
		scene_start(&scene, labels[i]);
		for (int screen = MON_SCREEN_OVERVIEW; screen < MON_SCREEN_COUNT; screen++) {
			for (int height = 1; height <= 60; height += height < 14 ? 3 : 11) {
				for (int width = 1; width <= 200; width += width < 45 ? 4 : 37) {
					scene.view.screen = (enum mon_screen)screen;
					scene.view.is_ascii = width % 2;
					scene.view.units = (enum mon_units)(height % MON_UNITS_COUNT);
					scene.view.lens.at[screen] = height * 3;
					scene.view.lens.sort[screen] = width % 8;
					scene.view.lens.zoom = (unsigned)width % 11;
					assert_int_equal(mon_grid_reset(&grid, width, height, scene.view.is_ascii), 0);
					mon_view_draw(&grid, &scene.model, &scene.view);
					for (size_t cell = 0; cell < (size_t)(width * height); cell++)
						assert_true(grid.cells[cell].ch != 0x1b && grid.cells[cell].ch != '\r');
				}
			}
		}
		scene_end(&scene);
	}
	mon_grid_fini(&grid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_view_is_as_drawn),
		cmocka_unit_test(charts_have_blocks_and_ascii_to_fall_back_on),
		cmocka_unit_test(zoom_and_axis_change_what_is_drawn),
		cmocka_unit_test(a_mark_shows_what_has_changed_since),
		cmocka_unit_test(candidates_sort_by_what_they_left_behind),
		cmocka_unit_test(what_a_candidate_left_is_told_by_its_boundaries),
		cmocka_unit_test(the_selection_follows_its_candidate),
		cmocka_unit_test(views_are_found_by_name),
		cmocka_unit_test(no_size_and_no_label_breaks_a_view),
	};
	setenv("TZ", "UTC", 1);
	tzset();
	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
