// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The engine: live and replayed rows, axes, shares, forecasts, blame. What it
// does with rows that are missing or lie is in test_analysis_rows.c.

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support/engine.h"
#include "support/noise.h"

// Every number of a list to its last bit.
static void print_list(const struct analysis_verdict *verdicts, size_t n, char *buf, size_t size_bytes)
{
	size_t at = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < n; i++) {
		const struct analysis_verdict *v = &verdicts[i];
		const struct analysis_growth *g = &v->growth;
		at += (size_t)snprintf(buf + at, size_bytes - at,
				       "%u %u %d%d%d%d | %u %a %a %a %lu %a %a %a %a %a %a %a %a %a %u %u %lu | %a %lu %a %a | %a %a %a %a "
				       "%d %lu %lu | %a %a %a %a | %d %a",
				       v->class_index, v->axis, v->is_headline, v->is_so_far, v->is_covered, v->is_total,
				       g->shape, g->slope, g->slope_low, g->slope_high, g->points, g->window, g->low, g->high,
				       g->first, g->last, g->level_high, g->step_height, g->step_gap, g->from, g->n_gaps,
				       g->n_index_restarts, g->n_left_out, v->turned_at_s, v->turned_at_row, v->share,
				       v->unexplained, v->forecast, v->forecast_low, v->forecast_high, v->forecast_seconds,
				       v->forecast_is_bound, v->capacity_bytes, v->over_by_bytes, v->each_bytes,
				       v->each_low_bytes, v->each_high_bytes, v->each_window, v->by_outcome.blame,
				       v->by_outcome.between);
		for (unsigned outcome = 0; outcome < TELE_OUTCOME_COUNT; outcome++)
			at += (size_t)snprintf(buf + at, size_bytes - at, " %a", v->by_outcome.growth[outcome]);
		at += (size_t)snprintf(buf + at, size_bytes - at, "\n");
		assert_true(at < size_bytes);
	}
}

static void assert_same_lists(const struct analysis_verdict *a, const struct analysis_verdict *b, size_t n)
{
	static char of_a[65536], of_b[65536];

	print_list(a, n, of_a, sizeof(of_a));
	print_list(b, n, of_b, sizeof(of_b));
	assert_string_equal(of_a, of_b);
}

static void an_engine_refuses_classes_that_make_no_sense(void **state)
{
	static struct analysis_class many[ANALYSIS_CLASSES_MAX + 1];
	struct analysis_verdicts *none = NULL;
	struct analysis_class bad = classes[TOTAL];
	(void)state;
	assert_int_equal(analysis_verdicts_new(many, ANALYSIS_CLASSES_MAX + 1, &none), -EINVAL);
	bad.name[0] = '\0';
	assert_int_equal(analysis_verdicts_new(&bad, 1, &none), -EINVAL);
	bad = classes[TOTAL];
	bad.total_class = 1;
	assert_int_equal(analysis_verdicts_new(&bad, 1, &none), -EINVAL);
	bad.total_class = 0; // its own total
	assert_int_equal(analysis_verdicts_new(&bad, 1, &none), -EINVAL);
	memset(bad.name, 'x', sizeof(bad.name)); // no end
	bad.total_class = ANALYSIS_NO_CLASS;
	assert_int_equal(analysis_verdicts_new(&bad, 1, &none), -EINVAL);
	assert_null(none);
	analysis_verdicts_free(NULL);
}

static void an_engine_without_classes_or_rows_lists_nothing(void **state)
{
	struct analysis_verdicts *none;
	struct analysis_row empty = {.time_s = 1};
	(void)state;
	assert_int_equal(analysis_verdicts_new(NULL, 0, &none), 0);
	assert_int_equal(analysis_verdicts_row(none, &empty), 0);
	assert_int_equal(analysis_verdicts_list(none, ANALYSIS_FINAL, list, LIST_MAX), 0);
	analysis_verdicts_free(none);
	look(ANALYSIS_LIVE);
	assert_int_equal(n_listed, 0);
}

static void axes_have_the_names_of_the_rules(void **state)
{
	(void)state;
	assert_int_equal(analysis_axis_of("linked"), ANALYSIS_LINKED);
	assert_int_equal(analysis_axis_of("s"), ANALYSIS_TIME);
	assert_int_equal(analysis_axis_of("time"), ANALYSIS_TIME);
	assert_int_equal(analysis_axis_of("parsec"), -1);
	assert_string_equal(analysis_axis_name(ANALYSIS_KEPT), "kept");
	assert_string_equal(analysis_axis_name(99), "?");
}

