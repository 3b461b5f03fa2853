// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The model: what records make of it, what it forgets, and what it never adds.

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "../monitor/model.h"
#include "support/mon_fixture.h"

static struct mon_model model;

static int start(void **state)
{
	(void)state;
	mon_model_init(&model, MON_HISTORY_FULL);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	mon_model_fini(&model);
	return 0;
}

static void time_is_the_newest_row_and_nothing_else(void **state)
{
	struct fixture *a = fixture_new(1, "a"), *b = fixture_new(2, "b");
	(void)state;
	fixture_tell(&model, a);
	fixture_tell(&model, b);
	fixture_row(&model, a, 9 * FIXTURE_S);
	fixture_row(&model, b, 5 * FIXTURE_S);
	assert_int_equal(model.now_ns, 9 * FIXTURE_S);
	assert_true(model.realtime_offset_ns != TELE_UNKNOWN);
	stop(NULL);
	start(NULL);
	fixture_free(a);
	fixture_free(b);
}

static void a_record_that_came_twice_is_taken_once(void **state)
{
	struct fixture *fixture = fixture_new(1, "a");
	(void)state;
	fixture_tell(&model, fixture);
	fixture_row(&model, fixture, 2 * FIXTURE_S);
	fixture_row(&model, fixture, 3 * FIXTURE_S);
	fixture->seq = 0;
	fixture_row(&model, fixture, 9 * FIXTURE_S);
	struct mon_process *process = mon_model_find(&model, 0x1001);
	assert_int_equal(process->n_history, 2);
	assert_int_equal(mon_process_latest(process)->at_ns, 3 * FIXTURE_S);
	stop(NULL);
	start(NULL);
	fixture_free(fixture);
}

static void history_is_bounded_and_exact_at_its_recent_end(void **state)
{
	struct fixture *fixture = fixture_new(1, "a");
	(void)state;
	fixture_tell(&model, fixture);
	for (uint64_t i = 1; i <= 10000; i++)
		fixture_row(&model, fixture, i * FIXTURE_S);
	struct mon_process *process = mon_model_find(&model, 0x1001);
	assert_true(process->n_history <= MON_HISTORY_FULL);
	assert_int_equal(process->n_rows, 10000);
	assert_int_equal(process->history[0].at_ns, FIXTURE_S);
	for (uint32_t i = 1; i < MON_HISTORY_FULL / 2; i++)
		assert_int_equal(process->history[process->n_history - i].at_ns,
				 (10001 - i) * FIXTURE_S);
	for (uint32_t i = 1; i < process->n_history; i++)
		assert_true(process->history[i].seq > process->history[i - 1].seq);
	stop(NULL);
	start(NULL);
	fixture_free(fixture);
}

static void counts_by_final_outcome_take_kept_out_of_timed(void **state)
{
	struct fixture *fixture = fixture_search(&model, 1, 82);
	struct mon_process *process = mon_model_find(&model, 0x1001);
	(void)state;
	assert_int_equal(mon_process_outcomes(process, TELE_OUTCOME_TIMED), 82 - 13 - 8);
	assert_int_equal(mon_process_outcomes(process, TELE_OUTCOME_KEPT), 8);
	assert_int_equal(mon_process_outcomes(process, TELE_OUTCOME_DECLINED), 82);
	assert_int_equal(mon_process_outcomes(process, TELE_OUTCOME_OPEN), 1);
	stop(NULL);
	start(NULL);
	fixture_free(fixture);
}

