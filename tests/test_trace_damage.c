// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Traces that are cut, changed, no traces at all, or of a later version: what
// can be read is read, and what is wrong is told with its place.

#include "libtelemetry/crc32c.h"
#include "libtelemetry/trace.h"
#include "libtelemetry/trace_wire.h"
#include "tests/support/trace_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void a_trace_cut_at_any_byte_gives_its_whole_blocks(void **state)
{
	struct test_trace *trace = *state;
	struct test_trace_layout layout;
	struct test_heard heard;
	struct tele_source *source;
	test_trace_write_small(trace, &layout, false);
	for (size_t cut = layout.file_bytes; cut-- > 0;) {
		assert_int_equal(truncate(trace->path, (off_t)cut), 0);
		if (cut < TELE_TRACE_HEADER_BYTES) {
			assert_int_equal(tele_trace_open(trace->path, &source, NULL), TELE_ETRUNCATED);
			continue;
		}
		uint64_t expected[2] = {0, 0};
		for (size_t k = 0; k < layout.n_blocks; k++)
			if (layout.blocks[k].end <= cut)
				expected[layout.blocks[k].series] += layout.blocks[k].n_records;
		test_trace_read(trace, &heard);
		assert_false(heard.info.is_complete);
		assert_true(heard.info.damage[0] != '\0');
		assert_true(heard.info.damaged_at <= cut);
		assert_int_equal(heard.info.n_records, expected[0] + expected[1]);
		for (int i = 0; i < 2; i++)
			assert_int_equal(heard.n_records[i], expected[i]);
	}
}

static void check_flip(struct test_trace *trace, const struct test_trace_layout *layout, size_t at, bool is_repeated)
{
	struct test_heard heard;
	uint64_t expected[2] = {45, 45};
	uint64_t block_records = 0;
	test_trace_read(trace, &heard);
	for (size_t k = 0; k < layout->n_blocks; k++) {
		if (at < layout->blocks[k].begin || at >= layout->blocks[k].end)
			continue;
		int i = layout->blocks[k].series;
		block_records = layout->blocks[k].n_records;
		if (block_records == 0 && !(is_repeated && i == 0))
			expected[i] = 0;
		else
			expected[i] -= block_records;
		assert_false(heard.info.is_complete);
		assert_in_range(heard.info.damaged_at, layout->blocks[k].begin, layout->blocks[k].end - 1);
	}
	for (int i = 0; i < 2; i++) {
		if (heard.n_records[i] != expected[i])
			fail_msg("byte %zu: %llu records, not %llu", at,
				 (unsigned long long)heard.n_records[i], (unsigned long long)expected[i]);
		assert_true(heard.n_lost[i] <= block_records);
	}
	if (at >= layout->blocks_end)
		assert_false(heard.info.is_complete);
}

static void a_flipped_byte_loses_its_block_and_no_more(void **state)
{
	struct test_trace *trace = *state;
	struct test_trace_layout layout;
	uint8_t *bytes;
	test_trace_write_small(trace, &layout, true);
	size_t n_bytes = test_trace_bytes(trace, &bytes);
	for (size_t at = 0; at < n_bytes; at++) {
		// Most of the header page is zeroes that nobody reads.
		if (at >= 520 && at < TELE_TRACE_HEADER_BYTES - 4)
			continue;
		int fd = open(trace->path, O_WRONLY);
		uint8_t flipped = bytes[at] ^ 0x41;
		assert_int_equal(pwrite(fd, &flipped, 1, (off_t)at), 1);
		check_flip(trace, &layout, at, true);
		assert_int_equal(pwrite(fd, &bytes[at], 1, (off_t)at), 1);
		close(fd);
	}
	free(bytes);
}

static void a_flipped_byte_in_a_pipe_loses_its_block_and_no_more(void **state)
{
	struct test_trace *trace = *state;
	struct test_trace_layout layout;
	struct test_heard heard;
	uint8_t *bytes;
	test_trace_write_small(trace, &layout, false);
	size_t n_bytes = test_trace_bytes(trace, &bytes);
	for (size_t k = 2; k < layout.n_blocks; k++) {
		bytes[layout.blocks[k].begin + 20] ^= 0x10;
		test_trace_read_by_pipe(trace, bytes, n_bytes, &heard);
		assert_int_equal(heard.n_records[0] + heard.n_records[1], 75);
		assert_int_equal(heard.info.damaged_at, layout.blocks[k].begin);
		bytes[layout.blocks[k].begin + 20] ^= 0x10;
	}
	bytes[3] ^= 1;
	test_trace_read_by_pipe(trace, bytes, n_bytes, &heard);
	assert_int_equal(heard.n_records[0] + heard.n_records[1], 90);
	assert_int_equal(heard.info.damaged_at, 0);
	free(bytes);
}

static void garbage_between_blocks_is_passed_over(void **state)
{
	struct test_trace *trace = *state;
	struct test_trace_layout layout;
	struct test_heard heard;
	uint8_t *bytes;
	test_trace_write_small(trace, &layout, false);
	size_t n_bytes = test_trace_bytes(trace, &bytes);
	size_t at = layout.blocks[4].begin;
	uint8_t *longer = malloc(n_bytes + 4096);
	memcpy(longer, bytes, at);
	for (size_t i = 0; i < 4096; i++)
		longer[at + i] = i % 100 < 4 ? (uint8_t)"RLBK"[i % 100] : (uint8_t)i;
	memcpy(longer + at + 4096, bytes + at, n_bytes - at);
	test_trace_put(trace, longer, n_bytes + 4096);
	test_trace_read(trace, &heard);
	assert_int_equal(heard.info.n_records, 90);
	assert_int_equal(heard.info.damaged_at, at);
	assert_int_equal(heard.n_records[0] + heard.n_records[1], 90);
	free(longer);
	free(bytes);
}

