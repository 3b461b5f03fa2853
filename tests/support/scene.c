// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Scenes own their fixtures, and draw on grids of the caller.

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "scene.h"

#include "golden.h"

void scene_start(struct scene *scene)
{
	*scene = (struct scene){0};
	mon_model_init(&scene->model, MON_HISTORY_FULL);
	mon_view_init(&scene->view);
}

struct fixture *scene_add(struct scene *scene, struct fixture *fixture)
{
	assert_true(scene->n_fixtures < SCENE_CROWD_MAX);
	scene->fixtures[scene->n_fixtures++] = fixture;
	return fixture;
}

void scene_end(struct scene *scene)
{
	mon_model_fini(&scene->model);
	for (uint32_t i = 0; i < scene->n_fixtures; i++)
		fixture_free(scene->fixtures[i]);
}

void scene_usual(struct scene *scene)
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

void scene_draw(struct scene *scene, int width, int height, struct mon_grid *grid)
{
	assert_int_equal(mon_grid_reset(grid, width, height, scene->view.is_ascii), 0);
	mon_view_draw(grid, &scene->model, &scene->view);
}

void scene_check(struct scene *scene, const char *name, int width, int height)
{
	struct mon_grid grid = {0};
	scene_draw(scene, width, height, &grid);
	golden_check(&grid, name);
	mon_grid_fini(&grid);
}

void scene_check_sizes(struct scene *scene, const char *name)
{
	scene_check(scene, name, 80, 24);
	scene_check(scene, name, 120, 40);
	scene_check(scene, name, 200, 60);
	scene_check(scene, name, 40, 12);
}
