// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Histories and their judge: each shape, and what is left out. How often it is
// right of noise is in test_analysis_noise.c.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../analysis/compare.h"
#include "../analysis/growth.h"
#include "../analysis/student.h"
#include "support/noise.h"

static struct analysis_history history;
static struct analysis_growth growth;
static double values[SERIES_POINTS_MAX];

static void assert_near(double value, double want, double within)
{
	if (!(fabs(value - want) <= within)) {
		print_error("%.12g is not within %g of %.12g\n", value, within, want);
		fail();
	}
}

static void judge(size_t n)
{
	analysis_history_init(&history);
	for (size_t i = 0; i < n; i++)
		analysis_history_add(&history, (double)i, values[i], true);
	analysis_judge(&history, &growth);
}

static void assert_shape(enum analysis_shape want)
{
	assert_string_equal(analysis_shape_name(growth.shape), analysis_shape_name(want));
	if (!analysis_shape_grows(want) && want != ANALYSIS_DRAINING)
		assert_true(growth.slope == 0 && growth.slope_low == 0 && growth.slope_high == 0);
}

static void no_points_and_few_points_are_not_enough(void **state)
{
	(void)state;
	judge(0);
	assert_shape(ANALYSIS_NOT_ENOUGH_DATA);
	assert_int_equal(growth.points, 0);
	for (size_t n = 1; n < 8; n++) {
		for (size_t i = 0; i < n; i++)
			values[i] = (double)i;
		judge(n);
		assert_shape(ANALYSIS_NOT_ENOUGH_DATA);
		assert_int_equal(growth.points, n);
	}
	for (size_t i = 0; i < 11; i++)
		values[i] = (double)(i * i);
	judge(11);
	assert_shape(ANALYSIS_NOT_ENOUGH_DATA);
}

static void eight_exact_rises_are_growing(void **state)
{
	(void)state;
	for (size_t i = 0; i < 8; i++)
		values[i] = 1e10 + 3 * (double)i;
	judge(8);
	assert_shape(ANALYSIS_GROWING);
	assert_near(growth.slope, 3, 1e-9);
}

static void a_constant_is_flat_whatever_its_level(void **state)
{
	const double levels[] = {0, 1, 28.8e9, -5};
	(void)state;
	for (size_t k = 0; k < 4; k++) {
		for (size_t i = 0; i < 500; i++)
			values[i] = levels[k];
		judge(500);
		assert_shape(ANALYSIS_FLAT);
		assert_true(growth.low == levels[k] && growth.high == levels[k]);
	}
}

static void a_step_and_then_nothing_is_one_time(void **state)
{
	(void)state;
	for (size_t at = 1; at < 480; at += 40) {
		for (size_t i = 0; i < 500; i++)
			values[i] = i < at ? 0 : 9e6;
		judge(500);
		assert_shape(ANALYSIS_ONE_TIME);
		assert_near(growth.step_height, 9e6, 1);
	}
}

static void a_warm_up_is_bounded_and_its_band_is_the_plateau(void **state)
{
	(void)state;
	for (size_t i = 0; i < 600; i++)
		values[i] = round(100 * (1 - exp(-(double)i / 40)));
	judge(600);
	assert_shape(ANALYSIS_BOUNDED);
	assert_true(growth.low > 80 && growth.high == 100);
}

// A live reader is told what was judged some points ago: the band has to hold
// what is there now.
static void the_band_of_an_earlier_judgement_holds_what_came_since(void **state)
{
	(void)state;
	analysis_history_init(&history);
	for (size_t i = 0; i < 300; i++)
		analysis_history_add(&history, (double)i, (double)(2 + i * 7 % 4), true);
	analysis_judge(&history, &growth);
	assert_shape(ANALYSIS_BOUNDED);
	assert_true(growth.low == 2 && growth.high == 5);
	analysis_growth_widen(&history, &growth);
	assert_true(growth.low == 2 && growth.high == 5);
	analysis_history_add(&history, 300, 8, true);
	analysis_history_add(&history, 301, 1, true);
	analysis_growth_widen(&history, &growth);
	assert_true(growth.low == 1 && growth.high == 8);
}

