// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers

#include "libtelemetry/attach.h"
#include "libtelemetry/attach_private.h"
#include "libtelemetry/collector.h"
#include "libtelemetry/crc32c.h"
#include "libtelemetry/publish/process.h"
#include "tests/support/random.h"
#include "tests/support/ring_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define SMALL_RING (64u << 10)
// No damage may make a reader tell more than this of one small segment.
#define RECORDS_BOUND 2000000

static struct test_ring *ring;	// a whole segment, of a dead process
static uint8_t *whole;		// its bytes
static size_t whole_bytes;
static char path[TEST_PATH_BYTES]; // a copy, to be damaged
static int fd;			// of the copy

static int make_segment(void **state)
{
	(void)state;
	ring = test_ring_new(SMALL_RING, true);
	test_ring_grow(ring, true);
	test_ring_steps(ring, 20000); // the ring has wrapped
	test_ring_grow(ring, true);
	test_ring_grow(ring, false);
	test_ring_steps(ring, 25);
	for (int i = 0; i < 5; i++)
		test_ring_claim(ring, "slot", true, true);
	whole_bytes = ring->file.layout.segment_bytes;
	whole = malloc(whole_bytes);
	memcpy(whole, ring->file.bytes, whole_bytes);
	snprintf(path, sizeof(path), "%s/copy.rcs", ring->directory);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	return fd < 0 || pwrite(fd, whole, whole_bytes, 0) != (ssize_t)whole_bytes;
}

static int drop_segment(void **state)
{
	(void)state;
	close(fd);
	unlink(path);
	free(whole);
	test_ring_free(ring);
	return 0;
}

static void put(size_t offset, const void *bytes, size_t n_bytes)
{
	assert_int_equal(pwrite(fd, bytes, n_bytes, (off_t)offset), n_bytes);
}

static void restore(size_t offset, size_t n_bytes)
{
	put(offset, whole + offset, n_bytes);
}

static uint64_t drain(const char *from, bool from_now)
{
	struct tele_attach *attach;
	struct tele_source *source;
	struct tele_record record;
	struct tele_error error = {0};
	uint64_t n_records = 0;
	uint64_t sum = 0;
	if (tele_attach_open(from, &attach, &error) != 0)
		return 0;
	assert_int_equal(tele_ring_source_open(attach, from_now, &source, NULL), 0);
	while (tele_source_next(source, &record, &error) > 0) {
		if (record.kind == TELE_RECORD_ROW)
			for (uint32_t i = 0; i < record.n_fields; i++)
				sum += record.row[i];
		if (record.kind == TELE_RECORD_EVENT) {
			const char *text = tele_instance_string(record.instance, record.event.string_id);
			sum += text ? strlen(text) : 0;
		}
		assert_true(++n_records < RECORDS_BOUND);
	}
	tele_source_close(source);
	return n_records + (sum == 12345);
}

static uint64_t take_blocks(const char *from)
{
	static uint64_t row[TELE_FIELDS_MAX];
	struct tele_attach *attach;
	struct tele_error error = {0};
	const uint8_t *block;
	size_t n_bytes;
	uint64_t gap_from, gap_to, seq;
	uint32_t n_fields;
	bool is_provisional;
	uint64_t n_blocks = 0;
	if (tele_attach_open(from, &attach, &error) != 0)
		return 0;
	tele_attach_latest(attach, row, TELE_FIELDS_MAX, &n_fields, &seq, &error);
	while (tele_attach_next_block(attach, true, &block, &n_bytes, &is_provisional, &gap_from, &gap_to,
				      &error) > 0) {
		struct tele_block_header header;
		assert_true(tele_block_check(block, n_bytes, &header) == (int64_t)n_bytes);
		assert_true(++n_blocks < RECORDS_BOUND);
	}
	tele_attach_close(attach);
	return n_blocks;
}

// Everything a reader does with a segment.
static void read_all(const char *from)
{
	drain(from, false);
	drain(from, true);
	take_blocks(from);
}

static int open_error(struct tele_error *ret_error)
{
	struct tele_attach *attach;
	int failed = tele_attach_open(path, &attach, ret_error);
	if (!failed)
		tele_attach_close(attach);
	return failed;
}

static void fix_header(void)
{
	uint64_t words[TELE_HEADER_WORDS];
	assert_int_equal(pread(fd, words, sizeof(words), 0), sizeof(words));
	words[63] = tele_crc32c(0, words, 63 * sizeof(*words));
	put(0, words, sizeof(words));
}

