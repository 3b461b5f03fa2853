// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Traces of a few series, written, changed and read back with every record
// checked.

#ifndef TESTS_SUPPORT_TRACE_FIXTURE_H
#define TESTS_SUPPORT_TRACE_FIXTURE_H

#include "libtelemetry/trace.h"
#include "tests/support/folder.h"
#include "tests/support/series.h"

#define TEST_TRACE_SERIES 4 // the last is the observer's
#define TEST_TRACE_BLOCKS 64

struct test_trace {
	char folder[TEST_FOLDER_BYTES], path[TEST_PATH_BYTES];
	struct test_series *series[TEST_TRACE_SERIES];
	unsigned n_read;
};

// Setup and teardown of a group; *state is the struct. The file at `path` is not
// there yet.
int test_trace_make(void **state);
int test_trace_drop(void **state);

// A writer of `path`, in place of what was there.
struct tele_trace_writer *test_trace_create(const struct test_trace *trace);

// All bytes of `path`, to be freed, and `path` with other bytes.
size_t test_trace_bytes(const struct test_trace *trace, uint8_t **ret_bytes);
void test_trace_put(const struct test_trace *trace, const uint8_t *bytes, size_t n_bytes);

// What came out of a trace, by series.
struct test_heard {
	uint64_t n_records[TEST_TRACE_SERIES], first_seq[TEST_TRACE_SERIES], next_seq[TEST_TRACE_SERIES];
	uint64_t n_lost[TEST_TRACE_SERIES], n_instances[TEST_TRACE_SERIES], n_schemas[TEST_TRACE_SERIES];
	enum tele_state states[TEST_TRACE_SERIES];
	struct tele_trace_info info;
};

// Reads to the end. Every record must be right, in order, and once.
void test_trace_hear(const struct test_trace *trace, struct tele_source *source, struct test_heard *heard);

// The same of `path`, or of bytes that come through a pipe. Of a damaged file,
// too: now and then it is read once (tele_trace_open_once), which must tell the
// same.
void test_trace_read(struct test_trace *trace, struct test_heard *heard);
void test_trace_read_by_pipe(const struct test_trace *trace, const uint8_t *bytes, size_t n_bytes,
			     struct test_heard *heard);

// A small trace of two instances with 45 records each: where each block is, and
// what it holds.
struct test_trace_layout {
	size_t n_blocks;
	struct {
		size_t begin, end;
		int series;
		uint64_t n_records; // 0: a stream block
	} blocks[TEST_TRACE_BLOCKS];
	size_t blocks_end, file_bytes;
};

// Writes it to `path`; the first stream block a second time behind the rest, if
// that is wanted.
void test_trace_write_small(const struct test_trace *trace, struct test_trace_layout *layout, bool is_stream_repeated);

#endif