// Two engines, the same rows: after each row the same verdicts, bit for bit.
static void the_same_rows_give_the_same_verdicts_and_turn_at_the_same_row(void **state)
{
	static struct analysis_verdict again[LIST_MAX];
	struct analysis_verdicts *replay, *added;
	struct series_rng rng;
	bool has_turned = false;
	(void)state;
	assert_int_equal(analysis_verdicts_new(classes, CLASSES, &replay), 0);
	assert_int_equal(analysis_verdicts_new(classes, CLASSES, &added), 0);
	series_seed(&rng, 9);
	for (unsigned i = 0; i < 400; i++) {
		row.time_s += series_uniform(&rng);
		row.boundary = i % 2 ? ANALYSIS_CANDIDATE_END : ANALYSIS_CANDIDATE_BEGIN;
		row.is_inside = !(i % 2);
		row.outcome = i % 3 ? TELE_OUTCOME_TIMED : TELE_OUTCOME_DECLINED;
		values[POOLS] += series_uniform(&rng) < 0.3;
		values[BYTES] = (values[POOLS] << 20) + (uint64_t)(1000 * series_uniform(&rng));
		values[OTHER] = 1000000 + (uint64_t)(5000 * series_uniform(&rng));
		values[TOTAL] = values[BYTES] + values[OTHER];
		unsigned turned = analysis_verdicts_row(engine, &row);
		assert_int_equal(analysis_verdicts_row(replay, &row), turned);
		analysis_verdicts_add(added, &row);
		has_turned |= turned > 0;
		look(ANALYSIS_LIVE);
		assert_int_equal(analysis_verdicts_list(replay, ANALYSIS_LIVE, again, LIST_MAX), n_listed);
		assert_same_lists(list, again, n_listed);
	}
	assert_true(has_turned);
	assert_true(headline(POOLS)->turned_at_row > 0 && headline(POOLS)->turned_at_s > 0);
	look(ANALYSIS_FINAL);
	analysis_verdicts_list(replay, ANALYSIS_FINAL, again, LIST_MAX);
	assert_same_lists(list, again, n_listed);
	// A whole run that was only added looks the same at its end, but that it
	// never turned.
	analysis_verdicts_list(added, ANALYSIS_FINAL, again, LIST_MAX);
	for (size_t i = 0; i < n_listed; i++) {
		again[i].turned_at_row = list[i].turned_at_row;
		again[i].turned_at_s = list[i].turned_at_s;
	}
	assert_same_lists(list, again, n_listed);
	analysis_verdicts_free(replay);
	analysis_verdicts_free(added);
}

static void looking_changes_nothing(void **state)
{
	static struct analysis_verdict again[LIST_MAX];
	(void)state;
	for (unsigned i = 0; i < 100; i++)
		candidate(TELE_OUTCOME_TIMED, i % 2);
	look(ANALYSIS_LIVE);
	analysis_verdicts_list(engine, ANALYSIS_FINAL, again, LIST_MAX);
	analysis_verdicts_list(engine, ANALYSIS_LIVE, again, LIST_MAX);
	assert_same_lists(list, again, n_listed);
}

static void shares_of_parts_and_the_unexplained_make_the_whole(void **state)
{
	struct series_rng rng;
	(void)state;
	series_seed(&rng, 4);
	for (unsigned i = 0; i < 300; i++) {
		send(ANALYSIS_CANDIDATE_BEGIN, 0);
		values[BYTES] += 3 << 20;
		values[POOLS] += 1;
		values[OTHER] += 1 << 20;
		row.time_s += 0.1;
		row.boundary = ANALYSIS_CANDIDATE_END;
		row.outcome = TELE_OUTCOME_TIMED;
		row.is_inside = false;
		values[TOTAL] = values[BYTES] + values[OTHER] + (uint64_t)i * 500000 + (uint64_t)(4e5 * series_uniform(&rng));
		analysis_verdicts_row(engine, &row);
	}
	look(ANALYSIS_FINAL);
	double total = 4.0 * 1048576 + 500000;
	assert_near(headline(BYTES)->share, 3.0 * 1048576 / total, 0.01);
	assert_near(headline(OTHER)->share, 1.0 * 1048576 / total, 0.01);
	assert_near(headline(BYTES)->share + headline(OTHER)->share + headline(TOTAL)->unexplained, 1, 1e-12);
	assert_true(headline(POOLS)->share == headline(BYTES)->share);
	assert_true(headline(BYTES)->is_covered && !headline(OTHER)->is_covered);
	assert_int_equal(list[0].class_index, POOLS);
	assert_true(headline(TOTAL)->is_total);
}

