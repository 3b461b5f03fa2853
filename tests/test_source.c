// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers

#include "libtelemetry/source.h"

#include "libtelemetry/array_source.h"
#include "libtelemetry/identity.h"
#include "libtelemetry/strings.h"
#include "tests/support/series.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void states_have_the_names_of_the_table(void **state)
{
	(void)state;
	assert_string_equal(tele_state_name(TELE_LIVE), "live");
	assert_string_equal(tele_state_name(TELE_LIVE_UNLOCKED), "live_unlocked");
	assert_string_equal(tele_state_name(77), "?");
	assert_true(tele_state_is_alive(TELE_PARKED));
	assert_true(tele_state_is_alive(TELE_STALE));
	assert_false(tele_state_is_alive(TELE_KILLED));
	assert_false(tele_state_is_alive(TELE_EXITED));
	assert_false(tele_state_is_alive(77));
}

static void lasting_strings_last_and_transient_ones_are_forgotten(void **state)
{
	(void)state;
	struct tele_strings *strings = tele_strings_new();
	char text[32];
	assert_null(tele_strings_get(strings, 1));
	for (uint64_t i = 1; i <= 5000; i++) {
		int len = snprintf(text, sizeof(text), "text %llu", (unsigned long long)i);
		assert_int_equal(tele_strings_define(strings, i, text, (size_t)len), 0);
		assert_int_equal(tele_strings_define(strings, i << 32, text, (size_t)len), 0);
	}
	const char *first = tele_strings_get(strings, 1);
	assert_string_equal(first, "text 1");
	assert_int_equal(tele_strings_define(strings, 1, "other", 5), 0);
	assert_ptr_equal(tele_strings_get(strings, 1), first);
	assert_string_equal(tele_strings_get(strings, UINT64_C(4999) << 32), "text 4999");
	tele_strings_forget_transient(strings);
	assert_null(tele_strings_get(strings, UINT64_C(4999) << 32));
	assert_string_equal(tele_strings_get(strings, 5000), "text 5000");
	assert_int_equal(tele_strings_define(strings, UINT64_C(1) << 32, "", 0), 0);
	assert_string_equal(tele_strings_get(strings, UINT64_C(1) << 32), "");
	tele_strings_forget_transient(strings);
	tele_strings_forget_transient(strings);
	assert_null(tele_strings_get(strings, 0));
	assert_int_equal(tele_strings_define(strings, 0, "x", 1), TELE_EDAMAGED);
	tele_strings_free(strings);
	tele_strings_free(NULL);
}

static struct tele_identity an_identity(void)
{
	struct tele_identity identity = {
		.instance_id = 0x1122334455667788,
		.parent_instance_id = 3,
		.boot_id = {4, 5},
		.pid = 6,
		.parent_pid = 7,
		.start_ticks = 8,
		.pid_namespace = 9,
		.euid = 10,
		.created_at_ns = 11,
		.created_realtime_ns = 12,
		.period_ns = UINT64_C(10000000000),
		.is_observer = true,
		.comm = "tilesearch",
	};
	memset(identity.label, 'x', sizeof(identity.label) - 1);
	return identity;
}

static void an_identity_comes_back_from_its_header(void **state)
{
	(void)state;
	uint64_t words[TELE_HEADER_WORDS];
	struct tele_identity identity = an_identity(), back;
	struct tele_layout layout = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
	struct tele_layout layout_back;
	tele_header_encode(&identity, &layout, words);
	assert_memory_equal(words, "RCALLSG1", 8);
	assert_int_equal(tele_header_decode(words, &back, &layout_back, NULL), 0);
	assert_memory_equal(&back, &identity, sizeof(back));
	assert_memory_equal(&layout_back, &layout, sizeof(layout));
	tele_header_encode(&identity, NULL, words);
	assert_int_equal(tele_header_decode(words, &back, &layout_back, NULL), 0);
	assert_int_equal(layout_back.ring_bytes, 0);
}

static void a_damaged_header_is_refused_with_its_reason(void **state)
{
	(void)state;
	uint64_t words[TELE_HEADER_WORDS];
	struct tele_identity identity = an_identity(), back;
	struct tele_error error;
	tele_header_encode(&identity, NULL, words);
	for (int w = 0; w < TELE_HEADER_WORDS; w++)
		for (int bit = 0; bit < 64; bit += w == 63 ? 64 : 9) {
			words[w] ^= UINT64_C(1) << bit;
			assert_true(tele_header_decode(words, &back, NULL, NULL) < 0);
			words[w] ^= UINT64_C(1) << bit;
		}
	words[2] += 4;
	assert_int_equal(tele_header_decode(words, &back, NULL, &error), TELE_EVERSION);
	assert_non_null(strstr(error.text, "5.0"));
	assert_non_null(strstr(error.text, "1.0"));
	words[2] -= 4;
	words[0] = 0;
	assert_int_equal(tele_header_decode(words, &back, NULL, &error), TELE_EMAGIC);
}

