// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Points of a trace as text, and moving to them through a source.

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../monitor/cursor.h"
#include "support/mon_fixture.h"

static void points_are_candidates_or_times(void **state)
{
	static const struct {
		const char *text;
		bool is_candidate;
		uint64_t value; // candidate, or ns
	} cases[] = {
		{"61", true, 61},
		{"#61", true, 61},
		{"0", true, 0},
		{"67s", false, UINT64_C(67000000000)},
		{"67.5s", false, UINT64_C(67500000000)},
		{"0.000000001s", false, 1},
		{"1:07", false, UINT64_C(67000000000)},
		{"1:02:03", false, UINT64_C(3723000000000)},
		{"1:02:03.25", false, UINT64_C(3723250000000)},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct mon_at at;
		assert_int_equal(mon_at_parse(cases[i].text, &at, NULL), 0);
		assert_int_equal(at.is_candidate, cases[i].is_candidate);
		assert_int_equal(at.is_candidate ? at.candidate : at.offset_ns, cases[i].value);
	}
}

static void what_is_no_point_is_refused(void **state)
{
	static const char *const texts[] = {"",
					    "x",
					    "-1",
					    "1:",
					    "1:60",
					    "1:2:3:4",
					    "61x",
					    "#1s",
					    "1.5",
					    "s",
					    "1m",
					    "99999999999999999999",
					    "1s ",
					    "1::2",
					    "#",
					    "1:2s",
					    "9999999999999s"};
	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct mon_at at;
		assert_int_equal(mon_at_parse(texts[i], &at, NULL), TELE_ESYNTAX);
	}
}

// A source of one process: its instance, then `n_rows` rows a second apart, of
// which each is the end of a candidate.
struct rows_source {
	struct tele_source source;
	struct fixture *fixture;
	uint64_t told, n_rows;
};

static int rows_next(struct tele_source *source, struct tele_record *ret_record,
		     struct tele_error *ret_error)
{
	struct rows_source *rows = (struct rows_source *)source;
	(void)ret_error;
	if (rows->told > rows->n_rows)
		return 0;
	*ret_record = (struct tele_record){.kind = TELE_RECORD_INSTANCE,
					   .instance = &rows->fixture->instance};
	uint64_t n = rows->told++;
	if (n == 0)
		return 1;
	rows->fixture->row[0] = (n + 9) * UINT64_C(1000000000);
	fixture_set(rows->fixture, "search.candidates_attempted", n + 1);
	fixture_set(rows->fixture, "search.open_candidates", 1);
	ret_record->kind = TELE_RECORD_ROW;
	ret_record->seq = n;
	ret_record->row = rows->fixture->row;
	ret_record->n_fields = rows->fixture->instance.schema->n_fields;
	return 1;
}

static const struct tele_source_ops rows_ops = {.next = rows_next};

struct setting {
	struct rows_source rows;
	struct mon_model model;
	struct mon_cursor cursor;
};

static void start(struct setting *setting, uint64_t n_rows)
{
	setting->rows = (struct rows_source){
		.source = {.ops = &rows_ops}, .fixture = fixture_new(7, "rows"), .n_rows = n_rows};
	mon_model_init(&setting->model, MON_HISTORY_FULL);
	mon_cursor_init(&setting->cursor, &setting->rows.source, &setting->model);
}

static void stop(struct setting *setting)
{
	mon_model_fini(&setting->model);
	fixture_free(setting->rows.fixture);
}

static int go_to(struct setting *setting, const struct mon_target *target)
{
	return mon_cursor_go(&setting->cursor, target, NULL);
}

static int go(struct setting *setting, const char *text)
{
	struct mon_at at;
	assert_int_equal(mon_at_parse(text, &at, NULL), 0);
	return mon_cursor_to_point(&setting->cursor, &at, (struct mon_target){0}, NULL);
}

static void a_time_takes_in_every_row_up_to_it(void **state)
{
	struct setting setting;
	(void)state;
	start(&setting, 20);
	assert_int_equal(go(&setting, "4.5s"), 1);
	assert_int_equal(setting.cursor.position.n_rows, 5);
	assert_int_equal(setting.model.now_ns, UINT64_C(14000000000));
	assert_int_equal(go(&setting, "5s"), 1);
	assert_int_equal(setting.cursor.position.n_rows, 6);
	assert_int_equal(go(&setting, "99s"), 0);
	assert_int_equal(setting.cursor.position.n_rows, 20);
	assert_true(setting.cursor.is_ended);
	stop(&setting);
}

static void a_candidate_is_the_row_after_which_that_many_have_ended(void **state)
{
	struct setting setting;
	(void)state;
	start(&setting, 20);
	assert_int_equal(go(&setting, "7"), 1);
	assert_int_equal(setting.cursor.position.n_rows, 7);
	assert_int_equal(mon_process_ended(mon_model_find(&setting.model, 0x1007)), 7);
	assert_int_equal(go(&setting, "21"), 0);
	stop(&setting);
}

static void a_candidate_of_another_process_is_not_reached(void **state)
{
	struct setting setting;
	(void)state;
	start(&setting, 20);
	assert_int_equal(go_to(&setting, &(struct mon_target){MON_TARGET_CANDIDATE, 3, 0, "other"}), 0);
	stop(&setting);
}

static void rows_are_counted_from_the_start(void **state)
{
	struct setting setting;
	(void)state;
	start(&setting, 20);
	assert_int_equal(go_to(&setting, &(struct mon_target){MON_TARGET_ROW, 3, 0, NULL}), 1);
	assert_int_equal(setting.model.now_ns, UINT64_C(12000000000));
	assert_int_equal(go_to(&setting, &(struct mon_target){MON_TARGET_ROW, 21, 0, NULL}), 0);
	stop(&setting);
}

static void an_empty_source_is_at_its_end_everywhere(void **state)
{
	struct setting setting;
	(void)state;
	start(&setting, 0);
	assert_int_equal(go(&setting, "0s"), 0);
	assert_int_equal(go(&setting, "1"), 0);
	assert_int_equal(go_to(&setting, &(struct mon_target){MON_TARGET_END, 0, 0, NULL}), 0);
	stop(&setting);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(points_are_candidates_or_times),
		cmocka_unit_test(what_is_no_point_is_refused),
		cmocka_unit_test(a_time_takes_in_every_row_up_to_it),
		cmocka_unit_test(a_candidate_is_the_row_after_which_that_many_have_ended),
		cmocka_unit_test(a_candidate_of_another_process_is_not_reached),
		cmocka_unit_test(rows_are_counted_from_the_start),
		cmocka_unit_test(an_empty_source_is_at_its_end_everywhere),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
