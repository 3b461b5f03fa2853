// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Traces as they are written and read back: whole, provisional, with gaps, long,
// by a pipe, sought, and where the writer fails.

#include "libtelemetry/trace.h"
#include "tests/support/trace_fixture.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void interleaved_instances_come_back_whole(void **state)
{
	struct test_trace *trace = *state;
	struct test_heard heard;
	struct tele_trace_writer *writer = test_trace_create(trace);
	for (int i = 0; i < 3; i++)
		assert_int_equal(test_series_write_stream(trace->series[i], writer), 0);
	for (uint64_t k = 0; k < 5; k++)
		for (int i = 0; i < 3; i++)
			assert_int_equal(test_series_write(trace->series[i], writer, k * 200, k * 200 + 200, 0), 0);
	assert_int_equal(tele_trace_sync(writer, NULL), 0);
	assert_int_equal(tele_trace_finish(writer, NULL), 0);
	test_trace_read(trace, &heard);
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
	size_t n_bytes = test_trace_bytes(trace, &bytes);
	test_trace_read_by_pipe(trace, bytes, n_bytes, &heard);
	assert_true(heard.info.is_complete);
	assert_int_equal(heard.info.n_records, 3000);
	assert_int_equal(heard.info.file_bytes, 0);
	assert_int_equal(heard.n_records[2], 1000);
	free(bytes);
}

static void a_trace_of_nothing_is_complete(void **state)
{
	struct test_trace *trace = *state;
	struct test_heard heard;
	assert_int_equal(tele_trace_finish(test_trace_create(trace), NULL), 0);
	test_trace_read(trace, &heard);
	assert_true(heard.info.is_complete);
	assert_int_equal(heard.info.n_blocks, 0);
	assert_int_equal(tele_trace_finish(NULL, NULL), 0);
}

static void a_provisional_block_is_told_at_once_and_never_twice(void **state)
{
	struct test_trace *trace = *state;
	struct test_heard heard;
	uint8_t *bytes;
	for (int is_sealed = 0; is_sealed < 2; is_sealed++) {
		struct tele_trace_writer *writer = test_trace_create(trace);
		assert_int_equal(test_series_write_stream(trace->series[0], writer), 0);
		assert_int_equal(test_series_write(trace->series[0], writer, 0, 20, 0), 0);
		assert_int_equal(test_series_write(trace->series[0], writer, 20, 25, TELE_BLOCK_PROVISIONAL), 0);
		assert_int_equal(test_series_write(trace->series[0], writer, 20, 60, TELE_BLOCK_PROVISIONAL), 0);
		if (is_sealed) {
			assert_int_equal(test_series_write(trace->series[0], writer, 20, 120, 0), 0);
			assert_int_equal(test_series_write(trace->series[0], writer, 120, 130, 0), 0);
		}
		assert_int_equal(tele_trace_finish(writer, NULL), 0);
		test_trace_read(trace, &heard);
		assert_int_equal(heard.n_records[0], is_sealed ? 130 : 60);
		assert_int_equal(heard.n_lost[0], 0);
		assert_int_equal(heard.info.n_records, is_sealed ? 130 : 60);
		size_t n_bytes = test_trace_bytes(trace, &bytes);
		test_trace_read_by_pipe(trace, bytes, n_bytes, &heard);
		assert_int_equal(heard.n_records[0], is_sealed ? 130 : 60);
		assert_int_equal(heard.info.n_records, is_sealed ? 130 : 60);
		free(bytes);
	}
}

static void what_is_missing_is_a_gap_of_exactly_that(void **state)
{
	struct test_trace *trace = *state;
	struct test_heard heard;
	struct tele_trace_writer *writer = test_trace_create(trace);
	assert_int_equal(test_series_write_stream(trace->series[0], writer), 0);
	assert_int_equal(test_series_write(trace->series[0], writer, 500, 600, 0), 0);
	assert_int_equal(test_series_write(trace->series[0], writer, 601, 650, 0), 0);
	assert_int_equal(test_series_write(trace->series[0], writer, 1000, 1001, 0), 0);
	assert_int_equal(tele_trace_finish(writer, NULL), 0);
	test_trace_read(trace, &heard);
	assert_int_equal(heard.first_seq[0], 500);
	assert_int_equal(heard.n_records[0], 150);
	assert_int_equal(heard.n_lost[0], 1 + 350);
	assert_true(heard.n_records[0] + heard.n_lost[0] == 1001 - 500);
}

// Counts the records of series 0 and 1 after a seek; returns the first number.
static uint64_t seek_and_hear(const struct test_trace *trace, struct tele_source *source, uint64_t at_ns,
			      struct test_heard *heard)
{
	assert_int_equal(tele_trace_seek(source, at_ns, NULL), 0);
	test_trace_hear(trace, source, heard);
	return heard->first_seq[0];
}

