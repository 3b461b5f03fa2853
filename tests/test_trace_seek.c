// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Traces whose schema grows, that are sought, locked, and written again after
// the disk was full.

#include "libtelemetry/schema_wire.h"
#include "libtelemetry/trace.h"
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

static char folder[TEST_FOLDER_BYTES];
static char path[TEST_PATH_BYTES];
static struct test_series *series;

static int make_folder(void **state)
{
	(void)state;
	if (!test_folder_make(NULL, folder))
		return -1;
	snprintf(path, sizeof(path), "%s/t.rct", folder);
	series = test_series_new(1);
	return 0;
}

static int drop_folder(void **state)
{
	(void)state;
	unlink(path);
	test_series_free(series);
	return test_folder_remove(folder);
}

static struct tele_trace_writer *create(void)
{
	struct tele_trace_writer *writer;
	assert_int_equal(tele_trace_create(path, true, &writer, NULL), 0);
	return writer;
}

static size_t file_bytes(void)
{
	struct stat status;
	assert_int_equal(stat(path, &status), 0);
	return (size_t)status.st_size;
}

// Reads what is left: how many records, the number of the first, and whether
// all are right.
static uint64_t count(struct tele_source *source, uint64_t *ret_first)
{
	struct tele_record record;
	uint64_t n = 0;
	int more;
	while ((more = tele_source_next(source, &record, NULL)) > 0) {
		if (record.kind != TELE_RECORD_ROW && record.kind != TELE_RECORD_EVENT)
			continue;
		assert_true(test_series_is_right(series, &record));
		if (n++ == 0 && ret_first)
			*ret_first = record.seq;
	}
	assert_int_equal(more, 0);
	return n;
}

static uint64_t count_file(void)
{
	struct tele_source *source;
	assert_int_equal(tele_trace_open(path, &source, NULL), 0);
	uint64_t n = count(source, NULL);
	tele_source_close(source);
	return n;
}

// The offset behind the schema's first n records.
static size_t boundary(size_t n)
{
	size_t at = 0;
	while (n-- > 0) {
		struct tele_schema_head head;
		memcpy(&head, series->schema + at, sizeof(head));
		at += head.bytes;
	}
	return at;
}

// A schema in three parts: a stream block and two of growth, and data behind.
static size_t write_grown(bool is_ended)
{
	struct tele_trace_writer *writer = create();
	size_t used = series->writer.used_bytes, parts[2] = {boundary(10), boundary(20)};
	uint64_t id = series->identity.instance_id;
	assert_int_equal(tele_trace_write_stream(writer, &series->identity, series->schema, parts[0], NULL), 0);
	assert_int_equal(tele_trace_write_growth(writer, id, series->schema, parts[0], parts[1], NULL), 0);
	size_t second = (size_t)tele_trace_written_bytes(writer);
	assert_int_equal(tele_trace_write_growth(writer, id, series->schema, parts[1], used, NULL), 0);
	for (uint64_t k = 0; k < 10; k++)
		assert_int_equal(test_series_write(series, writer, k * 100, k * 100 + 100, 0), 0);
	size_t n_bytes = (size_t)tele_trace_written_bytes(writer);
	assert_int_equal(tele_trace_finish(writer, NULL), 0);
	if (!is_ended)
		assert_int_equal(truncate(path, (off_t)n_bytes), 0);
	return second;
}

static void a_schema_that_grows_is_told_in_parts(void **state)
{
	(void)state;
	for (int is_ended = 0; is_ended < 2; is_ended++) {
		struct tele_source *source;
		struct tele_record record;
		uint32_t n_fields = 0, n_schemas = 0;
		write_grown(is_ended);
		assert_int_equal(count_file(), 1000);
		assert_int_equal(tele_trace_open(path, &source, NULL), 0);
		while (tele_source_next(source, &record, NULL) > 0 && record.kind != TELE_RECORD_ROW)
			if (record.kind == TELE_RECORD_SCHEMA) {
				assert_true(record.instance->schema->n_fields > n_fields);
				n_fields = record.instance->schema->n_fields;
				n_schemas++;
			}
		assert_int_equal(n_schemas, 3);
		assert_int_equal(n_fields, series->plan.n_fields);
		tele_source_close(source);
	}
}

static void a_reader_that_reads_once_knows_the_whole_schema_ahead(void **state)
{
	(void)state;
	for (int is_ended = 0; is_ended < 2; is_ended++) {
		struct tele_source *source;
		size_t n_bytes;
		write_grown(is_ended);
		assert_int_equal(tele_trace_open_once(path, &source, NULL), 0);
		const struct tele_instance *instance = tele_trace_instance_at(source, 0);
		assert_non_null(instance);
		assert_null(tele_trace_instance_at(source, 1));
		assert_int_equal(instance->schema->n_fields, series->plan.n_fields);
		const uint8_t *bytes = tele_trace_schema_bytes(source, instance, &n_bytes);
		assert_int_equal(n_bytes, series->writer.used_bytes);
		assert_memory_equal(bytes, series->schema, n_bytes);
		assert_int_equal(count(source, NULL), 1000);
		tele_source_close(source);
	}
}

