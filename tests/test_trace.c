// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers

#include "libtelemetry/trace.h"

#include "libtelemetry/crc32c.h"
#include "libtelemetry/trace_wire.h"
#include "tests/support/folder.h"
#include "tests/support/series.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define SERIES_MAX 4
#define BLOCKS_MAX 64

static char folder[TEST_FOLDER_BYTES];
static char path[TEST_PATH_BYTES];
static struct test_series *series[SERIES_MAX];

static int make_folder(void **state)
{
	(void)state;
	if (!test_folder_make(NULL, folder))
		return -1;
	snprintf(path, sizeof(path), "%s/t.rct", folder);
	for (uint64_t i = 0; i < SERIES_MAX; i++)
		series[i] = test_series_new(i == SERIES_MAX - 1 ? 1000 : i + 1);
	return 0;
}

static int drop_folder(void **state)
{
	(void)state;
	unlink(path);
	for (int i = 0; i < SERIES_MAX; i++)
		test_series_free(series[i]);
	return test_folder_remove(folder);
}

static struct tele_trace_writer *create(void)
{
	struct tele_trace_writer *writer;
	assert_int_equal(tele_trace_create(path, true, &writer, NULL), 0);
	return writer;
}

// What came out of a trace, by series.
struct heard {
	uint64_t n_records[SERIES_MAX], first_seq[SERIES_MAX], next_seq[SERIES_MAX];
	uint64_t n_lost[SERIES_MAX], n_instances[SERIES_MAX], n_schemas[SERIES_MAX];
	enum tele_state states[SERIES_MAX];
	struct tele_trace_info info;
};

static int index_of(uint64_t instance_id)
{
	for (int i = 0; i < SERIES_MAX; i++)
		if (series[i]->identity.instance_id == instance_id)
			return i;
	fail_msg("an instance nobody wrote: %llu", (unsigned long long)instance_id);
	return -1;
}

// Reads to the end. Every record must be right, in order, and once.
static void hear(struct tele_source *source, struct heard *heard)
{
	struct tele_record record;
	struct tele_error error;
	int more;
	memset(heard, 0, sizeof(*heard));
	while ((more = tele_source_next(source, &record, &error)) > 0) {
		int i = index_of(record.instance->identity.instance_id);
		heard->states[i] = record.instance->state;
		switch (record.kind) {
		case TELE_RECORD_INSTANCE:
			assert_int_equal(heard->n_records[i], 0);
			assert_string_equal(record.instance->identity.label, series[i]->identity.label);
			heard->n_instances[i]++;
			break;
		case TELE_RECORD_SCHEMA:
			assert_int_equal(record.instance->schema->n_fields, series[i]->plan.n_fields);
			heard->n_schemas[i]++;
			break;
		case TELE_RECORD_GAP:
			assert_true(heard->n_records[i] > 0);
			assert_true(record.gap_from == heard->next_seq[i]);
			assert_true(record.gap_to > record.gap_from);
			heard->n_lost[i] += record.gap_to - record.gap_from;
			assert_true(record.instance->lost == heard->n_lost[i]);
			heard->next_seq[i] = record.gap_to;
			break;
		case TELE_RECORD_ROW:
		case TELE_RECORD_EVENT:
			assert_true(heard->n_instances[i] == 1 && heard->n_schemas[i] >= 1);
			if (record.kind == TELE_RECORD_ROW || record.event.type == TELE_EVENT_MARK)
				assert_true(test_series_is_right(series[i], &record));
			if (heard->n_records[i]++ == 0)
				heard->first_seq[i] = record.seq;
			else
				assert_true(record.seq == heard->next_seq[i]);
			heard->next_seq[i] = record.seq + 1;
			break;
		case TELE_RECORD_STATE:
			break;
		}
	}
	assert_int_equal(more, 0);
	tele_trace_get_info(source, &heard->info);
}

