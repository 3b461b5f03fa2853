// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers

#include "libtelemetry/crc32c.h"

#include "tests/support/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void the_vectors_of_rfc_3720_hold(void **state)
{
	(void)state;
	uint8_t bytes[32];
	memset(bytes, 0, sizeof(bytes));
	assert_int_equal(tele_crc32c(0, bytes, 32), 0x8a9136aa);
	assert_int_equal(tele_crc32c_by_table(0, bytes, 32), 0x8a9136aa);
	memset(bytes, 0xff, sizeof(bytes));
	assert_int_equal(tele_crc32c(0, bytes, 32), 0x62a8ab43);
	for (unsigned i = 0; i < 32; i++)
		bytes[i] = (uint8_t)i;
	assert_int_equal(tele_crc32c(0, bytes, 32), 0x46dd794e);
	assert_int_equal(tele_crc32c(0, "123456789", 9), 0xe3069283);
	assert_int_equal(tele_crc32c_by_table(0, "123456789", 9), 0xe3069283);
	assert_int_equal(tele_crc32c(0, "", 0), 0);
}

static void table_and_instruction_agree_at_every_length_and_offset(void **state)
{
	(void)state;
	struct test_random random = {1};
	uint8_t bytes[200];
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)test_random_next(&random);
	for (size_t from = 0; from < 9; from++)
		for (size_t n = 0; n + from <= sizeof(bytes); n++)
			assert_int_equal(tele_crc32c(7, bytes + from, n),
					 tele_crc32c_by_table(7, bytes + from, n));
}

static void a_checksum_in_pieces_is_that_of_the_whole(void **state)
{
	(void)state;
	struct test_random random = {2};
	uint8_t bytes[100];
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)test_random_next(&random);
	uint32_t whole = tele_crc32c(0, bytes, sizeof(bytes));
	for (size_t cut = 0; cut <= sizeof(bytes); cut++) {
		uint32_t first = tele_crc32c(0, bytes, cut);
		assert_int_equal(tele_crc32c(first, bytes + cut, sizeof(bytes) - cut), whole);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_vectors_of_rfc_3720_hold),
		cmocka_unit_test(table_and_instruction_agree_at_every_length_and_offset),
		cmocka_unit_test(a_checksum_in_pieces_is_that_of_the_whole),
	};
	return cmocka_run_group_tests_name("crc32c", tests, NULL, NULL);
}