static void the_current_candidate_is_the_newest_open_one(void **state)
{
	struct fixture *fixture = fixture_new(1, "a");
	(void)state;
	fixture_tell(&model, fixture);
	fixture_event(&model, fixture, TELE_EVENT_CANDIDATE_BEGIN, 2 * FIXTURE_S, 1, 0, "first");
	fixture_event(&model, fixture, TELE_EVENT_CANDIDATE_BEGIN, 3 * FIXTURE_S, 2, 0, "second");
	fixture_event(&model, fixture, TELE_EVENT_CANDIDATE_END, 4 * FIXTURE_S, 2,
		      TELE_OUTCOME_FAILED, NULL);
	struct mon_process *process = mon_model_find(&model, 0x1001);
	assert_string_equal(mon_process_candidate(process)->label, "first");
	fixture_event(&model, fixture, TELE_EVENT_CANDIDATE_END, 5 * FIXTURE_S, 1,
		      TELE_OUTCOME_TIMED, NULL);
	fixture_event(&model, fixture, TELE_EVENT_CANDIDATE_END, 6 * FIXTURE_S, 1,
		      TELE_OUTCOME_KEPT, NULL);
	assert_string_equal(mon_process_candidate(process)->label, "second");
	assert_int_equal(process->candidates[0].outcome, TELE_OUTCOME_KEPT);
	assert_int_equal(process->n_candidates, 2);
	stop(NULL);
	start(NULL);
	fixture_free(fixture);
}

static void candidates_and_log_are_bounded(void **state)
{
	struct fixture *fixture = fixture_new(1, "a");
	(void)state;
	fixture_tell(&model, fixture);
	for (uint64_t i = 1; i <= 2000; i++) {
		fixture_event(&model, fixture, TELE_EVENT_CANDIDATE_END, i * FIXTURE_S, i, i % 9,
			      i == 2000 ? "last" : NULL);
		fixture_event(&model, fixture, TELE_EVENT_MARK, i * FIXTURE_S, 0, 0,
			      i == 2000 ? "mark" : NULL);
	}
	struct mon_process *process = mon_model_find(&model, 0x1001);
	assert_int_equal(process->n_candidates, 2000);
	assert_string_equal(mon_process_candidate(process)->label, "last");
	assert_string_equal(process->log[(process->n_log - 1) % MON_LOG_MAX].text, "mark");
	stop(NULL);
	start(NULL);
	fixture_free(fixture);
}

static void a_gap_is_logged_with_its_count(void **state)
{
	struct fixture *fixture = fixture_new(1, "a");
	struct tele_record record = {.kind = TELE_RECORD_GAP,
				     .instance = &fixture->instance,
				     .gap_from = 10,
				     .gap_to = 52};
	(void)state;
	fixture_tell(&model, fixture);
	fixture_row(&model, fixture, 2 * FIXTURE_S);
	fixture->instance.lost = 42;
	assert_int_equal(mon_model_apply(&model, &record), 0);
	struct mon_process *process = mon_model_find(&model, 0x1001);
	assert_int_equal(process->lost, 42);
	assert_int_equal(process->log[0].type, TELE_EVENT_GAP);
	assert_int_equal(process->log[0].value, 42);
	stop(NULL);
	start(NULL);
	fixture_free(fixture);
}

static void rates_come_from_the_rows_own_time(void **state)
{
	struct fixture *fixture = fixture_new(1, "a");
	(void)state;
	fixture_tell(&model, fixture);
	fixture_row(&model, fixture, 2 * FIXTURE_S);
	struct mon_process *process = mon_model_find(&model, 0x1001);
#define RATE mon_process_rate(process, TELE_ID_host_minor_faults, TELE_NO_INSTANCE)
	assert_true(RATE < 0);
	for (uint64_t i = 3; i < 40; i++) {
		fixture_set(fixture, "host.minor_faults", i * 1024);
		fixture_row(&model, fixture, i * FIXTURE_S);
	}
	assert_true(RATE > 999.9 && RATE < 1000.1);
	// A counter that fell, or a clock that stood, is no rate.
	fixture_set(fixture, "host.minor_faults", 5);
	fixture_row(&model, fixture, 41 * FIXTURE_S);
	assert_true(RATE < 0);
	fixture_set(fixture, "host.minor_faults", TELE_UNKNOWN);
	fixture_row(&model, fixture, 42 * FIXTURE_S);
	assert_true(RATE < 0);
#undef RATE
	stop(NULL);
	start(NULL);
	fixture_free(fixture);
}