static void rare_even_steps_are_stepping(void **state)
{
	(void)state;
	for (size_t i = 0; i < 1000; i++)
		values[i] = 256 * (double)(i / 60);
	judge(1000);
	assert_shape(ANALYSIS_STEPPING);
	assert_near(growth.slope, 256.0 / 60, 0.6);
	assert_near(growth.step_height, 256, 1e-9);
	assert_near(growth.step_gap, 60, 5);
	assert_true(growth.slope_low > 0);
	// The same steps, but they ended in the first third.
	for (size_t i = 0; i < 1000; i++)
		values[i] = 256 * fmin((double)(i / 60), 5);
	judge(1000);
	assert_false(analysis_shape_grows(growth.shape));
}

static void a_falling_series_is_draining(void **state)
{
	struct series_rng rng;
	(void)state;
	series_seed(&rng, 1);
	for (size_t i = 0; i < 300; i++)
		values[i] = 1000 - 0.2 * (double)i + series_gauss(&rng);
	judge(300);
	assert_shape(ANALYSIS_DRAINING);
	assert_near(growth.slope, -0.2, 0.01);
	assert_true(growth.slope_low <= -0.2 && -0.2 <= growth.slope_high);
}

static void a_slow_leak_on_a_large_base_is_a_leak(void **state)
{
	(void)state;
	for (size_t i = 0; i < 300; i++) // 3 MiB on 10 GiB
		values[i] = 10737418240.0 + 10000.0 * (double)i + (double)(i % 3) * 100;
	judge(300);
	assert_shape(ANALYSIS_GROWING);
	assert_near(growth.slope, 10000, 10);
}

static void growth_after_a_quiet_half_is_growing_at_the_last_rate(void **state)
{
	(void)state;
	for (size_t i = 0; i < 400; i++)
		values[i] = i < 200 ? 5 : 5 + 2 * (double)(i - 200);
	judge(400);
	assert_shape(ANALYSIS_GROWING);
	assert_near(growth.slope, 2, 0.05);
	assert_true(growth.points < 250);
	assert_near(growth.window, 200, 12);
}

static void ten_thousand_points_keep_an_exact_slope(void **state)
{
	(void)state;
	for (size_t i = 0; i < 10000; i++)
		values[i] = 1e10 + 106954752.0 * (double)i;
	judge(10000);
	assert_shape(ANALYSIS_GROWING);
	assert_near(growth.slope, 106954752.0, 1);
	assert_int_equal(growth.points, 10000);
	assert_near(growth.window, 9999, 1e-9);
	assert_true(history.n_cells <= ANALYSIS_CELLS);
}

static void of_several_rows_at_one_x_the_last_settled_one_counts(void **state)
{
	(void)state;
	analysis_history_init(&history);
	analysis_history_add(&history, 0, 1, true);
	analysis_history_add(&history, 1, 2, false);
	analysis_history_add(&history, 1, 3, false);
	assert_true(history.pending_y == 3);
	analysis_history_add(&history, 1, 4, true);
	analysis_history_add(&history, 1, 900, false);
	assert_true(history.pending_y == 4);
	analysis_history_add(&history, 1, 5, true);
	assert_int_equal(analysis_history_points(&history), 2);
	analysis_history_flush(&history);
	assert_true(history.last_y == 4 && history.first_y == 1);
	assert_int_equal(history.n_rises, 1);
}

static void the_pending_point_is_judged_too(void **state)
{
	struct analysis_history flushed;
	struct analysis_growth again;
	(void)state;
	for (size_t i = 0; i < 100; i++)
		values[i] = (double)i + (double)(i % 2);
	judge(100);
	flushed = history;
	analysis_history_flush(&flushed);
	analysis_judge(&flushed, &again);
	assert_memory_equal(&growth, &again, sizeof(growth));
	assert_int_equal(growth.points, 100);
	assert_true(history.has_pending); // the judge changes nothing
}

static void a_level_change_in_a_gap_is_no_slope(void **state)
{
	struct series_rng rng;
	(void)state;
	series_seed(&rng, 7);
	for (size_t lost = 1; lost <= 100000; lost *= 10) {
		analysis_history_init(&history);
		for (size_t i = 0; i < 200; i++) {
			if (i == 100)
				analysis_history_gap(&history);
			double x = (double)(i < 100 ? i : i + lost);
			analysis_history_add(&history, x, (i < 100 ? 0 : 40) + series_gauss(&rng), true);
		}
		analysis_judge(&history, &growth);
		assert_false(analysis_shape_grows(growth.shape));
		assert_int_equal(growth.n_gaps, 1);
		assert_near(growth.window, 199, 1e-6); // the gap's own width is left out
	}
}

