// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What the engine makes of rows that are missing, start again or lie: unknown
// values, gaps, clocks and counts that jump, noise.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <string.h>

#include <cmocka.h>

#include "support/engine.h"
#include "support/noise.h"

static void classes_without_values_share_what_nobody_writes(void **state)
{
	(void)state;
	analysis_verdicts_free(engine);
	assert_int_equal(analysis_verdicts_new(classes, CLASSES, &engine), 0);
	values[OTHER] = TELE_UNKNOWN;
	for (unsigned i = 0; i < 100; i++) {
		send(ANALYSIS_CANDIDATE_BEGIN, 0);
		send(ANALYSIS_CANDIDATE_END, TELE_OUTCOME_KEPT);
		if (i == 50)
			analysis_verdicts_gap(engine);
	}
	look(ANALYSIS_FINAL);
	const struct analysis_history *none = analysis_verdicts_history(engine, OTHER, ANALYSIS_TIME);
	assert_ptr_equal(none, analysis_verdicts_history(engine, TOTAL, ANALYSIS_TIME));
	assert_ptr_not_equal(none, analysis_verdicts_history(engine, BYTES, ANALYSIS_TIME));
	assert_int_equal(analysis_history_points(none), 0);
	analysis_verdicts_restart(engine);
	values[OTHER] = 7;
	send(ANALYSIS_CANDIDATE_BEGIN, 0);
	assert_ptr_not_equal(none, analysis_verdicts_history(engine, OTHER, ANALYSIS_TIME));
	assert_int_equal(analysis_history_points(none), 0);
}

static void unknown_values_are_no_points_and_no_zeros(void **state)
{
	(void)state;
	values[OTHER] = TELE_UNKNOWN;
	for (unsigned i = 0; i < 100; i++) {
		uint64_t known = values[BYTES];
		if (i % 3 == 0)
			values[BYTES] = TELE_UNKNOWN;
		send(ANALYSIS_CANDIDATE_BEGIN, 0);
		send(ANALYSIS_CANDIDATE_END, TELE_OUTCOME_TIMED);
		values[BYTES] = known + (1 << 20);
	}
	look(ANALYSIS_FINAL);
	assert_null(headline(OTHER));
	assert_null(headline(TOTAL));
	assert_int_equal(headline(BYTES)->growth.shape, ANALYSIS_GROWING);
	for (size_t i = 0; i < n_listed; i++) {
		if (list[i].class_index != BYTES || list[i].axis != ANALYSIS_ATTEMPTED)
			continue;
		assert_near(list[i].growth.slope, 1 << 20, 1 << 14);
		assert_true(list[i].growth.points < 101);
	}
	assert_true(isnan(headline(BYTES)->share));
}

static void classes_of_zero_bytes_divide_nothing(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 100; i++) {
		send(ANALYSIS_CANDIDATE_BEGIN, 0);
		values[POOLS] += 1;
		send(ANALYSIS_CANDIDATE_END, TELE_OUTCOME_TIMED);
	}
	look(ANALYSIS_FINAL);
	assert_int_equal(headline(POOLS)->growth.shape, ANALYSIS_GROWING);
	assert_int_equal(headline(BYTES)->growth.shape, ANALYSIS_FLAT);
	assert_true(isnan(headline(POOLS)->each_bytes) && isnan(headline(POOLS)->share));
}

static void a_signed_class_may_be_below_zero(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 100; i++) {
		values[OTHER] = (uint64_t)(-(int64_t)(i + 2) * 4096);
		send(ANALYSIS_NO_BOUNDARY, 0);
	}
	look(ANALYSIS_FINAL);
	assert_int_equal(headline(OTHER)->axis, ANALYSIS_TIME);
	assert_int_equal(headline(OTHER)->growth.shape, ANALYSIS_DRAINING);
	assert_near(headline(OTHER)->growth.slope, -40960, 1);
	assert_near(headline(OTHER)->growth.last, -101 * 4096, 1e-6);
}

