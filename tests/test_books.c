// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The identity of the books and the invariants of a schema, on rows made by
// hand. The first tests are the identities of the reference.

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../analysis/books.h"
#include "support/mon_fixture.h"

static const char *const buckets[] = {
	"heap.live_bytes",	 "heap.rounding_bytes",		"heap.cache_bytes",
	"heap.span_free_bytes",	 "heap.returned_bytes",		"heap.virgin_bytes",
	"heap.hysteresis_bytes", "heap.segment_overhead_bytes",
};

static struct fixture *with_books(uint64_t mapped_bytes, const uint64_t values[8])
{
	struct fixture *fixture = fixture_new(1, "books");
	fixture_set(fixture, "heap.mapped_bytes", mapped_bytes);
	for (size_t i = 0; i < 8; i++)
		fixture_set(fixture, buckets[i], values[i]);
	return fixture;
}

static struct analysis_books read_books(const struct fixture *fixture)
{
	struct analysis_books books;
	analysis_books_read(fixture->instance.schema, fixture->row,
			    fixture->instance.schema->n_fields, &books);
	return books;
}

static uint32_t count_broken(const struct fixture *fixture, struct analysis_broken *broken)
{
	return analysis_invariants_check(fixture->instance.schema, fixture->row,
					 fixture->instance.schema->n_fields, broken, 4);
}

static void an_empty_heap_balances(void **state)
{
	static const uint64_t zero[8];
	struct fixture *fixture = with_books(0, zero);
	struct analysis_books books = read_books(fixture);
	(void)state;
	assert_true(books.is_known);
	assert_true(books.is_balanced);
	assert_int_equal(books.unexplained_bytes.value, 0);
	fixture_free(fixture);
}

static void books_balance_when_mapped_is_the_sum_of_all_buckets(void **state)
{
	static const uint64_t values[8] = {1, 2, 4, 8, 16, 32, 64, 128};
	struct fixture *fixture = with_books(255, values);
	struct analysis_books books = read_books(fixture);
	(void)state;
	assert_true(books.is_balanced);
	assert_int_equal(books.not_resident_bytes, 16 + 32);
	assert_int_equal(books.retained_bytes, 64);
	assert_int_equal(books.bucket_bytes[TELE_BUCKET_OVERHEAD], 128);
	assert_int_equal(count_broken(fixture, NULL), 0);
	fixture_free(fixture);
}

static void an_imbalance_is_visible_with_its_sign(void **state)
{
	static const uint64_t values[8] = {1};
	struct fixture *fixture = with_books(100, values);
	struct analysis_books books = read_books(fixture);
	struct analysis_broken broken[4];
	(void)state;
	assert_true(books.is_known);
	assert_false(books.is_balanced);
	assert_int_equal(books.unexplained_bytes.value, 99);
	assert_int_equal(count_broken(fixture, broken), 1);
	assert_int_equal(broken[0].off, 99);
	fixture_set(fixture, "heap.mapped_bytes", 0);
	assert_int_equal(read_books(fixture).unexplained_bytes.value, -1);
	fixture_free(fixture);
}

static void merging_two_heaps_adds_every_term_and_stays_balanced(void **state)
{
	static const uint64_t values[8] = {4, 0, 0, 0, 0, 6, 0, 0};
	uint64_t sums[8];
	(void)state;
	for (size_t i = 0; i < 8; i++)
		sums[i] = 2 * values[i];
	struct fixture *fixture = with_books(20, sums);
	struct analysis_books books = read_books(fixture);
	assert_true(books.is_balanced);
	assert_int_equal(books.bucket_bytes[TELE_BUCKET_LIVE], 8);
	assert_int_equal(books.bucket_bytes[TELE_BUCKET_VIRGIN], 12);
	fixture_free(fixture);
}

static void an_unknown_bucket_makes_the_books_unknown_and_is_never_added(void **state)
{
	static const uint64_t values[8] = {1, 2, TELE_UNKNOWN, 8, 16, 32, 64, 128};
	struct fixture *fixture = with_books(255, values);
	struct analysis_books books = read_books(fixture);
	(void)state;
	assert_false(books.is_known);
	assert_false(books.is_balanced);
	assert_false(books.unexplained_bytes.is_known);
	assert_int_equal(books.bucket_bytes[TELE_BUCKET_CACHE], TELE_UNKNOWN);
	assert_int_equal(count_broken(fixture, NULL), 0);
	fixture_free(fixture);
}

static void a_row_shorter_than_its_schema_has_unknown_books(void **state)
{
	static const uint64_t zero[8];
	struct fixture *fixture = with_books(0, zero);
	struct analysis_books books;
	(void)state;
	analysis_books_read(fixture->instance.schema, fixture->row, 3, &books);
	assert_false(books.is_known);
	assert_int_equal(
		analysis_invariants_check(fixture->instance.schema, fixture->row, 3, NULL, 0), 0);
	fixture_free(fixture);
}

static void numbers_near_the_end_of_the_range_saturate_and_do_not_wrap(void **state)
{
	static const uint64_t values[8] = {UINT64_MAX - 1, UINT64_MAX - 1, UINT64_MAX - 1,
					   UINT64_MAX - 1, UINT64_MAX - 1, UINT64_MAX - 1,
					   UINT64_MAX - 1, UINT64_MAX - 1};
	struct fixture *fixture = with_books(0, values);
	struct analysis_books books = read_books(fixture);
	(void)state;
	assert_false(books.is_balanced);
	assert_int_equal(books.unexplained_bytes.value, INT64_MIN);
	fixture_free(fixture);
}

static void invariants_of_a_device_are_checked_too(void **state)
{
	struct mon_model model;
	struct analysis_broken broken[4];
	(void)state;
	mon_model_init(&model, MON_HISTORY_SHORT);
	struct fixture *fixture = fixture_search(&model, 9, 5);
	assert_int_equal(count_broken(fixture, broken), 0);
	fixture_set(fixture, "device[0].pools_freed", 2);
	assert_int_equal(count_broken(fixture, broken), 1);
	assert_int_equal(broken[0].off, 2);
	assert_string_equal(fixture->instance.schema->fields[broken[0].target].name, "pools_freed");
	mon_model_fini(&model);
	fixture_free(fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_heap_balances),
		cmocka_unit_test(books_balance_when_mapped_is_the_sum_of_all_buckets),
		cmocka_unit_test(an_imbalance_is_visible_with_its_sign),
		cmocka_unit_test(merging_two_heaps_adds_every_term_and_stays_balanced),
		cmocka_unit_test(an_unknown_bucket_makes_the_books_unknown_and_is_never_added),
		cmocka_unit_test(a_row_shorter_than_its_schema_has_unknown_books),
		cmocka_unit_test(numbers_near_the_end_of_the_range_saturate_and_do_not_wrap),
		cmocka_unit_test(invariants_of_a_device_are_checked_too),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
