// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The searches G1 to G8 of real reports, and what must be said of each.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support/judged.h"

static struct judged judged;

static enum analysis_shape shape_of(enum judged_class class)
{
	const struct analysis_verdict *verdict = judged_headline(&judged, class);
	assert_non_null(verdict);
	return verdict->growth.shape;
}

static void assert_near(double value, double want, double within)
{
	if (!(fabs(value - want) <= within)) {
		print_error("%g is not within %g of %g\n", value, within, want);
		fail();
	}
}

static const char *sentence_of(enum judged_class class)
{
	static char buf[ANALYSIS_SENTENCE_MAX];
	size_t len = analysis_sentence(judged.engine, judged_headline(&judged, class), buf, sizeof(buf));
	assert_true(len < sizeof(buf));
	return buf;
}

static void assert_nothing_grows(void)
{
	for (size_t i = 0; i < judged.n; i++) {
		if (analysis_shape_grows(judged.list[i].growth.shape) && judged.list[i].is_headline) {
			print_error("class %u is called growing\n", judged.list[i].class_index);
			fail();
		}
		assert_true(isnan(judged.list[i].forecast) || !judged.list[i].is_headline);
	}
}

static void g1_working_pools_come_first_then_contexts_and_modules_are_bounded(void **state)
{
	(void)state;
	judged_make(&judged, "g1", 1, 0, ANALYSIS_FINAL);
	assert_int_equal(judged.list[0].class_index, JUDGED_WORKING_POOLS);
	assert_true(judged.list[0].is_headline);
	assert_int_equal(shape_of(JUDGED_WORKING_POOLS), ANALYSIS_GROWING);
	assert_int_equal(shape_of(JUDGED_CONTEXTS), ANALYSIS_GROWING);
	assert_int_equal(shape_of(JUDGED_MODULES), ANALYSIS_BOUNDED);
	assert_int_equal(shape_of(JUDGED_CONSTANT_POOLS), ANALYSIS_FLAT);
	assert_int_equal(shape_of(JUDGED_CONSTANT_BYTES), ANALYSIS_FLAT);
	const struct analysis_verdict *modules = judged_headline(&judged, JUDGED_MODULES);
	assert_true(modules->growth.low >= 2 && modules->growth.high <= 5);
	// Contexts come before the totals and after the pools and their bytes.
	size_t at = 0;
	while (judged.list[at].class_index != JUDGED_CONTEXTS)
		at++;
	assert_true(at < judged.n && judged.list[at].is_headline);
	for (size_t i = 0; i < at; i++)
		assert_true(judged.list[i].class_index <= JUDGED_WORKING_BYTES);
	judged_free(&judged);
}

static void g1_slopes_three_ways_are_all_different_and_right(void **state)
{
	(void)state;
	judged_make(&judged, "g1", 1, 0, ANALYSIS_FINAL);
	const struct analysis_verdict *attempted = judged_on(&judged, JUDGED_WORKING_POOLS, ANALYSIS_ATTEMPTED);
	const struct analysis_verdict *linked = judged_on(&judged, JUDGED_WORKING_POOLS, ANALYSIS_LINKED);
	const struct analysis_verdict *timed = judged_on(&judged, JUDGED_WORKING_POOLS, ANALYSIS_TIMED);
	assert_near(linked->growth.slope, 1.0, 1e-9);
	assert_near(attempted->growth.slope, 127.0 / 261, 0.02);
	assert_true(attempted->growth.slope_low <= 127.0 / 261 && 127.0 / 261 <= attempted->growth.slope_high);
	assert_near(timed->growth.slope, 127.0 / 101, 0.02);
	assert_true(timed->growth.slope_low <= 127.0 / 101 && 127.0 / 101 <= timed->growth.slope_high);
	assert_true(linked->is_headline && !attempted->is_headline && !timed->is_headline);
	judged_free(&judged);
}