// Whatever is wrong with a file, reading it once tells the same.
static void check_reading_once(const struct heard *heard)
{
	struct tele_source *source;
	struct tele_error error;
	struct heard again;
	const struct tele_instance *instance;
	if (tele_trace_open_once(path, &source, &error) != 0)
		fail_msg("%s", error.text);
	for (uint32_t i = 0; (instance = tele_trace_instance_at(source, i)); i++) {
		size_t n_bytes;
		const struct test_series *its = series[index_of(instance->identity.instance_id)];
		const uint8_t *bytes = tele_trace_schema_bytes(source, instance, &n_bytes);
		assert_int_equal(n_bytes, its->writer.used_bytes);
		assert_memory_equal(bytes, its->schema, n_bytes);
	}
	hear(source, &again);
	assert_int_equal(tele_trace_seek(source, 0, NULL), -ESPIPE);
	tele_source_close(source);
	assert_memory_equal(again.n_records, heard->n_records, sizeof(again.n_records));
	assert_memory_equal(again.n_lost, heard->n_lost, sizeof(again.n_lost));
	assert_memory_equal(again.states, heard->states, sizeof(again.states));
	assert_int_equal(again.info.is_complete, heard->info.is_complete);
	assert_true(again.info.damaged_at == heard->info.damaged_at);
	assert_true(again.info.read_bytes <= again.info.file_bytes);
}

static void read_trace(const char *from, struct heard *heard)
{
	struct tele_source *source;
	struct tele_error error;
	if (tele_trace_open(from, &source, &error) != 0)
		fail_msg("%s", error.text);
	hear(source, heard);
	tele_source_close(source);
	// There are thousands of them, cut at every byte: each third says it all.
	static unsigned n_read;
	if (from == path && n_read++ % 3 == 0)
		check_reading_once(heard);
}

static size_t read_file(uint8_t **ret_bytes)
{
	struct stat status;
	int fd = open(path, O_RDONLY);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &status), 0);
	*ret_bytes = malloc((size_t)status.st_size + 1);
	assert_int_equal(read(fd, *ret_bytes, (size_t)status.st_size), status.st_size);
	close(fd);
	return (size_t)status.st_size;
}

static void write_file(const uint8_t *bytes, size_t n_bytes)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, n_bytes), n_bytes);
	close(fd);
}

// The same bytes through a pipe.
static void read_by_pipe(const uint8_t *bytes, size_t n_bytes, struct heard *heard)
{
	int ends[2];
	char name[32];
	assert_int_equal(pipe(ends), 0);
	pid_t child = fork();
	if (child == 0) {
		close(ends[0]);
		for (size_t done = 0; done < n_bytes;) {
			size_t piece = n_bytes - done < 1000 ? n_bytes - done : 1000;
			ssize_t n = write(ends[1], bytes + done, piece);
			if (n <= 0)
				break;
			done += (size_t)n;
		}
		_exit(0);
	}
	close(ends[1]);
	snprintf(name, sizeof(name), "/dev/fd/%d", ends[0]);
	read_trace(name, heard);
	close(ends[0]);
	waitpid(child, NULL, 0);
}

// A small trace of two instances: where each block is, and what it holds.
struct layout {
	size_t n_blocks;
	struct {
		size_t begin, end;
		int series;
		uint64_t n_records; // 0: a stream block
	} blocks[BLOCKS_MAX];
	size_t blocks_end, file_bytes;
};

static void note(struct layout *layout, const struct tele_trace_writer *writer, size_t begin, int i,
		 uint64_t n_records)
{
	layout->blocks[layout->n_blocks].begin = begin;
	layout->blocks[layout->n_blocks].end = (size_t)tele_trace_written_bytes(writer);
	layout->blocks[layout->n_blocks].series = i;
	layout->blocks[layout->n_blocks++].n_records = n_records;
}