// ---- Refusals (case S3) ---------------------------------------------------------------

static void the_undamaged_copy_is_read(void **state)
{
	(void)state;
	assert_true(drain(path, false) > 500);
	assert_true(take_blocks(path) > 5);
}

static void another_version_is_refused_by_both_names(void **state)
{
	(void)state;
	struct tele_error error = {0};
	uint64_t version = UINT64_C(64) << 32 | 7 << 16 | 2;
	put(16, &version, 8);
	assert_int_equal(open_error(&error), TELE_EVERSION);
	assert_non_null(strstr(error.text, "2.7"));
	assert_non_null(strstr(error.text, "1.0"));
	fix_header(); // a checksum that is right changes nothing
	assert_int_equal(open_error(&error), TELE_EVERSION);
	restore(0, 512);
	uint64_t flags = UINT64_C(1) << 11;
	put(24, &flags, 8);
	fix_header();
	assert_int_equal(open_error(&error), TELE_EVERSION);
	assert_non_null(strstr(error.text, "11"));
	assert_non_null(strstr(error.text, "1.0"));
	restore(0, 512);
}

static void a_later_minor_version_and_its_flags_are_read(void **state)
{
	(void)state;
	struct tele_error error = {0};
	uint64_t version = UINT64_C(64) << 32 | 9 << 16 | 1;
	uint64_t flags = UINT64_C(1) << 63;
	put(16, &version, 8);
	put(32, &flags, 8);
	fix_header();
	assert_int_equal(open_error(&error), 0);
	restore(0, 512);
}

static void another_magic_or_byte_order_is_refused(void **state)
{
	(void)state;
	struct tele_error error = {0};
	put(0, "RCALLTR1", 8);
	assert_int_equal(open_error(&error), TELE_EMAGIC);
	restore(0, 512);
	uint64_t swapped = UINT64_C(0x0807060504030201);
	put(8, &swapped, 8);
	assert_int_equal(open_error(&error), TELE_EVERSION);
	assert_non_null(strstr(error.text, "byte order"));
	restore(0, 512);
}

static void every_changed_byte_of_the_header_is_noticed(void **state)
{
	(void)state;
	static const uint8_t changes[] = {0x01, 0x80, 0xff};
	struct tele_error error = {0};
	for (size_t at = 0; at < 512; at++)
		for (size_t i = 0; i < sizeof(changes); i++) {
			uint8_t byte = whole[at] ^ changes[i];
			put(at, &byte, 1);
			error.text[0] = '\0';
			assert_true(open_error(&error) < 0);
			assert_true(error.text[0] != '\0');
			restore(at, 1);
		}
}

static void a_lie_in_the_header_under_a_right_checksum_harms_nobody(void **state)
{
	(void)state;
	static const uint64_t values[] = {0, 1, 7, 8, 4095, 4096, 65536, 1u << 30, UINT64_C(1) << 32,
					  UINT64_C(1) << 63, UINT64_MAX, UINT64_MAX - 7};
	for (size_t word = 3; word < 63; word++)
		for (size_t i = 0; i < sizeof(values) / sizeof(values[0]) + 2; i++) {
			uint64_t value;
			memcpy(&value, whole + 8 * word, 8);
			value = i < sizeof(values) / sizeof(values[0]) ? values[i] :
				i % 2				       ? value + 8 :
									 value * 2;
			put(8 * word, &value, 8);
			fix_header();
			read_all(path);
			restore(0, 512);
		}
}

static void a_file_cut_anywhere_is_refused(void **state)
{
	(void)state;
	struct tele_error error = {0};
	for (size_t size = whole_bytes - 1; size > 0; size -= size < 1100 ? 1 : tele_min_u64(size - 1, 4093)) {
		assert_int_equal(ftruncate(fd, (off_t)size), 0);
		assert_int_equal(open_error(&error), TELE_ETRUNCATED);
		read_all(path);
	}
	restore(0, whole_bytes);
}

