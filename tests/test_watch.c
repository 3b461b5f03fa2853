// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// From records to verdicts: boundaries, gaps, a schema that grows, limits.

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../analysis/watch.h"
#include "support/mon_fixture.h"

#define MIB UINT64_C(1048576)

static struct fixture *fixture;
static struct analysis_watch *watch;
static struct analysis_limits limits;
static struct analysis_verdict *list;
static int n_listed;
static uint64_t at_ns, n_attempted, n_pools;

static int start(void **state)
{
	(void)state;
	fixture = fixture_new(1, "a");
	analysis_limits_init(&limits);
	watch = analysis_watch_new(ANALYSIS_LIVE, &limits);
	list = NULL;
	at_ns = FIXTURE_S;
	n_attempted = n_pools = 0;
	return 0;
}

static int stop(void **state)
{
	(void)state;
	free(list);
	analysis_watch_free(watch);
	fixture_free(fixture);
	return 0;
}

static void take_row(void)
{
	struct tele_record record = {
		.kind = TELE_RECORD_ROW,
		.instance = &fixture->instance,
		.seq = fixture->seq++,
		.row = fixture->row,
		.n_fields = fixture->instance.schema->n_fields,
	};
	fixture->row[0] = at_ns;
	at_ns += FIXTURE_S / 4;
	assert_true(analysis_watch_take(watch, &record) >= 0);
}

static void take_event(uint32_t type, uint64_t subject, uint64_t value)
{
	struct tele_record record = {
		.kind = TELE_RECORD_EVENT,
		.instance = &fixture->instance,
		.seq = fixture->seq++,
		.event = {.type = type, .at_ns = at_ns, .subject = subject, .value = value},
	};
	assert_int_equal(analysis_watch_take(watch, &record), 0);
}

static void take_gap(uint64_t n_lost)
{
	struct tele_record record = {
		.kind = TELE_RECORD_GAP,
		.instance = &fixture->instance,
		.gap_from = fixture->seq,
		.gap_to = fixture->seq + n_lost,
	};
	fixture->seq += n_lost;
	assert_int_equal(analysis_watch_take(watch, &record), 0);
}

static void set_search(uint64_t n_open)
{
	fixture_set(fixture, "search.candidates_attempted", n_attempted);
	fixture_set(fixture, "search.candidates_linked", n_attempted);
	fixture_set(fixture, "search.open_candidates", n_open);
	fixture_set(fixture, "census.live_working_pools", n_pools);
	fixture_set(fixture, "census.live_working_bytes", n_pools * 10 * MIB);
}

// A candidate that leaves `n_left` pools; with `is_late` it gives its own back
// only after its end.
static void candidate(unsigned outcome, uint64_t n_left, bool is_late)
{
	n_attempted++;
	set_search(1);
	take_event(TELE_EVENT_CANDIDATE_BEGIN, n_attempted, 0);
	take_row();
	n_pools += is_late ? 1 : n_left;
	set_search(0);
	take_event(TELE_EVENT_CANDIDATE_END, n_attempted, outcome);
	take_row();
	if (is_late)
		n_pools -= 1 - n_left;
	set_search(0);
	take_row();
}

static const struct analysis_verdict *headline(const char *name)
{
	free(list);
	n_listed = analysis_watch_list(watch, &list);
	assert_true(n_listed >= 0);
	for (int i = 0; i < n_listed; i++)
		if (list[i].is_headline &&
		    strcmp(analysis_verdicts_class(analysis_watch_engine(watch), list[i].class_index)->name, name) == 0)
			return &list[i];
	return NULL;
}

static void nothing_is_made_before_there_is_something_to_judge(void **state)
{
	(void)state;
	take_row();
	take_row();
	assert_null(analysis_watch_engine(watch));
	assert_int_equal(analysis_watch_list(watch, &list), 0);
	fixture_set(fixture, "host.rss_bytes", MIB);
	take_row();
	assert_non_null(analysis_watch_engine(watch));
	assert_non_null(headline("rss_bytes"));
	assert_null(headline("working_pools"));
}