static void write_small(struct layout *layout, bool is_stream_repeated)
{
	struct tele_trace_writer *writer = create();
	memset(layout, 0, sizeof(*layout));
	for (int i = 0; i < 2; i++) {
		size_t begin = (size_t)tele_trace_written_bytes(writer);
		assert_int_equal(test_series_write_stream(series[i], writer), 0);
		note(layout, writer, begin, i, 0);
	}
	for (uint64_t k = 0; k < 6; k++) {
		int i = k % 2;
		size_t begin = (size_t)tele_trace_written_bytes(writer);
		assert_int_equal(test_series_write(series[i], writer, k / 2 * 15, k / 2 * 15 + 15, 0), 0);
		note(layout, writer, begin, i, 15);
	}
	if (is_stream_repeated) {
		size_t begin = (size_t)tele_trace_written_bytes(writer);
		assert_int_equal(test_series_write_stream(series[0], writer), 0);
		note(layout, writer, begin, 0, 0);
	}
	layout->blocks_end = (size_t)tele_trace_written_bytes(writer);
	assert_int_equal(tele_trace_finish(writer, NULL), 0);
	struct stat status;
	assert_int_equal(stat(path, &status), 0);
	layout->file_bytes = (size_t)status.st_size;
}

// ---- Tests -------------------------------------------------------------------------

static void interleaved_instances_come_back_whole(void **state)
{
	(void)state;
	struct heard heard;
	struct tele_trace_writer *writer = create();
	for (int i = 0; i < 3; i++)
		assert_int_equal(test_series_write_stream(series[i], writer), 0);
	for (uint64_t k = 0; k < 5; k++)
		for (int i = 0; i < 3; i++)
			assert_int_equal(test_series_write(series[i], writer, k * 200, k * 200 + 200, 0), 0);
	assert_int_equal(tele_trace_sync(writer, NULL), 0);
	assert_int_equal(tele_trace_finish(writer, NULL), 0);
	read_trace(path, &heard);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(heard.n_records[i], 1000);
		assert_int_equal(heard.n_lost[i], 0);
		assert_int_equal(heard.states[i], TELE_LIVE);
	}
	assert_true(heard.info.is_complete);
	assert_int_equal(heard.info.n_records, 3000);
	assert_int_equal(heard.info.n_blocks, 18);
	assert_true(heard.info.first_at_ns == test_series_at_ns(0));
	assert_true(heard.info.last_at_ns == test_series_at_ns(999));
	assert_string_equal(heard.info.damage, "");

	uint8_t *bytes;
	size_t n_bytes = read_file(&bytes);
	read_by_pipe(bytes, n_bytes, &heard);
	assert_true(heard.info.is_complete);
	assert_int_equal(heard.info.n_records, 3000);
	assert_int_equal(heard.info.file_bytes, 0);
	assert_int_equal(heard.n_records[2], 1000);
	free(bytes);
}

static void a_trace_of_nothing_is_complete(void **state)
{
	(void)state;
	struct heard heard;
	assert_int_equal(tele_trace_finish(create(), NULL), 0);
	read_trace(path, &heard);
	assert_true(heard.info.is_complete);
	assert_int_equal(heard.info.n_blocks, 0);
	assert_int_equal(tele_trace_finish(NULL, NULL), 0);
}

static void a_trace_cut_at_any_byte_gives_its_whole_blocks(void **state)
{
	(void)state;
	struct layout layout;
	struct heard heard;
	struct tele_source *source;
	write_small(&layout, false);
	for (size_t cut = layout.file_bytes; cut-- > 0;) {
		assert_int_equal(truncate(path, (off_t)cut), 0);
		if (cut < TELE_TRACE_HEADER_BYTES) {
			assert_int_equal(tele_trace_open(path, &source, NULL), TELE_ETRUNCATED);
			continue;
		}
		uint64_t expected[2] = {0, 0};
		for (size_t k = 0; k < layout.n_blocks; k++)
			if (layout.blocks[k].end <= cut)
				expected[layout.blocks[k].series] += layout.blocks[k].n_records;
		read_trace(path, &heard);
		assert_false(heard.info.is_complete);
		assert_true(heard.info.damage[0] != '\0');
		assert_true(heard.info.damaged_at <= cut);
		assert_int_equal(heard.info.n_records, expected[0] + expected[1]);
		for (int i = 0; i < 2; i++)
			assert_int_equal(heard.n_records[i], expected[i]);
	}
}