static void a_file_that_is_no_plain_file_of_one_name_is_refused(void **state)
{
	(void)state;
	char other[300];
	struct tele_attach *attach;
	struct tele_error error = {0};
	snprintf(other, sizeof(other), "%s/other", ring->directory);
	assert_int_equal(symlink(path, other), 0);
	assert_true(tele_attach_open(other, &attach, &error) < 0);
	unlink(other);
	assert_int_equal(link(path, other), 0);
	assert_int_equal(tele_attach_open(other, &attach, &error), TELE_EUNSAFE);
	unlink(other);
	assert_int_equal(mkfifo(other, 0600), 0);
	assert_true(tele_attach_open(other, &attach, &error) < 0);
	unlink(other);
	assert_true(tele_attach_open(ring->directory, &attach, &error) < 0);
	assert_true(tele_attach_open("/dev/zero", &attach, &error) < 0);
}

// ---- Damage behind the header -----------------------------------------------------------

static void every_changed_byte_of_the_control_page_harms_nobody(void **state)
{
	(void)state;
	static const uint8_t changes[] = {0x01, 0x80, 0xff};
	size_t control = ring->file.layout.control_offset;
	for (size_t at = control; at < control + 8 * (TELE_CONTROL_DRAINED + 1); at++)
		for (size_t i = 0; i < sizeof(changes); i++) {
			// All but the words that mean something behave alike.
			if (i && whole[at] == 0)
				continue;
			uint8_t byte = whole[at] ^ changes[i];
			put(at, &byte, 1);
			read_all(path);
			restore(at, 1);
		}
}

static void words_of_the_control_page_may_say_anything(void **state)
{
	(void)state;
	struct test_random random = {.state = 3};
	size_t control = ring->file.layout.control_offset;
	static const unsigned words[] = {TELE_CONTROL_STATE, TELE_CONTROL_HEAD, TELE_CONTROL_TAIL,
					 TELE_CONTROL_LATEST, TELE_CONTROL_SCHEMA_BYTES,
					 TELE_CONTROL_FIELDS, TELE_CONTROL_CLAIMED};
	for (int i = 0; i < 1500; i++) {
		for (size_t k = 0; k < sizeof(words) / sizeof(words[0]); k++) {
			uint64_t value = test_random_next(&random) >> test_random_below(&random, 64);
			if (test_random_below(&random, 3) == 0)
				put(control + 8 * words[k], &value, 8);
		}
		read_all(path);
		restore(control, 4096);
	}
}

static void changed_bytes_of_schema_and_open_chunk_harm_nobody(void **state)
{
	(void)state;
	struct test_random random = {.state = 4};
	const struct tele_layout *layout = &ring->file.layout;
	for (int i = 0; i < 1500; i++) {
		size_t base = i % 2 ? layout->chunk_offset + (ring->ring.epoch & 1) * layout->chunk_bytes :
				      layout->schema_offset;
		size_t limit = i % 2 ? 64 + ring->ring.used_bytes : ring->writer.used_bytes;
		size_t at = base + (i % 8 < 2 ? test_random_below(&random, 64) :
						test_random_below(&random, limit));
		uint8_t byte = (uint8_t)test_random_next(&random);
		put(at, &byte, 1);
		drain(path, false);
		take_blocks(path);
		restore(at, 1);
	}
}

static void numbers_near_the_end_of_their_range_do_not_repeat_for_ever(void **state)
{
	(void)state;
	const struct tele_layout *layout = &ring->file.layout;
	size_t chunk = layout->chunk_offset + (ring->ring.epoch & 1) * layout->chunk_bytes;
	for (uint64_t before = 0; before < 80; before++) {
		uint64_t first = UINT64_MAX - before;
		put(chunk + 8 * TELE_CHUNK_FIRST_SEQ, &first, 8);
		read_all(path);
		first = INT64_MAX - before;
		put(chunk + 8 * TELE_CHUNK_FIRST_SEQ, &first, 8);
		read_all(path);
		restore(chunk, 64);
	}
}

static void random_words_anywhere_harm_nobody(void **state)
{
	(void)state;
	struct test_random random = {.state = 5};
	size_t offsets[40];
	for (int i = 0; i < 1500; i++) {
		size_t n = 1 + test_random_below(&random, 40);
		for (size_t k = 0; k < n; k++) {
			uint64_t value = test_random_next(&random) >> test_random_below(&random, 64);
			offsets[k] = 4096 + 8 * test_random_below(&random, whole_bytes / 8 - 512);
			put(offsets[k], &value, 8);
		}
		read_all(path);
		for (size_t k = 0; k < n; k++)
			restore(offsets[k], 8);
	}
}

