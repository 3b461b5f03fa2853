// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers

#include "libtelemetry/codec.h"

#include "libtelemetry/error.h"
#include "tests/support/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ROWS 60
#define FIELDS_MAX 300

struct chunk {
	struct tele_plan plan;
	uint32_t n_fields;
	uint64_t rows[ROWS * FIELDS_MAX];
	uint64_t words[TELE_CODEC_WORDS(FIELDS_MAX)];
	uint8_t bytes[ROWS * TELE_ROW_BYTES_MAX(FIELDS_MAX)];
	size_t ends[ROWS];
};

static struct chunk *encode(struct test_random *random)
{
	struct chunk *chunk = calloc(1, sizeof(*chunk));
	struct tele_codec codec;
	assert_non_null(chunk);
	uint32_t plan_fields = 1 + (uint32_t)test_random_below(random, FIELDS_MAX);
	chunk->n_fields = 1 + (uint32_t)test_random_below(random, plan_fields);
	test_random_plan(random, &chunk->plan, plan_fields);
	test_random_rows(random, &chunk->plan, chunk->rows, chunk->n_fields, chunk->n_fields, ROWS);
	tele_codec_init(&codec, &chunk->plan, chunk->n_fields, chunk->words);
	size_t used = 0;
	for (size_t r = 0; r < ROWS; r++) {
		size_t n = tele_codec_encode(&codec, chunk->rows + r * chunk->n_fields, chunk->bytes + used);
		assert_in_range(n, 1, TELE_ROW_BYTES_MAX(chunk->n_fields));
		used += n;
		chunk->ends[r] = used;
	}
	return chunk;
}

static void rows_of_every_shape_come_back(void **state)
{
	(void)state;
	struct test_random random = {20};
	static uint64_t row[FIELDS_MAX];
	for (int i = 0; i < 150; i++) {
		struct chunk *chunk = encode(&random);
		struct tele_codec codec;
		tele_codec_init(&codec, &chunk->plan, chunk->n_fields, chunk->words);
		size_t used = 0;
		for (size_t r = 0; r < ROWS; r++) {
			int64_t n = tele_codec_decode(&codec, chunk->bytes + used, chunk->ends[ROWS - 1] - used, row);
			assert_true(n > 0);
			used += (size_t)n;
			assert_int_equal(used, chunk->ends[r]);
			assert_memory_equal(row, chunk->rows + r * chunk->n_fields, chunk->n_fields * 8);
		}
		free(chunk);
	}
}

static void a_row_cut_anywhere_is_damaged(void **state)
{
	(void)state;
	struct test_random random = {21};
	static uint64_t row[FIELDS_MAX];
	for (int i = 0; i < 20; i++) {
		struct chunk *chunk = encode(&random);
		for (size_t cut = 0; cut < chunk->ends[0]; cut++) {
			struct tele_codec codec;
			uint8_t *part = malloc(cut ? cut : 1);
			memcpy(part, chunk->bytes, cut);
			tele_codec_init(&codec, &chunk->plan, chunk->n_fields, chunk->words);
			assert_int_equal(tele_codec_decode(&codec, part, cut, row), TELE_EDAMAGED);
			free(part);
		}
		free(chunk);
	}
}

static void rows_of_a_liar_are_decoded_or_refused(void **state)
{
	(void)state;
	struct test_random random = {22};
	static uint64_t row[FIELDS_MAX];
	for (int i = 0; i < 20; i++) {
		struct chunk *chunk = encode(&random);
		size_t n_bytes = chunk->ends[ROWS - 1];
		for (int k = 0; k < 100; k++) {
			struct tele_codec codec;
			uint8_t *copy = malloc(n_bytes);
			memcpy(copy, chunk->bytes, n_bytes);
			copy[test_random_below(&random, n_bytes)] = (uint8_t)test_random_next(&random);
			tele_codec_init(&codec, &chunk->plan, chunk->n_fields, chunk->words);
			int64_t n;
			for (size_t used = 0; used < n_bytes; used += (size_t)n) {
				n = tele_codec_decode(&codec, copy + used, n_bytes - used, row);
				if (n <= 0)
					break;
			}
			free(copy);
		}
		free(chunk);
	}
}

