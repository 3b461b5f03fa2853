// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Pools, contexts and modules: what the census promises of them, the
// reference's own contract by name included. The census lives as long as its
// process, so each test runs in a child that starts with an empty one.

#define ROLLCALL_BUILDING
#include "../libtelemetry/rollcall.h"

#include "../census/census.h"
#include "support/fake_publisher.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/in_child.h"

#define MIB (UINT64_C(1) << 20)

static struct rollcall_census snapshot_of(int device)
{
	struct rollcall_census census;
	CHECK(rollcall_census_snapshot(device, &census, sizeof(census)) == 0);
	return census;
}

static uint64_t allocated_of(const struct rollcall_census *c)
{
	return c->working_pools_allocated + c->constant_pools_allocated +
	       c->staging_pools_allocated + c->unlabelled_pools_allocated;
}

static void check_text(const struct rollcall_census *census, const char *expected)
{
	char text[512];
	int length = rollcall_census_text(census, text, sizeof(text));
	if (strcmp(text, expected) != 0)
		fprintf(stderr, "got      %s\nexpected %s\n", text, expected);
	CHECK(strcmp(text, expected) == 0);
	CHECK(length == (int)strlen(expected));
}

// ---- The reference's contract, by name ---------------------------------------------

IN_CHILD(record_pool_counts_a_pool_as_live_by_its_label)
{
	CHECK(rollcall_record_pool(0, 1, ROLLCALL_WORKING, 100) == 0);
	CHECK(rollcall_record_pool(0, 2, ROLLCALL_CONSTANT, 30) == 0);
	struct rollcall_census c = snapshot_of(-1);
	CHECK(c.live_working_pools == 1 && c.live_working_bytes == 100);
	CHECK(c.live_constant_pools == 1 && c.live_constant_bytes == 30);
	CHECK(c.working_pools_allocated == 1 && c.constant_pools_allocated == 1);
	CHECK(c.pools_freed == 0);
	CHECK(rollcall_census_live_pools(&c) == 2);
	CHECK(rollcall_census_live_pool_bytes(&c) == 130);
}

IN_CHILD(record_pool_again_replaces_its_size_and_is_one_live_pool)
{
	rollcall_record_pool(0, 1, ROLLCALL_WORKING, 100);
	rollcall_record_pool(0, 1, ROLLCALL_WORKING, 250);
	struct rollcall_census c = snapshot_of(-1);
	CHECK(c.live_working_pools == 1 && c.live_working_bytes == 250);
	CHECK(c.working_pools_allocated == 1 && c.pools_freed == 0);
	rollcall_record_pool(0, 1, ROLLCALL_WORKING, 10);
	c = snapshot_of(-1);
	CHECK(c.live_working_pools == 1 && c.live_working_bytes == 10);
	CHECK(c.peak_pool_bytes == 250);
}

IN_CHILD(record_pool_again_under_another_label_moves_it)
{
	rollcall_record_pool(0, 1, ROLLCALL_WORKING, 100);
	rollcall_record_pool(0, 1, ROLLCALL_CONSTANT, 100);
	struct rollcall_census c = snapshot_of(-1);
	CHECK(c.live_working_pools == 0 && c.live_working_bytes == 0);
	CHECK(c.live_constant_pools == 1 && c.live_constant_bytes == 100);
	CHECK(c.working_pools_allocated == 1 && c.constant_pools_allocated == 0);
	CHECK(allocated_of(&c) - c.pools_freed == rollcall_census_live_pools(&c));
}

IN_CHILD(forget_pool_is_idempotent)
{
	rollcall_record_pool(0, 1, ROLLCALL_WORKING, 100);
	CHECK(rollcall_forget_pool(0, 1) == 1);
	CHECK(rollcall_forget_pool(0, 1) == 0);
	CHECK(rollcall_forget_pool(0, 2) == 0);
	CHECK(rollcall_forget_pool(7, 1) == 0);
	CHECK(rollcall_forget_pool(-3, 1) == 0);
	struct rollcall_census c = snapshot_of(-1);
	CHECK(c.live_working_pools == 0 && c.live_working_bytes == 0 && c.pools_freed == 1);
}

IN_CHILD(a_pool_recorded_after_it_was_forgotten_is_a_new_allocation)
{
	rollcall_record_pool(0, 1, ROLLCALL_WORKING, 100);
	rollcall_forget_pool(0, 1);
	rollcall_record_pool(0, 1, ROLLCALL_WORKING, 100);
	struct rollcall_census c = snapshot_of(-1);
	CHECK(c.working_pools_allocated == 2 && c.pools_freed == 1 && c.live_working_pools == 1);
}

