// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Predicted residency, the residual and its split.

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "../analysis/derived.h"
#include "support/mon_fixture.h"

static struct analysis_residency read_residency(const struct fixture *fixture)
{
	struct analysis_residency residency;
	analysis_residency_read(fixture->instance.schema, fixture->row,
				fixture->instance.schema->n_fields, &residency);
	return residency;
}

// mapped 1000 = live 500 + rounding 20 + cache 30 + span_free 50 + returned 100
// + virgin 200 + hysteresis 60 + overhead 40
static struct fixture *example(void)
{
	struct fixture *fixture = fixture_new(1, "residency");
	fixture_set(fixture, "heap.mapped_bytes", 1000);
	fixture_set(fixture, "heap.live_bytes", 500);
	fixture_set(fixture, "heap.rounding_bytes", 20);
	fixture_set(fixture, "heap.cache_bytes", 30);
	fixture_set(fixture, "heap.span_free_bytes", 50);
	fixture_set(fixture, "heap.returned_bytes", 100);
	fixture_set(fixture, "heap.virgin_bytes", 200);
	fixture_set(fixture, "heap.hysteresis_bytes", 60);
	fixture_set(fixture, "heap.segment_overhead_bytes", 40);
	fixture_set(fixture, "heap.untouched_bytes", 150);
	fixture_set(fixture, "heap.resident_bytes", 553);
	fixture_set(fixture, "host.rss_bytes", 800);
	fixture_set(fixture, "host.file_bytes", 90);
	fixture_set(fixture, "host.shmem_bytes", 70);
	fixture_set(fixture, "self.resident_bytes", 10);
	fixture_set(fixture, "self.segment_bytes", 40);
	return fixture;
}

static void predicted_is_mapped_minus_virgin_and_returned(void **state)
{
	struct fixture *fixture = example();
	(void)state;
	assert_int_equal(read_residency(fixture).predicted_bytes, 1000 - 200 - 100);
	fixture_free(fixture);
}

static void the_floor_also_takes_off_hysteresis_as_the_reference_does(void **state)
{
	struct fixture *fixture = example();
	(void)state;
	assert_int_equal(read_residency(fixture).predicted_floor_bytes, 1000 - 200 - 60 - 100);
	fixture_free(fixture);
}

static void the_parts_of_the_residual_add_up_to_it(void **state)
{
	struct fixture *fixture = example();
	struct analysis_residency residency = read_residency(fixture);
	(void)state;
	assert_int_equal(residency.residual_bytes.value, 800 - 700);
	assert_int_equal(residency.untouched_bytes.value, -150);
	assert_int_equal(residency.file_bytes.value, 90);
	assert_int_equal(residency.shmem_bytes.value, 70 - 40);
	assert_int_equal(residency.own_bytes.value, 10 + 40);
	assert_int_equal(residency.other_bytes.value, 100 + 150 - 90 - 30 - 50);
	assert_int_equal(residency.error_bytes.value, 553 - 700 + 150);
	fixture_free(fixture);
}

static void what_huge_pages_brought_along_is_named_and_no_error(void **state)
{
	struct fixture *fixture = example();
	(void)state;
	fixture_set(fixture, "heap.huge_resident_bytes", 0);
	struct analysis_residency without = read_residency(fixture);
	assert_false(without.huge_bytes.is_known);
	fixture_set(fixture, "heap.huge_resident_bytes", 33);
	struct analysis_residency residency = read_residency(fixture);
	assert_int_equal(residency.huge_bytes.value, 33);
	assert_int_equal(residency.other_bytes.value, without.other_bytes.value - 33);
	assert_int_equal(residency.error_bytes.value, without.error_bytes.value - 33);
	assert_int_equal(residency.residual_bytes.value, without.residual_bytes.value);
	fixture_free(fixture);
}

static void a_segment_larger_than_the_shared_memory_is_cut_to_it(void **state)
{
	struct fixture *fixture = example();
	(void)state;
	fixture_set(fixture, "host.shmem_bytes", 25);
	struct analysis_residency residency = read_residency(fixture);
	assert_int_equal(residency.shmem_bytes.value, 0);
	assert_int_equal(residency.own_bytes.value, 10 + 25);
	fixture_free(fixture);
}

static void a_gibibyte_never_touched_is_a_negative_residual_named_untouched(void **state)
{
	const uint64_t gib = UINT64_C(1) << 30;
	struct fixture *fixture = fixture_new(1, "untouched");
	(void)state;
	fixture_set(fixture, "heap.mapped_bytes", gib);
	fixture_set(fixture, "heap.live_bytes", gib);
	static const char *const others[] = {"rounding",	"cache",  "span_free",
					     "returned",	"virgin", "hysteresis",
					     "segment_overhead"};
	for (size_t i = 0; i < 7; i++) {
		char name[64];
		snprintf(name, sizeof(name), "heap.%s_bytes", others[i]);
		fixture_set(fixture, name, 0);
	}
	fixture_set(fixture, "heap.untouched_bytes", gib);
	fixture_set(fixture, "host.rss_bytes", 0);
	struct analysis_residency residency = read_residency(fixture);
	assert_int_equal(residency.predicted_bytes, gib);
	assert_int_equal(residency.residual_bytes.value, -(int64_t)gib);
	assert_int_equal(residency.untouched_bytes.value, -(int64_t)gib);
	fixture_free(fixture);
}