// A damaged block in the ring costs what is in it and behind it, and is told.
static void a_damaged_block_is_a_gap_and_not_a_wrong_row(void **state)
{
	(void)state;
	const struct tele_layout *layout = &ring->file.layout;
	struct test_random random = {.state = 8};
	for (int i = 0; i < 300; i++) {
		size_t at = layout->ring_offset + test_random_below(&random, layout->ring_bytes);
		uint8_t byte = whole[at] ^ (uint8_t)(1u << test_random_below(&random, 8));
		struct tele_attach *attach;
		struct tele_source *source;
		struct tele_record record;
		struct tele_error error = {0};
		uint64_t next_seq = 0;
		put(at, &byte, 1);
		assert_int_equal(tele_attach_open(path, &attach, &error), 0);
		assert_int_equal(tele_ring_source_open(attach, false, &source, NULL), 0);
		while (tele_source_next(source, &record, &error) > 0) {
			if (record.kind == TELE_RECORD_GAP)
				next_seq = record.gap_to;
			if (record.kind != TELE_RECORD_ROW && record.kind != TELE_RECORD_EVENT)
				continue;
			assert_true(!next_seq || record.seq == next_seq);
			next_seq = record.seq + 1;
			if (record.seq <= ring->n_records)
				assert_true(test_ring_is_right(ring, &record));
		}
		tele_source_close(source);
		restore(at, 1);
	}
}

// ---- Damage while it is read --------------------------------------------------------------

static void a_file_cut_while_it_is_open_ends_the_source_with_an_error(void **state)
{
	(void)state;
	static uint64_t row[TELE_FIELDS_MAX];
	for (size_t size = 0; size < whole_bytes; size += 9973) {
		struct tele_attach *attach;
		struct tele_source *source;
		struct tele_record record;
		struct tele_error error = {0};
		uint32_t n_fields;
		uint64_t seq;
		int more = 1;
		assert_int_equal(tele_attach_open(path, &attach, &error), 0);
		assert_int_equal(tele_ring_source_open(attach, false, &source, NULL), 0);
		for (int i = 0; i < 3; i++)
			more = tele_source_next(source, &record, &error);
		assert_int_equal(more, 1);
		assert_int_equal(ftruncate(fd, (off_t)size), 0);
		tele_attach_latest(attach, row, TELE_FIELDS_MAX, &n_fields, &seq, NULL);
		while ((more = tele_source_next(source, &record, &error)) > 0)
			;
		if (size <= ring->file.layout.control_offset) {
			assert_int_equal(more, TELE_ETRUNCATED);
			assert_non_null(strstr(error.text, path));
		}
		tele_source_close(source);
		restore(0, whole_bytes);
	}
}

static _Atomic bool is_over;

static void *write_nonsense(void *bytes)
{
	struct test_random random = {.state = 9};
	_Atomic uint64_t *words = bytes;
	const struct tele_layout *layout = &ring->file.layout;
	while (!atomic_load(&is_over)) {
		uint64_t value = test_random_next(&random) >> test_random_below(&random, 64);
		size_t at = test_random_below(&random, 4) ?
				    layout->control_offset / 8 + test_random_below(&random, 65) :
				    512 + test_random_below(&random, whole_bytes / 8 - 512);
		uint64_t before = atomic_exchange(&words[at], value);
		if (test_random_below(&random, 8))
			atomic_store(&words[at], before);
	}
	return NULL;
}

