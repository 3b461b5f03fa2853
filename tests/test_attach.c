// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What is a segment and what is refused (case S3), and what a process is by
// what its segment says.

#include "libtelemetry/attach.h"
#include "libtelemetry/collector.h"
#include "libtelemetry/crc32c.h"
#include "libtelemetry/publish/process.h"
#include "tests/support/segment_copy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static int open_error(const struct test_copy *copy, struct tele_error *ret_error)
{
	struct tele_attach *attach;
	int failed = tele_attach_open(copy->path, &attach, ret_error);
	if (!failed)
		tele_attach_close(attach);
	return failed;
}

static void fix_header(const struct test_copy *copy)
{
	uint64_t words[TELE_HEADER_WORDS];
	assert_int_equal(pread(copy->fd, words, sizeof(words), 0), sizeof(words));
	words[63] = tele_crc32c(0, words, 63 * sizeof(*words));
	test_copy_put(copy, 0, words, sizeof(words));
}

static void the_undamaged_copy_is_read(void **state)
{
	const struct test_copy *copy = *state;
	assert_true(test_copy_records(copy, false) > 500);
	assert_true(test_copy_blocks(copy) > 5);
}

static void another_version_is_refused_by_both_names(void **state)
{
	const struct test_copy *copy = *state;
	struct tele_error error = {0};
	uint64_t version = UINT64_C(64) << 32 | 7 << 16 | 2;
	test_copy_put(copy, 16, &version, 8);
	assert_int_equal(open_error(copy, &error), TELE_EVERSION);
	assert_non_null(strstr(error.text, "2.7"));
	assert_non_null(strstr(error.text, "1.0"));
	fix_header(copy); // a checksum that is right changes nothing
	assert_int_equal(open_error(copy, &error), TELE_EVERSION);
	test_copy_restore(copy, 0, 512);
	uint64_t flags = UINT64_C(1) << 11;
	test_copy_put(copy, 24, &flags, 8);
	fix_header(copy);
	assert_int_equal(open_error(copy, &error), TELE_EVERSION);
	assert_non_null(strstr(error.text, "11"));
	assert_non_null(strstr(error.text, "1.0"));
	test_copy_restore(copy, 0, 512);
}

static void a_later_minor_version_and_its_flags_are_read(void **state)
{
	const struct test_copy *copy = *state;
	struct tele_error error = {0};
	uint64_t version = UINT64_C(64) << 32 | 9 << 16 | 1;
	uint64_t flags = UINT64_C(1) << 63;
	test_copy_put(copy, 16, &version, 8);
	test_copy_put(copy, 32, &flags, 8);
	fix_header(copy);
	assert_int_equal(open_error(copy, &error), 0);
	test_copy_restore(copy, 0, 512);
}

static void another_magic_or_byte_order_is_refused(void **state)
{
	const struct test_copy *copy = *state;
	struct tele_error error = {0};
	test_copy_put(copy, 0, "RCALLTR1", 8);
	assert_int_equal(open_error(copy, &error), TELE_EMAGIC);
	test_copy_restore(copy, 0, 512);
	uint64_t swapped = UINT64_C(0x0807060504030201);
	test_copy_put(copy, 8, &swapped, 8);
	assert_int_equal(open_error(copy, &error), TELE_EVERSION);
	assert_non_null(strstr(error.text, "byte order"));
	test_copy_restore(copy, 0, 512);
}

static void every_changed_byte_of_the_header_is_noticed(void **state)
{
	const struct test_copy *copy = *state;
	static const uint8_t changes[] = {0x01, 0x80, 0xff};
	struct tele_error error = {0};
	for (size_t at = 0; at < 512; at++)
		for (size_t i = 0; i < sizeof(changes); i++) {
			uint8_t byte = copy->whole[at] ^ changes[i];
			test_copy_put(copy, at, &byte, 1);
			error.text[0] = '\0';
			assert_true(open_error(copy, &error) < 0);
			assert_true(error.text[0] != '\0');
			test_copy_restore(copy, at, 1);
		}
}

static void a_lie_in_the_header_under_a_right_checksum_harms_nobody(void **state)
{
	const struct test_copy *copy = *state;
	static const uint64_t values[] = {0, 1, 7, 8, 4095, 4096, 65536, 1u << 30, UINT64_C(1) << 32,
					  UINT64_C(1) << 63, UINT64_MAX, UINT64_MAX - 7};
	for (size_t word = 3; word < 63; word++)
		for (size_t i = 0; i < sizeof(values) / sizeof(values[0]) + 2; i++) {
			uint64_t value;
			memcpy(&value, copy->whole + 8 * word, 8);
			value = i < sizeof(values) / sizeof(values[0]) ? values[i] :
				i % 2				       ? value + 8 :
									 value * 2;
			test_copy_put(copy, 8 * word, &value, 8);
			fix_header(copy);
			test_copy_read(copy);
			test_copy_restore(copy, 0, 512);
		}
}

