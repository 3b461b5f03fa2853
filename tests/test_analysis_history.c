// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A history against a plain list of the same points: what is exact must be.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "../analysis/history.h"
#include "support/noise.h"

static struct analysis_history history;

static void a_history_is_bounded_and_its_cells_are_even(void **state)
{
	(void)state;
	analysis_history_init(&history);
	for (uint64_t i = 0; i < 1000000; i++) {
		analysis_history_add(&history, (double)i, (double)(i % 1000), true);
		if (i % 997 && i > 2000)
			continue;
		assert_true(history.n_cells <= ANALYSIS_CELLS);
		for (uint32_t c = 0; c + 1 < history.n_cells; c++)
			assert_true(history.cells[c].n == history.points_per_cell);
		assert_true(history.n_points < 64 || history.n_cells >= 64);
	}
	assert_true(sizeof(history) <= 8192);
	assert_int_equal(analysis_history_points(&history), 1000000);
}

static void extremes_rises_and_falls_are_exact(void **state)
{
	struct series_rng rng;
	(void)state;
	series_seed(&rng, 3);
	for (size_t n = 1; n < 5000; n = n * 3 + 1) {
		double first = 0, last = 0, low = INFINITY, high = -INFINITY, sum = 0, draw_down = 0, largest_rise = 0;
		uint64_t n_rises = 0, n_falls = 0;

		analysis_history_init(&history);
		for (size_t i = 0; i < n; i++) {
			double y = floor(1e10 + 100 * series_gauss(&rng));
			if (i == 0)
				first = y;
			else if (y > last)
				n_rises++;
			else if (y < last)
				n_falls++;
			if (i > 0)
				largest_rise = fmax(largest_rise, y - last);
			low = fmin(low, y);
			high = fmax(high, y);
			draw_down = fmax(draw_down, high - y);
			sum += y - first;
			last = y;
			analysis_history_add(&history, (double)i, y, true);
		}
		analysis_history_flush(&history);
		assert_int_equal(history.n_points, n);
		assert_int_equal(history.n_rises, n_rises);
		assert_int_equal(history.n_falls, n_falls);
		assert_true(history.first_y == first && history.first_y + history.last_y == last);
		assert_true(history.first_y + history.low_y == low && history.first_y + history.high_y == high);
		assert_true(history.draw_down == draw_down && history.largest_rise == fmax(largest_rise, 0));
		double cells_n = 0, cells_sum = 0, cells_low = INFINITY, cells_high = -INFINITY;
		for (uint32_t c = 0; c < history.n_cells; c++) {
			const struct analysis_cell *cell = &history.cells[c];
			cells_n += cell->n;
			cells_sum += cell->sum_y;
			cells_low = fmin(cells_low, cell->low_y);
			cells_high = fmax(cells_high, cell->high_y);
			assert_true(cell->low_x <= history.last_x && cell->high_x <= history.last_x);
		}
		assert_true(cells_n == (double)n && cells_sum == sum);
		assert_true(cells_low == history.low_y && cells_high == history.high_y);
	}
}

static void a_merged_cell_keeps_where_its_extremes_were(void **state)
{
	(void)state;
	analysis_history_init(&history);
	for (uint64_t i = 0; i < 4096; i++)
		analysis_history_add(&history, (double)i, i == 1234 ? -50 : i == 1235 ? 50 : 0, true);
	analysis_history_flush(&history);
	bool found = false;
	for (uint32_t c = 0; c < history.n_cells; c++) {
		if (history.cells[c].low_y == -50) {
			found = true;
			assert_true(history.cells[c].low_x == 1234 && history.cells[c].high_x == 1235);
		}
	}
	assert_true(found);
}

static void a_copy_is_the_same_history(void **state)
{
	(void)state;
	analysis_history_init(&history);
	for (uint64_t i = 0; i < 333; i++)
		analysis_history_add(&history, (double)i, (double)(i * i % 91), true);
	struct analysis_history copy = history;
	for (uint64_t i = 333; i < 999; i++) {
		analysis_history_add(&history, (double)i, (double)(i * i % 91), true);
		analysis_history_add(&copy, (double)i, (double)(i * i % 91), true);
	}
	assert_memory_equal(&history, &copy, sizeof(copy));
}

static void a_gap_moves_the_axis_for_good(void **state)
{
	(void)state;
	analysis_history_init(&history);
	for (uint64_t i = 0; i < 10; i++)
		analysis_history_add(&history, 100 + 2 * (double)i, 5, true);
	analysis_history_gap(&history);
	analysis_history_add(&history, 1e9, 70, true);
	analysis_history_add(&history, 1e9 + 2, 71, true);
	analysis_history_add(&history, 1e9 + 4, 70, true);
	analysis_history_flush(&history);
	assert_true(history.last_x == 24);
	assert_int_equal(history.n_rises, 1); // the way over the gap is not one
	assert_int_equal(history.n_falls, 1);
	assert_true(history.sum_rises == 1);
	// A clock that went back is a gap too.
	analysis_history_gap(&history);
	analysis_history_add(&history, 3, 70, true);
	analysis_history_add(&history, 5, 70, true);
	analysis_history_flush(&history);
	assert_true(history.last_x == 28);
	assert_int_equal(history.n_index_restarts, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_history_is_bounded_and_its_cells_are_even),
		cmocka_unit_test(extremes_rises_and_falls_are_exact),
		cmocka_unit_test(a_merged_cell_keeps_where_its_extremes_were),
		cmocka_unit_test(a_copy_is_the_same_history),
		cmocka_unit_test(a_gap_moves_the_axis_for_good),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
