// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A ring and its readers: everything arrives, once and exact, or is told as a
// gap, however slow the reader and however long the rows become.

#include "libtelemetry/attach.h"
#include "libtelemetry/publish/publisher.h"
#include "tests/support/random.h"
#include "tests/support/ring_readers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/skip.h"

#define SMALL_RING (64u << 10)

static uint64_t control_of(const struct test_ring *ring, enum tele_control word)
{
	return ((const uint64_t *)(const void *)(ring->file.bytes + ring->file.layout.control_offset))[word];
}

static void every_record_arrives_once_and_exact(void **state)
{
	(void)state;
	struct test_ring *ring = test_ring_new(TELE_RING_BYTES_DEFAULT, false);
	struct test_listener eager, late;
	struct test_random random = {.state = 1};
	test_listen_start(&eager, ring, false);
	test_listen(&eager);
	for (int i = 0; i < 300; i++) {
		test_ring_steps(ring, test_random_below(&random, 40));
		test_listen(&eager);
		assert_true(ring->n_records == 0 || eager.next_seq == ring->n_records + 1);
	}
	assert_true(control_of(ring, TELE_CONTROL_TAIL) > 0);
	assert_int_equal(eager.n_gaps, 0);
	assert_true(eager.n_rows + eager.n_events == ring->n_records);
	test_listen_start(&late, ring, false);
	test_listen(&late);
	assert_true(late.n_rows == eager.n_rows && late.n_events == eager.n_events);
	test_listen_stop(&late);
	test_listen_stop(&eager);
	test_ring_free(ring);
}

static void what_is_given_back_between_two_looks_is_had_again(void **state)
{
	(void)state;
	struct test_ring *ring = test_ring_new(TELE_RING_BYTES_DEFAULT, false);
	struct test_listener listener;
	struct tele_record record;
	struct test_random random = {.state = 2};
	test_ring_steps(ring, 700);
	test_listen_start(&listener, ring, false);
	for (int i = 0; i < 5; i++) {
		assert_int_equal(tele_source_next(listener.source, &record, NULL), 1);
		test_listen_take(&listener, &record);
	}
	assert_false(tele_ring_source_trim(listener.source)); // in the midst of a block
	for (int i = 0; i < 60; i++) {
		test_listen(&listener);
		assert_true(tele_ring_source_trim(listener.source));
		test_ring_steps(ring, test_random_below(&random, 40));
	}
	test_listen(&listener);
	assert_int_equal(listener.n_gaps, 0);
	assert_true(listener.n_rows + listener.n_events == ring->n_records);
	test_listen_stop(&listener);
	test_ring_free(ring);
}

static void records_follow_each_other_through_many_wraps(void **state)
{
	(void)state;
	for (int noisy = 0; noisy < 2; noisy++) {
		struct test_ring *ring = test_ring_new(SMALL_RING, false);
		struct test_listener listener;
		ring->is_noisy = noisy;
		test_listen_start(&listener, ring, false);
		while (control_of(ring, TELE_CONTROL_TAIL) < 12 * SMALL_RING) {
			test_ring_steps(ring, 7);
			test_listen(&listener);
		}
		assert_true(control_of(ring, TELE_CONTROL_HEAD) > 10 * SMALL_RING);
		assert_int_equal(listener.n_gaps, 0);
		assert_true(listener.n_rows + listener.n_events == ring->n_records);
		test_listen_stop(&listener);
		test_ring_free(ring);
	}
}

// Labels of 200 bytes that do not compress: half a chunk of them is a block
// larger than a small ring takes.
static void a_chunk_too_large_for_one_block_is_sealed_in_parts(void **state)
{
	(void)state;
	struct test_ring *ring = test_ring_new(SMALL_RING, false);
	struct test_listener listener;
	ring->is_noisy = true;
	test_listen_start(&listener, ring, false);
	for (uint64_t i = 0; i < 3000; i++) {
		ring->n_steps = 7; // events only
		test_ring_steps(ring, 1);
		if (i % 50 == 0)
			test_listen(&listener);
	}
	test_listen(&listener);
	assert_int_equal(listener.n_gaps, 0);
	assert_int_equal(listener.n_events, 3000);
	assert_int_equal(ring->ring.rows_dropped, 0);
	test_listen_stop(&listener);
	test_ring_free(ring);
}

