// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// An instance whose every record follows from its number, so that whatever
// comes out of a trace can be checked by itself: record n is an event where n
// ends in 7, and a row elsewhere.

#ifndef TESTS_SUPPORT_SERIES_H
#define TESTS_SUPPORT_SERIES_H

#include "libtelemetry/block.h"
#include "libtelemetry/schema.h"
#include "libtelemetry/source.h"
#include "libtelemetry/trace.h"

#define TEST_SERIES_PERIOD_NS (UINT64_C(1024) * 50000)

struct test_series {
	struct tele_identity identity;
	uint8_t schema[TELE_SCHEMA_BYTES_DEFAULT];
	struct tele_schema_writer writer;
	struct tele_plan plan;
	void *scratch;
	size_t scratch_bytes;
};

// Makes an instance; its id is `number`. To be freed by test_series_free.
struct test_series *test_series_new(uint64_t number);
void test_series_free(struct test_series *series);

bool test_series_is_event(uint64_t seq);
uint64_t test_series_at_ns(uint64_t seq);

// Fills the row of that number.
void test_series_row(const struct test_series *series, uint64_t seq, uint64_t *ret_row);

// Encodes records [from, to), at most TELE_BLOCK_ROWS_MAX of them. Returns the
// block, to be freed, and its bytes.
uint8_t *test_series_block(struct test_series *series, uint64_t from, uint64_t to, uint16_t flags,
			   size_t *ret_bytes);

// Writes the stream block, or records [from, to) as one data block. Returns
// what the writer does.
int test_series_write_stream(const struct test_series *series, struct tele_trace_writer *writer);
int test_series_write(struct test_series *series, struct tele_trace_writer *writer, uint64_t from,
		      uint64_t to, uint16_t flags);

// Whether a ROW or EVENT record is what its number says, text included.
bool test_series_is_right(const struct test_series *series, const struct tele_record *record);

#endif