static void check_flip(const struct layout *layout, size_t at, bool is_repeated)
{
	struct heard heard;
	uint64_t expected[2] = {45, 45};
	uint64_t block_records = 0;
	read_trace(path, &heard);
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
	(void)state;
	struct layout layout;
	uint8_t *bytes;
	write_small(&layout, true);
	size_t n_bytes = read_file(&bytes);
	for (size_t at = 0; at < n_bytes; at++) {
		// Most of the header page is zeroes that nobody reads.
		if (at >= 520 && at < TELE_TRACE_HEADER_BYTES - 4)
			continue;
		int fd = open(path, O_WRONLY);
		uint8_t flipped = bytes[at] ^ 0x41;
		assert_int_equal(pwrite(fd, &flipped, 1, (off_t)at), 1);
		check_flip(&layout, at, true);
		assert_int_equal(pwrite(fd, &bytes[at], 1, (off_t)at), 1);
		close(fd);
	}
	free(bytes);
}

static void a_flipped_byte_in_a_pipe_loses_its_block_and_no_more(void **state)
{
	(void)state;
	struct layout layout;
	struct heard heard;
	uint8_t *bytes;
	write_small(&layout, false);
	size_t n_bytes = read_file(&bytes);
	for (size_t k = 2; k < layout.n_blocks; k++) {
		bytes[layout.blocks[k].begin + 20] ^= 0x10;
		read_by_pipe(bytes, n_bytes, &heard);
		assert_int_equal(heard.n_records[0] + heard.n_records[1], 75);
		assert_int_equal(heard.info.damaged_at, layout.blocks[k].begin);
		bytes[layout.blocks[k].begin + 20] ^= 0x10;
	}
	bytes[3] ^= 1;
	read_by_pipe(bytes, n_bytes, &heard);
	assert_int_equal(heard.n_records[0] + heard.n_records[1], 90);
	assert_int_equal(heard.info.damaged_at, 0);
	free(bytes);
}

static void garbage_between_blocks_is_passed_over(void **state)
{
	(void)state;
	struct layout layout;
	struct heard heard;
	uint8_t *bytes;
	write_small(&layout, false);
	size_t n_bytes = read_file(&bytes);
	size_t at = layout.blocks[4].begin;
	uint8_t *longer = malloc(n_bytes + 4096);
	memcpy(longer, bytes, at);
	for (size_t i = 0; i < 4096; i++)
		longer[at + i] = i % 100 < 4 ? (uint8_t)"RLBK"[i % 100] : (uint8_t)i;
	memcpy(longer + at + 4096, bytes + at, n_bytes - at);
	write_file(longer, n_bytes + 4096);
	read_trace(path, &heard);
	assert_int_equal(heard.info.n_records, 90);
	assert_int_equal(heard.info.damaged_at, at);
	assert_int_equal(heard.n_records[0] + heard.n_records[1], 90);
	free(longer);
	free(bytes);
}

static void what_is_no_trace_is_refused(void **state)
{
	(void)state;
	struct tele_source *source;
	struct tele_error error;
	write_file((const uint8_t *)"", 0);
	assert_int_equal(tele_trace_open(path, &source, &error), TELE_ETRUNCATED);
	assert_non_null(strstr(error.text, "empty"));
	assert_int_equal(tele_trace_open("/dev/null", &source, &error), TELE_ETRUNCATED);
	assert_int_equal(tele_trace_open(folder, &source, &error), -EISDIR);
	assert_int_equal(tele_trace_open("/nowhere/at/all", &source, &error), -ENOENT);
	uint8_t text[10000];
	memset(text, 'x', sizeof(text));
	write_file(text, 100);
	assert_int_equal(tele_trace_open(path, &source, &error), TELE_EMAGIC);
	write_file(text, sizeof(text));
	assert_int_equal(tele_trace_open(path, &source, &error), TELE_EMAGIC);
	assert_non_null(strstr(error.text, path));
}