static void without_books_prediction_and_residual_are_unknown_and_the_rest_stays(void **state)
{
	struct fixture *fixture = fixture_new(1, "glibc");
	(void)state;
	fixture_set(fixture, "host.rss_bytes", 800);
	fixture_set(fixture, "host.file_bytes", 90);
	struct analysis_residency residency = read_residency(fixture);
	assert_int_equal(residency.predicted_bytes, TELE_UNKNOWN);
	assert_int_equal(residency.predicted_floor_bytes, TELE_UNKNOWN);
	assert_false(residency.residual_bytes.is_known);
	assert_false(residency.other_bytes.is_known);
	assert_int_equal(residency.rss_bytes, 800);
	assert_int_equal(residency.file_bytes.value, 90);
	fixture_free(fixture);
}

static void an_unknown_part_leaves_other_unknown_and_nothing_else(void **state)
{
	struct fixture *fixture = example();
	(void)state;
	fixture_set(fixture, "host.file_bytes", TELE_UNKNOWN);
	struct analysis_residency residency = read_residency(fixture);
	assert_false(residency.file_bytes.is_known);
	assert_false(residency.other_bytes.is_known);
	assert_true(residency.residual_bytes.is_known);
	assert_true(residency.shmem_bytes.is_known);
	fixture_free(fixture);
}

static void derived_sums_pools_over_labels_and_subtracts_what_left(void **state)
{
	struct mon_model model;
	struct analysis_derived derived;
	(void)state;
	mon_model_init(&model, MON_HISTORY_SHORT);
	struct fixture *fixture = fixture_search(&model, 9, 82);
	const struct tele_schema *schema = fixture->instance.schema;
	analysis_derived_read(schema, fixture->row, schema->n_fields, &derived);
	assert_int_equal(derived.live_pools, 83);
	assert_int_equal(derived.live_pool_bytes, UINT64_C(82) * 102 * 1048576 + 9752000);
	assert_int_equal(derived.unreleased_contexts.value, 86);
	assert_int_equal(derived.live_modules.value, 3);
	fixture_set(fixture, "census.live_staging_pools", TELE_UNKNOWN);
	analysis_derived_read(schema, fixture->row, schema->n_fields, &derived);
	assert_int_equal(derived.live_pools, TELE_UNKNOWN);
	mon_model_fini(&model);
	fixture_free(fixture);
}

static void derived_numbers_come_in_the_order_of_the_contract(void **state)
{
	struct fixture *fixture = example();
	struct analysis_derived derived;
	struct analysis_derived_number number;
	const struct tele_schema *schema = fixture->instance.schema;
	(void)state;
	analysis_derived_read(schema, fixture->row, schema->n_fields, &derived);
	assert_true(analysis_derived_at(&derived, 1, &number));
	assert_string_equal(number.name, "predicted_resident_bytes");
	assert_int_equal(number.magnitude, 700);
	assert_true(analysis_derived_at(&derived, 5, &number));
	assert_string_equal(number.name, "residual_untouched_bytes");
	assert_true(number.is_negative);
	assert_int_equal(number.magnitude, 150);
	assert_true(analysis_derived_at(&derived, 10, &number));
	assert_string_equal(number.name, "live_pools");
	assert_false(number.is_known);
	assert_true(analysis_derived_at(&derived, 14, &number));
	assert_string_equal(number.name, "residual_huge_bytes");
	assert_false(number.is_known);
	assert_true(analysis_derived_at(&derived, 15, &number));
	assert_string_equal(number.name, "unattributed_bytes");
	assert_true(analysis_derived_at(&derived, 16, &number));
	assert_string_equal(number.name, "overhead_bytes");
	assert_false(number.is_known);
	assert_true(analysis_derived_at(&derived, 17, &number));
	assert_string_equal(number.name, "foreign_bytes");
	assert_false(analysis_derived_at(&derived, 18, &number));
	fixture_free(fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(predicted_is_mapped_minus_virgin_and_returned),
		cmocka_unit_test(the_floor_also_takes_off_hysteresis_as_the_reference_does),
		cmocka_unit_test(the_parts_of_the_residual_add_up_to_it),
		cmocka_unit_test(what_huge_pages_brought_along_is_named_and_no_error),
		cmocka_unit_test(a_segment_larger_than_the_shared_memory_is_cut_to_it),
		cmocka_unit_test(a_gibibyte_never_touched_is_a_negative_residual_named_untouched),
		cmocka_unit_test(
			without_books_prediction_and_residual_are_unknown_and_the_rest_stays),
		cmocka_unit_test(an_unknown_part_leaves_other_unknown_and_nothing_else),
		cmocka_unit_test(derived_sums_pools_over_labels_and_subtracts_what_left),
		cmocka_unit_test(derived_numbers_come_in_the_order_of_the_contract),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