static void rows_become_longer_while_they_are_read(void **state)
{
	(void)state;
	struct test_ring *ring = test_ring_new(SMALL_RING, false);
	struct test_listener listener, late;
	test_listen_start(&listener, ring, false);
	test_ring_steps(ring, 30);
	for (int i = 0; i < 40; i++) {
		test_ring_grow(ring, i % 8 == 0);
		if (i % 3 == 0)
			test_ring_grow(ring, false);
		if (i % 2)
			test_listen(&listener); // before a row of that length
		test_ring_steps(ring, 33);
		test_listen(&listener);
		assert_int_equal(listener.n_fields_last, ring->plan.n_fields);
	}
	assert_int_equal(listener.n_gaps, 0);
	assert_true(listener.n_rows + listener.n_events == ring->n_records);
	assert_true(listener.n_schemas > 20);
	test_listen_start(&late, ring, false);
	test_listen(&late);
	assert_true(late.next_seq == ring->n_records + 1);
	test_listen_stop(&late);
	test_listen_stop(&listener);
	test_ring_free(ring);
}

static void a_directory_off_tmpfs_is_written_and_reads_the_same(void **state)
{
	(void)state;
	struct test_ring *ring = test_ring_new_in(".", SMALL_RING, false);
	struct test_listener listener;
	if (!ring->file.is_written) {
		test_ring_free(ring);
		skip_because("the current folder is on tmpfs");
	}
	test_listen_start(&listener, ring, false);
	for (int i = 0; i < 200; i++) {
		test_ring_steps(ring, 11);
		if (i % 40 == 20)
			test_ring_grow(ring, i % 80 == 20);
		test_listen(&listener);
	}
	assert_int_equal(listener.n_gaps, 0);
	assert_true(listener.n_rows + listener.n_events == ring->n_records);
	test_listen_stop(&listener);
	test_ring_free(ring);
}

static void a_source_from_now_on_starts_with_the_latest_row(void **state)
{
	(void)state;
	struct test_ring *ring = test_ring_new(SMALL_RING, false);
	struct test_listener listener;
	test_ring_steps(ring, 2005);
	test_listen_start(&listener, ring, true);
	test_listen(&listener);
	assert_int_equal(listener.n_rows, 1);
	assert_true(listener.next_seq == ring->n_records + 1);
	test_ring_steps(ring, 1000);
	test_listen(&listener);
	assert_true(listener.next_seq == ring->n_records + 1);
	assert_int_equal(listener.n_gaps, 0);
	test_listen_stop(&listener);
	test_ring_free(ring);
}

static void the_latest_row_is_read_alone(void **state)
{
	(void)state;
	static uint64_t row[TELE_FIELDS_MAX];
	uint32_t n_fields = 0;
	uint64_t seq = 0;
	struct tele_error error = {0};
	struct test_ring *ring = test_ring_new(SMALL_RING, false);
	struct tele_attach *attach = test_attach_to(ring);
	assert_int_equal(tele_attach_latest(attach, row, TELE_FIELDS_MAX, &n_fields, &seq, &error),
			 TELE_ENOTREADY);
	for (int i = 0; i < 50; i++) {
		if (i % 10 == 5)
			test_ring_grow(ring, false);
		test_ring_steps(ring, 10);
		assert_int_equal(tele_attach_latest(attach, row, TELE_FIELDS_MAX, &n_fields, &seq, &error), 0);
		assert_true(seq == ring->n_records);
		assert_int_equal(n_fields, ring->plan.n_fields);
		assert_memory_equal(row, ring->row, 8 * n_fields);
	}
	// A row longer than the reader's room is cut, not overrun.
	assert_int_equal(tele_attach_latest(attach, row, 3, &n_fields, &seq, &error), 0);
	assert_int_equal(n_fields, 3);
	tele_attach_close(attach);
	test_ring_free(ring);
}

static void what_a_slow_reader_lost_is_told_exactly(void **state)
{
	(void)state;
	struct test_ring *ring = test_ring_new(SMALL_RING, false);
	struct test_listener listener;
	struct test_random random = {.state = 6};
	ring->is_noisy = true;
	test_listen_start(&listener, ring, false);
	test_listen(&listener);
	for (int i = 0; i < 60; i++) {
		// From nothing to several times what the ring holds.
		test_ring_steps(ring, test_random_below(&random, 2) ? test_random_below(&random, 30) :
								       test_random_below(&random, 900));
		test_listen(&listener);
		assert_true(listener.n_rows + listener.n_events + listener.n_lost == ring->n_records);
	}
	assert_true(listener.n_gaps > 5);
	test_listen_stop(&listener);
	test_ring_free(ring);
}