static void patch_header(const uint8_t *bytes, size_t n_bytes, void (*change)(struct tele_trace_header *))
{
	uint8_t *copy = malloc(n_bytes);
	struct tele_trace_header header;
	memcpy(copy, bytes, n_bytes);
	memcpy(&header, copy, sizeof(header));
	change(&header);
	header.checksum = tele_crc32c(0, &header, offsetof(struct tele_trace_header, checksum));
	memcpy(copy, &header, sizeof(header));
	write_file(copy, n_bytes);
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
	(void)state;
	struct layout layout;
	struct heard heard;
	struct tele_source *source;
	struct tele_error error;
	uint8_t *bytes;
	write_small(&layout, false);
	size_t n_bytes = read_file(&bytes);
	patch_header(bytes, n_bytes, make_major_newer);
	assert_int_equal(tele_trace_open(path, &source, &error), TELE_EVERSION);
	assert_non_null(strstr(error.text, "7.3"));
	assert_non_null(strstr(error.text, "1.1"));
	patch_header(bytes, n_bytes, need_a_feature);
	assert_int_equal(tele_trace_open(path, &source, &error), TELE_EVERSION);
	assert_non_null(strstr(error.text, "bit 4"));
	patch_header(bytes, n_bytes, make_minor_newer);
	read_trace(path, &heard);
	assert_int_equal(heard.info.n_records, 90);
	free(bytes);
}

static void a_block_of_a_later_type_is_passed_over(void **state)
{
	(void)state;
	struct layout layout;
	struct heard heard;
	uint8_t *bytes;
	write_small(&layout, false);
	size_t n_bytes = read_file(&bytes);
	uint8_t block[TELE_BLOCK_HEADER_BYTES + 8] = {0};
	struct tele_block_header header = {.type = 9, .stored_bytes = 8, .raw_bytes = 8};
	size_t block_bytes = tele_block_finish(&header, block);
	uint8_t *longer = malloc(n_bytes + block_bytes);
	memcpy(longer, bytes, layout.blocks_end);
	memcpy(longer + layout.blocks_end, block, block_bytes);
	write_file(longer, layout.blocks_end + block_bytes);
	read_trace(path, &heard);
	assert_int_equal(heard.info.n_records, 90);
	assert_int_equal(heard.info.damaged_at, layout.blocks_end + block_bytes);
	free(longer);
	free(bytes);
}

static void a_provisional_block_is_told_at_once_and_never_twice(void **state)
{
	(void)state;
	struct heard heard;
	uint8_t *bytes;
	for (int is_sealed = 0; is_sealed < 2; is_sealed++) {
		struct tele_trace_writer *writer = create();
		assert_int_equal(test_series_write_stream(series[0], writer), 0);
		assert_int_equal(test_series_write(series[0], writer, 0, 20, 0), 0);
		assert_int_equal(test_series_write(series[0], writer, 20, 25, TELE_BLOCK_PROVISIONAL), 0);
		assert_int_equal(test_series_write(series[0], writer, 20, 60, TELE_BLOCK_PROVISIONAL), 0);
		if (is_sealed) {
			assert_int_equal(test_series_write(series[0], writer, 20, 120, 0), 0);
			assert_int_equal(test_series_write(series[0], writer, 120, 130, 0), 0);
		}
		assert_int_equal(tele_trace_finish(writer, NULL), 0);
		read_trace(path, &heard);
		assert_int_equal(heard.n_records[0], is_sealed ? 130 : 60);
		assert_int_equal(heard.n_lost[0], 0);
		assert_int_equal(heard.info.n_records, is_sealed ? 130 : 60);
		size_t n_bytes = read_file(&bytes);
		read_by_pipe(bytes, n_bytes, &heard);
		assert_int_equal(heard.n_records[0], is_sealed ? 130 : 60);
		assert_int_equal(heard.info.n_records, is_sealed ? 130 : 60);
		free(bytes);
	}
}