static void the_axis_that_leaks_is_the_headline(void **state)
{
	(void)state;
	struct series_rng rng;
	series_seed(&rng, 8);
	for (unsigned i = 0; i < 300; i++) {
		bool timed = series_uniform(&rng) < 0.4;
		candidate(timed ? TELE_OUTCOME_TIMED : TELE_OUTCOME_DECLINED, timed);
	}
	look(ANALYSIS_FINAL);
	// Linked and timed are the same candidates here.
	assert_true(headline(POOLS)->axis == ANALYSIS_LINKED || headline(POOLS)->axis == ANALYSIS_TIMED);
	assert_near(headline(POOLS)->growth.slope, 1, 1e-9);
	assert_true(headline(BYTES)->axis == headline(POOLS)->axis);
	assert_int_equal(headline(POOLS)->by_outcome.blame, TELE_OUTCOME_TIMED);
	assert_near(headline(POOLS)->by_outcome.growth[TELE_OUTCOME_DECLINED], 0, 1e-9);
}

static void a_leak_of_failed_candidates_is_blamed_on_them(void **state)
{
	char sentence[ANALYSIS_SENTENCE_MAX];
	struct series_rng rng;
	(void)state;
	series_seed(&rng, 12);
	for (unsigned i = 0; i < 200; i++) {
		bool failed = series_uniform(&rng) < 0.25;
		candidate(failed ? TELE_OUTCOME_FAILED : TELE_OUTCOME_TIMED, failed);
	}
	look(ANALYSIS_FINAL);
	assert_int_equal(list[0].class_index, POOLS);
	assert_int_equal(headline(POOLS)->by_outcome.blame, TELE_OUTCOME_FAILED);
	analysis_sentence(engine, headline(POOLS), sentence, sizeof(sentence));
	assert_non_null(strstr(sentence, "after failed candidates only"));
}

static void a_leak_between_candidates_is_blamed_on_none(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 200; i++) {
		candidate(i % 3 ? TELE_OUTCOME_TIMED : TELE_OUTCOME_DECLINED, 0);
		values[POOLS] += 1;
		values[BYTES] += 1 << 20;
		send(ANALYSIS_NO_BOUNDARY, 0);
	}
	look(ANALYSIS_FINAL);
	assert_int_equal(headline(POOLS)->by_outcome.blame, ANALYSIS_BLAME_BETWEEN);
	assert_near(headline(POOLS)->by_outcome.between, 200, 1e-9);
}

static void a_forecast_needs_growth_and_a_capacity(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 100; i++)
		candidate(TELE_OUTCOME_TIMED, 1);
	look(ANALYSIS_FINAL);
	assert_true(isnan(headline(POOLS)->forecast));
	analysis_verdicts_set_capacity(engine, TOTAL, 150ull << 20);
	look(ANALYSIS_FINAL);
	assert_near(headline(POOLS)->forecast, 50, 1);
	assert_near(headline(POOLS)->forecast_seconds, 50 * 0.2, 0.5);
	assert_near(headline(TOTAL)->forecast, 50, 1);
	assert_true(isnan(headline(OTHER)->forecast));
	// Too far to say: more than twenty windows.
	analysis_verdicts_set_capacity(engine, TOTAL, 1ull << 50);
	look(ANALYSIS_FINAL);
	assert_true(headline(POOLS)->forecast_is_bound);
	assert_near(headline(POOLS)->forecast, 2000, 25);
	// A capacity of the class itself goes before that of its total.
	analysis_verdicts_set_capacity(engine, BYTES, 110ull << 20);
	look(ANALYSIS_FINAL);
	assert_near(headline(POOLS)->forecast, 10, 1);
	assert_near(headline(BYTES)->forecast, 10, 1);
	analysis_verdicts_set_capacity(engine, BYTES, 60ull << 20);
	look(ANALYSIS_FINAL);
	assert_int_equal(headline(POOLS)->over_by_bytes, 40ull << 20);
	assert_true(isnan(headline(POOLS)->forecast));
}

