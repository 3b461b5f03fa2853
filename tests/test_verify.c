// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers

#include "recorder/verify.h"

#include "libtelemetry/schema_wire.h"
#include "libtelemetry/trace_wire.h"
#include "tests/support/folder.h"
#include "tests/support/mode.h"
#include "tests/support/series.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define BLOCKS_MAX 32

static char folder[TEST_FOLDER_BYTES];
static char path[TEST_PATH_BYTES], repaired[TEST_PATH_BYTES];
static struct test_series *series[2];

// Where each block of the trace is, and what it holds.
static struct {
	size_t begin, end;
	uint64_t n_records; // 0: a stream, growth or index block
	int series;
} blocks[BLOCKS_MAX];
static size_t n_blocks, file_bytes;
static uint8_t *whole;

static int make_folder(void **state)
{
	(void)state;
	if (!test_folder_make(NULL, folder))
		return -1;
	snprintf(path, sizeof(path), "%s/t.rct", folder);
	snprintf(repaired, sizeof(repaired), "%s/r.rct", folder);
	for (int i = 0; i < 2; i++)
		series[i] = test_series_new((uint64_t)i + 1);
	return 0;
}

static int drop_folder(void **state)
{
	(void)state;
	unlink(path);
	unlink(repaired);
	for (int i = 0; i < 2; i++)
		test_series_free(series[i]);
	free(whole);
	return test_folder_remove(folder);
}

static void note(const struct tele_trace_writer *writer, size_t begin, int i, uint64_t n_records)
{
	blocks[n_blocks].begin = begin;
	blocks[n_blocks].end = (size_t)tele_trace_written_bytes(writer);
	blocks[n_blocks].series = i;
	blocks[n_blocks++].n_records = n_records;
}

static void write_bytes(const uint8_t *bytes, size_t n_bytes)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, n_bytes), n_bytes);
	close(fd);
}

// Two instances, one of whose schemas comes in two parts.
static void write_trace(void)
{
	struct tele_trace_writer *writer;
	struct tele_schema_head head;
	struct stat status;
	n_blocks = 0;
	assert_int_equal(tele_trace_create(path, true, &writer, NULL), 0);
	size_t begin = (size_t)tele_trace_written_bytes(writer);
	assert_int_equal(test_series_write_stream(series[0], writer), 0);
	note(writer, begin, 0, 0);
	memcpy(&head, series[1]->schema, sizeof(head));
	begin = blocks[0].end;
	assert_int_equal(tele_trace_write_stream(writer, &series[1]->identity, series[1]->schema, head.bytes, NULL), 0);
	note(writer, begin, 1, 0);
	begin = blocks[1].end;
	assert_int_equal(tele_trace_write_growth(writer, 2, series[1]->schema, head.bytes, series[1]->writer.used_bytes, NULL), 0);
	note(writer, begin, 1, 0);
	for (uint64_t k = 0; k < 6; k++) {
		int i = k % 2;
		begin = (size_t)tele_trace_written_bytes(writer);
		assert_int_equal(test_series_write(series[i], writer, k / 2 * 15, k / 2 * 15 + 15, 0), 0);
		note(writer, begin, i, 15);
	}
	begin = (size_t)tele_trace_written_bytes(writer);
	assert_int_equal(tele_trace_end(writer, NULL), 0);
	note(writer, begin, -1, 0);
	blocks[n_blocks - 1].end -= sizeof(struct tele_trace_trailer);
	assert_int_equal(tele_trace_finish(writer, NULL), 0);
	assert_int_equal(stat(path, &status), 0);
	file_bytes = (size_t)status.st_size;
	free(whole);
	whole = malloc(file_bytes);
	int fd = open(path, O_RDONLY);
	assert_int_equal(read(fd, whole, file_bytes), file_bytes);
	close(fd);
}

static int verify(const char *of, const char *into, char *text, size_t size)
{
	struct mon_out out = {0};
	struct tele_error error;
	const struct rec_verify_options options = {.path = of, .repair = into, .replace = true, .is_ascii = true};
	int result = rec_verify(&options, &out, &error);
	snprintf(text, size, "%s", result < 0 ? error.text : out.bytes);
	mon_out_fini(&out);
	return result;
}

static void a_whole_trace_is_whole(void **state)
{
	(void)state;
	char text[4096];
	write_trace();
	assert_int_equal(verify(path, NULL, text, sizeof(text)), 0);
	assert_non_null(strstr(text, "whole: 9 blocks, 90 records"));
}

static unsigned long long damaged_at(const char *text)
{
	const char *at = strstr(text, "damaged at byte ");
	unsigned long long offset = 0;
	assert_non_null(at);
	for (at += strlen("damaged at byte "); *at != ':'; at++)
		if (*at != ',')
			offset = offset * 10 + (unsigned)(*at - '0');
	return offset;
}

// All bytes of headers and of the trailer, and of the rest some; all in a soak.
static bool is_tried(size_t at)
{
	bool is_edge = at < 64 || (at >= 500 && at < 530) || at + 40 >= file_bytes;
	for (size_t k = 0; k < n_blocks; k++)
		is_edge |= at >= blocks[k].begin && at < blocks[k].begin + TELE_BLOCK_HEADER_BYTES;
	return is_edge || at % 29 == 0 || test_is_soak();
}