static void a_grown_schema_is_found_behind_a_seek(void **state)
{
	(void)state;
	for (int is_ended = 0; is_ended < 2; is_ended++) {
		struct tele_source *source;
		uint64_t first;
		write_grown(is_ended);
		assert_int_equal(tele_trace_open(path, &source, NULL), 0);
		assert_int_equal(tele_trace_seek(source, test_series_at_ns(750), NULL), 0);
		assert_int_equal(count(source, &first), 300);
		assert_int_equal(first, 700);
		tele_source_close(source);
	}
}

static void a_growth_that_is_lost_takes_what_rests_on_it(void **state)
{
	(void)state;
	size_t at = write_grown(true);
	struct tele_source *source;
	struct tele_record record;
	struct tele_trace_info info;
	int fd = open(path, O_RDWR);
	uint8_t byte;
	assert_int_equal(pread(fd, &byte, 1, (off_t)at + 70), 1);
	byte ^= 1;
	assert_int_equal(pwrite(fd, &byte, 1, (off_t)at + 70), 1);
	close(fd);
	assert_int_equal(tele_trace_open(path, &source, NULL), 0);
	while (tele_source_next(source, &record, NULL) > 0)
		assert_true(record.kind != TELE_RECORD_ROW);
	tele_trace_get_info(source, &info);
	assert_false(info.is_complete);
	assert_int_equal(info.damaged_at, at);
	tele_source_close(source);
}

static void a_record_is_sought_by_its_number(void **state)
{
	(void)state;
	struct tele_source *source;
	uint64_t first;
	write_grown(true);
	assert_int_equal(tele_trace_open(path, &source, NULL), 0);
	for (uint64_t seq = 0; seq < 1000; seq += 37) {
		assert_int_equal(tele_trace_seek_record(source, series->identity.instance_id, seq, NULL), 0);
		assert_int_equal(count(source, &first), 1000 - seq / 100 * 100);
		assert_int_equal(first, seq / 100 * 100);
	}
	assert_int_equal(tele_trace_seek_record(source, series->identity.instance_id, 1000, NULL), TELE_ENOTFOUND);
	assert_int_equal(tele_trace_seek_record(source, 4711, 0, NULL), TELE_ENOTFOUND);
	assert_int_equal(tele_trace_seek_candidate(source, 4711, 0, NULL), TELE_ENOTFOUND);
	tele_source_close(source);
}

// The series counts nothing of a search, so a schema of its own: attempted is
// the number of the row.
static void a_candidate_is_sought_by_its_number(void **state)
{
	(void)state;
	enum { BLOCKS = 9, ROWS = 50 };
	uint32_t n_fields = series->plan.n_fields;
	struct tele_schema *schema = tele_schema_new();
	assert_int_equal(tele_schema_parse(schema, series->schema, series->writer.used_bytes, NULL), 0);
	int64_t attempted = tele_schema_find(schema, "search.candidates_attempted");
	int64_t open = tele_schema_find(schema, "search.open_candidates");
	uint64_t *rows = calloc((size_t)ROWS * n_fields, sizeof(*rows));
	size_t capacity = tele_block_bytes_max(n_fields, ROWS, 0, 0);
	uint8_t *block = malloc(capacity);
	struct tele_trace_writer *writer = create();
	assert_int_equal(test_series_write_stream(series, writer), 0);
	for (uint64_t b = 0; b < BLOCKS; b++) {
		for (uint64_t r = 0; r < ROWS; r++) {
			rows[r * n_fields] = test_series_at_ns(b * ROWS + r);
			rows[r * n_fields + (size_t)attempted] = b * ROWS + r + 1;
			rows[r * n_fields + (size_t)open] = 1;
		}
		struct tele_block_input input = {
			.instance_id = series->identity.instance_id,
			.plan = &series->plan,
			.n_fields = n_fields,
			.schema_bytes = (uint32_t)series->writer.used_bytes,
			.first_seq = b * ROWS,
			.first_at_ns = test_series_at_ns(b * ROWS),
			.last_at_ns = test_series_at_ns(b * ROWS + ROWS - 1),
			.rows = rows,
			.row_stride = n_fields,
			.n_rows = ROWS,
		};
		int64_t n_bytes = tele_block_encode(&input, series->scratch, series->scratch_bytes, block, capacity);
		assert_true(n_bytes > 0);
		assert_int_equal(tele_trace_write_block(writer, block, (size_t)n_bytes, NULL), 0);
	}
	assert_int_equal(tele_trace_finish(writer, NULL), 0);
	struct tele_source *source;
	struct tele_record record;
	assert_int_equal(tele_trace_open(path, &source, NULL), 0);
	for (uint64_t n_ended = 1; n_ended <= BLOCKS * ROWS + 1; n_ended += 7) {
		assert_int_equal(tele_trace_seek_candidate(source, series->identity.instance_id, n_ended, NULL), 0);
		do
			assert_int_equal(tele_source_next(source, &record, NULL), 1);
		while (record.kind != TELE_RECORD_ROW);
		// Row r is where r candidates have ended: its block, or the one before.
		assert_true(record.seq < n_ended && n_ended <= record.seq + ROWS);
	}
	tele_source_close(source);
	tele_schema_free(schema);
	free(rows);
	free(block);
}

