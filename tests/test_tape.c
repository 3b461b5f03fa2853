// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A tape tells again what it was told: rows of a growing schema, events with
// their texts, states and losses as they were then, from any place.

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "../monitor/tape.h"
#include "support/mon_fixture.h"
#include "support/random.h"

#define RECORDS	   3000
#define FIELDS_MAX 60

struct told {
	struct tele_record record;
	uint64_t row[FIELDS_MAX];
	enum tele_state state;
	uint64_t lost;
	char text[32];
};

static struct told written[RECORDS];

static void add_any(struct test_random *random, struct mon_tape *tape, struct fixture *fixture, struct told *told,
		    const struct told *before)
{
	static const enum tele_state states[] = {TELE_LIVE, TELE_STALE, TELE_KILLED};
	struct tele_record *record = &told->record;
	uint64_t dice = test_random_below(random, 20);
	if (dice == 0)
		fixture->instance.state = states[test_random_below(random, 3)];
	if (dice == 1)
		fixture->instance.lost += test_random_below(random, 100);
	*record = (struct tele_record){.kind = TELE_RECORD_STATE, .instance = &fixture->instance};
	memcpy(told->row, before->row, sizeof(told->row));
	told->text[0] = '\0';
	if (dice == 2) {
		record->kind = TELE_RECORD_GAP;
		record->gap_from = fixture->seq + 1;
		fixture->seq += test_random_below(random, 50);
		record->gap_to = fixture->seq + 1;
	} else if (dice < 6) {
		record->kind = TELE_RECORD_EVENT;
		record->seq = ++fixture->seq;
		snprintf(told->text, sizeof(told->text), "text %d", (int)test_random_below(random, 99));
		record->event = (struct tele_event){.seq = record->seq,
						    .at_ns = test_random_next(random) >> 10,
						    .subject = test_random_next(random),
						    .value = test_random_next(random),
						    .string_id = dice == 3 ? fixture_string(fixture, told->text) : 0,
						    .type = (uint32_t)test_random_below(random, 14)};
	} else if (dice > 6) {
		record->kind = TELE_RECORD_ROW;
		record->seq = ++fixture->seq;
		record->n_fields = before->record.n_fields + (test_random_below(random, 40) == 0);
		record->n_fields = record->n_fields < 5 ? 5 : record->n_fields > FIELDS_MAX ? FIELDS_MAX : record->n_fields;
		for (int i = 0; i < 5; i++)
			told->row[test_random_below(random, record->n_fields)] =
				test_random_below(random, 4) ? test_random_next(random) >> test_random_below(random, 64)
							     : TELE_UNKNOWN;
		record->row = told->row;
	}
	if (record->kind != TELE_RECORD_ROW)
		record->n_fields = before->record.n_fields;
	told->state = fixture->instance.state;
	told->lost = fixture->instance.lost;
	assert_int_equal(mon_tape_add(tape, record), 0);
}

static void assert_same(const struct tele_record *record, const struct mon_told *also, const struct told *told)
{
	const struct tele_record *wanted = &told->record;
	assert_int_equal(record->kind, wanted->kind);
	assert_ptr_equal(record->instance, wanted->instance);
	assert_int_equal(also->state, told->state);
	assert_int_equal(also->lost, told->lost);
	assert_int_equal(record->seq, wanted->seq);
	assert_int_equal(record->gap_from, wanted->gap_from);
	assert_int_equal(record->gap_to, wanted->gap_to);
	if (record->kind == TELE_RECORD_ROW) {
		assert_int_equal(record->n_fields, wanted->n_fields);
		assert_memory_equal(record->row, told->row, wanted->n_fields * sizeof(uint64_t));
	} else if (record->kind == TELE_RECORD_EVENT) {
		assert_int_equal(record->event.at_ns, wanted->event.at_ns);
		assert_int_equal(record->event.subject, wanted->event.subject);
		assert_int_equal(record->event.value, wanted->event.value);
		assert_int_equal(record->event.type, wanted->event.type);
		if (wanted->event.string_id)
			assert_string_equal(also->text, told->text);
		else
			assert_null(also->text);
	}
}

static void read_from(const struct mon_tape *tape, struct mon_place *place, uint64_t n)
{
	struct tele_record record;
	struct mon_told also;
	for (; n < RECORDS; n++) {
		assert_int_equal(mon_tape_next(tape, place, &record, &also), 1);
		assert_same(&record, &also, &written[n]);
	}
	assert_int_equal(mon_tape_next(tape, place, &record, &also), 0);
}

static void what_was_told_is_told_again_from_any_place(void **state)
{
	struct test_random random = {.state = 7};
	struct fixture *fixtures[2] = {fixture_new(1, "one"), fixture_new(2, "two")};
	struct mon_tape *tape = mon_tape_new();
	struct mon_place place = {0}, kept[10];
	struct tele_record record;
	struct mon_told also;
	size_t last[2] = {0, 0};
	(void)state;
	memset(written, 0, sizeof(written));
	for (size_t i = 0; i < RECORDS; i++) {
		size_t which = test_random_below(&random, 2);
		add_any(&random, tape, fixtures[which], &written[i], &written[last[which]]);
		last[which] = i;
	}
	assert_int_equal(mon_tape_records(tape), RECORDS);
	for (uint64_t n = 0; n < RECORDS; n++) {
		if (n % 300 == 0)
			assert_int_equal(mon_place_copy(&place, &kept[n / 300]), 0);
		assert_int_equal(mon_tape_next(tape, &place, &record, &also), 1);
		assert_same(&record, &also, &written[n]);
	}
	for (uint64_t i = 0; i < 10; i++) {
		assert_int_equal(kept[i].n_records, i * 300);
		if (i == 5)
			mon_tape_forget(tape, &kept[5]);
		if (i >= 5)
			read_from(tape, &kept[i], i * 300);
		mon_place_fini(&kept[i]);
	}
	mon_place_fini(&place);
	mon_tape_free(tape);
	fixture_free(fixtures[0]);
	fixture_free(fixtures[1]);
}

static void an_empty_tape_has_nothing_to_tell(void **state)
{
	struct mon_tape *tape = mon_tape_new();
	struct mon_place place = {0};
	struct tele_record record;
	struct mon_told also;
	(void)state;
	assert_int_equal(mon_tape_next(tape, &place, &record, &also), 0);
	assert_int_equal(mon_tape_first_at_ns(tape), TELE_UNKNOWN);
	mon_tape_free(tape);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_told_is_told_again_from_any_place),
		cmocka_unit_test(an_empty_tape_has_nothing_to_tell),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
