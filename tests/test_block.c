// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers

#include "libtelemetry/block.h"

#include "libtelemetry/error.h"
#include "tests/support/random.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define STRINGS_MAX 40

// A block's input with storage of its own, and the block made of it.
struct made {
	struct tele_plan plan;
	struct tele_block_input input;
	uint64_t *rows;
	struct tele_event events[TELE_BLOCK_EVENTS_MAX];
	struct tele_block_string strings[STRINGS_MAX];
	char text[STRINGS_MAX][TELE_STRING_BYTES_MAX];
	uint8_t *bytes;
	size_t n_bytes;
};

static void *scratch;
static size_t scratch_bytes;

static int make_scratch(void **state)
{
	(void)state;
	scratch_bytes = tele_block_scratch_bytes(TELE_FIELDS_MAX);
	scratch = malloc(scratch_bytes);
	return scratch ? 0 : -1;
}

static int drop_scratch(void **state)
{
	(void)state;
	free(scratch);
	return 0;
}

static void make_events(struct test_random *random, struct made *made, uint32_t n_rows, uint32_t n_events)
{
	uint32_t skipped = 0;
	uint64_t seq = made->input.first_seq;
	for (uint32_t i = 0; i < n_events; i++) {
		while (skipped < n_rows && test_random_below(random, n_rows + n_events) < n_rows) {
			skipped++;
			seq++;
		}
		made->events[i] = (struct tele_event){
			.seq = seq++,
			.at_ns = (made->input.first_at_ns + test_random_below(random, 1u << 30)) & ~UINT64_C(1023),
			.subject = test_random_next(random) >> test_random_below(random, 64),
			.value = test_random_below(random, 4) ? test_random_below(random, 20) : TELE_UNKNOWN,
			.string_id = test_random_below(random, 3) ? UINT64_C(1) << 32 | i : 0,
			.type = 1 + (uint32_t)test_random_below(random, 14),
		};
	}
}

static struct made *make(struct test_random *random, uint32_t plan_fields, uint32_t n_fields,
			 uint32_t n_rows, uint32_t n_events, uint32_t n_strings)
{
	struct made *made = calloc(1, sizeof(*made));
	assert_non_null(made);
	size_t stride = (size_t)n_fields + test_random_below(random, 3);
	test_random_plan(random, &made->plan, plan_fields);
	made->rows = calloc(n_rows * stride + 1, sizeof(*made->rows));
	assert_non_null(made->rows);
	test_random_rows(random, &made->plan, made->rows, stride, n_fields, n_rows);
	made->input = (struct tele_block_input){
		.instance_id = test_random_next(random),
		.plan = &made->plan,
		.n_fields = n_fields,
		.schema_bytes = 1234,
		.first_seq = test_random_next(random) >> 20,
		.first_at_ns = test_random_next(random) >> 10 & ~UINT64_C(1023),
		.last_at_ns = UINT64_MAX,
		.rows = made->rows,
		.row_stride = stride,
		.n_rows = n_rows,
		.events = made->events,
		.n_events = n_events,
		.strings = made->strings,
		.n_strings = n_strings,
	};
	make_events(random, made, n_rows, n_events);
	for (uint32_t i = 0; i < n_strings; i++) {
		uint32_t len = (uint32_t)test_random_below(random, TELE_STRING_BYTES_MAX + 1);
		for (uint32_t k = 0; k < len; k++)
			made->text[i][k] = (char)test_random_next(random);
		made->strings[i] = (struct tele_block_string){
			.id = test_random_below(random, 2) ? UINT64_C(1) << 32 | i : 1 + i,
			.text = made->text[i],
			.len = len,
		};
	}
	size_t capacity = tele_block_bytes_max(n_fields, n_rows, n_events, n_strings);
	made->bytes = malloc(capacity);
	assert_non_null(made->bytes);
	int64_t n_bytes = tele_block_encode(&made->input, scratch, scratch_bytes, made->bytes, capacity);
	if (n_bytes == TELE_ELIMIT) // more than 4 MiB of noise
		n_bytes = 0;
	assert_true(n_bytes >= 0);
	made->n_bytes = (size_t)n_bytes;
	return made;
}

