// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// See segment_copy.h.

#include "segment_copy.h"

#include "libtelemetry/attach.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define RING_BYTES (64u << 10)
// No damage may make a reader tell more than this of one small segment.
#define RECORDS_BOUND 2000000

int test_copy_make(void **state)
{
	struct test_copy *copy = calloc(1, sizeof(*copy));
	struct test_ring *ring = test_ring_new(RING_BYTES, true);
	if (!copy)
		return -1;
	*state = copy;
	test_ring_grow(ring, true);
	test_ring_steps(ring, 20000); // the ring has wrapped
	test_ring_grow(ring, true);
	test_ring_grow(ring, false);
	test_ring_steps(ring, 25);
	for (int i = 0; i < 5; i++)
		test_ring_claim(ring, "slot", true, true);
	copy->ring = ring;
	copy->whole_bytes = ring->file.layout.segment_bytes;
	copy->whole = malloc(copy->whole_bytes);
	memcpy(copy->whole, ring->file.bytes, copy->whole_bytes);
	snprintf(copy->path, sizeof(copy->path), "%s/copy.rcs", ring->directory);
	copy->fd = open(copy->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	return copy->fd < 0 || pwrite(copy->fd, copy->whole, copy->whole_bytes, 0) != (ssize_t)copy->whole_bytes;
}

int test_copy_drop(void **state)
{
	struct test_copy *copy = *state;
	close(copy->fd);
	unlink(copy->path);
	free(copy->whole);
	test_ring_free(copy->ring);
	free(copy);
	return 0;
}

void test_copy_put(const struct test_copy *copy, size_t offset, const void *bytes, size_t n_bytes)
{
	assert_int_equal(pwrite(copy->fd, bytes, n_bytes, (off_t)offset), n_bytes);
}

void test_copy_restore(const struct test_copy *copy, size_t offset, size_t n_bytes)
{
	test_copy_put(copy, offset, copy->whole + offset, n_bytes);
}

uint64_t test_copy_records(const struct test_copy *copy, bool from_now)
{
	struct tele_attach *attach;
	struct tele_source *source;
	struct tele_record record;
	struct tele_error error = {0};
	uint64_t n_records = 0;
	uint64_t sum = 0;
	if (tele_attach_open(copy->path, &attach, &error) != 0)
		return 0;
	assert_int_equal(tele_ring_source_open(attach, from_now, &source, NULL), 0);
	while (tele_source_next(source, &record, &error) > 0) {
		if (record.kind == TELE_RECORD_ROW)
			for (uint32_t i = 0; i < record.n_fields; i++)
				sum += record.row[i];
		if (record.kind == TELE_RECORD_EVENT) {
			const char *text = tele_instance_string(record.instance, record.event.string_id);
			sum += text ? strlen(text) : 0;
		}
		assert_true(++n_records < RECORDS_BOUND);
	}
	tele_source_close(source);
	return n_records + (sum == 12345);
}

uint64_t test_copy_blocks(const struct test_copy *copy)
{
	static uint64_t row[TELE_FIELDS_MAX];
	struct tele_attach *attach;
	struct tele_error error = {0};
	const uint8_t *block;
	size_t n_bytes;
	uint64_t gap_from, gap_to, seq;
	uint32_t n_fields;
	bool is_provisional;
	uint64_t n_blocks = 0;
	if (tele_attach_open(copy->path, &attach, &error) != 0)
		return 0;
	tele_attach_latest(attach, row, TELE_FIELDS_MAX, &n_fields, &seq, &error);
	while (tele_attach_next_block(attach, true, &block, &n_bytes, &is_provisional, &gap_from, &gap_to,
				      &error) > 0) {
		struct tele_block_header header;
		assert_true(tele_block_check(block, n_bytes, &header) == (int64_t)n_bytes);
		assert_true(++n_blocks < RECORDS_BOUND);
	}
	tele_attach_close(attach);
	return n_blocks;
}

void test_copy_read(const struct test_copy *copy)
{
	test_copy_records(copy, false);
	test_copy_records(copy, true);
	test_copy_blocks(copy);
}