// A reference must be decoded before what is predicted from it, and both sides
// must know its last value: only the time and its like can be one.
static void a_plan_takes_only_time_as_a_reference(void **state)
{
	(void)state;
	static struct tele_plan plan;
	tele_plan_init(&plan);
	assert_int_equal(tele_plan_add_field(&plan, TELE_PREDICT_DOD, 10, 0), 0);
	assert_int_equal(tele_plan_add_field(&plan, TELE_PREDICT_DELTA, 0, 0), 0);
	assert_int_equal(tele_plan_add_field(&plan, TELE_PREDICT_OFFSET, 0, 0), 0);
	assert_int_equal(tele_plan_add_field(&plan, TELE_PREDICT_OFFSET, 0, 2), 0);
	assert_int_equal(tele_plan_add_field(&plan, TELE_PREDICT_OFFSET, 0, 1), TELE_EDAMAGED);
	assert_int_equal(tele_plan_add_field(&plan, TELE_PREDICT_OFFSET, 0, 4), TELE_EDAMAGED);
	assert_int_equal(tele_plan_add_field(&plan, TELE_PREDICT_DELTA, 64, 0), TELE_EDAMAGED);
	assert_int_equal(tele_plan_add_field(&plan, TELE_PREDICT_DERIVED, 0, 0), TELE_EDAMAGED);
	assert_int_equal(plan.n_fields, 4);
}

// The first step is not known until there are two values: the second row of a
// chunk must not pay for it.
static void the_second_time_costs_no_more_than_its_step(void **state)
{
	(void)state;
	static struct tele_plan plan;
	uint64_t words[TELE_CODEC_WORDS(1)];
	uint8_t bytes[TELE_ROW_BYTES_MAX(1)];
	struct tele_codec codec;
	uint64_t time = UINT64_C(1) << 50;
	tele_plan_init(&plan);
	assert_int_equal(tele_plan_add_field(&plan, TELE_PREDICT_DOD, 10, 0), 0);
	tele_codec_init(&codec, &plan, 1, words);
	(void)tele_codec_encode(&codec, &time, bytes);
	time += 50 * 1024;
	assert_int_equal(tele_codec_encode(&codec, &time, bytes), 3);
	time += 50 * 1024;
	assert_int_equal(tele_codec_encode(&codec, &time, bytes), 1);
}

// What spares the sum, or instructions, spares nothing else.
static void the_longer_ways_give_the_same_bytes(void **state)
{
	(void)state;
	struct test_random random = {21};
	static uint8_t bytes[TELE_ROW_BYTES_MAX(FIELDS_MAX)];
	uint64_t n_invariants = 0;
	for (int i = 0; i < 150; i++) {
		struct chunk *chunk = encode(&random);
		struct tele_codec codec;
		n_invariants += chunk->plan.n_invariants;
		for (uint32_t k = 0; k < chunk->plan.n_invariants; k++)
			chunk->plan.invariants[k].terms_mask = 0;
		tele_codec_init(&codec, &chunk->plan, chunk->n_fields, chunk->words);
		codec.is_wide = false;
		for (size_t r = 0, at = 0; r < ROWS; at = chunk->ends[r++]) {
			size_t n = tele_codec_encode(&codec, chunk->rows + r * chunk->n_fields, bytes);
			assert_int_equal(n, chunk->ends[r] - at);
			assert_memory_equal(bytes, chunk->bytes + at, n);
		}
		free(chunk);
	}
	assert_true(n_invariants > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_of_every_shape_come_back),
		cmocka_unit_test(a_row_cut_anywhere_is_damaged),
		cmocka_unit_test(rows_of_a_liar_are_decoded_or_refused),
		cmocka_unit_test(a_plan_takes_only_time_as_a_reference),
		cmocka_unit_test(the_longer_ways_give_the_same_bytes),
		cmocka_unit_test(the_second_time_costs_no_more_than_its_step),
	};
	return cmocka_run_group_tests_name("codec", tests, NULL, NULL);
}
