// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A model full of processes made by hand, and the view of it that a test draws.

#ifndef TESTS_SCENE_H
#define TESTS_SCENE_H

#include "../../monitor/view.h"
#include "mon_fixture.h"

#define SCENE_CROWD_MAX 80

struct scene {
	struct mon_model model;
	struct fixture *fixtures[SCENE_CROWD_MAX];
	uint32_t n_fixtures;
	struct mon_view view;
};

void scene_start(struct scene *scene);
void scene_end(struct scene *scene);

// The scene owns the fixture. Returns it.
struct fixture *scene_add(struct scene *scene, struct fixture *fixture);

// A live search, a server, a program without our malloc, and a killed search.
void scene_usual(struct scene *scene);

// Draws on a grid of the caller's, all zero at first.
void scene_draw(struct scene *scene, int width, int height, struct mon_grid *grid);

// Against tests/golden/NAME_WIDTHxHEIGHT.screen, of one size or of four.
void scene_check(struct scene *scene, const char *name, int width, int height);
void scene_check_sizes(struct scene *scene, const char *name);

#endif