static void what_is_missing_is_a_gap_of_exactly_that(void **state)
{
	(void)state;
	struct heard heard;
	struct tele_trace_writer *writer = create();
	assert_int_equal(test_series_write_stream(series[0], writer), 0);
	assert_int_equal(test_series_write(series[0], writer, 500, 600, 0), 0);
	assert_int_equal(test_series_write(series[0], writer, 601, 650, 0), 0);
	assert_int_equal(test_series_write(series[0], writer, 1000, 1001, 0), 0);
	assert_int_equal(tele_trace_finish(writer, NULL), 0);
	read_trace(path, &heard);
	assert_int_equal(heard.first_seq[0], 500);
	assert_int_equal(heard.n_records[0], 150);
	assert_int_equal(heard.n_lost[0], 1 + 350);
	assert_true(heard.n_records[0] + heard.n_lost[0] == 1001 - 500);
}

// Counts the records of series 0 and 1 after a seek; returns the first number.
static uint64_t seek_and_hear(struct tele_source *source, uint64_t at_ns, struct heard *heard)
{
	assert_int_equal(tele_trace_seek(source, at_ns, NULL), 0);
	hear(source, heard);
	return heard->first_seq[0];
}

static void a_long_trace_has_many_indexes_and_can_be_sought(void **state)
{
	(void)state;
	struct heard heard;
	struct tele_source *source;
	struct tele_trace_writer *writer = create();
	for (int i = 0; i < 2; i++)
		assert_int_equal(test_series_write_stream(series[i], writer), 0);
	for (uint64_t k = 0; k < 1500; k++)
		for (int i = 0; i < 2; i++)
			assert_int_equal(test_series_write(series[i], writer, k * 3, k * 3 + 3, 0), 0);
	assert_int_equal(tele_trace_finish(writer, NULL), 0);
	assert_int_equal(tele_trace_open(path, &source, NULL), 0);
	struct tele_trace_info info;
	tele_trace_get_info(source, &info);
	assert_true(info.is_complete);
	assert_int_equal(info.n_blocks, 3002);
	assert_int_equal(info.n_records, 9000);
	hear(source, &heard);
	assert_int_equal(heard.n_records[0] + heard.n_records[1], 9000);

	assert_int_equal(seek_and_hear(source, test_series_at_ns(3000), &heard), 3000);
	assert_int_equal(heard.n_records[1], 1500);
	assert_int_equal(seek_and_hear(source, test_series_at_ns(3002), &heard), 3000);
	assert_int_equal(seek_and_hear(source, test_series_at_ns(2999), &heard), 2997);
	assert_int_equal(seek_and_hear(source, UINT64_MAX, &heard), 4497);
	assert_int_equal(heard.n_records[0], 3);
	assert_int_equal(seek_and_hear(source, 1, &heard), 0);
	assert_int_equal(seek_and_hear(source, 0, &heard), 0);
	assert_int_equal(heard.n_records[0] + heard.n_records[1], 9000);
	tele_source_close(source);

	// From the start right to a place, with nothing read before.
	assert_int_equal(tele_trace_open(path, &source, NULL), 0);
	assert_int_equal(seek_and_hear(source, test_series_at_ns(4000), &heard), 3999);
	tele_source_close(source);

	// The same without a trailer.
	struct stat status;
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(truncate(path, status.st_size - 1), 0);
	assert_int_equal(tele_trace_open(path, &source, NULL), 0);
	tele_trace_get_info(source, &info);
	assert_false(info.is_complete);
	assert_int_equal(info.n_records, 9000);
	assert_int_equal(seek_and_hear(source, test_series_at_ns(4000), &heard), 3999);
	tele_source_close(source);
}

static void a_damaged_index_costs_nothing(void **state)
{
	(void)state;
	struct heard heard;
	struct layout layout;
	uint8_t *bytes;
	write_small(&layout, false);
	size_t n_bytes = read_file(&bytes);
	bytes[layout.blocks_end + 70] ^= 1;
	write_file(bytes, n_bytes);
	read_trace(path, &heard);
	assert_int_equal(heard.n_records[0] + heard.n_records[1], 90);
	assert_false(heard.info.is_complete);
	assert_int_equal(heard.info.damaged_at, layout.blocks_end);
	free(bytes);
}