static void a_flipped_byte_anywhere_names_its_block(void **state)
{
	(void)state;
	char text[8192], name[32];
	write_trace();
	for (size_t at = 0; at < file_bytes; at++) {
		if (!is_tried(at))
			continue;
		// The words that say what kind of file it is.
		bool is_kind = at < 24;
		whole[at] ^= 0x41;
		write_bytes(whole, file_bytes);
		whole[at] ^= 0x41;
		int result = verify(path, NULL, text, sizeof(text));
		if (is_kind && result < 0)
			continue;
		if (result != 1)
			fail_msg("byte %zu: %d: %s", at, result, text);
		unsigned long long told = damaged_at(text);
		for (size_t k = 0; k < n_blocks; k++) {
			if (at < blocks[k].begin || at >= blocks[k].end)
				continue;
			snprintf(name, sizeof(name), "block %zu", k + 1);
			if (told != blocks[k].begin || !strstr(text, name))
				fail_msg("byte %zu of %s: %s", at, name, text);
		}
		if (at < TELE_TRACE_HEADER_BYTES)
			assert_true(told <= at);
		else if (at >= blocks[n_blocks - 1].end)
			assert_true(told >= blocks[n_blocks - 1].end);
	}
}

static void a_cut_anywhere_is_told_and_repaired(void **state)
{
	(void)state;
	char text[8192];
	write_trace();
	for (size_t cut = file_bytes; cut-- > TELE_TRACE_HEADER_BYTES; cut -= 96) {
		char recoverable[64];
		uint64_t n_whole = 0, n_records = 0;
		for (size_t k = 0; k + 1 < n_blocks; k++)
			if (blocks[k].end <= cut) {
				n_whole++;
				n_records += blocks[k].n_records;
			}
		write_bytes(whole, cut);
		assert_int_equal(verify(path, repaired, text, sizeof(text)), 1);
		assert_true(damaged_at(text) <= cut);
		snprintf(recoverable, sizeof(recoverable), "recoverable: %u of", (unsigned)n_whole);
		if (!strstr(text, recoverable))
			fail_msg("cut at %zu: %s", cut, text);
		assert_int_equal(verify(repaired, NULL, text, sizeof(text)), 0);
		snprintf(recoverable, sizeof(recoverable), "whole: %u blocks, %u records", (unsigned)n_whole, (unsigned)n_records);
		assert_non_null(strstr(text, recoverable));
	}
}

static void a_lost_schema_takes_its_data_along_unless_it_is_repeated(void **state)
{
	(void)state;
	char text[8192];
	struct tele_trace_writer *writer;
	for (int is_repeated = 0; is_repeated < 2; is_repeated++) {
		assert_int_equal(tele_trace_create(path, true, &writer, NULL), 0);
		assert_int_equal(test_series_write_stream(series[0], writer), 0);
		assert_int_equal(test_series_write(series[0], writer, 0, 15, 0), 0);
		if (is_repeated)
			assert_int_equal(test_series_write_stream(series[0], writer), 0);
		assert_int_equal(tele_trace_finish(writer, NULL), 0);
		int fd = open(path, O_RDWR);
		assert_int_equal(pwrite(fd, "x", 1, TELE_TRACE_HEADER_BYTES + 100), 1);
		close(fd);
		assert_int_equal(verify(path, repaired, text, sizeof(text)), 1);
		assert_non_null(strstr(text, "block 1, stream"));
		assert_true(is_repeated == !strstr(text, "missing"));
		// A repaired trace can be read through a pipe: the schema comes first.
		assert_int_equal(verify(repaired, NULL, text, sizeof(text)), 0);
		assert_non_null(strstr(text, is_repeated ? "whole: 3 blocks, 15 records" : "whole: 0 blocks, 0 records"));
	}
}

static void what_is_neither_trace_nor_segment_is_an_error(void **state)
{
	(void)state;
	char text[1024];
	write_bytes((const uint8_t *)"", 0);
	assert_int_equal(verify(path, NULL, text, sizeof(text)), TELE_ETRUNCATED);
	write_bytes((const uint8_t *)"neither", 7);
	assert_int_equal(verify(path, NULL, text, sizeof(text)), TELE_EMAGIC);
	assert_int_equal(verify(folder, NULL, text, sizeof(text)), -EISDIR);
	assert_int_equal(verify("/nowhere", NULL, text, sizeof(text)), -ENOENT);
	write_trace();
	assert_int_equal(verify(path, path, text, sizeof(text)), -EINVAL);
	assert_int_equal(verify(path, NULL, text, sizeof(text)), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_trace_is_whole),
		cmocka_unit_test(a_flipped_byte_anywhere_names_its_block),
		cmocka_unit_test(a_cut_anywhere_is_told_and_repaired),
		cmocka_unit_test(a_lost_schema_takes_its_data_along_unless_it_is_repeated),
		cmocka_unit_test(what_is_neither_trace_nor_segment_is_an_error),
	};
	return cmocka_run_group_tests_name("verify", tests, make_folder, drop_folder);
}
