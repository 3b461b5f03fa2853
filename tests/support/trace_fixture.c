// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// See trace_fixture.h.

#include "trace_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

int test_trace_make(void **state)
{
	struct test_trace *trace = calloc(1, sizeof(*trace));
	if (!trace || !test_folder_make(NULL, trace->folder))
		return -1;
	*state = trace;
	snprintf(trace->path, sizeof(trace->path), "%s/t.rct", trace->folder);
	for (uint64_t i = 0; i < TEST_TRACE_SERIES; i++)
		trace->series[i] = test_series_new(i == TEST_TRACE_SERIES - 1 ? 1000 : i + 1);
	return 0;
}

int test_trace_drop(void **state)
{
	struct test_trace *trace = *state;
	unlink(trace->path);
	for (int i = 0; i < TEST_TRACE_SERIES; i++)
		test_series_free(trace->series[i]);
	int failed = test_folder_remove(trace->folder);
	free(trace);
	return failed;
}

struct tele_trace_writer *test_trace_create(const struct test_trace *trace)
{
	struct tele_trace_writer *writer;
	assert_int_equal(tele_trace_create(trace->path, true, &writer, NULL), 0);
	return writer;
}

size_t test_trace_bytes(const struct test_trace *trace, uint8_t **ret_bytes)
{
	struct stat status;
	int fd = open(trace->path, O_RDONLY);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &status), 0);
	*ret_bytes = malloc((size_t)status.st_size + 1);
	assert_int_equal(read(fd, *ret_bytes, (size_t)status.st_size), status.st_size);
	close(fd);
	return (size_t)status.st_size;
}

void test_trace_put(const struct test_trace *trace, const uint8_t *bytes, size_t n_bytes)
{
	int fd = open(trace->path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, n_bytes), n_bytes);
	close(fd);
}

static int index_of(const struct test_trace *trace, uint64_t instance_id)
{
	for (int i = 0; i < TEST_TRACE_SERIES; i++)
		if (trace->series[i]->identity.instance_id == instance_id)
			return i;
	fail_msg("an instance nobody wrote: %llu", (unsigned long long)instance_id);
	return -1;
}

void test_trace_hear(const struct test_trace *trace, struct tele_source *source, struct test_heard *heard)
{
	struct tele_record record;
	struct tele_error error;
	int more;
	memset(heard, 0, sizeof(*heard));
	while ((more = tele_source_next(source, &record, &error)) > 0) {
		int i = index_of(trace, record.instance->identity.instance_id);
		heard->states[i] = record.instance->state;
		switch (record.kind) {
		case TELE_RECORD_INSTANCE:
			assert_int_equal(heard->n_records[i], 0);
			assert_string_equal(record.instance->identity.label, trace->series[i]->identity.label);
			heard->n_instances[i]++;
			break;
		case TELE_RECORD_SCHEMA:
			assert_int_equal(record.instance->schema->n_fields, trace->series[i]->plan.n_fields);
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
				assert_true(test_series_is_right(trace->series[i], &record));
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
static void check_reading_once(const struct test_trace *trace, const struct test_heard *heard)
{
	struct tele_source *source;
	struct tele_error error;
	struct test_heard again;
	const struct tele_instance *instance;
	if (tele_trace_open_once(trace->path, &source, &error) != 0)
		fail_msg("%s", error.text);
	for (uint32_t i = 0; (instance = tele_trace_instance_at(source, i)); i++) {
		size_t n_bytes;
		const struct test_series *its = trace->series[index_of(trace, instance->identity.instance_id)];
		const uint8_t *bytes = tele_trace_schema_bytes(source, instance, &n_bytes);
		assert_int_equal(n_bytes, its->writer.used_bytes);
		assert_memory_equal(bytes, its->schema, n_bytes);
	}
	test_trace_hear(trace, source, &again);
	assert_int_equal(tele_trace_seek(source, 0, NULL), -ESPIPE);
	tele_source_close(source);
	assert_memory_equal(again.n_records, heard->n_records, sizeof(again.n_records));
	assert_memory_equal(again.n_lost, heard->n_lost, sizeof(again.n_lost));
	assert_memory_equal(again.states, heard->states, sizeof(again.states));
	assert_int_equal(again.info.is_complete, heard->info.is_complete);
	assert_true(again.info.damaged_at == heard->info.damaged_at);
	assert_true(again.info.read_bytes <= again.info.file_bytes);
}

static void read_from(const struct test_trace *trace, const char *from, struct test_heard *heard)
{
	struct tele_source *source;
	struct tele_error error;
	if (tele_trace_open(from, &source, &error) != 0)
		fail_msg("%s", error.text);
	test_trace_hear(trace, source, heard);
	tele_source_close(source);
}

void test_trace_read(struct test_trace *trace, struct test_heard *heard)
{
	read_from(trace, trace->path, heard);
	// There are thousands of them, cut at every byte: each third says it all.
	if (trace->n_read++ % 3 == 0)
		check_reading_once(trace, heard);
}

void test_trace_read_by_pipe(const struct test_trace *trace, const uint8_t *bytes, size_t n_bytes,
			     struct test_heard *heard)
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
	read_from(trace, name, heard);
	close(ends[0]);
	waitpid(child, NULL, 0);
}

static void note(struct test_trace_layout *layout, const struct tele_trace_writer *writer, size_t begin, int i,
		 uint64_t n_records)
{
	layout->blocks[layout->n_blocks].begin = begin;
	layout->blocks[layout->n_blocks].end = (size_t)tele_trace_written_bytes(writer);
	layout->blocks[layout->n_blocks].series = i;
	layout->blocks[layout->n_blocks++].n_records = n_records;
}

void test_trace_write_small(const struct test_trace *trace, struct test_trace_layout *layout, bool is_stream_repeated)
{
	struct tele_trace_writer *writer = test_trace_create(trace);
	memset(layout, 0, sizeof(*layout));
	for (int i = 0; i < 2; i++) {
		size_t begin = (size_t)tele_trace_written_bytes(writer);
		assert_int_equal(test_series_write_stream(trace->series[i], writer), 0);
		note(layout, writer, begin, i, 0);
	}
	for (uint64_t k = 0; k < 6; k++) {
		int i = k % 2;
		size_t begin = (size_t)tele_trace_written_bytes(writer);
		assert_int_equal(test_series_write(trace->series[i], writer, k / 2 * 15, k / 2 * 15 + 15, 0), 0);
		note(layout, writer, begin, i, 15);
	}
	if (is_stream_repeated) {
		size_t begin = (size_t)tele_trace_written_bytes(writer);
		assert_int_equal(test_series_write_stream(trace->series[0], writer), 0);
		note(layout, writer, begin, 0, 0);
	}
	layout->blocks_end = (size_t)tele_trace_written_bytes(writer);
	assert_int_equal(tele_trace_finish(writer, NULL), 0);
	struct stat status;
	assert_int_equal(stat(trace->path, &status), 0);
	layout->file_bytes = (size_t)status.st_size;
}