static void drop(struct made *made)
{
	free(made->rows);
	free(made->bytes);
	free(made);
}

// Whether the block holds exactly what the input was.
static bool is_same(const struct tele_block *block, const struct tele_block_input *input)
{
	static uint64_t row[TELE_FIELDS_MAX];
	const struct tele_block_header *header = &block->header;
	if (header->n_rows != input->n_rows || header->n_events != input->n_events ||
	    header->n_strings != input->n_strings || header->n_fields != input->n_fields ||
	    header->first_seq != input->first_seq || header->instance_id != input->instance_id ||
	    header->first_at_ns != input->first_at_ns || header->last_at_ns != input->last_at_ns ||
	    header->flags != input->flags || header->schema_bytes != input->schema_bytes)
		return false;
	for (uint32_t r = 0; r < input->n_rows; r++) {
		tele_block_row(block, r, row);
		if (memcmp(row, input->rows + r * input->row_stride, input->n_fields * 8) != 0)
			return false;
	}
	for (uint32_t i = 0; i < input->n_events; i++) {
		const struct tele_event *a = &block->events[i], *b = &input->events[i];
		if (a->seq != b->seq || a->at_ns != b->at_ns || a->subject != b->subject ||
		    a->value != b->value || a->string_id != b->string_id || a->type != b->type)
			return false;
	}
	for (uint32_t i = 0; i < input->n_strings; i++)
		if (block->strings[i].id != input->strings[i].id ||
		    block->strings[i].len != input->strings[i].len ||
		    memcmp(block->strings[i].text, input->strings[i].text, input->strings[i].len) != 0)
			return false;
	return true;
}

static void check_round_trip(struct test_random *random, uint32_t plan_fields, uint32_t n_fields,
			     uint32_t n_rows, uint32_t n_events, uint32_t n_strings)
{
	struct made *made = make(random, plan_fields, n_fields, n_rows, n_events, n_strings);
	struct tele_block block = {0};
	struct tele_block_header header;
	if (made->n_bytes) {
		assert_int_equal(made->n_bytes % 8, 0);
		assert_int_equal(tele_block_check(made->bytes, made->n_bytes, &header), made->n_bytes);
		assert_int_equal(tele_block_decode(&block, &made->plan, made->bytes, made->n_bytes), 0);
		assert_true(is_same(&block, &made->input));
	}
	tele_block_free(&block);
	drop(made);
}

static void blocks_of_every_shape_come_back(void **state)
{
	(void)state;
	struct test_random random = {10};
	for (int i = 0; i < 400; i++) {
		uint32_t plan_fields = 1 + (uint32_t)test_random_below(&random, 80);
		uint32_t n_fields = 1 + (uint32_t)test_random_below(&random, plan_fields);
		uint32_t n_rows = (uint32_t)test_random_below(&random, TELE_BLOCK_ROWS_MAX + 1);
		check_round_trip(&random, plan_fields, n_fields, n_rows,
				 (uint32_t)test_random_below(&random, 50),
				 (uint32_t)test_random_below(&random, STRINGS_MAX));
	}
}

static void blocks_at_the_limits_come_back(void **state)
{
	(void)state;
	struct test_random random = {11};
	const uint32_t rows[] = {0, 1, 2, 3, 7, 8, 9, 64, 255, 256};
	for (size_t i = 0; i < TELE_ARRAY_LEN(rows); i++) {
		check_round_trip(&random, 30, 30, rows[i], 0, 0);
		check_round_trip(&random, 30, 30, rows[i], TELE_BLOCK_EVENTS_MAX, STRINGS_MAX);
	}
	check_round_trip(&random, 1, 1, 256, 0, 0);
	check_round_trip(&random, 0, 0, 5, 3, 1);
	check_round_trip(&random, TELE_FIELDS_MAX, TELE_FIELDS_MAX, 3, 1, 1);
	check_round_trip(&random, TELE_FIELDS_MAX, TELE_FIELDS_MAX, 100, 1, 1);
}