static void a_long_trace_has_many_indexes_and_can_be_sought(void **state)
{
	struct test_trace *trace = *state;
	struct test_heard heard;
	struct tele_source *source;
	struct tele_trace_writer *writer = test_trace_create(trace);
	for (int i = 0; i < 2; i++)
		assert_int_equal(test_series_write_stream(trace->series[i], writer), 0);
	for (uint64_t k = 0; k < 1500; k++)
		for (int i = 0; i < 2; i++)
			assert_int_equal(test_series_write(trace->series[i], writer, k * 3, k * 3 + 3, 0), 0);
	assert_int_equal(tele_trace_finish(writer, NULL), 0);
	assert_int_equal(tele_trace_open(trace->path, &source, NULL), 0);
	struct tele_trace_info info;
	tele_trace_get_info(source, &info);
	assert_true(info.is_complete);
	assert_int_equal(info.n_blocks, 3002);
	assert_int_equal(info.n_records, 9000);
	test_trace_hear(trace, source, &heard);
	assert_int_equal(heard.n_records[0] + heard.n_records[1], 9000);

	assert_int_equal(seek_and_hear(trace, source, test_series_at_ns(3000), &heard), 3000);
	assert_int_equal(heard.n_records[1], 1500);
	assert_int_equal(seek_and_hear(trace, source, test_series_at_ns(3002), &heard), 3000);
	assert_int_equal(seek_and_hear(trace, source, test_series_at_ns(2999), &heard), 2997);
	assert_int_equal(seek_and_hear(trace, source, UINT64_MAX, &heard), 4497);
	assert_int_equal(heard.n_records[0], 3);
	assert_int_equal(seek_and_hear(trace, source, 1, &heard), 0);
	assert_int_equal(seek_and_hear(trace, source, 0, &heard), 0);
	assert_int_equal(heard.n_records[0] + heard.n_records[1], 9000);
	tele_source_close(source);

	// From the start right to a place, with nothing read before.
	assert_int_equal(tele_trace_open(trace->path, &source, NULL), 0);
	assert_int_equal(seek_and_hear(trace, source, test_series_at_ns(4000), &heard), 3999);
	tele_source_close(source);

	// The same without a trailer.
	struct stat status;
	assert_int_equal(stat(trace->path, &status), 0);
	assert_int_equal(truncate(trace->path, status.st_size - 1), 0);
	assert_int_equal(tele_trace_open(trace->path, &source, NULL), 0);
	tele_trace_get_info(source, &info);
	assert_false(info.is_complete);
	assert_int_equal(info.n_records, 9000);
	assert_int_equal(seek_and_hear(trace, source, test_series_at_ns(4000), &heard), 3999);
	tele_source_close(source);
}

