// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Segments with damage behind their header, and damage while they are read: it
// is told or passed over, and harms nobody.

#include "libtelemetry/attach.h"
#include "tests/support/random.h"
#include "tests/support/segment_copy.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

static void every_changed_byte_of_the_control_page_harms_nobody(void **state)
{
	const struct test_copy *copy = *state;
	static const uint8_t changes[] = {0x01, 0x80, 0xff};
	size_t control = copy->ring->file.layout.control_offset;
	for (size_t at = control; at < control + 8 * (TELE_CONTROL_DRAINED + 1); at++)
		for (size_t i = 0; i < sizeof(changes); i++) {
			// All but the words that mean something behave alike.
			if (i && copy->whole[at] == 0)
				continue;
			uint8_t byte = copy->whole[at] ^ changes[i];
			test_copy_put(copy, at, &byte, 1);
			test_copy_read(copy);
			test_copy_restore(copy, at, 1);
		}
}

static void words_of_the_control_page_may_say_anything(void **state)
{
	const struct test_copy *copy = *state;
	struct test_random random = {.state = 3};
	size_t control = copy->ring->file.layout.control_offset;
	static const unsigned words[] = {TELE_CONTROL_STATE, TELE_CONTROL_HEAD, TELE_CONTROL_TAIL,
					 TELE_CONTROL_LATEST, TELE_CONTROL_SCHEMA_BYTES,
					 TELE_CONTROL_FIELDS, TELE_CONTROL_CLAIMED};
	for (int i = 0; i < 1500; i++) {
		for (size_t k = 0; k < sizeof(words) / sizeof(words[0]); k++) {
			uint64_t value = test_random_next(&random) >> test_random_below(&random, 64);
			if (test_random_below(&random, 3) == 0)
				test_copy_put(copy, control + 8 * words[k], &value, 8);
		}
		test_copy_read(copy);
		test_copy_restore(copy, control, 4096);
	}
}

static void changed_bytes_of_schema_and_open_chunk_harm_nobody(void **state)
{
	const struct test_copy *copy = *state;
	struct test_random random = {.state = 4};
	const struct tele_layout *layout = &copy->ring->file.layout;
	for (int i = 0; i < 1500; i++) {
		size_t base = i % 2 ? layout->chunk_offset + (copy->ring->ring.epoch & 1) * layout->chunk_bytes :
				      layout->schema_offset;
		size_t limit = i % 2 ? 64 + copy->ring->ring.used_bytes : copy->ring->writer.used_bytes;
		size_t at = base + (i % 8 < 2 ? test_random_below(&random, 64) :
						test_random_below(&random, limit));
		uint8_t byte = (uint8_t)test_random_next(&random);
		test_copy_put(copy, at, &byte, 1);
		test_copy_records(copy, false);
		test_copy_blocks(copy);
		test_copy_restore(copy, at, 1);
	}
}

static void numbers_near_the_end_of_their_range_do_not_repeat_for_ever(void **state)
{
	const struct test_copy *copy = *state;
	const struct tele_layout *layout = &copy->ring->file.layout;
	size_t chunk = layout->chunk_offset + (copy->ring->ring.epoch & 1) * layout->chunk_bytes;
	for (uint64_t before = 0; before < 80; before++) {
		uint64_t first = UINT64_MAX - before;
		test_copy_put(copy, chunk + 8 * TELE_CHUNK_FIRST_SEQ, &first, 8);
		test_copy_read(copy);
		first = INT64_MAX - before;
		test_copy_put(copy, chunk + 8 * TELE_CHUNK_FIRST_SEQ, &first, 8);
		test_copy_read(copy);
		test_copy_restore(copy, chunk, 64);
	}
}

static void random_words_anywhere_harm_nobody(void **state)
{
	const struct test_copy *copy = *state;
	struct test_random random = {.state = 5};
	size_t offsets[40];
	for (int i = 0; i < 1500; i++) {
		size_t n = 1 + test_random_below(&random, 40);
		for (size_t k = 0; k < n; k++) {
			uint64_t value = test_random_next(&random) >> test_random_below(&random, 64);
			offsets[k] = 4096 + 8 * test_random_below(&random, copy->whole_bytes / 8 - 512);
			test_copy_put(copy, offsets[k], &value, 8);
		}
		test_copy_read(copy);
		for (size_t k = 0; k < n; k++)
			test_copy_restore(copy, offsets[k], 8);
	}
}

