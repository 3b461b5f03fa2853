// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers

#include "libtelemetry/varint.h"

#include "tests/support/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static size_t expected_length(uint64_t value)
{
	for (unsigned len = 1; len < 9; len++)
		if (value >> (7 * len) == 0)
			return len;
	return 9;
}

static void check(uint64_t value)
{
	uint8_t bytes[TELE_VARINT_BYTES_MAX];
	uint64_t back = ~value;
	size_t len = tele_varint_put(bytes, value);
	assert_int_equal(len, expected_length(value));
	// In a block of its own length, so that a sanitizer sees a read beyond it.
	uint8_t *exact = malloc(len);
	assert_non_null(exact);
	memcpy(exact, bytes, len);
	assert_int_equal(tele_varint_get(exact, len, &back), len);
	assert_true(back == value);
	for (size_t cut = 0; cut < len; cut++) {
		uint8_t *part = malloc(cut ? cut : 1);
		assert_non_null(part);
		memcpy(part, bytes, cut);
		assert_int_equal(tele_varint_get(part, cut, &back), 0);
		free(part);
	}
	free(exact);
}

static void values_around_every_power_of_two_come_back(void **state)
{
	(void)state;
	check(0);
	check(UINT64_MAX);
	for (unsigned bit = 0; bit < 64; bit++)
		for (uint64_t d = 0; d < 3; d++)
			check((UINT64_C(1) << bit) + d - 1);
}

static void random_values_come_back(void **state)
{
	(void)state;
	struct test_random random = {3};
	for (int i = 0; i < 2000; i++)
		check(test_random_next(&random) >> test_random_below(&random, 64));
}

static void zigzag_makes_small_of_small_and_undoes_itself(void **state)
{
	(void)state;
	assert_int_equal(tele_zigzag(0), 0);
	assert_int_equal(tele_zigzag(UINT64_MAX), 1);
	assert_int_equal(tele_zigzag(1), 2);
	struct test_random random = {4};
	for (int i = 0; i < 2000; i++) {
		uint64_t value = test_random_next(&random) >> test_random_below(&random, 64);
		assert_true(tele_unzigzag(tele_zigzag(value)) == value);
		assert_true(tele_unzigzag(tele_zigzag(0 - value)) == 0 - value);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_around_every_power_of_two_come_back),
		cmocka_unit_test(random_values_come_back),
		cmocka_unit_test(zigzag_makes_small_of_small_and_undoes_itself),
	};
	return cmocka_run_group_tests_name("varint", tests, NULL, NULL);
}
