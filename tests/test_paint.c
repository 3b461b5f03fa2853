// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The painter against curses itself: what a grid holds is what curses says is
// on the screen, cell by cell; and what it refuses.

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NCURSES_WIDECHAR 1
#include <curses.h>

#include "../monitor/paint.h"
#include "../monitor/view.h"
#include "support/mon_fixture.h"

static FILE *null_out, *null_in;

static struct mon_paint *open_paint(const char *term)
{
	struct mon_paint *paint = NULL;
	struct tele_error error = {0};
	assert_int_equal(mon_paint_open(term, null_out, null_in, &paint, &error), 0);
	return paint;
}

static void assert_screen_is(const struct mon_grid *grid)
{
	for (int y = 0; y < grid->height; y++) {
		for (int x = 0; x < grid->width; x++) {
			const struct mon_cell *cell = mon_grid_at(grid, x, y);
			cchar_t complex;
			wchar_t text[CCHARW_MAX + 1] = {0};
			attr_t attributes;
			short pair;
			if (cell->ch == 0)
				continue;
			assert_int_equal(mvin_wch(y, x, &complex), OK);
			assert_int_equal(getcchar(&complex, text, &attributes, &pair, NULL), OK);
			assert_int_equal(text[0], cell->ch);
			assert_int_equal(text[1], cell->mark);
			assert_int_equal((attributes & A_REVERSE) != 0,
					 cell->style == MON_SELECTED);
			assert_int_equal((attributes & A_DIM) != 0, cell->style == MON_DIM);
		}
	}
}

static void paint_views(const char *term)
{
	static const int sizes[][2] = {{80, 24}, {120, 40}, {40, 12}, {10, 3}, {200, 60}};
	struct mon_model model;
	struct mon_view view;
	struct mon_grid grid = {0};
	mon_model_init(&model, MON_HISTORY_FULL);
	mon_view_init(&view);
	struct fixture *search = fixture_search(&model, 4711, 30);
	struct fixture *wide = fixture_server(&model, 5, "日本語 e\xcc\x81 \x1b[31m");
	mon_model_settle(&model);
	struct mon_paint *paint = open_paint(term);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		assert_int_equal(resizeterm(sizes[i][1], sizes[i][0]), OK);
		for (int screen = 0; screen < 6; screen++) {
			view.opened = screen == 1 || screen == 3 ? 0x1000 + 4711 : 0;
			view.is_help = screen == 4;
			view.selected = screen == 5 ? 0x1000 + 5 : 0x1000 + 4711;
			assert_int_equal(mon_grid_reset(&grid, sizes[i][0], sizes[i][1], false), 0);
			mon_view_draw(&grid, &model, &view);
			assert_int_equal(mon_paint_draw(paint, &grid), 0);
			assert_screen_is(&grid);
		}
	}
	mon_paint_close(paint);
	mon_grid_fini(&grid);
	mon_model_fini(&model);
	fixture_free(search);
	fixture_free(wide);
}

static void what_the_grid_holds_is_on_the_screen(void **state)
{
	(void)state;
	paint_views("xterm-256color");
}

static void a_monochrome_terminal_shows_the_same_characters(void **state)
{
	(void)state;
	paint_views("vt100");
}

static void no_color_is_honoured(void **state)
{
	(void)state;
	struct mon_grid grid = {0};
	setenv("NO_COLOR", "1", 1);
	struct mon_paint *paint = open_paint("xterm-256color");
	int width, height;
	mon_paint_size(paint, &width, &height);
	assert_int_equal(mon_grid_reset(&grid, width, height, false), 0);
	mon_draw_text(&grid, 0, 0, 5, MON_BAD, "red");
	assert_int_equal(mon_paint_draw(paint, &grid), 0);
	cchar_t complex;
	wchar_t text[CCHARW_MAX + 1];
	attr_t attributes;
	short pair = -1;
	mvin_wch(0, 0, &complex);
	getcchar(&complex, text, &attributes, &pair, NULL);
	assert_int_equal(pair, 0);
	assert_true(attributes & A_BOLD);
	mon_paint_close(paint);
	mon_grid_fini(&grid);
	unsetenv("NO_COLOR");
}

// The colour pair of a cell as curses has it; 0 is the terminal's own colours.
static short pair_at(int x, int y)
{
	cchar_t complex;
	wchar_t text[CCHARW_MAX + 1];
	attr_t attributes;
	short pair = -1;
	mvin_wch(y, x, &complex);
	getcchar(&complex, text, &attributes, &pair, NULL);
	return pair;
}