static void a_gap_with_another_level_behind_it_is_no_growth(void **state)
{
	struct series_rng rng;
	(void)state;
	series_seed(&rng, 21);
	for (unsigned i = 0; i < 200; i++) {
		if (i == 100) {
			analysis_verdicts_gap(engine);
			row.time_s += 3600;
		}
		values[OTHER] = (i < 100 ? 10 << 20 : 50 << 20) + (uint64_t)(1 << 20) * (uint64_t)(4 * series_uniform(&rng));
		candidate(TELE_OUTCOME_TIMED, 0);
	}
	look(ANALYSIS_FINAL);
	assert_false(analysis_shape_grows(headline(OTHER)->growth.shape));
	assert_int_equal(headline(OTHER)->growth.n_gaps, 1);
	for (size_t i = 0; i < n_listed; i++)
		assert_false(analysis_shape_grows(list[i].growth.shape));
}

static void a_clock_jump_is_no_slope_of_time(void **state)
{
	struct series_rng rng;
	(void)state;
	series_seed(&rng, 22);
	for (unsigned i = 0; i < 300; i++) {
		if (i == 100)
			row.time_s += 86400;
		if (i == 200)
			row.time_s -= 3600;
		values[OTHER] = (10 << 20) + (uint64_t)(i / 100) * (8 << 20) + (uint64_t)(1e6 * series_uniform(&rng));
		send(ANALYSIS_NO_BOUNDARY, 0);
	}
	look(ANALYSIS_FINAL);
	assert_int_equal(headline(OTHER)->axis, ANALYSIS_TIME);
	assert_false(analysis_shape_grows(headline(OTHER)->growth.shape));
	assert_int_equal(headline(OTHER)->growth.n_gaps, 2);
	assert_near(headline(OTHER)->growth.window, 29.9, 0.5);
}

static void what_was_not_judged_yet_has_its_points_and_their_extent(void **state)
{
	char sentence[ANALYSIS_SENTENCE_MAX];
	(void)state;
	for (unsigned i = 0; i < 5; i++)
		candidate(TELE_OUTCOME_TIMED, 1);
	look(ANALYSIS_LIVE);
	const struct analysis_verdict *verdict = headline(POOLS);
	assert_int_equal(verdict->growth.shape, ANALYSIS_NOT_ENOUGH_DATA);
	assert_true(verdict->growth.points > 0 && verdict->growth.window > 0);
	analysis_sentence(engine, verdict, sentence, sizeof(sentence));
	assert_null(strstr(sentence, "(0 "));
}

static void a_restart_is_a_new_run(void **state)
{
	(void)state;
	for (unsigned run = 0; run < 50; run++) {
		if (run > 0)
			analysis_verdicts_restart(engine);
		row.time_s = 0;
		values[POOLS] = 3 + run; // a little higher each run
		values[BYTES] = (3 + run) << 20;
		for (unsigned i = 0; i < 6; i++)
			candidate(TELE_OUTCOME_TIMED, 0);
	}
	look(ANALYSIS_LIVE);
	for (size_t i = 0; i < n_listed; i++) {
		assert_false(analysis_shape_grows(list[i].growth.shape));
		if (list[i].axis == ANALYSIS_ATTEMPTED)
			assert_int_equal(list[i].growth.n_left_out, 49 * 7);
	}
	assert_int_equal(analysis_verdicts_outcomes(engine)->n_ends, 6);
}

static void a_candidate_index_that_starts_again_is_no_slope(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 260; i++) {
		row.counts[ANALYSIS_ATTEMPTED] = i < 134 ? i : i - 134;
		row.counts[ANALYSIS_LINKED] = row.counts[ANALYSIS_ATTEMPTED] / 2;
		row.counts[ANALYSIS_TIMED] = row.counts[ANALYSIS_KEPT] = TELE_UNKNOWN;
		values[POOLS] = 5 + i % 3;
		send(ANALYSIS_CANDIDATE_END, TELE_OUTCOME_TIMED);
	}
	look(ANALYSIS_FINAL);
	assert_int_equal(headline(POOLS)->growth.shape, ANALYSIS_BOUNDED);
	assert_int_equal(headline(POOLS)->growth.n_index_restarts, 1);
	for (size_t i = 0; i < n_listed; i++)
		assert_false(analysis_shape_grows(list[i].growth.shape));
}