// C2: the same PID again is another process; an exec is the same one.
static void identity_is_pid_start_and_boot(void **state)
{
	struct fixture *old = fixture_new(7, "sh"), *again = fixture_new(7, "sh");
	struct fixture *exec = fixture_new(7, "python3");
	(void)state;
	again->instance.identity.instance_id = 71;
	again->instance.identity.start_ticks++;
	exec->instance.identity.instance_id = 72;
	exec->instance.identity.created_at_ns++;
	fixture_tell(&model, old);
	fixture_row(&model, old, 2 * FIXTURE_S);
	fixture_tell(&model, again);
	fixture_state(&model, old, TELE_REPLACED);
	mon_model_settle(&model);
	struct mon_process *process = mon_model_find(&model, 0x1007);
	assert_false(process->is_superseded);
	assert_true(mon_process_is_listed(process));
	fixture_tell(&model, exec);
	mon_model_settle(&model);
	assert_true(process->is_superseded);
	assert_false(mon_process_is_listed(process));
	fixture_set(old, "census.contexts_created", 1);
	fixture_row(&model, old, 3 * FIXTURE_S);
	mon_model_settle(&model);
	assert_true(mon_process_is_listed(process));
	stop(NULL);
	start(NULL);
	fixture_free(old);
	fixture_free(again);
	fixture_free(exec);
}

static void select_prefers_pid_then_label_then_the_living_then_the_newest(void **state)
{
	struct fixture *dead = fixture_new(10, "tune"), *old = fixture_new(11, "tune");
	struct fixture *young = fixture_new(12, "tune"), *part = fixture_new(13, "tune 10");
	(void)state;
	young->instance.identity.created_at_ns += 5;
	fixture_tell(&model, young);
	fixture_tell(&model, dead);
	fixture_tell(&model, old);
	fixture_tell(&model, part);
	fixture_state(&model, dead, TELE_EXITED);
	assert_int_equal(mon_model_select(&model, "10")->identity.pid, 10);
	assert_int_equal(mon_model_select(&model, "tune")->identity.pid, 12);
	assert_int_equal(mon_model_select(&model, "une 1")->identity.pid, 13);
	assert_null(mon_model_select(&model, "nothing"));
	assert_null(mon_model_select(&model, ""));
	stop(NULL);
	start(NULL);
	fixture_free(dead);
	fixture_free(old);
	fixture_free(young);
	fixture_free(part);
}

static void an_instance_told_again_starts_over(void **state)
{
	struct fixture *fixture = fixture_search(&model, 1, 20);
	(void)state;
	fixture_tell(&model, fixture);
	struct mon_process *process = mon_model_find(&model, 0x1001);
	assert_int_equal(model.n_processes, 1);
	assert_int_equal(process->n_history, 0);
	assert_int_equal(process->n_candidates, 0);
	assert_null(mon_process_candidate(process));
	mon_model_settle(&model);
	stop(NULL);
	start(NULL);
	fixture_free(fixture);
}

static void a_copy_stands_still_while_the_model_goes_on(void **state)
{
	struct fixture *fixture = fixture_search(&model, 1, 20);
	struct mon_model copy;
	(void)state;
	mon_model_add_unreadable(&model, "path", "why");
	assert_int_equal(mon_model_copy(&model, &copy), 0);
	fixture_row(&model, fixture, 99 * FIXTURE_S);
	fixture_event(&model, fixture, TELE_EVENT_CANDIDATE_BEGIN, 99 * FIXTURE_S, 999, 0, "new");
	mon_model_settle(&copy);
	struct mon_process *process = mon_model_find(&copy, 0x1001);
	assert_int_equal(process->n_history, 20);
	assert_int_equal(mon_process_latest(process)->at_ns, 22 * FIXTURE_S);
	assert_string_not_equal(mon_process_candidate(process)->label, "new");
	mon_model_forget(&model, 0x1001);
	assert_non_null(mon_model_find(&copy, 0x1001));
	mon_model_fini(&copy);
	stop(NULL);
	start(NULL);
	fixture_free(fixture);
}

