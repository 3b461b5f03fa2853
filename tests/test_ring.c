// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers

#include "libtelemetry/attach.h"
#include "libtelemetry/publish/publisher.h"
#include "tests/support/random.h"
#include "tests/support/ring_fixture.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define SMALL_RING (64u << 10)

// A reader that checks everything it is told.
struct listener {
	const struct test_ring *ring;
	struct tele_source *source;
	uint64_t next_seq; // 0: nothing told yet
	uint64_t n_rows, n_events, n_gaps, n_lost, n_schemas;
	uint32_t n_fields_last;
	enum tele_state state;
	bool skips_check; // records from slots are not of the fixture
};

static struct tele_attach *attach_to(const struct test_ring *ring)
{
	struct tele_attach *attach;
	struct tele_error error = {0};
	if (tele_attach_open(ring->file.path, &attach, &error) != 0)
		fail_msg("%s", error.text);
	return attach;
}

static void start(struct listener *listener, const struct test_ring *ring, bool from_now)
{
	memset(listener, 0, sizeof(*listener));
	listener->ring = ring;
	assert_int_equal(tele_ring_source_open(attach_to(ring), from_now, &listener->source, NULL), 0);
}

static void take(struct listener *listener, const struct tele_record *record)
{
	listener->state = record->instance->state;
	switch (record->kind) {
	case TELE_RECORD_SCHEMA:
		listener->n_schemas++;
		break;
	case TELE_RECORD_GAP:
		assert_true(record->gap_from == (listener->next_seq ? listener->next_seq : 1));
		assert_true(record->gap_to > record->gap_from);
		listener->n_gaps++;
		listener->n_lost += record->gap_to - record->gap_from;
		listener->next_seq = record->gap_to;
		assert_true(record->instance->lost == listener->n_lost);
		break;
	case TELE_RECORD_ROW:
	case TELE_RECORD_EVENT:
		assert_true(listener->n_schemas > 0);
		if (!listener->skips_check || record->seq <= listener->ring->n_records)
			assert_true(test_ring_is_right(listener->ring, record));
		if (listener->next_seq)
			assert_true(record->seq == listener->next_seq);
		listener->next_seq = record->seq + 1;
		listener->n_rows += record->kind == TELE_RECORD_ROW;
		listener->n_events += record->kind == TELE_RECORD_EVENT;
		if (record->kind == TELE_RECORD_ROW) {
			assert_true(record->n_fields <= record->instance->schema->n_fields);
			listener->n_fields_last = record->n_fields;
		}
		break;
	default:
		break;
	}
}

static void listen(struct listener *listener)
{
	struct tele_record record;
	struct tele_error error = {0};
	int more;
	while ((more = tele_source_next(listener->source, &record, &error)) > 0)
		take(listener, &record);
	if (more < 0)
		fail_msg("%s", error.text);
}

static void stop(struct listener *listener)
{
	tele_source_close(listener->source);
}

static uint64_t control_of(const struct test_ring *ring, enum tele_control word)
{
	return ((const uint64_t *)(const void *)(ring->file.bytes + ring->file.layout.control_offset))[word];
}

// ---- Everything arrives ------------------------------------------------------------

static void every_record_arrives_once_and_exact(void **state)
{
	(void)state;
	struct test_ring *ring = test_ring_new(TELE_RING_BYTES_DEFAULT, false);
	struct listener eager, late;
	struct test_random random = {.state = 1};
	start(&eager, ring, false);
	listen(&eager);
	for (int i = 0; i < 300; i++) {
		test_ring_steps(ring, test_random_below(&random, 40));
		listen(&eager);
		assert_true(ring->n_records == 0 || eager.next_seq == ring->n_records + 1);
	}
	assert_true(control_of(ring, TELE_CONTROL_TAIL) > 0);
	assert_int_equal(eager.n_gaps, 0);
	assert_true(eager.n_rows + eager.n_events == ring->n_records);
	start(&late, ring, false);
	listen(&late);
	assert_true(late.n_rows == eager.n_rows && late.n_events == eager.n_events);
	stop(&late);
	stop(&eager);
	test_ring_free(ring);
}

