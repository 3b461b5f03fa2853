// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Charts as properties: nothing outside of the rectangle, what rises is drawn
// rising, gaps stay empty, ASCII is ASCII, axes are labelled in round numbers.

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <locale.h>
#include <math.h>
#include <string.h>

#include "../monitor/chart.h"
#include "support/random.h"

#define POINTS_MAX 300

static struct mon_chart_point points[POINTS_MAX];
static struct mon_grid grid;

static struct mon_chart chart_of(size_t n_points)
{
	struct mon_chart chart;
	mon_chart_init(&chart);
	chart.points = points;
	chart.n_points = n_points;
	chart.x_low = points[0].x;
	chart.x_high = points[n_points - 1].x;
	return chart;
}

static void reset(int width, int height, bool is_ascii)
{
	assert_int_equal(mon_grid_reset(&grid, width, height, is_ascii), 0);
}

static double uniform(struct test_random *random)
{
	return (double)test_random_below(random, 1u << 30) / (1u << 30);
}

// Numbers of any size, also those that no chart should meet.
static double any_number(struct test_random *random)
{
	double sign = test_random_below(random, 2) ? 1 : -1;
	return sign * uniform(random) * exp2((double)test_random_below(random, 70));
}

static void make_any(struct test_random *random, size_t n_points)
{
	double x = any_number(random);
	for (size_t i = 0; i < n_points; i++) {
		x += test_random_below(random, 3) ? fabs(any_number(random)) : 0;
		points[i] = (struct mon_chart_point){x, any_number(random), test_random_below(random, 20) == 0};
	}
}

static void add_everything(struct test_random *random, struct mon_chart *chart)
{
	chart->is_time = test_random_below(random, 2);
	chart->is_bytes = test_random_below(random, 2);
	chart->units = (enum mon_units)test_random_below(random, MON_UNITS_COUNT);
	chart->is_blocks = test_random_below(random, 2);
	chart->capacity = test_random_below(random, 2) ? fabs(any_number(random)) : NAN;
	chart->lines[0] = (struct mon_chart_line){any_number(random), any_number(random), any_number(random),
						  any_number(random)};
	chart->n_lines = 1;
	for (unsigned i = 0; i < 5; i++) {
		double x = test_random_below(random, 4) ? points[i].x : NAN;
		chart->rules[chart->n_rules++] = (struct mon_chart_rule){x, "a phase with a name of \xe5\x85\xa8 some length"};
		chart->ticks[chart->n_ticks++] = (struct mon_chart_tick){x, i, MON_GOOD, "●", "K"};
	}
}

static void no_chart_draws_outside_of_its_place(void **state)
{
	struct test_random random = {.state = 17};
	(void)state;
	for (int round = 0; round < 2000; round++) {
		int width = (int)test_random_below(&random, 60), height = (int)test_random_below(&random, 20);
		size_t n_points = 5 + test_random_below(&random, POINTS_MAX - 5);
		make_any(&random, n_points);
		struct mon_chart chart = chart_of(n_points);
		add_everything(&random, &chart);
		reset(80, 30, test_random_below(&random, 2));
		if (round % 4 == 0)
			mon_spark_draw(&grid, 7, 5, width, &chart);
		else
			mon_chart_draw(&grid, 7, 5, width, height, &chart);
		for (int y = 0; y < 30; y++)
			for (int x = 0; x < 80; x++)
				if (x < 7 || y < 5 || x >= 7 + width || y >= 5 + (round % 4 ? height : 1))
					assert_int_equal(mon_grid_at(&grid, x, y)->ch, ' ');
	}
}

// The highest and lowest dot of a column of dots in a plot of braille; false for
// none.
static bool dots_of(int dot_x, int left, int top, int height, int *ret_high, int *ret_low)
{
	static const uint8_t bits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
	bool is_any = false;
	for (int dot = 0; dot < height * 4; dot++) {
		uint32_t ch = mon_grid_at(&grid, left + dot_x / 2, top + dot / 4)->ch;
		if (ch < 0x2800 || ch > 0x28ff || !((ch - 0x2800) & bits[dot % 4][dot_x % 2]))
			continue;
		*ret_high = is_any ? *ret_high : dot;
		*ret_low = dot;
		is_any = true;
	}
	return is_any;
}

