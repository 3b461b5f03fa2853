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
		cmocka_unit_test(a_terminal_that_cannot_do_it_is_refused_with_advice),
	};
	unsetenv("NO_COLOR");
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
