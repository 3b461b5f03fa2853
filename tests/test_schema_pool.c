// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Schemas in common: the same bytes are one schema for as long as somebody uses
// it, and never longer.

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "../libtelemetry/discover.h"
#include "../libtelemetry/schema_pool.h"
#include "support/ring_fixture.h"

static uint8_t bytes[TELE_SCHEMA_BYTES_DEFAULT];
static struct tele_plan plan;
static size_t n_short, n_long;

static int start(void **state)
{
	struct tele_schema_writer writer;
	(void)state;
	if (tele_schema_write_start(&writer, bytes, sizeof(bytes), &plan))
		return -1;
	n_short = writer.used_bytes;
	if (tele_schema_write_instance(&writer, TELE_SECTION_DEVICE, 0, UINT32_MAX) < 0)
		return -1;
	n_long = writer.used_bytes;
	return 0;
}

static void equal_bytes_are_one_schema_and_grown_ones_another(void **state)
{
	struct tele_schema_pool *pool = tele_schema_pool_new();
	struct tele_pooled_schema *a, *b, *grown;
	(void)state;
	assert_int_equal(tele_schema_pool_get(pool, bytes, n_short, &a, NULL), 0);
	assert_int_equal(tele_schema_pool_get(pool, bytes, n_short, &b, NULL), 0);
	assert_int_equal(tele_schema_pool_get(pool, bytes, n_long, &grown, NULL), 0);
	assert_ptr_equal(a, b);
	assert_ptr_not_equal(a->schema, grown->schema);
	assert_true(tele_schema_find(a->schema, "device[0].used_bytes") < 0);
	assert_true(tele_schema_find(grown->schema, "device[0].used_bytes") > 0);
	tele_schema_pool_put(a);
	assert_true(tele_schema_find(b->schema, "heap.live_bytes") > 0);
	tele_schema_pool_put(b);
	tele_schema_pool_free(pool); // the owner may go first
	assert_true(tele_schema_find(grown->schema, "heap.live_bytes") > 0);
	tele_schema_pool_put(grown);
}

static void without_a_pool_each_has_its_own(void **state)
{
	struct tele_pooled_schema *a, *b;
	(void)state;
	assert_int_equal(tele_schema_pool_get(NULL, bytes, n_short, &a, NULL), 0);
	assert_int_equal(tele_schema_pool_get(NULL, bytes, n_short, &b, NULL), 0);
	assert_ptr_not_equal(a->schema, b->schema);
	tele_schema_pool_put(a);
	tele_schema_pool_put(b);
	tele_schema_pool_put(NULL);
}

static void damaged_bytes_are_refused_and_leave_nothing(void **state)
{
	struct tele_schema_pool *pool = tele_schema_pool_new();
	struct tele_pooled_schema *pooled = NULL;
	struct tele_error error = {0};
	(void)state;
	for (size_t at = 0; at < n_short; at += 97) {
		bytes[at] ^= 0x10;
		assert_true(tele_schema_pool_get(pool, bytes, n_short, &pooled, &error) < 0);
		assert_null(pooled);
		bytes[at] ^= 0x10;
	}
	assert_true(tele_schema_pool_get(pool, bytes, n_short - 1, &pooled, &error) < 0);
	assert_int_equal(tele_schema_pool_get(pool, bytes, n_short, &pooled, &error), 0);
	tele_schema_pool_put(pooled);
	tele_schema_pool_free(pool);
}

// A segment may say that it has no schema yet, and come with one after the list
// that found it has gone.
static void a_pool_lasts_for_those_that_have_no_schema_yet(void **state)
{
	struct test_ring *ring = test_ring_new(65536, false);
	struct tele_found_list list = {0};
	struct tele_attach *attach;
	(void)state;
	tele_ring_control(&ring->ring, TELE_CONTROL_SCHEMA_BYTES, 0);
	assert_true(tele_discover(ring->directory, &list, NULL) > 0);
	assert_non_null(list.items[0].attach);
	assert_int_equal(tele_attach_reopen(list.items[0].attach, &attach, NULL), 0);
	assert_int_equal(tele_attach_instance(attach)->schema->n_fields, 0);
	tele_found_list_close(&list);
	tele_ring_control(&ring->ring, TELE_CONTROL_SCHEMA_BYTES, ring->writer.used_bytes);
	assert_int_equal(tele_attach_refresh(attach, NULL), 1);
	assert_true(tele_attach_instance(attach)->schema->n_fields > 0);
	tele_attach_close(attach);
	test_ring_free(ring);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_bytes_are_one_schema_and_grown_ones_another),
		cmocka_unit_test(without_a_pool_each_has_its_own),
		cmocka_unit_test(damaged_bytes_are_refused_and_leave_nothing),
		cmocka_unit_test(a_pool_lasts_for_those_that_have_no_schema_yet),
	};
	return cmocka_run_group_tests(tests, start, NULL);
}