static void what_never_falls_is_drawn_never_falling(void **state)
{
	struct test_random random = {.state = 5};
	(void)state;
	for (int round = 0; round < 300; round++) {
		size_t n_points = 2 + test_random_below(&random, 200);
		double y = uniform(&random) * 100, x = 0;
		for (size_t i = 0; i < n_points; i++) {
			x += uniform(&random);
			y += test_random_below(&random, 2) ? uniform(&random) * 50 : 0;
			points[i] = (struct mon_chart_point){x, y, false};
		}
		struct mon_chart chart = chart_of(n_points);
		reset(70, 20, false);
		mon_chart_draw(&grid, 0, 0, 70, 20, &chart);
		int last_high = 1000, last_low = 1000, high, low, n_columns = 0;
		for (int dot = 0; dot < 62 * 2; dot++) {
			if (!dots_of(dot, 8, 0, 18, &high, &low))
				continue;
			assert_true(high <= last_high);
			assert_true(low <= last_low);
			last_high = high;
			last_low = low;
			n_columns++;
		}
		assert_int_equal(n_columns, 62 * 2);
	}
}

static void a_gap_stays_empty(void **state)
{
	int high, low;
	(void)state;
	for (int i = 0; i < 20; i++)
		points[i] = (struct mon_chart_point){i < 10 ? i : i + 40, i, i == 10};
	struct mon_chart chart = chart_of(20);
	reset(68, 12, false);
	mon_chart_draw(&grid, 0, 0, 68, 12, &chart);
	assert_true(dots_of(0, 8, 0, 10, &high, &low));
	assert_true(dots_of(119, 8, 0, 10, &high, &low));
	for (int dot = 24; dot < 98; dot++)
		assert_false(dots_of(dot, 8, 0, 10, &high, &low));
}

static void ascii_is_ascii_and_blocks_are_no_braille(void **state)
{
	struct test_random random = {.state = 99};
	(void)state;
	for (int round = 0; round < 200; round++) {
		make_any(&random, 100);
		struct mon_chart chart = chart_of(100);
		add_everything(&random, &chart);
		chart.is_blocks = true;
		reset(80, 20, round % 2);
		mon_chart_draw(&grid, 0, 0, 80, 20, &chart);
		mon_spark_draw(&grid, 0, 19, 80, &chart);
		for (size_t i = 0; i < 80 * 20; i++) {
			uint32_t ch = grid.cells[i].ch;
			assert_true(ch < 0x80 || (round % 2 == 0 && (ch < 0x2800 || ch > 0x28ff)));
		}
	}
}

static void steps_are_round(void **state)
{
	(void)state;
	assert_true(mon_chart_step(100, 4, false, false) == 50);
	assert_true(mon_chart_step(7, 7, false, false) == 1);
	assert_true(mon_chart_step(3e9, 3, false, true) == 1073741824);
	assert_true(mon_chart_step(70, 5, true, false) == 15);
	assert_true(mon_chart_step(4000, 5, true, false) == 900);
	assert_true(mon_chart_step(86400 * 10.0, 4, true, false) == 86400 * 5);
	assert_true(mon_chart_step(0.02, 5, true, false) == 0.005);
	assert_true(mon_chart_step(0, 5, false, true) == 1);
	assert_true(mon_chart_step(NAN, 0, true, true) == 1);
}

int main(void)
{
	setlocale(LC_ALL, "C.UTF-8");
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_chart_draws_outside_of_its_place),
		cmocka_unit_test(what_never_falls_is_drawn_never_falling),
		cmocka_unit_test(a_gap_stays_empty),
		cmocka_unit_test(ascii_is_ascii_and_blocks_are_no_braille),
		cmocka_unit_test(steps_are_round),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	mon_grid_fini(&grid);
	return failed;
}