IN_CHILD(two_devices_may_use_the_same_pool_number)
{
	rollcall_record_pool(0, 1, ROLLCALL_WORKING, 100);
	rollcall_record_pool(1, 1, ROLLCALL_WORKING, 7);
	CHECK(snapshot_of(-1).live_working_pools == 2);
	CHECK(snapshot_of(0).live_working_bytes == 100);
	CHECK(snapshot_of(1).live_working_bytes == 7);
	CHECK(rollcall_forget_pool(0, 1) == 1);
	CHECK(snapshot_of(0).live_working_pools == 0);
	CHECK(snapshot_of(1).live_working_pools == 1);
}

IN_CHILD(equal_censuses_are_equal_and_others_are_not)
{
	rollcall_record_pool(0, 1, ROLLCALL_WORKING, 100);
	struct rollcall_census a = snapshot_of(-1), b = snapshot_of(-1);
	CHECK(rollcall_census_equal(&a, &b, sizeof(a)));
	rollcall_module_loaded(0);
	b = snapshot_of(-1);
	CHECK(!rollcall_census_equal(&a, &b, sizeof(a)));
	CHECK(rollcall_census_equal(&a, &b, offsetof(struct rollcall_census, modules_loaded)));
}

IN_CHILD(to_string_is_the_line_the_reference_prints)
{
	struct rollcall_census c = {
		.live_working_pools = 82, .live_working_bytes = 11906362573, // 11354.8 MiB
		.live_constant_pools = 1, .live_constant_bytes = 9751757,    // 9.3 MiB
		.working_pools_allocated = 82, .constant_pools_allocated = 1,
		.peak_pool_bytes = 11906362573 + 9751757,
		.contexts_created = 86, .modules_loaded = 82, .modules_unloaded = 77,
	};
	check_text(&c, "pools 83 live = 82 working (11354.8 MiB) + 1 constant (9.3 MiB); "
		       "83 allocated, 0 freed; peak 11364.1 MiB | contexts 86 unreleased "
		       "(86 created, 0 released) | modules 5 live (82 loaded, 77 unloaded)");
}

IN_CHILD(to_string_names_further_labels_only_when_there_are_any)
{
	rollcall_record_pool(0, 1, ROLLCALL_STAGING, MIB);
	rollcall_record_pool(0, 2, ROLLCALL_UNLABELLED, MIB / 2);
	struct rollcall_census c = snapshot_of(-1);
	check_text(&c, "pools 2 live = 0 working (0.0 MiB) + 0 constant (0.0 MiB) + 1 staging "
		       "(1.0 MiB) + 1 unlabelled (0.5 MiB); 2 allocated, 0 freed; peak 1.5 MiB | "
		       "contexts 0 unreleased (0 created, 0 released) | modules 0 live (0 loaded, "
		       "0 unloaded)");
}

IN_CHILD(mib_are_rounded_as_printf_rounds)
{
	static const uint64_t bytes[] = {0, 1, 52428, 52429, 104858, 131072, 262144, 786432, 838860,
					 996147, 1048575, 1310720, 9751757, UINT64_C(1) << 52};
	for (size_t i = 0; i < TELE_ARRAY_LEN(bytes); i++) {
		char text[512], expected[64];
		struct rollcall_census c = {.peak_pool_bytes = bytes[i]};
		rollcall_census_text(&c, text, sizeof(text));
		snprintf(expected, sizeof(expected), "; peak %.1f MiB |", (double)bytes[i] / (double)MIB);
		CHECK(strstr(text, expected));
	}
}

IN_CHILD(text_is_cut_at_the_size_and_tells_the_whole_length)
{
	struct rollcall_census c = snapshot_of(-1);
	char whole[512], part[512];
	int length = rollcall_census_text(&c, whole, sizeof(whole));
	CHECK(rollcall_census_text(&c, NULL, 0) == length);
	for (size_t size = 1; size <= (size_t)length + 1; size++) {
		memset(part, 'x', sizeof(part));
		CHECK(rollcall_census_text(&c, part, size) == length);
		CHECK(strlen(part) == size - 1 && memcmp(part, whole, size - 1) == 0);
		CHECK(part[size] == 'x');
	}
}