static void a_counter_that_jumped_in_one_gap_only_is_no_slope(void **state)
{
	(void)state;
	analysis_history_init(&history);
	for (size_t i = 0; i < 200; i++) {
		if (i == 150)
			analysis_history_gap(&history);
		analysis_history_add(&history, (double)i, i < 150 ? 10 : 500, true);
	}
	analysis_judge(&history, &growth);
	assert_false(analysis_shape_grows(growth.shape));
	analysis_history_flush(&history);
	assert_int_equal(history.n_rises, 0);
}

static void a_leak_goes_on_through_gaps(void **state)
{
	(void)state;
	analysis_history_init(&history);
	for (size_t i = 0; i < 300; i++) {
		if (i == 100 || i == 101 || i == 200)
			analysis_history_gap(&history);
		size_t x = i + (i >= 100 ? 37 : 0) + (i >= 200 ? 1000 : 0);
		analysis_history_add(&history, (double)x, 2.0 * (double)i, true);
	}
	analysis_judge(&history, &growth);
	assert_shape(ANALYSIS_GROWING);
	assert_near(growth.slope, 2, 1e-6);
	assert_int_equal(growth.n_gaps, 3);
}

static void gaps_before_the_first_point_and_twice_change_nothing(void **state)
{
	(void)state;
	analysis_history_init(&history);
	analysis_history_gap(&history);
	assert_int_equal(history.n_gaps, 0);
	for (size_t i = 0; i < 50; i++)
		analysis_history_add(&history, (double)i, 1, true);
	analysis_history_gap(&history);
	analysis_history_gap(&history);
	analysis_judge(&history, &growth);
	assert_shape(ANALYSIS_FLAT);
	assert_int_equal(growth.points, 50);
}

static void an_index_that_starts_again_goes_on(void **state)
{
	(void)state;
	analysis_history_init(&history);
	for (size_t phase = 0; phase < 2; phase++)
		for (size_t i = 1; i <= 130; i++)
			analysis_history_add(&history, (double)i, 3.0 * (double)(phase * 130 + i), true);
	analysis_judge(&history, &growth);
	assert_shape(ANALYSIS_GROWING);
	assert_near(growth.slope, 3, 1e-9);
	assert_int_equal(growth.n_index_restarts, 1);
	assert_near(growth.window, 259, 1e-9);
	// And what is flat stays flat.
	analysis_history_init(&history);
	for (size_t i = 0; i < 300; i++)
		analysis_history_add(&history, (double)(i % 100), (double)(5 + i % 2), true);
	analysis_judge(&history, &growth);
	assert_shape(ANALYSIS_BOUNDED);
	assert_int_equal(growth.n_index_restarts, 2);
}

static void a_restart_forgets_and_says_how_much(void **state)
{
	(void)state;
	analysis_history_init(&history);
	for (size_t run = 0; run < 50; run++) {
		if (run > 0)
			analysis_history_restart(&history);
		for (size_t i = 0; i < 6; i++)
			analysis_history_add(&history, (double)i, (double)(1000 * run + i), true);
	}
	analysis_judge(&history, &growth);
	assert_shape(ANALYSIS_NOT_ENOUGH_DATA);
	assert_int_equal(growth.points, 6);
	assert_int_equal(growth.n_left_out, 49 * 6);
}

static void slopes_of_parts_add_up_to_that_of_the_whole(void **state)
{
	static struct analysis_history parts[3], whole;
	struct series_rng rng;
	double slope, sum = 0, of_whole;
	(void)state;
	series_seed(&rng, 5);
	for (size_t k = 0; k < 3; k++)
		analysis_history_init(&parts[k]);
	analysis_history_init(&whole);
	for (size_t i = 0; i < 777; i++) {
		double total = 0;
		for (size_t k = 0; k < 3; k++) {
			double y = 1e9 + (double)(k * i) * 1e5 + 1e6 * series_gauss(&rng);
			analysis_history_add(&parts[k], (double)i, y, true);
			total += y;
		}
		analysis_history_add(&whole, (double)i, total, true);
	}
	double rho = analysis_rho_from(&whole, 300);
	assert_true(analysis_slope_from(&whole, 300, rho, &of_whole));
	for (size_t k = 0; k < 3; k++) {
		assert_true(analysis_slope_from(&parts[k], 300, rho, &slope));
		sum += slope;
	}
	assert_near(sum / of_whole, 1, 1e-9);
}