static void a_file_cut_anywhere_is_refused(void **state)
{
	const struct test_copy *copy = *state;
	struct tele_error error = {0};
	for (size_t size = copy->whole_bytes - 1; size > 0; size -= size < 1100 ? 1 : tele_min_u64(size - 1, 4093)) {
		assert_int_equal(ftruncate(copy->fd, (off_t)size), 0);
		assert_int_equal(open_error(copy, &error), TELE_ETRUNCATED);
		test_copy_read(copy);
	}
	test_copy_restore(copy, 0, copy->whole_bytes);
}

static void a_file_that_is_no_plain_file_of_one_name_is_refused(void **state)
{
	const struct test_copy *copy = *state;
	char other[300];
	struct tele_attach *attach;
	struct tele_error error = {0};
	snprintf(other, sizeof(other), "%s/other", copy->ring->directory);
	assert_int_equal(symlink(copy->path, other), 0);
	assert_true(tele_attach_open(other, &attach, &error) < 0);
	unlink(other);
	assert_int_equal(link(copy->path, other), 0);
	assert_int_equal(tele_attach_open(other, &attach, &error), TELE_EUNSAFE);
	unlink(other);
	assert_int_equal(mkfifo(other, 0600), 0);
	assert_true(tele_attach_open(other, &attach, &error) < 0);
	unlink(other);
	assert_true(tele_attach_open(copy->ring->directory, &attach, &error) < 0);
	assert_true(tele_attach_open("/dev/zero", &attach, &error) < 0);
}

static enum tele_state state_with(const struct test_copy *copy, uint64_t written, uint64_t pid_namespace,
				  uint64_t start_ticks, uint64_t heartbeat_age_ns)
{
	struct tele_identity identity = copy->ring->identity;
	struct tele_layout layout = copy->ring->file.layout;
	uint64_t words[TELE_HEADER_WORDS];
	uint64_t now = rollcall_clock_ns() - heartbeat_age_ns;
	struct tele_attach *attach;
	struct tele_error error = {0};
	identity.pid_namespace = pid_namespace;
	identity.start_ticks = start_ticks;
	tele_header_encode(&identity, &layout, words);
	test_copy_put(copy, 0, words, sizeof(words));
	test_copy_put(copy, layout.control_offset + 8 * TELE_CONTROL_STATE, &written, 8);
	test_copy_put(copy, layout.control_offset + 8 * TELE_CONTROL_HEARTBEAT, &now, 8);
	assert_int_equal(tele_attach_open(copy->path, &attach, &error), 0);
	enum tele_state state = tele_attach_instance(attach)->state;
	tele_attach_close(attach);
	test_copy_restore(copy, 0, copy->whole_bytes);
	return state;
}

static void the_state_follows_from_word_lock_heartbeat_and_process(void **state)
{
	const struct test_copy *copy = *state;
	static const struct tele_settings settings = {.period_ns = 1};
	struct tele_identity self;
	uint64_t old = UINT64_C(3600) * 1000000000;
	tele_identity_of_self(&settings, 1, 0, &self);
	uint64_t here = self.pid_namespace;
	uint64_t ticks = self.start_ticks;
	// Nobody holds the lock of the copy.
	assert_int_equal(state_with(copy, TELE_LIVE, here, ticks, 0), TELE_LIVE_UNLOCKED);
	assert_int_equal(state_with(copy, TELE_LIVE, here, ticks, old), TELE_REPLACED);
	assert_int_equal(state_with(copy, TELE_LIVE, here, 1, 0), TELE_KILLED);
	assert_int_equal(state_with(copy, TELE_LIVE, here, 1, old), TELE_KILLED);
	assert_int_equal(state_with(copy, TELE_EXITED, here, ticks, 0), TELE_EXITED);
	assert_int_equal(state_with(copy, TELE_PARKED, here, ticks, old), TELE_PARKED);
	assert_int_equal(state_with(copy, TELE_PARKED, here, 1, old), TELE_KILLED);
	assert_int_equal(state_with(copy, TELE_DISABLED, here, ticks, old), TELE_DISABLED);
	assert_int_equal(state_with(copy, TELE_STARTING, here, 1, old), TELE_KILLED);
	// In another PID namespace neither death nor life of a number means anything.
	assert_int_equal(state_with(copy, TELE_LIVE, here + 1, 1, 0), TELE_LIVE_UNLOCKED);
	assert_int_equal(state_with(copy, TELE_LIVE, here + 1, ticks, old), TELE_KILLED);
	assert_int_equal(state_with(copy, TELE_PARKED, here + 1, 1, old), TELE_PARKED);
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
		cmocka_unit_test(the_state_follows_from_word_lock_heartbeat_and_process),
	};
	return cmocka_run_group_tests(tests, test_copy_make, test_copy_drop);
}