static void what_is_given_back_between_two_looks_is_had_again(void **state)
{
	(void)state;
	struct test_ring *ring = test_ring_new(TELE_RING_BYTES_DEFAULT, false);
	struct listener listener;
	struct tele_record record;
	struct test_random random = {.state = 2};
	test_ring_steps(ring, 700);
	start(&listener, ring, false);
	for (int i = 0; i < 5; i++) {
		assert_int_equal(tele_source_next(listener.source, &record, NULL), 1);
		take(&listener, &record);
	}
	assert_false(tele_ring_source_trim(listener.source)); // in the midst of a block
	for (int i = 0; i < 60; i++) {
		listen(&listener);
		assert_true(tele_ring_source_trim(listener.source));
		test_ring_steps(ring, test_random_below(&random, 40));
	}
	listen(&listener);
	assert_int_equal(listener.n_gaps, 0);
	assert_true(listener.n_rows + listener.n_events == ring->n_records);
	stop(&listener);
	test_ring_free(ring);
}

static void records_follow_each_other_through_many_wraps(void **state)
{
	(void)state;
	for (int noisy = 0; noisy < 2; noisy++) {
		struct test_ring *ring = test_ring_new(SMALL_RING, false);
		struct listener listener;
		ring->is_noisy = noisy;
		start(&listener, ring, false);
		while (control_of(ring, TELE_CONTROL_TAIL) < 12 * SMALL_RING) {
			test_ring_steps(ring, 7);
			listen(&listener);
		}
		assert_true(control_of(ring, TELE_CONTROL_HEAD) > 10 * SMALL_RING);
		assert_int_equal(listener.n_gaps, 0);
		assert_true(listener.n_rows + listener.n_events == ring->n_records);
		stop(&listener);
		test_ring_free(ring);
	}
}

// Labels of 200 bytes that do not compress: half a chunk of them is a block
// larger than a small ring takes.
static void a_chunk_too_large_for_one_block_is_sealed_in_parts(void **state)
{
	(void)state;
	struct test_ring *ring = test_ring_new(SMALL_RING, false);
	struct listener listener;
	ring->is_noisy = true;
	start(&listener, ring, false);
	for (uint64_t i = 0; i < 3000; i++) {
		ring->n_steps = 7; // events only
		test_ring_steps(ring, 1);
		if (i % 50 == 0)
			listen(&listener);
	}
	listen(&listener);
	assert_int_equal(listener.n_gaps, 0);
	assert_int_equal(listener.n_events, 3000);
	assert_int_equal(ring->ring.rows_dropped, 0);
	stop(&listener);
	test_ring_free(ring);
}

static void rows_become_longer_while_they_are_read(void **state)
{
	(void)state;
	struct test_ring *ring = test_ring_new(SMALL_RING, false);
	struct listener listener, late;
	start(&listener, ring, false);
	test_ring_steps(ring, 30);
	for (int i = 0; i < 40; i++) {
		test_ring_grow(ring, i % 8 == 0);
		if (i % 3 == 0)
			test_ring_grow(ring, false);
		if (i % 2)
			listen(&listener); // before a row of that length
		test_ring_steps(ring, 33);
		listen(&listener);
		assert_int_equal(listener.n_fields_last, ring->plan.n_fields);
	}
	assert_int_equal(listener.n_gaps, 0);
	assert_true(listener.n_rows + listener.n_events == ring->n_records);
	assert_true(listener.n_schemas > 20);
	start(&late, ring, false);
	listen(&late);
	assert_true(late.next_seq == ring->n_records + 1);
	stop(&late);
	stop(&listener);
	test_ring_free(ring);
}