static void a_first_tooth_is_called_so_far_and_taken_back(void **state)
{
	bool was_growing = false;
	(void)state;
	for (unsigned i = 0; i < 300; i++) {
		values[BYTES] = (uint64_t)(i % 40) << 20;
		values[POOLS] = i % 40;
		candidate(TELE_OUTCOME_TIMED, 0);
		look(ANALYSIS_LIVE);
		if (analysis_shape_grows(headline(POOLS)->growth.shape)) {
			was_growing = true;
			assert_true(headline(POOLS)->is_so_far);
		}
	}
	assert_true(was_growing);
	assert_int_equal(headline(POOLS)->growth.shape, ANALYSIS_BOUNDED);
	assert_false(headline(POOLS)->is_so_far);
	assert_int_equal(headline(POOLS)->turned_at_row, 0);
}

static void names_of_the_program_stay_as_they_are(void **state)
{
	const struct analysis_class own = {.name = "app.queue_len",
					   .unit = TELE_COUNT,
					   .bytes_class = ANALYSIS_NO_CLASS,
					   .total_class = ANALYSIS_NO_CLASS};
	uint64_t five = 5;
	struct analysis_verdict verdict;
	char sentence[ANALYSIS_SENTENCE_MAX];
	(void)state;
	analysis_verdicts_free(engine);
	assert_int_equal(analysis_verdicts_new(&own, 1, &engine), 0);
	row.values = &five;
	for (unsigned i = 0; i < 3; i++) {
		row.time_s += 1;
		analysis_verdicts_row(engine, &row);
	}
	assert_int_equal(analysis_verdicts_list(engine, ANALYSIS_LIVE, &verdict, 1), 1);
	analysis_sentence(engine, &verdict, sentence, sizeof(sentence));
	assert_non_null(strstr(sentence, "app.queue_len: "));
}

static void a_sentence_fits_any_buffer(void **state)
{
	char whole[ANALYSIS_SENTENCE_MAX], part[ANALYSIS_SENTENCE_MAX];
	(void)state;
	analysis_verdicts_set_capacity(engine, TOTAL, 150ull << 20);
	for (unsigned i = 0; i < 100; i++)
		candidate(TELE_OUTCOME_TIMED, 1);
	look(ANALYSIS_FINAL);
	size_t len = analysis_sentence(engine, headline(POOLS), whole, sizeof(whole));
	assert_int_equal(strlen(whole), len);
	for (size_t size = 0; size <= len + 1; size++) {
		memset(part, 'x', sizeof(part));
		assert_int_equal(analysis_sentence(engine, headline(POOLS), part, size), len);
		if (size > 0) {
			assert_int_equal(strlen(part), size - 1 < len ? size - 1 : len);
			assert_memory_equal(part, whole, size - 1);
		}
		assert_int_equal(part[size], 'x');
	}
}

static void a_list_that_is_too_short_is_cut_not_overrun(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 100; i++)
		candidate(TELE_OUTCOME_TIMED, 1);
	for (size_t max = 0; max < 12; max++) {
		memset(list, 0x55, sizeof(list));
		assert_int_equal(analysis_verdicts_list(engine, ANALYSIS_FINAL, list, max), max);
		assert_int_equal(*(unsigned char *)&list[max], 0x55);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_engine_refuses_classes_that_make_no_sense),
		WITH_ENGINE(an_engine_without_classes_or_rows_lists_nothing),
		cmocka_unit_test(axes_have_the_names_of_the_rules),
		WITH_ENGINE(the_same_rows_give_the_same_verdicts_and_turn_at_the_same_row),
		WITH_ENGINE(looking_changes_nothing),
		WITH_ENGINE(shares_of_parts_and_the_unexplained_make_the_whole),
		WITH_ENGINE(the_axis_that_leaks_is_the_headline),
		WITH_ENGINE(a_leak_of_failed_candidates_is_blamed_on_them),
		WITH_ENGINE(a_leak_between_candidates_is_blamed_on_none),
		WITH_ENGINE(a_forecast_needs_growth_and_a_capacity),
		WITH_ENGINE(a_first_tooth_is_called_so_far_and_taken_back),
		WITH_ENGINE(names_of_the_program_stay_as_they_are),
		WITH_ENGINE(a_sentence_fits_any_buffer),
		WITH_ENGINE(a_list_that_is_too_short_is_cut_not_overrun),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
