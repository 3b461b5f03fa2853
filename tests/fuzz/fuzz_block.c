// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Blocks of a liar: a plan made of the first byte, and a block whose sizes and
// checksum are put right, so that what is tried is the decoder behind them.
// Whatever decodes is encoded again and must come back the same.

#include "libtelemetry/block.h"

#include "tests/support/random.h"

#include <stdlib.h>
#include <string.h>

#define FIELDS 24

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

static void compare(const struct tele_block *a, const struct tele_block *b)
{
	size_t cells = (size_t)a->header.n_rows * a->header.n_fields;
	if (cells && memcmp(a->columns, b->columns, cells * sizeof(*a->columns)) != 0)
		abort();
	for (uint32_t i = 0; i < a->header.n_events; i++) {
		const struct tele_event *x = &a->events[i], *y = &b->events[i];
		if (x->seq != y->seq || x->subject != y->subject || x->value != y->value ||
		    x->at_ns != y->at_ns || x->string_id != y->string_id || x->type != y->type)
			abort();
	}
	for (uint32_t i = 0; i < a->header.n_strings; i++)
		if (a->strings[i].id != b->strings[i].id || a->strings[i].len != b->strings[i].len)
			abort();
}

static void encode_again(const struct tele_block *block, const struct tele_plan *plan)
{
	static uint64_t rows[TELE_BLOCK_ROWS_MAX * FIELDS];
	static void *scratch;
	struct tele_block again = {0};
	size_t scratch_bytes = tele_block_scratch_bytes(FIELDS);
	if (!scratch && !(scratch = malloc(scratch_bytes)))
		abort();
	for (uint32_t r = 0; r < block->header.n_rows; r++)
		tele_block_row(block, r, rows + (size_t)r * FIELDS);
	struct tele_block_input input = {
		.plan = plan,
		.n_fields = block->header.n_fields,
		.first_seq = block->header.first_seq,
		.first_at_ns = block->header.first_at_ns,
		.rows = rows,
		.row_stride = FIELDS,
		.n_rows = block->header.n_rows,
		.events = block->events,
		.n_events = block->header.n_events,
		.strings = block->strings,
		.n_strings = block->header.n_strings,
	};
	size_t capacity = tele_block_bytes_max(FIELDS, input.n_rows, input.n_events, input.n_strings);
	uint8_t *out = malloc(capacity);
	int64_t n = out ? tele_block_encode(&input, scratch, scratch_bytes, out, capacity) : -1;
	if (n < 0 || tele_block_decode(&again, plan, out, (size_t)n) != 0)
		abort();
	compare(block, &again);
	tele_block_free(&again);
	free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	static struct tele_plan plan;
	static struct tele_block block;
	struct tele_block_header header;
	if (n_bytes < 1 + sizeof(header) || n_bytes > 1u << 16)
		return 0;
	struct test_random random = {data[0] % 16};
	test_random_plan(&random, &plan, FIELDS);
	size_t payload_bytes = n_bytes - 1 - sizeof(header);
	uint8_t *bytes = malloc(sizeof(header) + tele_align_up(payload_bytes, 8));
	if (!bytes)
		abort();
	memcpy(bytes, data + 1, n_bytes - 1);
	(void)tele_block_check(bytes, n_bytes - 1, &header);
	memcpy(&header, bytes, sizeof(header));
	header.type = TELE_BLOCK_DATA;
	header.n_rows %= TELE_BLOCK_ROWS_MAX + 1;
	header.n_events %= 20;
	header.n_strings %= 20;
	header.n_fields %= FIELDS + 1;
	header.codec &= 1;
	header.stored_bytes = (uint32_t)payload_bytes;
	header.raw_bytes = header.codec ? header.raw_bytes % 65536 : header.stored_bytes;
	size_t block_bytes = tele_block_finish(&header, bytes);
	if (tele_block_check(bytes, block_bytes, &header) == (int64_t)block_bytes &&
	    tele_block_decode(&block, &plan, bytes, block_bytes) == 0)
		encode_again(&block, &plan);
	free(bytes);
	return 0;
}