// A block of the observer that says: series 0 has exited.
static void write_state(const struct test_trace *trace, struct tele_trace_writer *writer, uint64_t seq, uint64_t at_seq,
			uint64_t now)
{
	struct test_series *observer = trace->series[TEST_TRACE_SERIES - 1];
	struct tele_event event = {
		.seq = seq,
		.at_ns = test_series_at_ns(at_seq),
		.subject = trace->series[0]->identity.instance_id,
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
	struct test_trace *trace = *state;
	struct test_heard heard;
	struct tele_source *source;
	struct tele_trace_writer *writer = test_trace_create(trace);
	assert_int_equal(test_series_write_stream(trace->series[TEST_TRACE_SERIES - 1], writer), 0);
	assert_int_equal(test_series_write_stream(trace->series[0], writer), 0);
	assert_int_equal(test_series_write_stream(trace->series[1], writer), 0);
	assert_int_equal(test_series_write(trace->series[0], writer, 0, 20, 0), 0);
	write_state(trace, writer, 5, 20, TELE_KILLED);
	write_state(trace, writer, 6, 21, 99); // of a later version
	assert_int_equal(test_series_write(trace->series[1], writer, 0, 20, 0), 0);
	for (uint64_t k = 1; k < 10; k++)
		assert_int_equal(test_series_write(trace->series[1], writer, k * 20, k * 20 + 20, 0), 0);
	assert_int_equal(tele_trace_finish(writer, NULL), 0);
	assert_int_equal(tele_trace_open(trace->path, &source, NULL), 0);
	test_trace_hear(trace, source, &heard);
	assert_int_equal(heard.states[0], TELE_KILLED);
	assert_int_equal(heard.states[1], TELE_LIVE);
	assert_int_equal(tele_trace_seek(source, test_series_at_ns(150), NULL), 0);
	test_trace_hear(trace, source, &heard);
	assert_int_equal(heard.states[0], TELE_KILLED);
	assert_int_equal(heard.n_records[0], 20);
	assert_int_equal(heard.first_seq[1], 140);
	tele_source_close(source);
}

static void an_existing_trace_is_replaced_only_when_asked(void **state)
{
	struct test_trace *trace = *state;
	struct tele_trace_writer *writer;
	struct tele_error error;
	assert_int_equal(tele_trace_finish(test_trace_create(trace), NULL), 0);
	assert_int_equal(tele_trace_create(trace->path, false, &writer, &error), -EEXIST);
	assert_non_null(strstr(error.text, trace->path));
	assert_int_equal(tele_trace_create(trace->folder, true, &writer, &error), -EISDIR);
	assert_int_equal(tele_trace_create("/nowhere/t.rct", false, &writer, &error), -ENOENT);
	assert_int_equal(tele_trace_create("/dev/full", false, &writer, &error), -ENOSPC);
	assert_non_null(strstr(error.text, "/dev/full"));
}

static void a_full_disk_leaves_the_blocks_before(void **state)
{
	struct test_trace *trace = *state;
	struct tele_trace_writer *writer = test_trace_create(trace);
	struct tele_error error, again;
	struct test_heard heard;
	struct rlimit old, small;
	assert_int_equal(test_series_write_stream(trace->series[0], writer), 0);
	assert_int_equal(test_series_write(trace->series[0], writer, 0, 100, 0), 0);
	uint64_t whole_bytes = tele_trace_written_bytes(writer);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	small = old;
	small.rlim_cur = whole_bytes + 101;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	size_t n_bytes;
	uint8_t *block = test_series_block(trace->series[0], 100, 200, 0, &n_bytes);
	int failed = tele_trace_write_block(writer, block, n_bytes, &error);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(failed, -EFBIG);
	assert_non_null(strstr(error.text, trace->path));
	// There is room again, but what is said stays said.
	assert_int_equal(tele_trace_write_block(writer, block, n_bytes, &again), -EFBIG);
	assert_int_equal(tele_trace_sync(writer, &again), -EFBIG);
	assert_string_equal(again.text, error.text);
	assert_int_equal(tele_trace_finish(writer, &again), -EFBIG);
	struct stat status;
	assert_int_equal(stat(trace->path, &status), 0);
	assert_int_equal(status.st_size, whole_bytes);
	test_trace_read(trace, &heard);
	assert_int_equal(heard.n_records[0], 100);
	assert_false(heard.info.is_complete);
	free(block);
}

static void a_reader_that_goes_away_is_an_error(void **state)
{
	struct test_trace *trace = *state;
	int ends[2];
	char name[32];
	struct tele_trace_writer *writer;
	assert_int_equal(pipe(ends), 0);
	snprintf(name, sizeof(name), "/dev/fd/%d", ends[1]);
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(tele_trace_create(name, false, &writer, NULL), 0);
	close(ends[0]);
	assert_int_equal(test_series_write_stream(trace->series[0], writer), -EPIPE);
	assert_int_equal(tele_trace_finish(writer, NULL), -EPIPE);
	close(ends[1]);
}

static void only_data_blocks_are_taken(void **state)
{
	struct test_trace *trace = *state;
	struct tele_trace_writer *writer = test_trace_create(trace);
	size_t n_bytes;
	uint8_t *block = test_series_block(trace->series[0], 0, 10, 0, &n_bytes);
	assert_int_equal(tele_trace_write_block(writer, block, n_bytes - 8, NULL), TELE_EDAMAGED);
	assert_int_equal(tele_trace_write_block(writer, block, 10, NULL), TELE_EDAMAGED);
	block[4] = TELE_BLOCK_PAD;
	assert_int_equal(tele_trace_write_block(writer, block, n_bytes, NULL), TELE_EDAMAGED);
	free(block);
	assert_int_equal(tele_trace_finish(writer, NULL), 0);
}

static void a_pipe_cannot_be_sought(void **state)
{
	struct test_trace *trace = *state;
	struct tele_source *source;
	int ends[2];
	char name[32];
	uint8_t *bytes;
	assert_int_equal(tele_trace_finish(test_trace_create(trace), NULL), 0);
	size_t n_bytes = test_trace_bytes(trace, &bytes);
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
		cmocka_unit_test(a_provisional_block_is_told_at_once_and_never_twice),
		cmocka_unit_test(what_is_missing_is_a_gap_of_exactly_that),
		cmocka_unit_test(a_long_trace_has_many_indexes_and_can_be_sought),
		cmocka_unit_test(an_observer_tells_states_even_behind_a_seek),
		cmocka_unit_test(an_existing_trace_is_replaced_only_when_asked),
		cmocka_unit_test(a_full_disk_leaves_the_blocks_before),
		cmocka_unit_test(a_reader_that_goes_away_is_an_error),
		cmocka_unit_test(only_data_blocks_are_taken),
		cmocka_unit_test(a_pipe_cannot_be_sought),
	};
	return cmocka_run_group_tests_name("trace", tests, test_trace_make, test_trace_drop);
}