IN_CHILD(json_has_every_field_by_its_name_and_unknown_as_null)
{
	rollcall_record_pool(0, 1, ROLLCALL_WORKING, 5);
	struct rollcall_census c = snapshot_of(-1);
	c.peak_pool_bytes = ROLLCALL_UNKNOWN;
	char text[1024];
	int length = rollcall_census_json(&c, text, sizeof(text));
	CHECK(length == (int)strlen(text));
	CHECK(strcmp(text,
		     "{\"live_working_pools\":1,\"live_working_bytes\":5,\"live_constant_pools\":0,"
		     "\"live_constant_bytes\":0,\"live_staging_pools\":0,\"live_staging_bytes\":0,"
		     "\"live_unlabelled_pools\":0,\"live_unlabelled_bytes\":0,"
		     "\"working_pools_allocated\":1,\"constant_pools_allocated\":0,"
		     "\"staging_pools_allocated\":0,\"unlabelled_pools_allocated\":0,"
		     "\"pools_freed\":0,\"contexts_created\":0,\"contexts_released\":0,"
		     "\"modules_loaded\":0,\"modules_unloaded\":0,\"peak_pool_bytes\":null,"
		     "\"outlived_pools\":0,\"outlived_bytes\":0}") == 0);
}

IN_CHILD(unreleased_contexts_are_created_minus_released)
{
	for (int i = 0; i < 5; i++)
		CHECK(rollcall_context_created(0) == 0);
	CHECK(rollcall_context_released(0) == 0);
	struct rollcall_census c = snapshot_of(-1);
	CHECK(c.contexts_created == 5 && c.contexts_released == 1);
	CHECK(rollcall_census_unreleased_contexts(&c) == 4);
	for (int i = 0; i < 9; i++)
		rollcall_context_released(0);
	c = snapshot_of(-1);
	CHECK(rollcall_census_unreleased_contexts(&c) == 0);
}

IN_CHILD(live_modules_are_loaded_minus_unloaded)
{
	for (int i = 0; i < 3; i++)
		CHECK(rollcall_module_loaded(i) == 0);
	CHECK(rollcall_module_unloaded(1) == 0);
	struct rollcall_census c = snapshot_of(-1);
	CHECK(rollcall_census_live_modules(&c) == 2);
	c = snapshot_of(1);
	CHECK(rollcall_census_live_modules(&c) == 0 && c.modules_loaded == 1);
}

IN_CHILD(peak_is_raised_at_the_allocation_and_never_lowered_by_a_free)
{
	rollcall_record_pool(0, 1, ROLLCALL_WORKING, 100);
	rollcall_record_pool(0, 2, ROLLCALL_WORKING, 50);
	CHECK(snapshot_of(-1).peak_pool_bytes == 150);
	rollcall_forget_pool(0, 1);
	CHECK(snapshot_of(-1).peak_pool_bytes == 150);
	rollcall_record_pool(0, 3, ROLLCALL_WORKING, 60);
	CHECK(snapshot_of(-1).peak_pool_bytes == 150);
	rollcall_record_pool(0, 3, ROLLCALL_WORKING, 101);
	CHECK(snapshot_of(-1).peak_pool_bytes == 151);
}

IN_CHILD(reset_peak_rebases_to_what_is_live)
{
	rollcall_record_pool(0, 1, ROLLCALL_WORKING, 100);
	rollcall_record_pool(1, 1, ROLLCALL_WORKING, 50);
	rollcall_forget_pool(0, 1);
	CHECK(rollcall_census_reset_peak(0) == 0);
	CHECK(snapshot_of(0).peak_pool_bytes == 0);
	CHECK(snapshot_of(1).peak_pool_bytes == 50 && snapshot_of(-1).peak_pool_bytes == 150);
	rollcall_record_pool(0, 1, ROLLCALL_WORKING, 10);
	CHECK(snapshot_of(0).peak_pool_bytes == 10);
	CHECK(rollcall_census_reset_peak(-1) == 0);
	CHECK(snapshot_of(-1).peak_pool_bytes == 60);
	CHECK(rollcall_census_reset_peak(9) == -ENOENT);
}

// ---- What is refused --------------------------------------------------------------------