static void a_leak_is_named_and_a_beginning_is_no_step(void **state)
{
	(void)state;
	for (int i = 0; i < 30; i++)
		candidate(TELE_OUTCOME_TIMED, 1, false);
	const struct analysis_verdict *verdict = headline("working_pools");
	assert_int_equal(verdict->growth.shape, ANALYSIS_GROWING);
	assert_true(fabs(verdict->growth.slope - 1) < 1e-9);
	assert_true(fabs(verdict->each_bytes - 10.0 * (double)MIB) < 1);
	assert_int_equal(list[0].class_index, verdict->class_index);
	// A judgement while a candidate is open does not take it back.
	n_attempted++;
	set_search(1);
	take_event(TELE_EVENT_CANDIDATE_BEGIN, n_attempted, 0);
	for (int i = 0; i < 50; i++)
		take_row();
	assert_int_equal(headline("working_pools")->growth.shape, ANALYSIS_GROWING);
}

static void what_is_given_back_behind_the_end_was_the_candidates(void **state)
{
	(void)state;
	for (int i = 0; i < 60; i++)
		candidate(i % 5 == 2 ? TELE_OUTCOME_FAILED : TELE_OUTCOME_TIMED, i % 5 == 2, true);
	const struct analysis_verdict *verdict = headline("working_pools");
	assert_int_equal(verdict->growth.shape, ANALYSIS_GROWING);
	assert_int_equal(verdict->by_outcome.blame, TELE_OUTCOME_FAILED);
	assert_true(fabs(verdict->by_outcome.growth[TELE_OUTCOME_FAILED] - 12) < 1e-9);
	assert_true(fabs(verdict->by_outcome.growth[TELE_OUTCOME_TIMED]) < 1e-9);
}

static void a_candidate_that_ends_again_is_no_other_one(void **state)
{
	(void)state;
	for (int i = 0; i < 10; i++)
		candidate(TELE_OUTCOME_TIMED, 1, false);
	take_event(TELE_EVENT_CANDIDATE_END, 3, TELE_OUTCOME_KEPT);
	take_row();
	assert_int_equal(analysis_verdicts_outcomes(analysis_watch_engine(watch))->n_ends, 10);
}

static void a_boundary_whose_row_is_lost_is_none(void **state)
{
	(void)state;
	candidate(TELE_OUTCOME_TIMED, 1, false);
	take_event(TELE_EVENT_CANDIDATE_END, 9, TELE_OUTCOME_FAILED);
	take_gap(1);
	take_row();
	assert_int_equal(analysis_verdicts_outcomes(analysis_watch_engine(watch))->n_ends, 1);
}

static void a_gap_is_never_a_slope(void **state)
{
	(void)state;
	for (int i = 0; i < 20; i++)
		candidate(TELE_OUTCOME_TIMED, 0, false);
	take_gap(5000);
	n_pools += 500;
	n_attempted += 500;
	for (int i = 0; i < 20; i++)
		candidate(TELE_OUTCOME_TIMED, 0, false);
	const struct analysis_verdict *verdict = headline("working_pools");
	assert_false(analysis_shape_grows(verdict->growth.shape));
	assert_int_equal(verdict->growth.n_gaps, 1);
}

static void a_class_that_comes_later_loses_nothing_of_the_others(void **state)
{
	(void)state;
	for (int i = 0; i < 20; i++)
		candidate(TELE_OUTCOME_TIMED, 1, false);
	fixture_add_app(fixture, "queue", TELE_GAUGE, TELE_COUNT);
	fixture_add_device(fixture, 0);
	for (int i = 0; i < 40; i++) {
		fixture_set(fixture, "app.queue", (uint64_t)i);
		candidate(TELE_OUTCOME_TIMED, 1, false);
	}
	assert_int_equal(headline("working_pools")->growth.points > 50, 1);
	assert_int_equal(headline("app.queue")->growth.shape, ANALYSIS_GROWING);
}