static void student_has_known_quantiles(void **state)
{
	(void)state;
	assert_near(analysis_student_at(1.959964, 3), 3.182446, 1e-4);
	assert_near(analysis_student_at(1.959964, 10), 2.228139, 1e-4);
	assert_near(analysis_student_at(1.959964, 30), 2.042272, 1e-4);
	assert_near(analysis_student_at(1.959964, 200), 1.971896, 1e-3);
	assert_near(analysis_student_tail(0, 5), 0.5, 1e-12);
	assert_near(analysis_student_tail(2.228139, 10), 0.025, 1e-7);
	assert_true(isfinite(analysis_student_at(4.2, 0.5)));
	assert_false(analysis_student_exceeds(2.8, 2.9, 1e6));
	assert_true(analysis_student_exceeds(INFINITY, 4.2, 3));
	assert_false(analysis_student_exceeds(NAN, 4.2, 3));
}

static void before_and_after_a_fix_are_told_apart(void **state)
{
	struct analysis_side leaking, fixed, none;
	struct analysis_change change;
	(void)state;
	for (size_t i = 0; i < 200; i++)
		values[i] = 100 + 3 * (double)i;
	judge(200);
	analysis_summarize(&history, &leaking);
	assert_near(leaking.peak, 697, 1e-9);
	assert_near(leaking.mean, 100 + 3 * 99.5, 1e-6);
	for (size_t i = 0; i < 200; i++)
		values[i] = 100 + (double)(i % 5);
	judge(200);
	analysis_summarize(&history, &fixed);
	analysis_compare(&leaking, &fixed, &change);
	assert_int_equal(change.kind, ANALYSIS_FIXED);
	assert_near(change.slope, -3, 1e-6);
	assert_near(change.peak, 104 - 697, 1e-9);
	analysis_compare(&fixed, &leaking, &change);
	assert_int_equal(change.kind, ANALYSIS_BROKEN);
	analysis_compare(&fixed, &fixed, &change);
	assert_int_equal(change.kind, ANALYSIS_SAME);
	analysis_history_init(&history);
	analysis_summarize(&history, &none);
	analysis_compare(&fixed, &none, &change);
	assert_int_equal(change.kind, ANALYSIS_ONLY_A);
	assert_true(isnan(change.slope));
	assert_string_equal(analysis_change_name(ANALYSIS_FIXED), "fixed");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_points_and_few_points_are_not_enough),
		cmocka_unit_test(eight_exact_rises_are_growing),
		cmocka_unit_test(a_constant_is_flat_whatever_its_level),
		cmocka_unit_test(a_step_and_then_nothing_is_one_time),
		cmocka_unit_test(a_warm_up_is_bounded_and_its_band_is_the_plateau),
		cmocka_unit_test(the_band_of_an_earlier_judgement_holds_what_came_since),
		cmocka_unit_test(rare_even_steps_are_stepping),
		cmocka_unit_test(a_falling_series_is_draining),
		cmocka_unit_test(a_slow_leak_on_a_large_base_is_a_leak),
		cmocka_unit_test(growth_after_a_quiet_half_is_growing_at_the_last_rate),
		cmocka_unit_test(ten_thousand_points_keep_an_exact_slope),
		cmocka_unit_test(of_several_rows_at_one_x_the_last_settled_one_counts),
		cmocka_unit_test(the_pending_point_is_judged_too),
		cmocka_unit_test(a_level_change_in_a_gap_is_no_slope),
		cmocka_unit_test(a_counter_that_jumped_in_one_gap_only_is_no_slope),
		cmocka_unit_test(a_leak_goes_on_through_gaps),
		cmocka_unit_test(gaps_before_the_first_point_and_twice_change_nothing),
		cmocka_unit_test(an_index_that_starts_again_goes_on),
		cmocka_unit_test(a_restart_forgets_and_says_how_much),
		cmocka_unit_test(slopes_of_parts_add_up_to_that_of_the_whole),
		cmocka_unit_test(student_has_known_quantiles),
		cmocka_unit_test(before_and_after_a_fix_are_told_apart),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