static void g1_explains_the_device_and_is_over_its_capacity_at_the_end(void **state)
{
	(void)state;
	judged_make(&judged, "g1", 1, 0, ANALYSIS_FINAL);
	const struct analysis_verdict *pools = judged_headline(&judged, JUDGED_WORKING_POOLS);
	assert_true(pools->share > 0.99 && pools->share <= 1 + 1e-9);
	assert_near(judged_headline(&judged, JUDGED_DEVICE_USED)->unexplained, 0, 1e-9);
	assert_true(isnan(pools->forecast));
	uint64_t used = 30201924812u + 9751756u, capacity = 12227ull << 20;
	assert_near((double)pools->over_by_bytes, (double)(used - capacity), 1 << 20);
	assert_non_null(strstr(sentence_of(JUDGED_WORKING_POOLS), "11.9 GiB reached, over by 16.2 GiB"));
	// Every linked candidate leaves a pool, whatever became of it.
	const struct analysis_by_outcome *split = &pools->by_outcome;
	assert_int_equal(split->blame, ANALYSIS_BLAME_MIXED);
	assert_near(split->growth[TELE_OUTCOME_DECLINED], 0, 1e-9);
	assert_near(split->growth[TELE_OUTCOME_DEDUPLICATED], 20, 1e-9);
	assert_near(split->growth[TELE_OUTCOME_LINK_FAILED], 4, 1e-9);
	assert_near(split->growth[TELE_OUTCOME_NON_DISPATCHABLE], 2, 1e-9);
	assert_near(split->growth[TELE_OUTCOME_TIMED] + split->growth[TELE_OUTCOME_KEPT], 101, 1e-9);
	assert_near(split->between, 0, 1e-9);
	judged_free(&judged);
}

static void g1_at_candidate_110_says_when_the_card_is_full(void **state)
{
	(void)state;
	judged_make(&judged, "g1", 1, 110, ANALYSIS_FINAL);
	const struct analysis_verdict *pools = judged_headline(&judged, JUDGED_WORKING_POOLS);
	assert_near(pools->forecast, 57, 3);
	assert_true(pools->forecast_low <= pools->forecast && pools->forecast <= pools->forecast_high);
	assert_true(pools->forecast_seconds > 20 && pools->forecast_seconds < 120);
	assert_int_equal(pools->over_by_bytes, 0);
	assert_string_equal(sentence_of(JUDGED_WORKING_POOLS),
			    "working pools grow: +1.00 per linked candidate, +99.6 MiB each (95 %: 98.1 to 103, "
			    "64 candidates), 100.0 % of device growth; 11.9 GiB reached in about 59 linked candidates");
	assert_string_equal(sentence_of(JUDGED_MODULES), "modules are bounded: 2 to 5 (110 candidates)");
	assert_string_equal(sentence_of(JUDGED_CONSTANT_BYTES), "constant bytes are flat: 9.30 MiB (110 candidates)");
	judged_free(&judged);
}

static void g1_live_names_pools_within_60_candidates_and_says_so_far(void **state)
{
	(void)state;
	judged_make(&judged, "g1", 1, 60, ANALYSIS_LIVE);
	assert_true(judged.turned_at_candidate[JUDGED_WORKING_POOLS] > 0);
	assert_int_equal(judged.turned_at_candidate[JUDGED_MODULES], 0);
	assert_int_equal(judged.list[0].class_index, JUDGED_WORKING_POOLS);
	assert_true(judged.list[0].is_so_far);
	assert_non_null(strstr(sentence_of(JUDGED_WORKING_POOLS), "working pools grow so far: +1.00 per linked candidate"));
	judged_free(&judged);
}

static void g2_the_search_after_the_fix_is_bounded_without_a_forecast(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		judged_make(&judged, "g2", seed, 0, ANALYSIS_FINAL);
		assert_nothing_grows();
		assert_int_equal(shape_of(JUDGED_WORKING_POOLS), ANALYSIS_BOUNDED);
		assert_true(judged_headline(&judged, JUDGED_WORKING_POOLS)->growth.low >= 4);
		assert_true(judged_headline(&judged, JUDGED_WORKING_POOLS)->growth.high <= 7);
		judged_free(&judged);
	}
}

static void g3_modules_grow_by_count_where_bytes_are_unknown(void **state)
{
	(void)state;
	judged_make(&judged, "g3", 1, 0, ANALYSIS_FINAL);
	const struct analysis_verdict *modules = judged_headline(&judged, JUDGED_MODULES);
	assert_int_equal(modules->growth.shape, ANALYSIS_GROWING);
	assert_near(modules->growth.slope, 1, 1e-9);
	assert_true(isnan(modules->each_bytes) && isnan(modules->share) && isnan(modules->forecast));
	assert_int_equal(judged.list[0].class_index, JUDGED_MODULES);
	assert_null(judged_headline(&judged, JUDGED_WORKING_BYTES));
	assert_int_equal(shape_of(JUDGED_CONTEXTS), ANALYSIS_FLAT);
	judged_free(&judged);
}