static void history_can_be_asked_for_later(void **state)
{
	struct fixture *fixture = fixture_new(1, "a");
	(void)state;
	model.history_max = MON_HISTORY_SHORT;
	fixture_tell(&model, fixture);
	for (uint64_t i = 1; i <= 100; i++)
		fixture_row(&model, fixture, i * FIXTURE_S);
	struct mon_process *process = mon_model_find(&model, 0x1001);
	assert_true(process->n_history <= MON_HISTORY_SHORT);
	assert_int_equal(mon_model_want_history(&model, 0x1001), 0);
	for (uint64_t i = 101; i <= 300; i++)
		fixture_row(&model, fixture, i * FIXTURE_S);
	assert_true(process->n_history > 200);
	stop(NULL);
	start(NULL);
	fixture_free(fixture);
}

static void what_was_told_of_a_class_stays_told(void **state)
{
	struct fixture *fixture = fixture_new(1, "a");
	(void)state;
	fixture_tell(&model, fixture);
	mon_model_find(&model, 0x1001)->told[0] = 5;
	fixture_tell(&model, fixture);
	assert_int_equal(mon_model_find(&model, 0x1001)->told[0], 5);
	stop(NULL);
	start(NULL);
	fixture_free(fixture);
}

static void an_unreadable_segment_is_a_change(void **state)
{
	(void)state;
	uint64_t n_changes = model.n_changes;
	mon_model_clear_unreadable(&model);
	assert_int_equal(model.n_changes, n_changes);
	assert_int_equal(mon_model_add_unreadable(&model, "a", "b"), 0);
	assert_true(model.n_changes > n_changes);
	n_changes = model.n_changes;
	mon_model_clear_unreadable(&model);
	assert_true(model.n_changes > n_changes);
}

static void foreign_numbers_out_of_range_change_nothing_else(void **state)
{
	struct fixture *fixture = fixture_new(1, "a");
	struct tele_record record = {.kind = TELE_RECORD_ROW, .instance = &fixture->instance};
	(void)state;
	fixture_tell(&model, fixture);
	record.seq = 1; // a row without fields
	assert_int_equal(mon_model_apply(&model, &record), 0);
	fixture_row(&model, fixture, TELE_UNKNOWN); // and one without a time
	fixture_event(&model, fixture, TELE_EVENT_CANDIDATE_END, 5, 1, UINT64_MAX, NULL);
	fixture_event(&model, fixture, 999, 5, 1, UINT64_MAX, NULL);
	mon_model_settle(&model);
	struct mon_process *process = mon_model_find(&model, 0x1001);
	assert_null(mon_process_latest(process));
	assert_int_equal(process->candidates[0].outcome, TELE_OUTCOME_FAILED);
	stop(NULL);
	start(NULL);
	fixture_free(fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(time_is_the_newest_row_and_nothing_else),
		cmocka_unit_test(a_record_that_came_twice_is_taken_once),
		cmocka_unit_test(history_is_bounded_and_exact_at_its_recent_end),
		cmocka_unit_test(counts_by_final_outcome_take_kept_out_of_timed),
		cmocka_unit_test(the_current_candidate_is_the_newest_open_one),
		cmocka_unit_test(candidates_and_log_are_bounded),
		cmocka_unit_test(a_gap_is_logged_with_its_count),
		cmocka_unit_test(rates_come_from_the_rows_own_time),
		cmocka_unit_test(identity_is_pid_start_and_boot),
		cmocka_unit_test(select_prefers_pid_then_label_then_the_living_then_the_newest),
		cmocka_unit_test(an_instance_told_again_starts_over),
		cmocka_unit_test(a_copy_stands_still_while_the_model_goes_on),
		cmocka_unit_test(history_can_be_asked_for_later),
		cmocka_unit_test(what_was_told_of_a_class_stays_told),
		cmocka_unit_test(an_unreadable_segment_is_a_change),
		cmocka_unit_test(foreign_numbers_out_of_range_change_nothing_else),
	};
	return cmocka_run_group_tests(tests, start, stop);
}
