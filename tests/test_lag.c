// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Readers that are late, idle or stopped beside a writer at full speed, and a
// trace that is cut beneath its reader. What a reader received and what it was
// told that it lost add up to what was published, exactly.

#include "libtelemetry/attach.h"
#include "libtelemetry/trace.h"
#include "tests/support/random.h"
#include "tests/support/mode.h"
#include "tests/support/ring_fixture.h"
#include "tests/support/series.h"

#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define STEPS 12000 // of a round; each ten are nine rows and two events

static void sleep_us(uint64_t us)
{
	struct timespec time = {.tv_sec = (time_t)(us / 1000000), .tv_nsec = (long)(us % 1000000) * 1000};
	nanosleep(&time, NULL);
}

struct heard {
	uint64_t n_rows, n_events, n_lost, next_seq;
};

static void hear(struct tele_source *source, struct heard *heard)
{
	struct tele_record record;
	int got;
	while ((got = tele_source_next(source, &record, NULL)) > 0) {
		if (record.kind == TELE_RECORD_GAP) {
			assert_true(record.gap_from == heard->next_seq && record.gap_to > record.gap_from);
			heard->n_lost += record.gap_to - record.gap_from;
			heard->next_seq = record.gap_to;
		} else if (record.kind == TELE_RECORD_ROW || record.kind == TELE_RECORD_EVENT) {
			assert_true(record.seq == heard->next_seq);
			heard->next_seq++;
			heard->n_rows += record.kind == TELE_RECORD_ROW;
			heard->n_events += record.kind == TELE_RECORD_EVENT;
		}
	}
	assert_int_equal(got, 0);
}

struct shared {
	_Atomic bool is_open, is_over;
	struct heard heard;
};

// A reader process: reads, sleeps as it likes, and leaves what it heard once the
// writer is done and nothing is left. It is there before the first record: who
// comes later has not lost what was overwritten before.
static void read_late(const char *path, struct test_random *random, struct shared *shared)
{
	struct heard *heard = &shared->heard;
	struct tele_attach *attach;
	struct tele_source *source;
	bool is_last = false;
	if (tele_attach_open(path, &attach, NULL) || tele_ring_source_open(attach, false, &source, NULL))
		_exit(2);
	heard->next_seq = 1;
	shared->is_open = true;
	while (!is_last) {
		is_last = shared->is_over;
		hear(source, heard);
		// The ring is full in some 20 ms here; now and then five times as long.
		if (!is_last)
			sleep_us(test_random_below(random, test_random_below(random, 10) ? 3000 : 100000));
	}
	if (tele_attach_instance(attach)->lost != heard->n_lost)
		_exit(3);
	tele_source_close(source);
	_exit(0);
}

static struct heard run_round(struct test_random *random, bool is_idle, bool is_stopped)
{
	struct test_ring *ring = test_ring_new(TELE_RING_BYTES_MIN, false);
	struct shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(shared != MAP_FAILED);
	ring->is_noisy = true;
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		const struct sched_param none = {0};
		prctl(PR_SET_PDEATHSIG, SIGKILL); // where a check fails nobody tells it that all is over
		if (is_idle)
			(void)sched_setscheduler(0, SCHED_IDLE, &none);
		read_late(ring->file.path, random, shared);
	}
	while (!shared->is_open && waitpid(pid, NULL, WNOHANG) == 0)
		sleep_us(100);
	assert_true(shared->is_open);
	for (unsigned i = 0; i < STEPS / 1000; i++) {
		test_ring_steps(ring, 1000);
		if (is_stopped && i % 20 == 5)
			kill(pid, SIGSTOP);
		if (is_stopped && i % 20 == 15)
			kill(pid, SIGCONT);
	}
	kill(pid, SIGCONT);
	shared->is_over = true;
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	struct heard heard = shared->heard;
	assert_true(heard.n_rows + heard.n_events + heard.n_lost == ring->n_records);
	munmap(shared, sizeof(*shared));
	test_ring_free(ring);
	return heard;
}

static void received_and_lost_add_up_to_published(void **state)
{
	(void)state;
	struct test_random random = {7};
	struct heard sum = {0};
	for (unsigned round = 0; round < (test_is_soak() ? 100u : 2u); round++) {
		struct heard heard = run_round(&random, round & 1, round % 4 >= 2 || !test_is_soak());
		sum.n_rows += heard.n_rows + heard.n_events;
		sum.n_lost += heard.n_lost;
		test_random_next(&random);
	}
	assert_true(sum.n_rows > 0);
	if (test_is_soak())
		printf("soak: reader_lag received=%llu lost=%llu uncounted=0\n", (unsigned long long)sum.n_rows,
		       (unsigned long long)sum.n_lost);
}

static void a_trace_cut_while_it_is_read_ends_where_it_is_cut(void **state)
{
	(void)state;
	char folder[TEST_FOLDER_BYTES], path[TEST_PATH_BYTES];
	struct test_series *series = test_series_new(1);
	assert_true(test_folder_make(NULL, folder));
	snprintf(path, sizeof(path), "%s/t.rct", folder);
	for (unsigned cut = 0; cut < 60; cut++) {
		struct tele_trace_writer *writer;
		struct tele_source *source;
		struct tele_record record;
		uint64_t n_read = 0;
		assert_int_equal(tele_trace_create(path, true, &writer, NULL), 0);
		assert_int_equal(test_series_write_stream(series, writer), 0);
		for (uint64_t from = 0; from < 20000; from += 200)
			assert_int_equal(test_series_write(series, writer, from, from + 200, 0), 0);
		uint64_t n_bytes = tele_trace_written_bytes(writer);
		assert_int_equal(tele_trace_finish(writer, NULL), 0);
		assert_int_equal(tele_trace_open(path, &source, NULL), 0);
		while (n_read < 100 * (cut % 7 + 1) && tele_source_next(source, &record, NULL) > 0)
			n_read++;
		assert_int_equal(truncate(path, (off_t)(n_bytes * cut / 60)), 0);
		while (tele_source_next(source, &record, NULL) > 0) {
			if (record.kind == TELE_RECORD_ROW || record.kind == TELE_RECORD_EVENT)
				assert_true(test_series_is_right(series, &record));
			n_read++;
		}
		(void)tele_trace_seek(source, test_series_at_ns(10000), NULL);
		while (tele_source_next(source, &record, NULL) > 0)
			continue;
		tele_source_close(source);
		assert_true(n_read >= 100);
	}
	unlink(path);
	assert_int_equal(test_folder_remove(folder), 0);
	test_series_free(series);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(received_and_lost_add_up_to_published),
		cmocka_unit_test(a_trace_cut_while_it_is_read_ends_where_it_is_cut),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