static void arrays_are_told_in_order_of_time_with_gaps_and_ends(void **state)
{
	(void)state;
	struct test_series *series[2] = {test_series_new(1), test_series_new(2)};
	uint32_t n_fields = series[0]->plan.n_fields;
	// 4 5 6 (event 7) 9 10: number 8 is missing.
	const uint64_t seqs[5] = {4, 5, 6, 9, 10};
	uint64_t *rows[2];
	for (int i = 0; i < 2; i++) {
		rows[i] = malloc(5 * n_fields * sizeof(uint64_t));
		for (size_t r = 0; r < 5; r++)
			test_series_row(series[i], seqs[r], rows[i] + r * n_fields);
	}
	const struct tele_event event = {
		.seq = 7, .at_ns = test_series_at_ns(7), .type = TELE_EVENT_MARK, .string_id = 3};
	const struct tele_block_string string = {.id = 3, .text = "note", .len = 4};
	struct tele_array_instance inputs[2];
	for (int i = 0; i < 2; i++)
		inputs[i] = (struct tele_array_instance){
			.identity = series[i]->identity,
			.schema = series[i]->schema,
			.schema_bytes = series[i]->writer.used_bytes,
			.rows = rows[i],
			.n_fields = n_fields,
			.n_rows = 5,
			.row_seqs = seqs,
			.first_seq = 4,
			.events = i ? NULL : &event,
			.n_events = i ? 0 : 1,
			.strings = &string,
			.n_strings = 1,
			.state = i ? TELE_KILLED : TELE_EXITED,
		};
	struct tele_source *source;
	struct tele_record record;
	assert_int_equal(tele_array_source_open(inputs, 2, &source, NULL), 0);
	unsigned n[6] = {0};
	uint64_t last_at_ns = 0, lost = 0;
	enum tele_state states[3] = {0};
	while (tele_source_next(source, &record, NULL) > 0) {
		uint64_t id = record.instance->identity.instance_id;
		n[record.kind]++;
		if (record.kind == TELE_RECORD_ROW) {
			assert_true(record.row[0] >= last_at_ns);
			last_at_ns = record.row[0];
			assert_true(record.row[0] == test_series_at_ns(record.seq));
		}
		if (record.kind == TELE_RECORD_EVENT)
			assert_string_equal(tele_instance_string(record.instance, 3), "note");
		if (record.kind == TELE_RECORD_GAP)
			lost += record.gap_to - record.gap_from;
		states[id] = record.instance->state;
	}
	assert_int_equal(n[TELE_RECORD_INSTANCE], 2);
	assert_int_equal(n[TELE_RECORD_SCHEMA], 2);
	assert_int_equal(n[TELE_RECORD_ROW], 10);
	assert_int_equal(n[TELE_RECORD_EVENT], 1);
	assert_int_equal(n[TELE_RECORD_GAP], 2);
	assert_int_equal(n[TELE_RECORD_STATE], 4);
	assert_int_equal(lost, 1 + 2);
	assert_int_equal(states[1], TELE_EXITED);
	assert_int_equal(states[2], TELE_KILLED);
	assert_int_equal(tele_source_next(source, &record, NULL), 0);
	tele_source_close(source);
	for (int i = 0; i < 2; i++) {
		free(rows[i]);
		test_series_free(series[i]);
	}
}

static void an_array_of_nothing_is_told_and_ends(void **state)
{
	(void)state;
	struct test_series *series = test_series_new(1);
	struct tele_array_instance input = {
		.identity = series->identity,
		.schema = series->schema,
		.schema_bytes = series->writer.used_bytes,
		.state = TELE_UNREADABLE,
	};
	struct tele_source *source;
	struct tele_record record;
	assert_int_equal(tele_array_source_open(&input, 1, &source, NULL), 0);
	assert_int_equal(tele_source_next(source, &record, NULL), 1);
	assert_int_equal(record.kind, TELE_RECORD_INSTANCE);
	assert_int_equal(tele_source_next(source, &record, NULL), 1);
	assert_int_equal(record.kind, TELE_RECORD_SCHEMA);
	assert_int_equal(tele_source_next(source, &record, NULL), 1);
	assert_int_equal(record.kind, TELE_RECORD_STATE);
	assert_int_equal(record.instance->state, TELE_UNREADABLE);
	assert_int_equal(tele_source_next(source, &record, NULL), 0);
	tele_source_close(source);
	input.schema_bytes--;
	assert_true(tele_array_source_open(&input, 1, &source, NULL) < 0);
	test_series_free(series);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(states_have_the_names_of_the_table),
		cmocka_unit_test(lasting_strings_last_and_transient_ones_are_forgotten),
		cmocka_unit_test(an_identity_comes_back_from_its_header),
		cmocka_unit_test(a_damaged_header_is_refused_with_its_reason),
		cmocka_unit_test(arrays_are_told_in_order_of_time_with_gaps_and_ends),
		cmocka_unit_test(an_array_of_nothing_is_told_and_ends),
	};
	return cmocka_run_group_tests_name("source", tests, NULL, NULL);
}