// What noise cannot be made smaller is stored, within what bytes_max says.
static void noise_takes_no_more_than_bytes_max(void **state)
{
	(void)state;
	struct test_random random = {12};
	struct made *made = make(&random, 40, 40, 256, 0, 0);
	for (size_t i = 0; i < 256 * made->input.row_stride; i++)
		made->rows[i] = test_random_next(&random) & ~UINT64_C(1023);
	size_t capacity = tele_block_bytes_max(40, 256, 0, 0);
	made->bytes = realloc(made->bytes, capacity);
	int64_t n_bytes = tele_block_encode(&made->input, scratch, scratch_bytes, made->bytes, capacity);
	assert_true(n_bytes > 256 * 40 * 6);
	assert_true((size_t)n_bytes <= capacity);
	struct tele_block block = {0};
	assert_int_equal(tele_block_decode(&block, &made->plan, made->bytes, (size_t)n_bytes), 0);
	assert_true(is_same(&block, &made->input));
	assert_int_equal(tele_block_encode(&made->input, scratch, scratch_bytes, made->bytes, 8000), -ENOSPC);
	assert_int_equal(tele_block_encode(&made->input, scratch, scratch_bytes, made->bytes, 10), -ENOSPC);
	tele_block_free(&block);
	drop(made);
}

static void columns_that_stand_still_cost_next_to_nothing(void **state)
{
	(void)state;
	struct test_random random = {13};
	struct made *made = make(&random, 400, 400, 256, 0, 0);
	tele_plan_init(&made->plan);
	for (uint32_t f = 0; f < 400; f++)
		assert_int_equal(tele_plan_add_field(&made->plan, TELE_PREDICT_DELTA, 0, 0), 0);
	for (uint32_t r = 0; r < 256; r++)
		for (uint32_t f = 0; f < 400; f++)
			made->rows[r * made->input.row_stride + f] = f % 2 ? 0 : TELE_UNKNOWN;
	int64_t n_bytes = tele_block_encode(&made->input, scratch, scratch_bytes, made->bytes,
					    tele_block_bytes_max(400, 256, 0, 0));
	assert_in_range(n_bytes, TELE_BLOCK_HEADER_BYTES, TELE_BLOCK_HEADER_BYTES + 24);
	drop(made);
}

static void what_an_encoder_cannot_take_is_refused(void **state)
{
	(void)state;
	struct test_random random = {14};
	struct made *made = make(&random, 5, 5, 4, 2, 1);
	size_t capacity = 1 << 16;
	uint8_t *out = malloc(capacity);
	struct tele_block_input input = made->input;
	input.n_rows = TELE_BLOCK_ROWS_MAX + 1;
	assert_int_equal(tele_block_encode(&input, scratch, scratch_bytes, out, capacity), TELE_ELIMIT);
	input = made->input;
	input.n_fields = 6;
	assert_int_equal(tele_block_encode(&input, scratch, scratch_bytes, out, capacity), TELE_ELIMIT);
	made->strings[0].len = TELE_STRING_BYTES_MAX + 1;
	assert_int_equal(tele_block_encode(&made->input, scratch, scratch_bytes, out, capacity), TELE_ELIMIT);
	made->strings[0].len = 0;
	made->events[1].seq = made->events[0].seq;
	assert_int_equal(tele_block_encode(&made->input, scratch, scratch_bytes, out, capacity), TELE_EDAMAGED);
	made->events[1].seq = made->input.first_seq + 6;
	assert_int_equal(tele_block_encode(&made->input, scratch, scratch_bytes, out, capacity), TELE_EDAMAGED);
	free(out);
	drop(made);
}

static void every_cut_of_a_block_is_an_error(void **state)
{
	(void)state;
	struct test_random random = {15};
	struct made *made = make(&random, 30, 30, 40, 5, 3);
	struct tele_block_header header;
	for (size_t cut = 0; cut < made->n_bytes; cut++) {
		uint8_t *part = malloc(cut ? cut : 1);
		memcpy(part, made->bytes, cut);
		assert_int_equal(tele_block_check(part, cut, &header), TELE_ETRUNCATED);
		struct tele_block block = {0};
		assert_int_equal(tele_block_decode(&block, &made->plan, part, cut), TELE_ETRUNCATED);
		free(part);
	}
	drop(made);
}