IN_CHILD(nonsense_is_refused_and_counted)
{
	CHECK(rollcall_record_pool(-1, 1, ROLLCALL_WORKING, 1) == -EINVAL);
	CHECK(rollcall_record_pool(0, 1, (enum rollcall_label)4, 1) == -EINVAL);
	CHECK(rollcall_record_pool(0, 1, ROLLCALL_WORKING, ROLLCALL_UNKNOWN) == -EINVAL);
	CHECK(rollcall_context_created(-1) == -EINVAL);
	CHECK(rollcall_device_memory(-1, 1, 1) == -EINVAL);
	CHECK(rollcall_label_ptr(NULL, (enum rollcall_label)9, 0) == -EINVAL);
	CHECK(fake.refused == 6);
	struct rollcall_census c = snapshot_of(-1);
	CHECK(rollcall_census_live_pools(&c) == 0);
}

IN_CHILD(a_table_that_cannot_grow_refuses_and_keeps_what_it_has)
{
	// Address space is taken away below; what the test needs is there by then.
	rollcall_record_pool(0, 0, ROLLCALL_WORKING, 1);
	struct rlimit none = {0, 0};
	CHECK(setrlimit(RLIMIT_AS, &none) == 0);
	uint64_t recorded = 1, refused = 0;
	for (uint64_t pool = 1; pool < 3000; pool++) {
		int rc = rollcall_record_pool(0, pool, ROLLCALL_WORKING, 1);
		CHECK(rc == 0 || rc == -ENOMEM);
		recorded += rc == 0;
		refused += rc == -ENOMEM;
	}
	CHECK(recorded >= 1 && refused > 0);
	CHECK(fake.refused == refused);
	struct rollcall_census c = snapshot_of(-1);
	CHECK(c.live_working_pools == recorded && c.live_working_bytes == recorded);
	CHECK(rollcall_forget_pool(0, 0) == 1);
}

IN_CHILD(a_device_never_named_is_zero_and_not_found)
{
	struct rollcall_census c;
	memset(&c, 1, sizeof(c));
	CHECK(rollcall_census_snapshot(3, &c, sizeof(c)) == -ENOENT);
	struct rollcall_census zero = {0};
	CHECK(rollcall_census_equal(&c, &zero, sizeof(c)));
	CHECK(rollcall_census_snapshot(-1, &c, sizeof(c)) == 0);
	CHECK(rollcall_census_equal(&c, &zero, sizeof(c)));
	CHECK(rollcall_census_snapshot(-2, &c, sizeof(c)) == -ENOENT);
}

IN_CHILD(an_older_and_a_newer_caller_get_what_both_know)
{
	rollcall_record_pool(0, 1, ROLLCALL_WORKING, 100);
	uint64_t words[40];
	memset(words, 0x11, sizeof(words));
	CHECK(rollcall_census_snapshot(-1, (struct rollcall_census *)words, 16) == 0);
	CHECK(words[0] == 1 && words[1] == 100 && words[2] == UINT64_C(0x1111111111111111));
	CHECK(rollcall_census_snapshot(-1, (struct rollcall_census *)words, sizeof(words)) == 0);
	CHECK(words[39] == ROLLCALL_UNKNOWN && words[19] == 0);
}

// ---- Labels and the stack ------------------------------------------------------------------

IN_CHILD(pushed_labels_apply_to_unlabelled_pools_and_nest)
{
	CHECK(rollcall_label_push(ROLLCALL_WORKING, 0) == 0);
	CHECK(rollcall_label_push(ROLLCALL_STAGING, 0) == 0);
	rollcall_record_pool(0, 1, ROLLCALL_UNLABELLED, 1);
	rollcall_record_pool(0, 2, ROLLCALL_CONSTANT, 1);
	CHECK(rollcall_label_pop() == 0);
	rollcall_record_pool(0, 3, ROLLCALL_UNLABELLED, 1);
	CHECK(rollcall_label_pop() == 0);
	rollcall_record_pool(0, 4, ROLLCALL_UNLABELLED, 1);
	CHECK(rollcall_label_pop() == -EINVAL);
	struct rollcall_census c = snapshot_of(0);
	CHECK(c.live_staging_pools == 1 && c.live_constant_pools == 1);
	CHECK(c.live_working_pools == 1 && c.live_unlabelled_pools == 1);
}

