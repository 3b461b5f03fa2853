// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The classes of a schema and their values in a row.

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "../analysis/classes.h"
#include "support/mon_fixture.h"

static struct fixture *fixture;
static struct analysis_classes classes;
static uint64_t values[ANALYSIS_CLASSES_MAX];

static int start(void **state)
{
	(void)state;
	fixture = fixture_new(1, "a");
	classes = (struct analysis_classes){0};
	return 0;
}

static int stop(void **state)
{
	(void)state;
	analysis_classes_fini(&classes);
	fixture_free(fixture);
	return 0;
}

static void read_row(void)
{
	assert_true(analysis_classes_extend(&classes, fixture->instance.schema) >= 0);
	analysis_classes_read(&classes, fixture->instance.schema, fixture->row, fixture->instance.schema->n_fields, values);
}

static uint64_t value_of(const char *name)
{
	int index = analysis_classes_find(&classes, name);
	if (index < 0)
		fail_msg("no class %s", name);
	return values[index];
}

static void each_class_has_its_unit_its_bytes_and_its_total(void **state)
{
	(void)state;
	fixture_add_device(fixture, 1);
	read_row();
	const struct {
		const char *name;
		enum tele_unit unit;
		const char *bytes, *total;
	} expected[] = {
		{"working_pools", TELE_COUNT, "working_bytes", NULL},
		{"working_bytes", TELE_BYTES, NULL, "device_used_bytes"},
		{"unlabelled_pools", TELE_COUNT, "unlabelled_bytes", NULL},
		{"contexts", TELE_COUNT, NULL, NULL},
		{"modules", TELE_COUNT, NULL, NULL},
		{"device_used_bytes", TELE_BYTES, NULL, NULL},
		{"heap_live_bytes", TELE_BYTES, NULL, "rss_bytes"},
		{"heap_mapped_bytes", TELE_BYTES, NULL, NULL},
		{"residual_bytes", TELE_BYTES, NULL, "rss_bytes"},
		{"device[1].staging_pools", TELE_COUNT, "device[1].staging_bytes", NULL},
		{"device[1].staging_bytes", TELE_BYTES, NULL, "device[1].device_used_bytes"},
	};
	for (size_t i = 0; i < TELE_ARRAY_LEN(expected); i++) {
		int index = analysis_classes_find(&classes, expected[i].name);
		assert_true(index >= 0);
		const struct analysis_class *class = &classes.items[index];
		assert_int_equal(class->unit, expected[i].unit);
		assert_int_equal(class->bytes_class,
				 expected[i].bytes ? analysis_classes_find(&classes, expected[i].bytes) : ANALYSIS_NO_CLASS);
		assert_int_equal(class->total_class,
				 expected[i].total ? analysis_classes_find(&classes, expected[i].total) : ANALYSIS_NO_CLASS);
	}
	struct analysis_verdicts *engine;
	assert_int_equal(analysis_verdicts_new(classes.items, classes.n_items, &engine), 0);
	analysis_verdicts_free(engine);
}

static void a_difference_needs_both_and_may_be_negative(void **state)
{
	(void)state;
	fixture_set(fixture, "census.contexts_created", 7);
	fixture_set(fixture, "census.modules_loaded", 3);
	fixture_set(fixture, "census.modules_unloaded", 5);
	read_row();
	assert_true(value_of("contexts") == TELE_UNKNOWN);
	assert_int_equal((int64_t)value_of("modules"), -2);
	fixture_set(fixture, "census.contexts_released", 0);
	read_row();
	assert_int_equal(value_of("contexts"), 7);
}

static void device_use_is_the_sum_of_devices_that_all_tell(void **state)
{
	(void)state;
	read_row();
	assert_true(value_of("device_used_bytes") == TELE_UNKNOWN);
	fixture_add_device(fixture, 0);
	fixture_add_device(fixture, 2);
	fixture_set(fixture, "device[0].used_bytes", 100);
	read_row();
	assert_true(value_of("device_used_bytes") == TELE_UNKNOWN);
	fixture_set(fixture, "device[2].used_bytes", 20);
	read_row();
	assert_int_equal(value_of("device_used_bytes"), 120);
	assert_int_equal(value_of("device[2].device_used_bytes"), 20);
}

static void a_schema_that_grows_adds_at_the_end(void **state)
{
	(void)state;
	read_row();
	size_t n_before = classes.n_items;
	int working = analysis_classes_find(&classes, "working_pools");
	fixture_add_app(fixture, "queue", TELE_GAUGE, TELE_COUNT);
	fixture_add_app(fixture, "requests", TELE_COUNTER, TELE_COUNT);
	fixture_add_device(fixture, 0);
	fixture_set(fixture, "app.queue", 4);
	read_row();
	assert_int_equal(analysis_classes_find(&classes, "working_pools"), working);
	assert_int_equal(analysis_classes_find(&classes, "app.queue"), n_before);
	assert_int_equal(value_of("app.queue"), 4);
	assert_int_equal(analysis_classes_find(&classes, "app.requests"), ANALYSIS_NO_CLASS);
	assert_true(analysis_classes_is_echo(&classes, (size_t)analysis_classes_find(&classes, "device[0].contexts")));
	assert_false(analysis_classes_is_echo(&classes, (size_t)working));
	assert_int_equal(analysis_classes_extend(&classes, fixture->instance.schema), 0);
}

static void a_row_shorter_than_the_schema_is_unknown_behind_its_end(void **state)
{
	(void)state;
	fixture_add_app(fixture, "queue", TELE_GAUGE, TELE_COUNT);
	fixture_set(fixture, "app.queue", 4);
	read_row();
	analysis_classes_read(&classes, fixture->instance.schema, fixture->row, 3, values);
	for (size_t i = 0; i < classes.n_items; i++)
		assert_true(values[i] == TELE_UNKNOWN);
}

static void too_many_gauges_are_left_out_and_said(void **state)
{
	(void)state;
	for (unsigned i = 0; i < ANALYSIS_CLASSES_MAX; i++) {
		char name[32];
		snprintf(name, sizeof(name), "gauge_%u", i);
		fixture_add_app(fixture, name, TELE_GAUGE, TELE_BYTES);
	}
	read_row();
	assert_true(classes.is_full);
	assert_int_equal(classes.n_items, ANALYSIS_CLASSES_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_class_has_its_unit_its_bytes_and_its_total, start, stop),
		cmocka_unit_test_setup_teardown(a_difference_needs_both_and_may_be_negative, start, stop),
		cmocka_unit_test_setup_teardown(device_use_is_the_sum_of_devices_that_all_tell, start, stop),
		cmocka_unit_test_setup_teardown(a_schema_that_grows_adds_at_the_end, start, stop),
		cmocka_unit_test_setup_teardown(a_row_shorter_than_the_schema_is_unknown_behind_its_end, start, stop),
		cmocka_unit_test_setup_teardown(too_many_gauges_are_left_out_and_said, start, stop),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