static void every_flipped_byte_of_a_block_is_an_error(void **state)
{
	(void)state;
	struct test_random random = {16};
	struct made *made = make(&random, 30, 30, 40, 5, 3);
	struct tele_block_header header;
	for (size_t at = 0; at < made->n_bytes; at++)
		for (unsigned mask = 1; mask < 256; mask = mask * 2 + 1) {
			made->bytes[at] ^= (uint8_t)mask;
			assert_true(tele_block_check(made->bytes, made->n_bytes, &header) < 0);
			made->bytes[at] ^= (uint8_t)mask;
		}
	drop(made);
}

// A block of the right checksum and any contents: a hostile writer.
static void payloads_of_a_liar_are_decoded_or_refused(void **state)
{
	(void)state;
	struct test_random random = {17};
	struct tele_block block = {0};
	unsigned refused = 0;
	for (int i = 0; i < 60; i++) {
		struct made *made = make(&random, 30, 25, 1 + (uint32_t)test_random_below(&random, 60), 5, 3);
		struct tele_block_header header;
		assert_true(tele_block_check(made->bytes, made->n_bytes, &header) > 0);
		uint8_t *raw = malloc(header.raw_bytes + 1);
		assert_int_equal(tele_block_unpack(&header, made->bytes + TELE_BLOCK_HEADER_BYTES, raw), 0);
		uint8_t *forged = malloc(TELE_BLOCK_HEADER_BYTES + tele_align_up(header.raw_bytes, 8));
		for (int k = 0; k < 200; k++) {
			struct tele_block_header lie = header;
			lie.codec = TELE_CODEC_STORED;
			lie.stored_bytes = lie.raw_bytes;
			memcpy(forged + TELE_BLOCK_HEADER_BYTES, raw, header.raw_bytes);
			for (uint64_t n = 1 + test_random_below(&random, 3); n > 0 && header.raw_bytes; n--)
				forged[TELE_BLOCK_HEADER_BYTES + test_random_below(&random, header.raw_bytes)] =
					(uint8_t)test_random_next(&random);
			if (test_random_below(&random, 4) == 0)
				lie.n_rows = (uint16_t)test_random_below(&random, 257);
			if (test_random_below(&random, 4) == 0)
				lie.n_events = (uint16_t)test_random_below(&random, 1025);
			if (test_random_below(&random, 8) == 0)
				lie.first_seq = UINT64_MAX - lie.n_rows - lie.n_events;
			size_t n_bytes = tele_block_finish(&lie, forged);
			assert_int_equal(tele_block_check(forged, n_bytes, &lie), n_bytes);
			refused += tele_block_decode(&block, &made->plan, forged, n_bytes) != 0;
		}
		// And under LZ4: the compressed bytes lie.
		for (int k = 0; k < 100; k++) {
			uint8_t *copy = malloc(made->n_bytes);
			memcpy(copy, made->bytes, made->n_bytes);
			copy[TELE_BLOCK_HEADER_BYTES + test_random_below(&random, header.stored_bytes)] =
				(uint8_t)test_random_next(&random);
			struct tele_block_header lie = header;
			(void)tele_block_finish(&lie, copy);
			refused += tele_block_decode(&block, &made->plan, copy, made->n_bytes) != 0;
			free(copy);
		}
		free(raw);
		free(forged);
		drop(made);
	}
	assert_true(refused > 1000);
	tele_block_free(&block);
}