static void an_instance_told_again_starts_over(void **state)
{
	(void)state;
	for (int i = 0; i < 30; i++)
		candidate(TELE_OUTCOME_TIMED, 1, false);
	struct tele_record record = {.kind = TELE_RECORD_INSTANCE, .instance = &fixture->instance};
	assert_int_equal(analysis_watch_take(watch, &record), 0);
	assert_null(analysis_watch_engine(watch));
	candidate(TELE_OUTCOME_TIMED, 1, false);
	assert_int_equal(headline("working_pools")->growth.shape, ANALYSIS_NOT_ENOUGH_DATA);
}

// What both say of every class, to the last digit.
static void assert_same_verdicts(const struct analysis_watch *a, const struct analysis_watch *b)
{
	struct analysis_verdict *of_a, *of_b;
	int n = analysis_watch_list(a, &of_a);
	assert_true(n > 0);
	assert_int_equal(analysis_watch_list(b, &of_b), n);
	for (int i = 0; i < n; i++) {
		assert_int_equal(of_a[i].class_index, of_b[i].class_index);
		assert_int_equal(of_a[i].axis, of_b[i].axis);
		assert_memory_equal(&of_a[i].growth, &of_b[i].growth, sizeof(of_a[i].growth));
		assert_int_equal(of_a[i].turned_at_row, of_b[i].turned_at_row);
	}
	free(of_a);
	free(of_b);
}

static void a_copy_goes_on_with_the_same_answers(void **state)
{
	(void)state;
	assert_non_null(watch);
	struct analysis_watch *empty = analysis_watch_copy(watch);
	assert_non_null(empty);
	assert_null(analysis_watch_engine(empty));
	analysis_watch_free(empty);
	for (int i = 0; i < 20; i++)
		candidate(TELE_OUTCOME_TIMED, i % 3 == 0, false);
	struct analysis_watch *copy = analysis_watch_copy(watch), *first = watch;
	assert_same_verdicts(watch, copy);
	uint64_t seq = fixture->seq, was_at_ns = at_ns, attempted = n_attempted, pools = n_pools;
	for (int i = 0; i < 200; i++)
		candidate(TELE_OUTCOME_TIMED, 1, false);
	take_gap(3);
	candidate(TELE_OUTCOME_FAILED, 0, true);
	fixture->seq = seq;
	at_ns = was_at_ns;
	n_attempted = attempted;
	n_pools = pools;
	watch = copy;
	for (int i = 0; i < 200; i++)
		candidate(TELE_OUTCOME_TIMED, 1, false);
	take_gap(3);
	candidate(TELE_OUTCOME_FAILED, 0, true);
	assert_same_verdicts(first, copy);
	analysis_watch_free(first);
}

static void grow(const char *capacity)
{
	if (capacity) {
		analysis_watch_free(watch);
		assert_int_equal(analysis_limits_add(&limits, capacity), 0);
		watch = analysis_watch_new(ANALYSIS_LIVE, &limits);
	}
	for (int i = 0; i < 30; i++)
		candidate(TELE_OUTCOME_TIMED, 1, false);
}

static void without_a_limit_there_is_no_forecast(void **state)
{
	(void)state;
	grow(NULL);
	assert_true(isnan(headline("working_pools")->forecast));
}

static void the_limit_of_a_device_that_tells_nothing_holds_for_its_pools(void **state)
{
	(void)state;
	grow("device=500MiB");
	const struct analysis_verdict *verdict = headline("working_pools");
	assert_int_equal(verdict->capacity_bytes, 500 * MIB);
	assert_true(fabs(verdict->forecast - 20) < 0.5);
}