static void a_directory_off_tmpfs_is_written_and_reads_the_same(void **state)
{
	(void)state;
	struct test_ring *ring = test_ring_new_in(".", SMALL_RING, false);
	struct listener listener;
	if (!ring->file.is_written) {
		test_ring_free(ring);
		skip();
	}
	start(&listener, ring, false);
	for (int i = 0; i < 200; i++) {
		test_ring_steps(ring, 11);
		if (i % 40 == 20)
			test_ring_grow(ring, i % 80 == 20);
		listen(&listener);
	}
	assert_int_equal(listener.n_gaps, 0);
	assert_true(listener.n_rows + listener.n_events == ring->n_records);
	stop(&listener);
	test_ring_free(ring);
}

static void a_source_from_now_on_starts_with_the_latest_row(void **state)
{
	(void)state;
	struct test_ring *ring = test_ring_new(SMALL_RING, false);
	struct listener listener;
	test_ring_steps(ring, 2005);
	start(&listener, ring, true);
	listen(&listener);
	assert_int_equal(listener.n_rows, 1);
	assert_true(listener.next_seq == ring->n_records + 1);
	test_ring_steps(ring, 1000);
	listen(&listener);
	assert_true(listener.next_seq == ring->n_records + 1);
	assert_int_equal(listener.n_gaps, 0);
	stop(&listener);
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
	struct tele_attach *attach = attach_to(ring);
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

// ---- Readers that are slower (case S6) ------------------------------------------------

static void what_a_slow_reader_lost_is_told_exactly(void **state)
{
	(void)state;
	struct test_ring *ring = test_ring_new(SMALL_RING, false);
	struct listener listener;
	struct test_random random = {.state = 6};
	ring->is_noisy = true;
	start(&listener, ring, false);
	listen(&listener);
	for (int i = 0; i < 60; i++) {
		// From nothing to several times what the ring holds.
		test_ring_steps(ring, test_random_below(&random, 2) ? test_random_below(&random, 30) :
								       test_random_below(&random, 900));
		listen(&listener);
		assert_true(listener.n_rows + listener.n_events + listener.n_lost == ring->n_records);
	}
	assert_true(listener.n_gaps > 5);
	stop(&listener);
	test_ring_free(ring);
}

// Blocks as a recorder takes them.
struct kept {
	uint64_t sealed_end, provisional_end, first_seq; // numbers
	uint64_t n_sealed, n_provisional, n_gaps, n_lost;
};

static void keep(struct tele_attach *attach, struct kept *kept, bool with_provisional)
{
	const uint8_t *block;
	size_t n_bytes;
	bool is_provisional;
	uint64_t from, to;
	struct tele_error error = {0};
	struct tele_block_header header;
	int got;
	while ((got = tele_attach_next_block(attach, with_provisional, &block, &n_bytes, &is_provisional,
					     &from, &to, &error)) != 0) {
		if (got < 0)
			fail_msg("%s", error.text);
		assert_true(tele_block_check(block, n_bytes, &header) == (int64_t)n_bytes);
		assert_int_equal((header.flags & TELE_BLOCK_PROVISIONAL) != 0, is_provisional);
		assert_true(!is_provisional || with_provisional);
		uint64_t end = header.first_seq + header.n_rows + header.n_events;
		uint64_t had = kept->sealed_end > kept->provisional_end ? kept->sealed_end :
									  kept->provisional_end;
		if (!kept->first_seq)
			kept->first_seq = header.first_seq;
		else if (to > from)
			assert_true(from == had && to == header.first_seq);
		else
			assert_true(header.first_seq <= had);
		kept->n_gaps += to > from;
		kept->n_lost += to - from;
		*(is_provisional ? &kept->n_provisional : &kept->n_sealed) += 1;
		*(is_provisional ? &kept->provisional_end : &kept->sealed_end) = end;
	}
	if (to > from)
		kept->n_lost += to - from;
	assert_true(tele_attach_instance(attach)->lost == kept->n_lost);
}

static void sealed_blocks_come_verbatim_and_supersede_provisional_ones(void **state)
{
	(void)state;
	struct test_ring *ring = test_ring_new(SMALL_RING, false);
	struct tele_attach *attach = attach_to(ring);
	struct kept kept = {0};
	for (int i = 0; i < 400; i++) {
		test_ring_steps(ring, 13);
		keep(attach, &kept, i % 3 == 0);
		if (i % 3 == 0)
			assert_true(kept.provisional_end == ring->n_records + 1);
	}
	keep(attach, &kept, true);
	assert_int_equal(kept.n_gaps, 0);
	assert_int_equal(kept.first_seq, 1);
	assert_true(kept.n_sealed > 10 && kept.n_provisional > 100);
	assert_true(kept.provisional_end == ring->n_records + 1);
	// Told once: nothing new, nothing given.
	uint64_t before = kept.n_provisional;
	keep(attach, &kept, true);
	assert_true(kept.n_provisional == before);
	tele_attach_close(attach);
	test_ring_free(ring);
}

static void a_slow_recorder_is_told_its_gaps_exactly(void **state)
{
	(void)state;
	struct test_ring *ring = test_ring_new(SMALL_RING, false);
	struct tele_attach *attach = attach_to(ring);
	struct test_random random = {.state = 7};
	struct kept kept = {0};
	ring->is_noisy = true;
	for (int i = 0; i < 60; i++) {
		test_ring_steps(ring, 1 + test_random_below(&random, i % 2 ? 20 : 900));
		keep(attach, &kept, i % 3 != 0);
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
	struct tele_attach *attach = attach_to(ring);
	struct kept kept = {0};
	test_ring_steps(ring, 20);
	keep(attach, &kept, false);
	assert_int_equal(kept.n_provisional, 0);
	keep(attach, &kept, true);
	assert_int_equal(kept.n_provisional, 1);
	assert_true(kept.provisional_end == ring->n_records + 1);
	tele_attach_close(attach);
	test_ring_free(ring);
}

// ---- A writer in another process, at full speed -----------------------------------------

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
	struct listener listener;
	start(&listener, ring, false);
	int status = 0;
	bool is_over = false;
	while (!is_over) {
		is_over = waitpid(pid, &status, WNOHANG) == pid;
		listen(&listener);
	}
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	assert_true(listener.next_seq == ring->n_records + 1);
	assert_true(listener.n_rows + listener.n_events + listener.n_lost == ring->n_records);
	stop(&listener);
	munmap(written, 4096);
	test_ring_free(ring);
}

// ---- Dead processes ------------------------------------------------------------------

static void slots_of_a_dead_process_are_read_after_the_chunk(void **state)
{
	(void)state;
	struct test_ring *ring = test_ring_new(SMALL_RING, true);
	struct listener listener;
	test_ring_steps(ring, 25);
	uint64_t n_rows = 0;
	for (uint64_t seq = 1; seq <= ring->n_records; seq++)
		n_rows += test_ring_fields_of(ring, seq) > 0;
	test_ring_claim(ring, "first", true, true);
	test_ring_claim(ring, "never filled", true, false);
	test_ring_claim(ring, "second", false, true);
	test_ring_claim(ring, "third", true, true);
	start(&listener, ring, false);
	listener.skips_check = true;
	listen(&listener);
	assert_int_equal(listener.state, TELE_KILLED);
	assert_true(listener.next_seq == ring->n_records + 1 + 3 + 2);
	assert_true(listener.n_rows == n_rows + 2);
	listen(&listener); // once
	assert_true(listener.n_rows == n_rows + 2);
	stop(&listener);
	test_ring_free(ring);
}

static void a_drained_slot_is_not_read_again(void **state)
{
	(void)state;
	struct test_ring *ring = test_ring_new(SMALL_RING, true);
	struct listener listener;
	for (int i = 0; i < 70; i++) // once round
		test_ring_claim(ring, "gone", false, true);
	ring->ring.drained = 68;
	test_ring_steps(ring, 5);
	start(&listener, ring, false);
	listener.skips_check = true;
	listen(&listener);
	assert_true(listener.next_seq == ring->n_records + 1 + 2);
	stop(&listener);
	test_ring_free(ring);
}

// A thread ended between claiming and filling; its slot was passed over and
// claimed again, and the process killed before it told so.
static void a_slot_passed_over_does_not_hide_the_others(void **state)
{
	(void)state;
	struct test_ring *ring = test_ring_new(SMALL_RING, true);
	struct listener listener;
	test_ring_steps(ring, 25);
	test_ring_claim(ring, "never filled", false, false);
	for (int i = 0; i < 64; i++)
		test_ring_claim(ring, "filled", false, true);
	start(&listener, ring, false);
	listener.skips_check = true;
	listen(&listener);
	assert_true(listener.next_seq == ring->n_records + 1 + 64);
	stop(&listener);
	test_ring_free(ring);
}

static void slots_survive_where_nothing_else_was_published(void **state)
{
	(void)state;
	struct test_ring *ring = test_ring_new(SMALL_RING, true);
	struct listener listener;
	test_ring_claim(ring, "all there is", true, true);
	start(&listener, ring, false);
	listener.skips_check = true;
	listen(&listener);
	assert_int_equal(listener.n_events, 1);
	stop(&listener);
	test_ring_free(ring);
}

// Killed between the start of a chunk and its first row: the boundary lies over
// the last sealed row.
static void slots_are_laid_over_a_row_that_is_sealed(void **state)
{
	(void)state;
	static uint64_t row[TELE_FIELDS_MAX];
	uint32_t n_fields;
	uint64_t seq;
	struct test_ring *ring = test_ring_new(SMALL_RING, true);
	struct listener listener;
	test_ring_steps(ring, 25);
	tele_ring_seal(&ring->ring);
	test_ring_claim(ring, "after the seal", true, true);
	struct tele_attach *attach = attach_to(ring);
	assert_int_equal(tele_attach_latest(attach, row, TELE_FIELDS_MAX, &n_fields, &seq, NULL), 0);
	assert_true(seq == ring->n_records + 2);
	assert_int_equal(n_fields, ring->plan.n_fields);
	for (uint32_t f = tele_builtin_sections[TELE_SECTION_HOST].first_id; f < TELE_ID_COUNT; f++)
		if (f < n_fields && tele_builtin_fields[f].section == TELE_SECTION_HOST)
			assert_true(row[f] == ring->row[f]);
	assert_true(row[tele_builtin_sections[TELE_SECTION_CENSUS].first_id + 1] == 1024);
	tele_attach_close(attach);
	start(&listener, ring, false);
	listener.skips_check = true;
	listen(&listener);
	assert_true(listener.next_seq == ring->n_records + 3);
	stop(&listener);
	test_ring_free(ring);
}

// The same from a recorder's side: chunk and slots are two provisional blocks.
static void a_recorder_gets_slots_of_the_dead_as_a_block(void **state)
{
	(void)state;
	struct test_ring *ring = test_ring_new(SMALL_RING, true);
	struct tele_attach *attach = attach_to(ring);
	struct kept kept = {0};
	test_ring_steps(ring, 25);
	for (int i = 0; i < 64; i++)
		test_ring_claim(ring, "slot", true, true);
	keep(attach, &kept, true);
	assert_int_equal(kept.n_provisional, 2);
	assert_true(kept.provisional_end == ring->n_records + 1 + 64 * 2);
	tele_attach_close(attach);
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
		cmocka_unit_test(slots_of_a_dead_process_are_read_after_the_chunk),
		cmocka_unit_test(a_drained_slot_is_not_read_again),
		cmocka_unit_test(a_slot_passed_over_does_not_hide_the_others),
		cmocka_unit_test(slots_survive_where_nothing_else_was_published),
		cmocka_unit_test(slots_are_laid_over_a_row_that_is_sealed),
		cmocka_unit_test(a_recorder_gets_slots_of_the_dead_as_a_block),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