static void headers_beyond_the_limits_are_refused(void **state)
{
	(void)state;
	struct test_random random = {18};
	struct made *made = make(&random, 5, 5, 4, 2, 1);
	struct tele_block_header good, header, ignored;
	assert_true(tele_block_check(made->bytes, made->n_bytes, &good) > 0);
#define REFUSED(change, expected)                                                                  \
	do {                                                                                       \
		header = good;                                                                     \
		change;                                                                            \
		assert_int_equal(tele_block_size((const uint8_t *)&header, sizeof(header), &ignored), \
				 expected);                                                        \
	} while (0)
	REFUSED(header.magic ^= 1, TELE_EMAGIC);
	REFUSED(header.type = 0, TELE_ELIMIT);
	REFUSED(header.codec = 2, TELE_ELIMIT);
	REFUSED(header.n_rows = 257, TELE_ELIMIT);
	REFUSED(header.n_events = 1025, TELE_ELIMIT);
	REFUSED(header.n_strings = 2049, TELE_ELIMIT);
	REFUSED(header.n_fields = 4097, TELE_ELIMIT);
	REFUSED(header.first_seq = UINT64_MAX, TELE_ELIMIT);
	REFUSED(header.stored_bytes = TELE_BLOCK_BYTES_MAX, TELE_ELIMIT);
	REFUSED(header.raw_bytes = TELE_BLOCK_RAW_BYTES_MAX + 1, TELE_ELIMIT);
	// 100 bytes cannot become 12 MiB, so nobody reserves 12 MiB for them.
	REFUSED((header.codec = TELE_CODEC_LZ4, header.stored_bytes = 100,
		 header.raw_bytes = TELE_BLOCK_RAW_BYTES_MAX),
		TELE_ELIMIT);
#undef REFUSED
	drop(made);
}

// docs/format-trace.md, "Columns".
static void the_example_of_the_document_is_true(void **state)
{
	(void)state;
	static const uint8_t expected[] = {0x0a, 0x20, 0, 0, 0, 0, 0x02, 0x07, 0x64, 0, 0};
	static struct tele_plan plan;
	uint64_t rows[4];
	uint8_t out[128];
	tele_plan_init(&plan);
	assert_int_equal(tele_plan_add_field(&plan, TELE_PREDICT_DOD, 10, 0), 0);
	for (uint64_t r = 0; r < 4; r++)
		rows[r] = (UINT64_C(1) << 44) + r * 50 * 1024;
	struct tele_block_input input = {
		.plan = &plan, .n_fields = 1, .rows = rows, .row_stride = 1, .n_rows = 4};
	assert_int_equal(tele_block_encode(&input, scratch, scratch_bytes, out, sizeof(out)), 64 + 16);
	struct tele_block_header header;
	assert_true(tele_block_check(out, 80, &header) > 0);
	assert_int_equal(header.codec, TELE_CODEC_STORED);
	assert_int_equal(header.stored_bytes, sizeof(expected));
	assert_memory_equal(out + 64, expected, sizeof(expected));
}

static void a_plan_that_lacks_fields_is_not_ready(void **state)
{
	(void)state;
	struct test_random random = {19};
	struct made *made = make(&random, 5, 5, 4, 0, 0);
	struct tele_block block = {0};
	static struct tele_plan smaller;
	test_random_plan(&random, &smaller, 4);
	assert_int_equal(tele_block_decode(&block, &smaller, made->bytes, made->n_bytes), TELE_ENOTREADY);
	tele_block_free(&block);
	drop(made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_of_every_shape_come_back),
		cmocka_unit_test(blocks_at_the_limits_come_back),
		cmocka_unit_test(noise_takes_no_more_than_bytes_max),
		cmocka_unit_test(columns_that_stand_still_cost_next_to_nothing),
		cmocka_unit_test(what_an_encoder_cannot_take_is_refused),
		cmocka_unit_test(every_cut_of_a_block_is_an_error),
		cmocka_unit_test(every_flipped_byte_of_a_block_is_an_error),
		cmocka_unit_test(payloads_of_a_liar_are_decoded_or_refused),
		cmocka_unit_test(headers_beyond_the_limits_are_refused),
		cmocka_unit_test(the_example_of_the_document_is_true),
		cmocka_unit_test(a_plan_that_lacks_fields_is_not_ready),
	};
	return cmocka_run_group_tests_name("block", tests, make_scratch, drop_scratch);
}