static void what_is_no_trace_is_refused(void **state)
{
	struct test_trace *trace = *state;
	struct tele_source *source;
	struct tele_error error;
	test_trace_put(trace, (const uint8_t *)"", 0);
	assert_int_equal(tele_trace_open(trace->path, &source, &error), TELE_ETRUNCATED);
	assert_non_null(strstr(error.text, "empty"));
	assert_int_equal(tele_trace_open("/dev/null", &source, &error), TELE_ETRUNCATED);
	assert_int_equal(tele_trace_open(trace->folder, &source, &error), -EISDIR);
	assert_int_equal(tele_trace_open("/nowhere/at/all", &source, &error), -ENOENT);
	uint8_t text[10000];
	memset(text, 'x', sizeof(text));
	test_trace_put(trace, text, 100);
	assert_int_equal(tele_trace_open(trace->path, &source, &error), TELE_EMAGIC);
	test_trace_put(trace, text, sizeof(text));
	assert_int_equal(tele_trace_open(trace->path, &source, &error), TELE_EMAGIC);
	assert_non_null(strstr(error.text, trace->path));
}

static void patch_header(const struct test_trace *trace, const uint8_t *bytes, size_t n_bytes,
			 void (*change)(struct tele_trace_header *))
{
	uint8_t *copy = malloc(n_bytes);
	struct tele_trace_header header;
	memcpy(copy, bytes, n_bytes);
	memcpy(&header, copy, sizeof(header));
	change(&header);
	header.checksum = tele_crc32c(0, &header, offsetof(struct tele_trace_header, checksum));
	memcpy(copy, &header, sizeof(header));
	test_trace_put(trace, copy, n_bytes);
	free(copy);
}

static void make_major_newer(struct tele_trace_header *header)
{
	header->major = 7;
	header->minor = 3;
}

static void make_minor_newer(struct tele_trace_header *header)
{
	header->minor = 9;
	header->compatible = 1u << 5;
}

static void need_a_feature(struct tele_trace_header *header)
{
	header->incompatible = 1u << 4;
}

static void a_newer_version_is_refused_naming_both(void **state)
{
	struct test_trace *trace = *state;
	struct test_trace_layout layout;
	struct test_heard heard;
	struct tele_source *source;
	struct tele_error error;
	uint8_t *bytes;
	test_trace_write_small(trace, &layout, false);
	size_t n_bytes = test_trace_bytes(trace, &bytes);
	patch_header(trace, bytes, n_bytes, make_major_newer);
	assert_int_equal(tele_trace_open(trace->path, &source, &error), TELE_EVERSION);
	assert_non_null(strstr(error.text, "7.3"));
	assert_non_null(strstr(error.text, "1.1"));
	patch_header(trace, bytes, n_bytes, need_a_feature);
	assert_int_equal(tele_trace_open(trace->path, &source, &error), TELE_EVERSION);
	assert_non_null(strstr(error.text, "bit 4"));
	patch_header(trace, bytes, n_bytes, make_minor_newer);
	test_trace_read(trace, &heard);
	assert_int_equal(heard.info.n_records, 90);
	free(bytes);
}

static void a_block_of_a_later_type_is_passed_over(void **state)
{
	struct test_trace *trace = *state;
	struct test_trace_layout layout;
	struct test_heard heard;
	uint8_t *bytes;
	test_trace_write_small(trace, &layout, false);
	size_t n_bytes = test_trace_bytes(trace, &bytes);
	uint8_t block[TELE_BLOCK_HEADER_BYTES + 8] = {0};
	struct tele_block_header header = {.type = 9, .stored_bytes = 8, .raw_bytes = 8};
	size_t block_bytes = tele_block_finish(&header, block);
	uint8_t *longer = malloc(n_bytes + block_bytes);
	memcpy(longer, bytes, layout.blocks_end);
	memcpy(longer + layout.blocks_end, block, block_bytes);
	test_trace_put(trace, longer, layout.blocks_end + block_bytes);
	test_trace_read(trace, &heard);
	assert_int_equal(heard.info.n_records, 90);
	assert_int_equal(heard.info.damaged_at, layout.blocks_end + block_bytes);
	free(longer);
	free(bytes);
}

static void a_damaged_index_costs_nothing(void **state)
{
	struct test_trace *trace = *state;
	struct test_heard heard;
	struct test_trace_layout layout;
	uint8_t *bytes;
	test_trace_write_small(trace, &layout, false);
	size_t n_bytes = test_trace_bytes(trace, &bytes);
	bytes[layout.blocks_end + 70] ^= 1;
	test_trace_put(trace, bytes, n_bytes);
	test_trace_read(trace, &heard);
	assert_int_equal(heard.n_records[0] + heard.n_records[1], 90);
	assert_false(heard.info.is_complete);
	assert_int_equal(heard.info.damaged_at, layout.blocks_end);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_trace_cut_at_any_byte_gives_its_whole_blocks),
		cmocka_unit_test(a_flipped_byte_loses_its_block_and_no_more),
		cmocka_unit_test(a_flipped_byte_in_a_pipe_loses_its_block_and_no_more),
		cmocka_unit_test(garbage_between_blocks_is_passed_over),
		cmocka_unit_test(what_is_no_trace_is_refused),
		cmocka_unit_test(a_newer_version_is_refused_naming_both),
		cmocka_unit_test(a_block_of_a_later_type_is_passed_over),
		cmocka_unit_test(a_damaged_index_costs_nothing),
	};
	return cmocka_run_group_tests_name("trace_damage", tests, test_trace_make, test_trace_drop);
}