// A block of the observer that says: series 0 has exited.
static void write_state(struct tele_trace_writer *writer, uint64_t seq, uint64_t at_seq, uint64_t now)
{
	struct test_series *observer = series[SERIES_MAX - 1];
	struct tele_event event = {
		.seq = seq,
		.at_ns = test_series_at_ns(at_seq),
		.subject = series[0]->identity.instance_id,
		.value = now,
		.type = TELE_EVENT_STATE,
	};
	struct tele_block_input input = {
		.instance_id = observer->identity.instance_id,
		.plan = &observer->plan,
		.n_fields = observer->plan.n_fields,
		.schema_bytes = (uint32_t)observer->writer.used_bytes,
		.first_seq = seq,
		.first_at_ns = event.at_ns,
		.last_at_ns = event.at_ns,
		.events = &event,
		.n_events = 1,
	};
	uint8_t block[1024];
	int64_t n = tele_block_encode(&input, observer->scratch, observer->scratch_bytes, block, sizeof(block));
	assert_true(n > 0);
	assert_int_equal(tele_trace_write_block(writer, block, (size_t)n, NULL), 0);
}

static void an_observer_tells_states_even_behind_a_seek(void **state)
{
	(void)state;
	struct heard heard;
	struct tele_source *source;
	struct tele_trace_writer *writer = create();
	assert_int_equal(test_series_write_stream(series[SERIES_MAX - 1], writer), 0);
	assert_int_equal(test_series_write_stream(series[0], writer), 0);
	assert_int_equal(test_series_write_stream(series[1], writer), 0);
	assert_int_equal(test_series_write(series[0], writer, 0, 20, 0), 0);
	write_state(writer, 5, 20, TELE_KILLED);
	write_state(writer, 6, 21, 99); // of a later version
	assert_int_equal(test_series_write(series[1], writer, 0, 20, 0), 0);
	for (uint64_t k = 1; k < 10; k++)
		assert_int_equal(test_series_write(series[1], writer, k * 20, k * 20 + 20, 0), 0);
	assert_int_equal(tele_trace_finish(writer, NULL), 0);
	assert_int_equal(tele_trace_open(path, &source, NULL), 0);
	hear(source, &heard);
	assert_int_equal(heard.states[0], TELE_KILLED);
	assert_int_equal(heard.states[1], TELE_LIVE);
	assert_int_equal(tele_trace_seek(source, test_series_at_ns(150), NULL), 0);
	hear(source, &heard);
	assert_int_equal(heard.states[0], TELE_KILLED);
	assert_int_equal(heard.n_records[0], 20);
	assert_int_equal(heard.first_seq[1], 140);
	tele_source_close(source);
}

static void an_existing_trace_is_replaced_only_when_asked(void **state)
{
	(void)state;
	struct tele_trace_writer *writer;
	struct tele_error error;
	assert_int_equal(tele_trace_finish(create(), NULL), 0);
	assert_int_equal(tele_trace_create(path, false, &writer, &error), -EEXIST);
	assert_non_null(strstr(error.text, path));
	assert_int_equal(tele_trace_create(folder, true, &writer, &error), -EISDIR);
	assert_int_equal(tele_trace_create("/nowhere/t.rct", false, &writer, &error), -ENOENT);
	assert_int_equal(tele_trace_create("/dev/full", false, &writer, &error), -ENOSPC);
	assert_non_null(strstr(error.text, "/dev/full"));
}

static void a_full_disk_leaves_the_blocks_before(void **state)
{
	(void)state;
	struct tele_trace_writer *writer = create();
	struct tele_error error, again;
	struct heard heard;
	struct rlimit old, small;
	assert_int_equal(test_series_write_stream(series[0], writer), 0);
	assert_int_equal(test_series_write(series[0], writer, 0, 100, 0), 0);
	uint64_t whole_bytes = tele_trace_written_bytes(writer);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	small = old;
	small.rlim_cur = whole_bytes + 101;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	size_t n_bytes;
	uint8_t *block = test_series_block(series[0], 100, 200, 0, &n_bytes);
	int failed = tele_trace_write_block(writer, block, n_bytes, &error);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(failed, -EFBIG);
	assert_non_null(strstr(error.text, path));
	// There is room again, but what is said stays said.
	assert_int_equal(tele_trace_write_block(writer, block, n_bytes, &again), -EFBIG);
	assert_int_equal(tele_trace_sync(writer, &again), -EFBIG);
	assert_string_equal(again.text, error.text);
	assert_int_equal(tele_trace_finish(writer, &again), -EFBIG);
	struct stat status;
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_size, whole_bytes);
	read_trace(path, &heard);
	assert_int_equal(heard.n_records[0], 100);
	assert_false(heard.info.is_complete);
	free(block);
}