static void g4_one_step_at_the_first_candidate_is_one_time(void **state)
{
	(void)state;
	judged_make(&judged, "g4", 1, 0, ANALYSIS_FINAL);
	assert_nothing_grows();
	assert_int_equal(shape_of(JUDGED_WORKING_BYTES), ANALYSIS_ONE_TIME);
	assert_int_equal(shape_of(JUDGED_WORKING_POOLS), ANALYSIS_ONE_TIME);
	judged_free(&judged);
	judged_make(&judged, "g4", 1, 0, ANALYSIS_LIVE);
	assert_int_equal(judged.turned_at_candidate[JUDGED_WORKING_BYTES], 0);
	judged_free(&judged);
}

static void g5_a_saw_tooth_is_judged_by_its_floor(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 10; seed++) {
		judged_make(&judged, "g5a", seed, 0, ANALYSIS_FINAL);
		assert_nothing_grows();
		assert_int_equal(shape_of(JUDGED_WORKING_POOLS), ANALYSIS_BOUNDED);
		judged_free(&judged);

		judged_make(&judged, "g5b", seed, 0, ANALYSIS_FINAL);
		const struct analysis_verdict *pools = judged_headline(&judged, JUDGED_WORKING_POOLS);
		assert_int_equal(pools->growth.shape, ANALYSIS_GROWING);
		assert_near(pools->growth.slope, 1.0 / 40, 0.006); // +1 a tooth, not +1 a candidate
		judged_free(&judged);
	}
}

static void g6_plus_or_minus_one_pool_never_grows(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 200; seed++) {
		judged_make(&judged, "g6", seed, 0, ANALYSIS_LIVE);
		assert_nothing_grows();
		assert_int_equal(judged.turned_at_candidate[JUDGED_WORKING_POOLS], 0);
		judged_free(&judged);
		judged_make(&judged, "g6", seed, 0, ANALYSIS_FINAL);
		assert_nothing_grows();
		judged_free(&judged);
	}
}

static void g7_a_gauge_of_all_ones_is_in_no_verdict(void **state)
{
	(void)state;
	judged_make(&judged, "g7", 1, 0, ANALYSIS_FINAL);
	// Its two known rows before the first candidate are all there is.
	const struct analysis_verdict *device = judged_headline(&judged, JUDGED_DEVICE_USED);
	if (device) {
		assert_int_equal(device->growth.shape, ANALYSIS_NOT_ENOUGH_DATA);
		assert_true(device->growth.high < 1e12);
	}
	const struct analysis_verdict *pools = judged_headline(&judged, JUDGED_WORKING_POOLS);
	assert_int_equal(pools->growth.shape, ANALYSIS_GROWING);
	assert_true(isnan(pools->share) && isnan(pools->forecast) && pools->over_by_bytes == 0);
	assert_int_equal(pools->capacity_bytes, TELE_UNKNOWN);
	judged_free(&judged);
}

static void g8_past_the_capacity_says_over_by(void **state)
{
	(void)state;
	judged_make(&judged, "g8", 1, 0, ANALYSIS_FINAL);
	const struct analysis_verdict *pools = judged_headline(&judged, JUDGED_WORKING_POOLS);
	assert_near((double)pools->over_by_bytes, (6000.0 + 9.3 - 2048) * 1048576, 1 << 20);
	assert_true(isnan(pools->forecast));
	assert_non_null(strstr(sentence_of(JUDGED_WORKING_POOLS), "2.00 GiB reached, over by 3.87 GiB"));
	judged_free(&judged);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(g1_working_pools_come_first_then_contexts_and_modules_are_bounded),
		cmocka_unit_test(g1_slopes_three_ways_are_all_different_and_right),
		cmocka_unit_test(g1_explains_the_device_and_is_over_its_capacity_at_the_end),
		cmocka_unit_test(g1_at_candidate_110_says_when_the_card_is_full),
		cmocka_unit_test(g1_live_names_pools_within_60_candidates_and_says_so_far),
		cmocka_unit_test(g2_the_search_after_the_fix_is_bounded_without_a_forecast),
		cmocka_unit_test(g3_modules_grow_by_count_where_bytes_are_unknown),
		cmocka_unit_test(g4_one_step_at_the_first_candidate_is_one_time),
		cmocka_unit_test(g5_a_saw_tooth_is_judged_by_its_floor),
		cmocka_unit_test(g6_plus_or_minus_one_pool_never_grows),
		cmocka_unit_test(g7_a_gauge_of_all_ones_is_in_no_verdict),
		cmocka_unit_test(g8_past_the_capacity_says_over_by),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