static void a_trace_that_is_being_written_is_not_replaced(void **state)
{
	(void)state;
	struct tele_trace_writer *other;
	struct tele_error error;
	struct tele_trace_writer *writer = create();
	assert_int_equal(test_series_write_stream(series, writer), 0);
	assert_int_equal(tele_trace_create(path, true, &other, &error), -EBUSY);
	assert_non_null(strstr(error.text, "another recorder"));
	assert_int_equal(test_series_write(series, writer, 0, 100, 0), 0);
	assert_int_equal(tele_trace_finish(writer, NULL), 0);
	assert_int_equal(count_file(), 100);
	assert_int_equal(tele_trace_finish(create(), NULL), 0);
}

// In a child, whose file size limit is its own: writes to the limit, then with
// the limit lifted the same blocks again, across an index.
static int fill_and_go_on(void)
{
	struct rlimit limit = {.rlim_cur = 200000, .rlim_max = RLIM_INFINITY};
	struct tele_trace_writer *writer;
	struct tele_error error;
	uint64_t at = 0;
	unsigned n_failed = 0;
	signal(SIGXFSZ, SIG_IGN);
	if (setrlimit(RLIMIT_FSIZE, &limit) || tele_trace_create(path, true, &writer, NULL) ||
	    test_series_write_stream(series, writer))
		return 1;
	while (at < 4000) {
		int failed = test_series_write(series, writer, at, at + 2, 0);
		if (failed == -EFBIG) {
			n_failed++;
			if (test_series_write(series, writer, at, at + 2, 0) != -EFBIG || !tele_trace_go_on(writer))
				return 2;
			limit.rlim_cur += 100000 + 77 * n_failed;
			setrlimit(RLIMIT_FSIZE, &limit);
			continue;
		}
		if (failed)
			return 3;
		at += 2;
	}
	if (tele_trace_finish(writer, &error))
		return 4;
	return n_failed > 2 ? 0 : 5;
}

static void a_writer_goes_on_when_there_is_room_again(void **state)
{
	(void)state;
	int status;
	pid_t child = fork();
	if (child == 0)
		_exit(fill_and_go_on());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(count_file(), 4000);
	struct tele_source *source;
	struct tele_trace_info info;
	assert_int_equal(tele_trace_open(path, &source, NULL), 0);
	tele_trace_get_info(source, &info);
	assert_true(info.is_complete);
	assert_int_equal(info.n_blocks, 2001);
	tele_source_close(source);
}

static void the_bytes_of_an_ended_trace_are_known_before(void **state)
{
	(void)state;
	struct tele_trace_writer *writer = create();
	assert_int_equal(test_series_write_stream(series, writer), 0);
	for (uint64_t at = 0; at < 2100; at += 2)
		assert_int_equal(test_series_write(series, writer, at, at + 2, 0), 0);
	uint64_t most = tele_trace_bytes_with(writer, 0);
	assert_int_equal(tele_trace_finish(writer, NULL), 0);
	assert_true(file_bytes() <= most);
	assert_true(file_bytes() + 4096 > most);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_schema_that_grows_is_told_in_parts),
		cmocka_unit_test(a_reader_that_reads_once_knows_the_whole_schema_ahead),
		cmocka_unit_test(a_grown_schema_is_found_behind_a_seek),
		cmocka_unit_test(a_growth_that_is_lost_takes_what_rests_on_it),
		cmocka_unit_test(a_record_is_sought_by_its_number),
		cmocka_unit_test(a_candidate_is_sought_by_its_number),
		cmocka_unit_test(a_trace_that_is_being_written_is_not_replaced),
		cmocka_unit_test(a_writer_goes_on_when_there_is_room_again),
		cmocka_unit_test(the_bytes_of_an_ended_trace_are_known_before),
	};
	return cmocka_run_group_tests_name("trace_seek", tests, make_folder, drop_folder);
}