static void what_the_device_tells_goes_before_what_a_person_says(void **state)
{
	(void)state;
	fixture_add_device(fixture, 0);
	fixture_set(fixture, "device[0].total_bytes", 400 * MIB);
	grow("device=500MiB");
	assert_int_equal(headline("working_pools")->capacity_bytes, 400 * MIB);
}

static void a_host_class_has_the_smaller_of_cgroup_and_machine(void **state)
{
	(void)state;
	analysis_watch_free(watch);
	limits.machine_bytes = 8000 * MIB;
	limits.boot_id[0] = fixture->instance.identity.boot_id[0];
	limits.boot_id[1] = fixture->instance.identity.boot_id[1];
	watch = analysis_watch_new(ANALYSIS_LIVE, &limits);
	for (uint64_t i = 0; i < 100; i++) {
		fixture_set(fixture, "host.rss_bytes", (100 + 10 * i) * MIB);
		take_row();
	}
	assert_int_equal(headline("rss_bytes")->capacity_bytes, 8000 * MIB);
	fixture_set(fixture, "host.cgroup_max_bytes", 2000 * MIB);
	take_row();
	assert_int_equal(headline("rss_bytes")->capacity_bytes, 2000 * MIB);
	// Rows of another boot may be of another machine.
	fixture_set(fixture, "host.cgroup_max_bytes", TELE_UNKNOWN);
	fixture->instance.identity.boot_id[0]++;
	take_row();
	assert_true(headline("rss_bytes")->capacity_bytes == TELE_UNKNOWN);
}

static void sizes_are_parsed_whole_or_refused(void **state)
{
	static const char *const bad[] = {"", "x", "1X", "1MiBs", "-1", "1 MiB", "1e30T", "MiB", "1MB", "nan"};
	uint64_t bytes = 7;
	(void)state;
	for (size_t i = 0; i < TELE_ARRAY_LEN(bad); i++)
		assert_int_equal(analysis_size_parse(bad[i], &bytes), -22);
	assert_int_equal(bytes, 7);
	assert_int_equal(analysis_size_parse("12227MiB", &bytes), 0);
	assert_int_equal(bytes, 12227 * MIB);
	assert_int_equal(analysis_size_parse("1.5G", &bytes), 0);
	assert_int_equal(bytes, 1536 * MIB);
	assert_int_equal(analysis_size_parse("42", &bytes), 0);
	assert_int_equal(bytes, 42);
	assert_int_equal(analysis_limits_add(&limits, "=1"), -22);
	assert_int_equal(analysis_limits_add(&limits, "device"), -22);
	for (int i = 0; i < ANALYSIS_LIMITS_MAX; i++)
		assert_int_equal(analysis_limits_add(&limits, "device=1K"), 0);
	assert_int_equal(analysis_limits_add(&limits, "device=1K"), -28);
}

#define WATCHED(test) cmocka_unit_test_setup_teardown(test, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WATCHED(nothing_is_made_before_there_is_something_to_judge),
		WATCHED(a_leak_is_named_and_a_beginning_is_no_step),
		WATCHED(what_is_given_back_behind_the_end_was_the_candidates),
		WATCHED(a_candidate_that_ends_again_is_no_other_one),
		WATCHED(a_boundary_whose_row_is_lost_is_none),
		WATCHED(a_gap_is_never_a_slope),
		WATCHED(a_class_that_comes_later_loses_nothing_of_the_others),
		WATCHED(an_instance_told_again_starts_over),
		WATCHED(a_copy_goes_on_with_the_same_answers),
		WATCHED(without_a_limit_there_is_no_forecast),
		WATCHED(the_limit_of_a_device_that_tells_nothing_holds_for_its_pools),
		WATCHED(what_the_device_tells_goes_before_what_a_person_says),
		WATCHED(a_host_class_has_the_smaller_of_cgroup_and_machine),
		WATCHED(sizes_are_parsed_whole_or_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
