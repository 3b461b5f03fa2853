// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The interactive monitor over a model made by hand, its keys and its mouse.
// Included once, by the test itself, after cmocka.h.

#ifndef TESTS_SUPPORT_APP_FIXTURE_H
#define TESTS_SUPPORT_APP_FIXTURE_H

#include <stdio.h>

#include "../../monitor/app.h"
#include "mon_fixture.h"

#define SERVERS 5

static const struct mon_options no_options;
static struct mon_app app;
static struct fixture *fixtures[SERVERS];

static inline int start(void **state)
{
	(void)state;
	app = (struct mon_app){.options = &no_options, .height = 24};
	mon_model_init(&app.model, MON_HISTORY_SHORT);
	mon_view_init(&app.view);
	app.view.sort = MON_COLUMN_PID;
	for (uint64_t i = 0; i < SERVERS; i++) {
		char label[32];
		snprintf(label, sizeof(label), "server %c", (char)('a' + (char)i));
		fixtures[i] = fixture_server(&app.model, 100 + i, label);
	}
	mon_app_settle(&app);
	return 0;
}

static inline int stop(void **state)
{
	(void)state;
	mon_lens_set_mark(&app.view.lens, NULL);
	if (app.is_frozen)
		mon_model_fini(&app.frozen);
	mon_model_fini(&app.model);
	for (size_t i = 0; i < SERVERS; i++)
		fixture_free(fixtures[i]);
	return 0;
}

static inline void press(enum mon_key key)
{
	assert_int_equal(mon_app_key(&app, (struct mon_input){.key = key}, NULL), 0);
	mon_app_settle(&app);
}

static inline void type(const char *text)
{
	for (; *text; text++) {
		struct mon_input input = {.key = MON_KEY_CHAR, .ch = (unsigned char)*text};
		if (*text == 'q')
			input.key = MON_KEY_QUIT;
		assert_int_equal(mon_app_key(&app, input, NULL), 0);
	}
}

static inline uint64_t id_of(uint64_t n)
{
	return fixtures[n]->instance.identity.instance_id;
}

static inline void draw(void)
{
	struct mon_grid grid = {0};
	assert_int_equal(mon_grid_reset(&grid, 80, 24, false), 0);
	mon_view_draw(&grid, &app.model, &app.view);
	mon_grid_fini(&grid);
}

static inline void click(int x, int y)
{
	draw();
	assert_int_equal(
		mon_app_key(&app, (struct mon_input){.key = MON_KEY_CLICK, .x = x, .y = y}, NULL), 0);
	mon_app_settle(&app);
}

#endif