static void what_grows_after_the_search_is_over_grows_with_time(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 50; i++)
		candidate(i % 2 ? TELE_OUTCOME_TIMED : TELE_OUTCOME_DECLINED, i % 2);
	for (unsigned i = 0; i < 400; i++) {
		values[OTHER] += 4096;
		send(ANALYSIS_NO_BOUNDARY, 0);
	}
	look(ANALYSIS_FINAL);
	assert_int_equal(headline(OTHER)->growth.shape, ANALYSIS_GROWING);
	assert_int_equal(headline(OTHER)->axis, ANALYSIS_TIME);
	assert_near(headline(OTHER)->growth.slope, 40960, 400);
	// And what the search left behind is still laid on its candidates.
	assert_int_equal(headline(POOLS)->growth.shape, ANALYSIS_GROWING);
	assert_int_equal(headline(POOLS)->axis, ANALYSIS_LINKED);
	assert_near(headline(POOLS)->growth.slope, 1, 1e-9);
}

// Rows that no program would write must not shake the engine.
static void rows_of_noise_are_survived(void **state)
{
	struct series_rng rng;
	(void)state;
	series_seed(&rng, 77);
	for (unsigned i = 0; i < 20000; i++) {
		double pick = series_uniform(&rng);
		row.time_s = pick < 0.05 ? NAN : pick < 0.1 ? -1e300 * pick : pick < 0.15 ? INFINITY : row.time_s + pick;
		if (!isfinite(row.time_s) && series_uniform(&rng) < 0.5)
			row.time_s = i;
		for (unsigned axis = 0; axis < ANALYSIS_AXIS_COUNT; axis++)
			row.counts[axis] = series_uniform(&rng) < 0.2 ? TELE_UNKNOWN : (uint64_t)(1e19 * series_uniform(&rng) * pick);
		for (unsigned class = 0; class < CLASSES; class++)
			values[class] = series_uniform(&rng) < 0.1 ? TELE_UNKNOWN : (uint64_t)(1.8e19 * series_uniform(&rng));
		row.boundary = (enum analysis_boundary)(3 * series_uniform(&rng));
		row.outcome = (unsigned)(12 * series_uniform(&rng));
		row.is_inside = series_uniform(&rng) < 0.5;
		analysis_verdicts_row(engine, &row);
		if (i % 501 == 0)
			analysis_verdicts_gap(engine);
		if (i % 5003 == 0)
			analysis_verdicts_restart(engine);
		if (i % 97 == 0) {
			char sentence[64];
			look(i % 2 ? ANALYSIS_LIVE : ANALYSIS_FINAL);
			for (size_t k = 0; k < n_listed; k++)
				analysis_sentence(engine, &list[k], sentence, sizeof(sentence));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_ENGINE(classes_without_values_share_what_nobody_writes),
		WITH_ENGINE(unknown_values_are_no_points_and_no_zeros),
		WITH_ENGINE(classes_of_zero_bytes_divide_nothing),
		WITH_ENGINE(a_signed_class_may_be_below_zero),
		WITH_ENGINE(a_gap_with_another_level_behind_it_is_no_growth),
		WITH_ENGINE(a_clock_jump_is_no_slope_of_time),
		WITH_ENGINE(what_was_not_judged_yet_has_its_points_and_their_extent),
		WITH_ENGINE(a_restart_is_a_new_run),
		WITH_ENGINE(a_candidate_index_that_starts_again_is_no_slope),
		WITH_ENGINE(what_grows_after_the_search_is_over_grows_with_time),
		WITH_ENGINE(rows_of_noise_are_survived),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