IN_CHILD(pushes_beyond_the_depth_overflow_and_need_their_pops)
{
	for (int i = 0; i < CENSUS_STACK_DEEP; i++)
		CHECK(rollcall_label_push(i == CENSUS_STACK_DEEP - 1 ? ROLLCALL_WORKING : ROLLCALL_STAGING,
					  0) == 0);
	for (int i = 0; i < 5; i++)
		CHECK(rollcall_label_push(ROLLCALL_CONSTANT, 0) == -EOVERFLOW);
	rollcall_record_pool(0, 1, ROLLCALL_UNLABELLED, 1);
	CHECK(snapshot_of(0).live_working_pools == 1);
	for (int i = 0; i < 5; i++)
		CHECK(rollcall_label_pop() == 0);
	rollcall_record_pool(0, 2, ROLLCALL_UNLABELLED, 1);
	CHECK(snapshot_of(0).live_working_pools == 2);
	CHECK(rollcall_label_pop() == 0);
	rollcall_record_pool(0, 3, ROLLCALL_UNLABELLED, 1);
	CHECK(snapshot_of(0).live_staging_pools == 1);
	for (int i = 0; i < CENSUS_STACK_DEEP - 1; i++)
		CHECK(rollcall_label_pop() == 0);
	CHECK(rollcall_label_pop() == -EINVAL);
}

static void *record_elsewhere(void *unused)
{
	(void)unused;
	rollcall_record_pool(0, 2, ROLLCALL_UNLABELLED, 1);
	return NULL;
}

IN_CHILD(pushed_labels_are_the_threads_own)
{
	pthread_t thread;
	rollcall_label_push(ROLLCALL_WORKING, 0);
	CHECK(pthread_create(&thread, NULL, record_elsewhere, NULL) == 0);
	pthread_join(thread, NULL);
	CHECK(snapshot_of(0).live_unlabelled_pools == 1);
}

IN_CHILD(label_ptr_relabels_a_live_pool_on_whichever_device)
{
	char memory[2];
	rollcall_record_pool(0, 77, ROLLCALL_UNLABELLED, 1);
	rollcall_record_pool(4, (uint64_t)(uintptr_t)memory, ROLLCALL_UNLABELLED, 9);
	CHECK(rollcall_label_ptr(memory, ROLLCALL_CONSTANT, 0) == 1);
	CHECK(rollcall_label_ptr(memory + 1, ROLLCALL_CONSTANT, 0) == 0);
	struct rollcall_census c = snapshot_of(4);
	CHECK(c.live_constant_pools == 1 && c.live_constant_bytes == 9);
	CHECK(c.live_unlabelled_pools == 0 && c.unlabelled_pools_allocated == 1);
	CHECK(snapshot_of(-1).peak_pool_bytes == 10);
}

// ---- Many ---------------------------------------------------------------------------------------

IN_CHILD(a_million_pools_come_and_go_and_their_pages_with_them)
{
	const uint64_t n = 1000000;
	for (uint64_t i = 0; i < n; i++)
		CHECK(rollcall_record_pool((int)(i % 3), 0x7f0000000000 + i * 512, ROLLCALL_WORKING, i) == 0);
	struct rollcall_census c = snapshot_of(-1);
	CHECK(c.live_working_pools == n && c.live_working_bytes == n * (n - 1) / 2);
	for (uint64_t i = 0; i < n; i += 2)
		CHECK(rollcall_forget_pool((int)(i % 3), 0x7f0000000000 + i * 512) == 1);
	for (uint64_t i = 0; i < n; i++)
		CHECK(rollcall_forget_pool((int)(i % 3), 0x7f0000000000 + i * 512) == (int)(i % 2));
	c = snapshot_of(-1);
	CHECK(c.live_working_pools == 0 && c.live_working_bytes == 0 && c.pools_freed == n);
	CHECK(c.peak_pool_bytes == n * (n - 1) / 2);
}

IN_CHILD(the_table_finds_all_after_any_removals)
{
	static uint8_t is_in[4096];
	struct census_table table = {0};
	uint64_t random = 88172645463325252u;
	for (unsigned step = 0; step < 200000; step++) {
		random ^= random << 13, random ^= random >> 7, random ^= random << 17;
		unsigned pool = (unsigned)(random >> 20) % 4096;
		uint64_t hash = census_pool_hash(0, pool);
		struct census_pool *entry = census_table_find(&table, hash, 0, pool, false);
		CHECK((entry != NULL) == is_in[pool]);
		if (entry)
			census_table_remove(&table, entry);
		else
			CHECK(census_table_insert(&table, hash, &(struct census_pool){.pool = pool}) == 0);
		is_in[pool] = !is_in[pool];
	}
	for (unsigned pool = 0; pool < 4096; pool++) {
		struct census_pool *entry =
			census_table_find(&table, census_pool_hash(0, pool), 0, pool, false);
		CHECK((entry != NULL) == is_in[pool]);
		if (entry)
			census_table_remove(&table, entry);
	}
	CHECK(table.n == 0 && table.capacity == 1024);
	census_table_clear(&table);
	CHECK(table.entries == NULL);
}