static void a_writer_of_nonsense_beside_the_reader_harms_nobody(void **state)
{
	(void)state;
	pthread_t thread;
	void *mapped = mmap(NULL, whole_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(mapped != MAP_FAILED);
	is_over = false;
	assert_int_equal(pthread_create(&thread, NULL, write_nonsense, mapped), 0);
	for (int i = 0; i < 300; i++) {
		struct tele_attach *attach;
		struct tele_source *source;
		struct tele_record record;
		struct tele_error error = {0};
		if (tele_attach_open(path, &attach, &error) != 0)
			continue;
		assert_int_equal(tele_ring_source_open(attach, i % 2, &source, NULL), 0);
		// A live writer may always have something new.
		for (int k = 0; k < 3000 && tele_source_next(source, &record, &error) > 0; k++)
			;
		tele_source_close(source);
		if (i % 16 == 0)
			restore(0, whole_bytes);
	}
	is_over = true;
	pthread_join(thread, NULL);
	munmap(mapped, whole_bytes);
	restore(0, whole_bytes);
}

// ---- Whose process it is ------------------------------------------------------------------

static enum tele_state state_with(uint64_t written, uint64_t pid_namespace, uint64_t start_ticks,
				  uint64_t heartbeat_age_ns)
{
	struct tele_identity identity = ring->identity;
	struct tele_layout layout = ring->file.layout;
	uint64_t words[TELE_HEADER_WORDS];
	uint64_t now = rollcall_clock_ns() - heartbeat_age_ns;
	struct tele_attach *attach;
	struct tele_error error = {0};
	identity.pid_namespace = pid_namespace;
	identity.start_ticks = start_ticks;
	tele_header_encode(&identity, &layout, words);
	put(0, words, sizeof(words));
	put(layout.control_offset + 8 * TELE_CONTROL_STATE, &written, 8);
	put(layout.control_offset + 8 * TELE_CONTROL_HEARTBEAT, &now, 8);
	assert_int_equal(tele_attach_open(path, &attach, &error), 0);
	enum tele_state state = tele_attach_instance(attach)->state;
	tele_attach_close(attach);
	restore(0, whole_bytes);
	return state;
}

static void the_state_follows_from_word_lock_heartbeat_and_process(void **state)
{
	(void)state;
	static const struct tele_settings settings = {.period_ns = 1};
	struct tele_identity self;
	uint64_t old = UINT64_C(3600) * 1000000000;
	tele_identity_of_self(&settings, 1, 0, &self);
	uint64_t here = self.pid_namespace;
	uint64_t ticks = self.start_ticks;
	// Nobody holds the lock of the copy.
	assert_int_equal(state_with(TELE_LIVE, here, ticks, 0), TELE_LIVE_UNLOCKED);
	assert_int_equal(state_with(TELE_LIVE, here, ticks, old), TELE_REPLACED);
	assert_int_equal(state_with(TELE_LIVE, here, 1, 0), TELE_KILLED);
	assert_int_equal(state_with(TELE_LIVE, here, 1, old), TELE_KILLED);
	assert_int_equal(state_with(TELE_EXITED, here, ticks, 0), TELE_EXITED);
	assert_int_equal(state_with(TELE_PARKED, here, ticks, old), TELE_PARKED);
	assert_int_equal(state_with(TELE_PARKED, here, 1, old), TELE_KILLED);
	assert_int_equal(state_with(TELE_DISABLED, here, ticks, old), TELE_DISABLED);
	assert_int_equal(state_with(TELE_STARTING, here, 1, old), TELE_KILLED);
	// In another PID namespace neither death nor life of a number means anything.
	assert_int_equal(state_with(TELE_LIVE, here + 1, 1, 0), TELE_LIVE_UNLOCKED);
	assert_int_equal(state_with(TELE_LIVE, here + 1, ticks, old), TELE_KILLED);
	assert_int_equal(state_with(TELE_PARKED, here + 1, 1, old), TELE_PARKED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_undamaged_copy_is_read),
		cmocka_unit_test(another_version_is_refused_by_both_names),
		cmocka_unit_test(a_later_minor_version_and_its_flags_are_read),
		cmocka_unit_test(another_magic_or_byte_order_is_refused),
		cmocka_unit_test(every_changed_byte_of_the_header_is_noticed),
		cmocka_unit_test(a_lie_in_the_header_under_a_right_checksum_harms_nobody),
		cmocka_unit_test(a_file_cut_anywhere_is_refused),
		cmocka_unit_test(a_file_that_is_no_plain_file_of_one_name_is_refused),
		cmocka_unit_test(every_changed_byte_of_the_control_page_harms_nobody),
		cmocka_unit_test(words_of_the_control_page_may_say_anything),
		cmocka_unit_test(changed_bytes_of_schema_and_open_chunk_harm_nobody),
		cmocka_unit_test(numbers_near_the_end_of_their_range_do_not_repeat_for_ever),
		cmocka_unit_test(random_words_anywhere_harm_nobody),
		cmocka_unit_test(a_damaged_block_is_a_gap_and_not_a_wrong_row),
		cmocka_unit_test(a_file_cut_while_it_is_open_ends_the_source_with_an_error),
		cmocka_unit_test(a_writer_of_nonsense_beside_the_reader_harms_nobody),
		cmocka_unit_test(the_state_follows_from_word_lock_heartbeat_and_process),
	};
	return cmocka_run_group_tests(tests, make_segment, drop_segment);
}