static void a_reader_that_goes_away_is_an_error(void **state)
{
	(void)state;
	int ends[2];
	char name[32];
	struct tele_trace_writer *writer;
	assert_int_equal(pipe(ends), 0);
	snprintf(name, sizeof(name), "/dev/fd/%d", ends[1]);
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(tele_trace_create(name, false, &writer, NULL), 0);
	close(ends[0]);
	assert_int_equal(test_series_write_stream(series[0], writer), -EPIPE);
	assert_int_equal(tele_trace_finish(writer, NULL), -EPIPE);
	close(ends[1]);
}

static void only_data_blocks_are_taken(void **state)
{
	(void)state;
	struct tele_trace_writer *writer = create();
	size_t n_bytes;
	uint8_t *block = test_series_block(series[0], 0, 10, 0, &n_bytes);
	assert_int_equal(tele_trace_write_block(writer, block, n_bytes - 8, NULL), TELE_EDAMAGED);
	assert_int_equal(tele_trace_write_block(writer, block, 10, NULL), TELE_EDAMAGED);
	block[4] = TELE_BLOCK_PAD;
	assert_int_equal(tele_trace_write_block(writer, block, n_bytes, NULL), TELE_EDAMAGED);
	free(block);
	assert_int_equal(tele_trace_finish(writer, NULL), 0);
}

static void a_pipe_cannot_be_sought(void **state)
{
	(void)state;
	struct tele_source *source;
	int ends[2];
	char name[32];
	uint8_t *bytes;
	assert_int_equal(tele_trace_finish(create(), NULL), 0);
	size_t n_bytes = read_file(&bytes);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], bytes, n_bytes), n_bytes);
	close(ends[1]);
	snprintf(name, sizeof(name), "/dev/fd/%d", ends[0]);
	assert_int_equal(tele_trace_open(name, &source, NULL), 0);
	assert_int_equal(tele_trace_seek(source, 5, NULL), -ESPIPE);
	tele_source_close(source);
	close(ends[0]);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(interleaved_instances_come_back_whole),
		cmocka_unit_test(a_trace_of_nothing_is_complete),
		cmocka_unit_test(a_trace_cut_at_any_byte_gives_its_whole_blocks),
		cmocka_unit_test(a_flipped_byte_loses_its_block_and_no_more),
		cmocka_unit_test(a_flipped_byte_in_a_pipe_loses_its_block_and_no_more),
		cmocka_unit_test(garbage_between_blocks_is_passed_over),
		cmocka_unit_test(what_is_no_trace_is_refused),
		cmocka_unit_test(a_newer_version_is_refused_naming_both),
		cmocka_unit_test(a_block_of_a_later_type_is_passed_over),
		cmocka_unit_test(a_provisional_block_is_told_at_once_and_never_twice),
		cmocka_unit_test(what_is_missing_is_a_gap_of_exactly_that),
		cmocka_unit_test(a_long_trace_has_many_indexes_and_can_be_sought),
		cmocka_unit_test(a_damaged_index_costs_nothing),
		cmocka_unit_test(an_observer_tells_states_even_behind_a_seek),
		cmocka_unit_test(an_existing_trace_is_replaced_only_when_asked),
		cmocka_unit_test(a_full_disk_leaves_the_blocks_before),
		cmocka_unit_test(a_reader_that_goes_away_is_an_error),
		cmocka_unit_test(only_data_blocks_are_taken),
		cmocka_unit_test(a_pipe_cannot_be_sought),
	};
	return cmocka_run_group_tests_name("trace", tests, make_folder, drop_folder);
}