IN_CHILD(more_than_64_devices_are_in_the_totals_and_counted_as_uncounted)
{
	for (int device = 0; device < 100; device++) {
		CHECK(rollcall_record_pool(device * 1000, 1, ROLLCALL_WORKING, 2) == 0);
		CHECK(rollcall_context_created(device * 1000) == 0);
	}
	struct rollcall_census c = snapshot_of(-1);
	CHECK(c.live_working_pools == 100 && c.live_working_bytes == 200 && c.contexts_created == 100);
	CHECK(snapshot_of(63000).live_working_pools == 1);
	CHECK(rollcall_census_snapshot(64000, &c, sizeof(c)) == -ENOENT);
	struct tele_census_values values;
	CHECK(fake_collect("census", ROLLCALL_NO_INSTANCE, &values, sizeof(values)));
	CHECK(values.devices_uncounted == 36 && values.live_working_pools == 100);
	CHECK(rollcall_label_ptr((void *)1, ROLLCALL_STAGING, 0) == 1);
	for (int device = 0; device < 100; device++)
		CHECK(rollcall_forget_pool(device * 1000, 1) == 1);
	CHECK(snapshot_of(-1).pools_freed == 100);
}

IN_CHILD(thousands_of_devices_stay_bounded_and_exact_in_the_totals)
{
	for (int device = 0; device < 5000; device++)
		CHECK(rollcall_record_pool(device, 1, ROLLCALL_WORKING, 1) == 0);
	CHECK(snapshot_of(-1).live_working_pools == 5000);
	for (int device = 0; device < 5000; device++)
		CHECK(rollcall_forget_pool(device, 1) == 1);
	CHECK(snapshot_of(-1).live_working_pools == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(record_pool_counts_a_pool_as_live_by_its_label),
		cmocka_unit_test(record_pool_again_replaces_its_size_and_is_one_live_pool),
		cmocka_unit_test(record_pool_again_under_another_label_moves_it),
		cmocka_unit_test(forget_pool_is_idempotent),
		cmocka_unit_test(a_pool_recorded_after_it_was_forgotten_is_a_new_allocation),
		cmocka_unit_test(two_devices_may_use_the_same_pool_number),
		cmocka_unit_test(equal_censuses_are_equal_and_others_are_not),
		cmocka_unit_test(to_string_is_the_line_the_reference_prints),
		cmocka_unit_test(to_string_names_further_labels_only_when_there_are_any),
		cmocka_unit_test(mib_are_rounded_as_printf_rounds),
		cmocka_unit_test(text_is_cut_at_the_size_and_tells_the_whole_length),
		cmocka_unit_test(json_has_every_field_by_its_name_and_unknown_as_null),
		cmocka_unit_test(unreleased_contexts_are_created_minus_released),
		cmocka_unit_test(live_modules_are_loaded_minus_unloaded),
		cmocka_unit_test(peak_is_raised_at_the_allocation_and_never_lowered_by_a_free),
		cmocka_unit_test(reset_peak_rebases_to_what_is_live),
		cmocka_unit_test(nonsense_is_refused_and_counted),
		cmocka_unit_test(a_table_that_cannot_grow_refuses_and_keeps_what_it_has),
		cmocka_unit_test(a_device_never_named_is_zero_and_not_found),
		cmocka_unit_test(an_older_and_a_newer_caller_get_what_both_know),
		cmocka_unit_test(pushed_labels_apply_to_unlabelled_pools_and_nest),
		cmocka_unit_test(pushes_beyond_the_depth_overflow_and_need_their_pops),
		cmocka_unit_test(pushed_labels_are_the_threads_own),
		cmocka_unit_test(label_ptr_relabels_a_live_pool_on_whichever_device),
		cmocka_unit_test(a_million_pools_come_and_go_and_their_pages_with_them),
		cmocka_unit_test(the_table_finds_all_after_any_removals),
		cmocka_unit_test(more_than_64_devices_are_in_the_totals_and_counted_as_uncounted),
		cmocka_unit_test(thousands_of_devices_stay_bounded_and_exact_in_the_totals),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