// A damaged block in the ring costs what is in it and behind it, and is told.
static void a_damaged_block_is_a_gap_and_not_a_wrong_row(void **state)
{
	const struct test_copy *copy = *state;
	const struct tele_layout *layout = &copy->ring->file.layout;
	struct test_random random = {.state = 8};
	for (int i = 0; i < 300; i++) {
		size_t at = layout->ring_offset + test_random_below(&random, layout->ring_bytes);
		uint8_t byte = copy->whole[at] ^ (uint8_t)(1u << test_random_below(&random, 8));
		struct tele_attach *attach;
		struct tele_source *source;
		struct tele_record record;
		struct tele_error error = {0};
		uint64_t next_seq = 0;
		test_copy_put(copy, at, &byte, 1);
		assert_int_equal(tele_attach_open(copy->path, &attach, &error), 0);
		assert_int_equal(tele_ring_source_open(attach, false, &source, NULL), 0);
		while (tele_source_next(source, &record, &error) > 0) {
			if (record.kind == TELE_RECORD_GAP)
				next_seq = record.gap_to;
			if (record.kind != TELE_RECORD_ROW && record.kind != TELE_RECORD_EVENT)
				continue;
			assert_true(!next_seq || record.seq == next_seq);
			next_seq = record.seq + 1;
			if (record.seq <= copy->ring->n_records)
				assert_true(test_ring_is_right(copy->ring, &record));
		}
		tele_source_close(source);
		test_copy_restore(copy, at, 1);
	}
}

static void a_file_cut_while_it_is_open_ends_the_source_with_an_error(void **state)
{
	const struct test_copy *copy = *state;
	static uint64_t row[TELE_FIELDS_MAX];
	for (size_t size = 0; size < copy->whole_bytes; size += 9973) {
		struct tele_attach *attach;
		struct tele_source *source;
		struct tele_record record;
		struct tele_error error = {0};
		uint32_t n_fields;
		uint64_t seq;
		int more = 1;
		assert_int_equal(tele_attach_open(copy->path, &attach, &error), 0);
		assert_int_equal(tele_ring_source_open(attach, false, &source, NULL), 0);
		for (int i = 0; i < 3; i++)
			more = tele_source_next(source, &record, &error);
		assert_int_equal(more, 1);
		assert_int_equal(ftruncate(copy->fd, (off_t)size), 0);
		tele_attach_latest(attach, row, TELE_FIELDS_MAX, &n_fields, &seq, NULL);
		while ((more = tele_source_next(source, &record, &error)) > 0)
			;
		if (size <= copy->ring->file.layout.control_offset) {
			assert_int_equal(more, TELE_ETRUNCATED);
			assert_non_null(strstr(error.text, copy->path));
		}
		tele_source_close(source);
		test_copy_restore(copy, 0, copy->whole_bytes);
	}
}

static _Atomic bool is_over;

struct nonsense {
	const struct test_copy *copy;
	_Atomic uint64_t *words; // of the copy
};

static void *write_nonsense(void *argument)
{
	struct test_random random = {.state = 9};
	const struct nonsense *nonsense = argument;
	const struct test_copy *copy = nonsense->copy;
	_Atomic uint64_t *words = nonsense->words;
	const struct tele_layout *layout = &copy->ring->file.layout;
	while (!atomic_load(&is_over)) {
		uint64_t value = test_random_next(&random) >> test_random_below(&random, 64);
		size_t at = test_random_below(&random, 4) ?
				    layout->control_offset / 8 + test_random_below(&random, 65) :
				    512 + test_random_below(&random, copy->whole_bytes / 8 - 512);
		uint64_t before = atomic_exchange(&words[at], value);
		if (test_random_below(&random, 8))
			atomic_store(&words[at], before);
	}
	return NULL;
}

static void a_writer_of_nonsense_beside_the_reader_harms_nobody(void **state)
{
	const struct test_copy *copy = *state;
	pthread_t thread;
	void *mapped = mmap(NULL, copy->whole_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, copy->fd, 0);
	assert_true(mapped != MAP_FAILED);
	struct nonsense nonsense = {.copy = copy, .words = mapped};
	is_over = false;
	assert_int_equal(pthread_create(&thread, NULL, write_nonsense, &nonsense), 0);
	for (int i = 0; i < 300; i++) {
		struct tele_attach *attach;
		struct tele_source *source;
		struct tele_record record;
		struct tele_error error = {0};
		if (tele_attach_open(copy->path, &attach, &error) != 0)
			continue;
		assert_int_equal(tele_ring_source_open(attach, i % 2, &source, NULL), 0);
		// A live writer may always have something new.
		for (int k = 0; k < 3000 && tele_source_next(source, &record, &error) > 0; k++)
			;
		tele_source_close(source);
		if (i % 16 == 0)
			test_copy_restore(copy, 0, copy->whole_bytes);
	}
	is_over = true;
	pthread_join(thread, NULL);
	munmap(mapped, copy->whole_bytes);
	test_copy_restore(copy, 0, copy->whole_bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_changed_byte_of_the_control_page_harms_nobody),
		cmocka_unit_test(words_of_the_control_page_may_say_anything),
		cmocka_unit_test(changed_bytes_of_schema_and_open_chunk_harm_nobody),
		cmocka_unit_test(numbers_near_the_end_of_their_range_do_not_repeat_for_ever),
		cmocka_unit_test(random_words_anywhere_harm_nobody),
		cmocka_unit_test(a_damaged_block_is_a_gap_and_not_a_wrong_row),
		cmocka_unit_test(a_file_cut_while_it_is_open_ends_the_source_with_an_error),
		cmocka_unit_test(a_writer_of_nonsense_beside_the_reader_harms_nobody),
	};
	return cmocka_run_group_tests(tests, test_copy_make, test_copy_drop);
}