static void schemes_change_colours_and_nothing_else(void **state)
{
	static const char *const terms[] = {"xterm", "xterm-256color", "linux", "screen-256color"};
	(void)state;
	for (size_t i = 0; i < sizeof(terms) / sizeof(terms[0]); i++) {
		struct mon_grid grid = {0};
		struct mon_paint *paint = open_paint(terms[i]);
		assert_int_equal(resizeterm(24, 80), OK);
		short backgrounds[MON_COLOURS_COUNT] = {0}, foregrounds[MON_COLOURS_COUNT] = {0};
		for (int colours = 0; colours < MON_COLOURS_COUNT; colours++) {
			mon_paint_set_colours(paint, (enum mon_colours)colours);
			assert_int_equal(mon_grid_reset(&grid, 80, 24, false), 0);
			for (unsigned style = 0; style < MON_STYLE_COUNT; style++)
				mon_draw_text(&grid, (int)style * 3, 0, 2, style, "ab");
			assert_int_equal(mon_paint_draw(paint, &grid), 0);
			assert_screen_is(&grid);
			short pair = pair_at(MON_WARN * 3, 0);
			assert_int_equal(pair != 0, colours != MON_COLOURS_NONE);
			if (pair)
				pair_content(pair, &foregrounds[colours], &backgrounds[colours]);
		}
		assert_int_not_equal(foregrounds[MON_COLOURS_DARK], foregrounds[MON_COLOURS_LIGHT]);
		assert_int_equal(foregrounds[MON_COLOURS_AUTO], foregrounds[MON_COLOURS_DARK]);
		assert_int_equal(backgrounds[MON_COLOURS_DARK], -1);
		mon_paint_close(paint);
		mon_grid_fini(&grid);
	}
}

static void the_environment_tells_a_light_background(void **state)
{
	static const struct {
		const char *text;
		bool is_light;
	} backgrounds[] = {{"0;15", true}, {"0;default;7", true}, {"15;0", false}, {"", false}, {"15", false}};
	(void)state;
	for (size_t i = 0; i < sizeof(backgrounds) / sizeof(backgrounds[0]); i++) {
		short light, automatic, unused;
		setenv("COLORFGBG", backgrounds[i].text, 1);
		struct mon_paint *paint = open_paint("xterm-256color");
		pair_content(MON_WARN + 1, &automatic, &unused);
		mon_paint_set_colours(paint, MON_COLOURS_LIGHT);
		pair_content(MON_WARN + 1, &light, &unused);
		assert_int_equal(automatic == light, backgrounds[i].is_light);
		mon_paint_close(paint);
	}
	unsetenv("COLORFGBG");
}

static long written_by(struct mon_paint *paint, const struct mon_grid *grid, FILE *out)
{
	long before = ftell(out);
	assert_int_equal(mon_paint_draw(paint, grid), 0);
	return ftell(out) - before;
}

static void what_did_not_change_is_not_written(void **state)
{
	struct mon_model model;
	struct mon_view view;
	struct mon_grid grid = {0};
	struct mon_paint *paint = NULL;
	(void)state;
	FILE *out = tmpfile();
	assert_non_null(out);
	assert_int_equal(mon_paint_open("xterm-256color", out, null_in, &paint, NULL), 0);
	assert_int_equal(resizeterm(24, 80), OK);
	mon_model_init(&model, MON_HISTORY_FULL);
	mon_view_init(&view);
	struct fixture *servers[8];
	for (uint64_t i = 0; i < 8; i++)
		servers[i] = fixture_server(&model, 100 + i, "server");
	for (int frame = 0; frame < 4; frame++) {
		fixture_set(servers[3], "host.rss_bytes", UINT64_C(300) << 20 | (uint64_t)frame << 18);
		fixture_row(&model, servers[3], (uint64_t)(12 + frame) * FIXTURE_S);
		mon_model_settle(&model);
		assert_int_equal(mon_grid_reset(&grid, 80, 24, false), 0);
		mon_view_draw(&grid, &model, &view);
		long n_bytes = written_by(paint, &grid, out);
		assert_true(frame == 0 ? n_bytes > 500 : n_bytes > 0 && n_bytes < 200);
		assert_int_equal(written_by(paint, &grid, out), 0);
	}
	mon_paint_close(paint);
	fclose(out);
	mon_grid_fini(&grid);
	mon_model_fini(&model);
	for (uint64_t i = 0; i < 8; i++)
		fixture_free(servers[i]);
}

static void a_terminal_that_cannot_do_it_is_refused_with_advice(void **state)
{
	static const char *const terms[] = {"dumb", "no-such-terminal", ""};
	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct mon_paint *paint = NULL;
		struct tele_error error = {0};
		assert_true(mon_paint_open(terms[i], null_out, null_in, &paint, &error) < 0);
		assert_null(paint);
		assert_non_null(strstr(error.text, "--once"));
	}
	struct mon_paint *paint = NULL;
	struct tele_error error = {0};
	unsetenv("TERM");
	assert_true(mon_paint_open(NULL, null_out, null_in, &paint, &error) < 0);
	assert_non_null(strstr(error.text, "TERM is not set"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_grid_holds_is_on_the_screen),
		cmocka_unit_test(a_monochrome_terminal_shows_the_same_characters),
		cmocka_unit_test(no_color_is_honoured),
		cmocka_unit_test(schemes_change_colours_and_nothing_else),
		cmocka_unit_test(the_environment_tells_a_light_background),
		cmocka_unit_test(what_did_not_change_is_not_written),
		cmocka_unit_test(a_terminal_that_cannot_do_it_is_refused_with_advice),
	};
	unsetenv("NO_COLOR");
	unsetenv("COLORFGBG");
	setlocale(LC_CTYPE, "C.UTF-8");
	null_out = fopen("/dev/null", "w");
	null_in = fopen("/dev/null", "r");
	if (!null_out || !null_in)
		return 1;
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	fclose(null_out);
	fclose(null_in);
	return failed;
}