static void sealed_blocks_come_verbatim_and_supersede_provisional_ones(void **state)
{
	(void)state;
	struct test_ring *ring = test_ring_new(SMALL_RING, false);
	struct tele_attach *attach = test_attach_to(ring);
	struct test_kept kept = {0};
	for (int i = 0; i < 400; i++) {
		test_ring_steps(ring, 13);
		test_keep(attach, &kept, i % 3 == 0);
		if (i % 3 == 0)
			assert_true(kept.provisional_end == ring->n_records + 1);
	}
	test_keep(attach, &kept, true);
	assert_int_equal(kept.n_gaps, 0);
	assert_int_equal(kept.first_seq, 1);
	assert_true(kept.n_sealed > 10 && kept.n_provisional > 100);
	assert_true(kept.provisional_end == ring->n_records + 1);
	// Told once: nothing new, nothing given.
	uint64_t before = kept.n_provisional;
	test_keep(attach, &kept, true);
	assert_true(kept.n_provisional == before);
	tele_attach_close(attach);
	test_ring_free(ring);
}

static void a_slow_recorder_is_told_its_gaps_exactly(void **state)
{
	(void)state;
	struct test_ring *ring = test_ring_new(SMALL_RING, false);
	struct tele_attach *attach = test_attach_to(ring);
	struct test_random random = {.state = 7};
	struct test_kept kept = {0};
	ring->is_noisy = true;
	for (int i = 0; i < 60; i++) {
		test_ring_steps(ring, 1 + test_random_below(&random, i % 2 ? 20 : 900));
		test_keep(attach, &kept, i % 3 != 0);
	}
	assert_true(kept.n_gaps > 5);
	assert_true(tele_attach_instance(attach)->lost == kept.n_lost);
	tele_attach_close(attach);
	test_ring_free(ring);
}

// What was shown as provisional to somebody who did not want it must still come
// when he does: a process that was killed has only that.
static void open_rows_are_kept_for_whoever_asks_later(void **state)
{
	(void)state;
	struct test_ring *ring = test_ring_new(SMALL_RING, true);
	struct tele_attach *attach = test_attach_to(ring);
	struct test_kept kept = {0};
	test_ring_steps(ring, 20);
	test_keep(attach, &kept, false);
	assert_int_equal(kept.n_provisional, 0);
	test_keep(attach, &kept, true);
	assert_int_equal(kept.n_provisional, 1);
	assert_true(kept.provisional_end == ring->n_records + 1);
	tele_attach_close(attach);
	test_ring_free(ring);
}

static void a_reader_beside_a_writer_loses_nothing_uncounted(void **state)
{
	(void)state;
	struct test_ring *ring = test_ring_new(SMALL_RING, false);
	_Atomic uint64_t *written = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(written != MAP_FAILED);
	madvise(ring->file.bytes, ring->file.layout.segment_bytes, MADV_DOFORK);
	madvise(ring->ring.memory, ring->ring.memory_bytes, MADV_DOFORK);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		for (int i = 0; i < 30; i++) {
			test_ring_steps(ring, 1000);
			atomic_store(written, ring->n_records);
		}
		_exit(0);
	}
	// The child's numbers, for the checks here.
	for (uint64_t seq = 1, n = 0; n < 30000; n++) {
		if (n % 10 == 3 || n % 10 == 7)
			seq++;
		if (n % 10 != 7)
			ring->n_fields_of[seq++] = (uint16_t)ring->plan.n_fields;
		ring->n_records = seq - 1;
	}
	struct test_listener listener;
	test_listen_start(&listener, ring, false);
	int status = 0;
	bool is_over = false;
	while (!is_over) {
		is_over = waitpid(pid, &status, WNOHANG) == pid;
		test_listen(&listener);
	}
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	assert_true(listener.next_seq == ring->n_records + 1);
	assert_true(listener.n_rows + listener.n_events + listener.n_lost == ring->n_records);
	test_listen_stop(&listener);
	munmap(written, 4096);
	test_ring_free(ring);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_record_arrives_once_and_exact),
		cmocka_unit_test(what_is_given_back_between_two_looks_is_had_again),
		cmocka_unit_test(records_follow_each_other_through_many_wraps),
		cmocka_unit_test(a_chunk_too_large_for_one_block_is_sealed_in_parts),
		cmocka_unit_test(rows_become_longer_while_they_are_read),
		cmocka_unit_test(a_directory_off_tmpfs_is_written_and_reads_the_same),
		cmocka_unit_test(a_source_from_now_on_starts_with_the_latest_row),
		cmocka_unit_test(the_latest_row_is_read_alone),
		cmocka_unit_test(what_a_slow_reader_lost_is_told_exactly),
		cmocka_unit_test(sealed_blocks_come_verbatim_and_supersede_provisional_ones),
		cmocka_unit_test(a_slow_recorder_is_told_its_gaps_exactly),
		cmocka_unit_test(open_rows_are_kept_for_whoever_asks_later),
		cmocka_unit_test(a_reader_beside_a_writer_loses_nothing_uncounted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
