// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Owners of pools, and the sections of devices and owners as a tick reads them.

#define ROLLCALL_BUILDING
#include "../libtelemetry/rollcall.h"

#include "../census/census.h"
#include "support/fake_publisher.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/in_child.h"

static struct rollcall_census snapshot(void)
{
	struct rollcall_census census;
	CHECK(rollcall_census_snapshot(-1, &census, sizeof(census)) == 0);
	return census;
}

static struct tele_owner_values owner_section(unsigned n)
{
	struct tele_owner_values values;
	CHECK(fake_collect("owner", n, &values, sizeof(values)));
	return values;
}

static struct tele_device_values device_section(unsigned n)
{
	struct tele_device_values values;
	CHECK(fake_collect("device", n, &values, sizeof(values)));
	return values;
}

// Records a pool of an owner.
static void record_owned(uint64_t owner, uint64_t pool, uint64_t bytes)
{
	CHECK(rollcall_label_push(ROLLCALL_WORKING, owner) == 0);
	CHECK(rollcall_record_pool(0, pool, ROLLCALL_UNLABELLED, bytes) == 0);
	CHECK(rollcall_label_pop() == 0);
}

// ---- Owners ------------------------------------------------------------------------

IN_CHILD(pools_left_by_a_closed_owner_are_outlived_until_they_are_freed)
{
	uint64_t owner = rollcall_owner_open("context 1");
	CHECK(owner > 0);
	for (uint64_t pool = 0; pool < 40; pool++)
		record_owned(owner, pool, 10);
	rollcall_record_pool(0, 100, ROLLCALL_WORKING, 1000);
	CHECK(snapshot().outlived_pools == 0);
	CHECK(rollcall_owner_close(owner) == 0);
	struct rollcall_census c = snapshot();
	CHECK(c.outlived_pools == 40 && c.outlived_bytes == 400 && c.live_working_pools == 41);
	CHECK(fake.n_events == 1 && fake.events[0].type == TELE_EVENT_OWNER_CLOSED);
	CHECK(fake.events[0].subject == owner && fake.events[0].value == 40);
	CHECK(strcmp(fake.events[0].text, "context 1") == 0);
	rollcall_record_pool(0, 3, ROLLCALL_WORKING, 25);
	CHECK(snapshot().outlived_bytes == 415);
	for (uint64_t pool = 0; pool < 40; pool++)
		rollcall_forget_pool(0, pool);
	c = snapshot();
	CHECK(c.outlived_pools == 0 && c.outlived_bytes == 0 && c.live_working_pools == 1);
}

IN_CHILD(an_owner_that_closes_empty_leaves_nothing_and_says_nothing)
{
	uint64_t owner = rollcall_owner_open("a");
	record_owned(owner, 1, 10);
	rollcall_forget_pool(0, 1);
	CHECK(rollcall_owner_close(owner) == 0);
	CHECK(rollcall_owner_close(owner) == -ENOENT);
	CHECK(rollcall_owner_close(0) == -ENOENT);
	CHECK(rollcall_owner_close(12345) == -ENOENT);
	CHECK(fake.n_events == 0 && snapshot().outlived_pools == 0);
}

IN_CHILD(an_owner_has_a_section_that_is_used_again_once_it_is_closed_and_empty)
{
	uint64_t a = rollcall_owner_open("a");
	record_owned(a, 1, 10);
	struct tele_owner_values values = owner_section(0);
	CHECK(values.id == a && values.open == 1 && values.live_pools == 1 && values.live_bytes == 10);
	CHECK(strcmp(fake.strings[values.name - 1], "a") == 0);
	rollcall_owner_close(a);
	values = owner_section(0);
	CHECK(values.id == a && values.open == 0 && values.live_pools == 1);
	uint64_t b = rollcall_owner_open("b");
	CHECK(owner_section(1).id == b);
	rollcall_forget_pool(0, 1);
	values = owner_section(0);
	CHECK(values.id == TELE_UNKNOWN && values.name == TELE_UNKNOWN && values.open == TELE_UNKNOWN);
	CHECK(values.captured_at_ns == TELE_UNKNOWN);
	unsigned registered = fake.n_collectors;
	uint64_t c = rollcall_owner_open("c");
	CHECK(c != a && owner_section(0).id == c);
	CHECK(fake.n_collectors == registered);
}

IN_CHILD(more_than_32_owners_are_counted_without_a_section)
{
	uint64_t owners[1000];
	for (unsigned i = 0; i < 1000; i++) {
		owners[i] = rollcall_owner_open(NULL);
		CHECK(owners[i] == (i ? owners[i - 1] + 1 : owners[i]));
		record_owned(owners[i], i, 1);
	}
	struct tele_census_values values;
	CHECK(fake_collect("census", ROLLCALL_NO_INSTANCE, &values, sizeof(values)));
	CHECK(values.owners_open == 1000);
	CHECK(owner_section(31).id == owners[31]);
	CHECK(owner_section(0).name == TELE_UNKNOWN);
	for (unsigned i = 0; i < 1000; i++)
		CHECK(rollcall_owner_close(owners[i]) == 0);
	CHECK(snapshot().outlived_pools == 1000);
	for (unsigned i = 0; i < 1000; i++)
		CHECK(rollcall_forget_pool(0, i) == 1);
	CHECK(snapshot().outlived_pools == 0);
	CHECK(fake_collect("census", ROLLCALL_NO_INSTANCE, &values, sizeof(values)));
	CHECK(values.owners_open == 0);
}

IN_CHILD(an_explicit_label_keeps_the_pushed_owner)
{
	uint64_t owner = rollcall_owner_open("a");
	rollcall_label_push(ROLLCALL_WORKING, owner);
	rollcall_record_pool(0, 1, ROLLCALL_CONSTANT, 10);
	rollcall_label_pop();
	CHECK(owner_section(0).live_pools == 1 && snapshot().live_constant_pools == 1);
}

IN_CHILD(label_ptr_gives_and_takes_owners)
{
	uint64_t a = rollcall_owner_open("a"), b = rollcall_owner_open("b");
	record_owned(a, 1, 10);
	CHECK(rollcall_label_ptr((void *)1, ROLLCALL_WORKING, b) == 1);
	CHECK(owner_section(0).live_pools == 0 && owner_section(1).live_bytes == 10);
	CHECK(rollcall_owner_close(b) == 0);
	CHECK(snapshot().outlived_pools == 1);
	CHECK(rollcall_label_ptr((void *)1, ROLLCALL_WORKING, b) == -ENOENT);
	CHECK(rollcall_label_ptr((void *)1, ROLLCALL_WORKING, a) == 1);
	CHECK(snapshot().outlived_pools == 0 && owner_section(1).id == TELE_UNKNOWN);
	CHECK(rollcall_label_ptr((void *)1, ROLLCALL_WORKING, 0) == 1);
	CHECK(owner_section(0).live_pools == 0);
}

IN_CHILD(an_owner_that_is_closed_or_never_was_is_not_given_pools)
{
	uint64_t owner = rollcall_owner_open("a");
	CHECK(rollcall_label_push(ROLLCALL_WORKING, owner) == 0);
	CHECK(rollcall_owner_close(owner) == 0);
	rollcall_record_pool(0, 1, ROLLCALL_UNLABELLED, 10);
	CHECK(snapshot().outlived_pools == 0 && snapshot().live_working_pools == 1);
	CHECK(rollcall_label_push(ROLLCALL_STAGING, 99) == -ENOENT);
	rollcall_record_pool(0, 2, ROLLCALL_UNLABELLED, 10);
	CHECK(snapshot().live_staging_pools == 1);
	CHECK(rollcall_label_pop() == 0 && rollcall_label_pop() == 0);
}

IN_CHILD(owner_names_stop_being_asked_for_when_there_is_no_room)
{
	fake.strings_full = true;
	for (int i = 0; i < 20; i++)
		CHECK(rollcall_owner_close(rollcall_owner_open("a")) == 0);
	CHECK(fake.refused == 1);
}

IN_CHILD(a_long_owner_name_is_cut)
{
	char name[300];
	memset(name, 'n', sizeof(name));
	name[299] = '\0';
	uint64_t owner = rollcall_owner_open(name);
	record_owned(owner, 1, 1);
	rollcall_owner_close(owner);
	CHECK(strlen(fake.events[0].text) == 63);
}

// ---- Sections -----------------------------------------------------------------------------

IN_CHILD(census_fields_are_unknown_until_the_first_pool_context_or_module)
{
	rollcall_device_memory(0, 5, 10);
	struct tele_device_values device = device_section(0);
	CHECK(device.live_working_pools == TELE_UNKNOWN && device.contexts_created == TELE_UNKNOWN);
	CHECK(device.used_bytes == 5 && device.total_bytes == 10);
	struct tele_census_values census;
	CHECK(!fake_collect("census", ROLLCALL_NO_INSTANCE, &census, sizeof(census)));
	rollcall_module_loaded(1);
	CHECK(fake_collect("census", ROLLCALL_NO_INSTANCE, &census, sizeof(census)));
	CHECK(census.live_working_pools == 0 && census.modules_loaded == 1);
	CHECK(device_section(0).modules_loaded == 0 && device_section(1).modules_loaded == 1);
}

IN_CHILD(device_memory_is_unknown_until_observed_and_has_its_own_time)
{
	rollcall_context_created(2);
	struct tele_device_values device = device_section(2);
	CHECK(device.used_bytes == TELE_UNKNOWN && device.total_bytes == TELE_UNKNOWN);
	CHECK(device.memory_captured_at_ns == TELE_UNKNOWN && device.name == TELE_UNKNOWN);
	CHECK(rollcall_device_memory(2, ROLLCALL_UNKNOWN, 8) == 0);
	device = device_section(2);
	CHECK(device.used_bytes == TELE_UNKNOWN && device.total_bytes == 8);
	uint64_t observed_at_ns = device.memory_captured_at_ns;
	CHECK(observed_at_ns != TELE_UNKNOWN);
	usleep(2000);
	device = device_section(2);
	CHECK(device.memory_captured_at_ns == observed_at_ns);
	CHECK(device.captured_at_ns > observed_at_ns);
}

IN_CHILD(a_device_keeps_the_name_that_a_later_null_does_not_replace)
{
	CHECK(rollcall_device_name(0, "card", NULL) == 0);
	CHECK(rollcall_device_name(0, NULL, "GPU-1") == 0);
	struct tele_device_values device = device_section(0);
	CHECK(strcmp(fake.strings[device.name - 1], "card") == 0);
	CHECK(strcmp(fake.strings[device.uuid - 1], "GPU-1") == 0);
	fake.strings_full = true;
	CHECK(rollcall_device_name(0, "another", NULL) == 0);
	CHECK(device_section(0).name == TELE_UNKNOWN);
}

IN_CHILD(every_entry_touches_the_publisher_first)
{
	uint64_t before = fake.touches;
	rollcall_record_pool(0, 1, ROLLCALL_WORKING, 1);
	rollcall_forget_pool(0, 1);
	rollcall_context_created(0);
	rollcall_context_released(0);
	rollcall_module_loaded(0);
	rollcall_module_unloaded(0);
	rollcall_device_memory(0, 1, 1);
	rollcall_device_name(0, "a", "b");
	uint64_t owner = rollcall_owner_open("a");
	rollcall_owner_close(owner);
	rollcall_label_push(ROLLCALL_WORKING, 0);
	rollcall_label_pop();
	rollcall_label_ptr(NULL, ROLLCALL_WORKING, 0);
	rollcall_candidate_end(rollcall_candidate_begin("a"), ROLLCALL_KEPT);
	rollcall_phase("p");
	snapshot();
	rollcall_census_reset_peak(-1);
	CHECK(fake.touches - before == 18);
}

// ---- fork -----------------------------------------------------------------------------------

IN_CHILD(a_forked_child_starts_with_an_empty_census_and_its_parents_is_untouched)
{
	uint64_t owner = rollcall_owner_open("a");
	record_owned(owner, 1, 10);
	rollcall_label_push(ROLLCALL_WORKING, owner);
	rollcall_device_memory(0, 1, 2);
	rollcall_phase("p");
	uint64_t candidate = rollcall_candidate_begin("c");
	struct rollcall_census before = snapshot();
	pid_t pid = fork();
	if (pid == 0) {
		struct rollcall_census zero = {0}, c = snapshot();
		CHECK(rollcall_census_equal(&c, &zero, sizeof(c)));
		// A section that the publisher goes on asking for is unknown, its time too.
		struct tele_census_values values;
		CHECK(fake_collect("census", ROLLCALL_NO_INSTANCE, &values, sizeof(values)));
		CHECK(values.captured_at_ns == TELE_UNKNOWN && values.pools_freed == TELE_UNKNOWN);
		struct tele_search_values search;
		CHECK(census_search_read(&search) && search.candidates_attempted == TELE_UNKNOWN);
		CHECK(rollcall_candidate_end(candidate, ROLLCALL_KEPT) == -ENOENT);
		CHECK(rollcall_owner_close(owner) == -ENOENT);
		CHECK(rollcall_forget_pool(0, 1) == 0);
		CHECK(device_section(0).used_bytes == TELE_UNKNOWN);
		CHECK(owner_section(0).id == TELE_UNKNOWN);
		// The label stays, the owner is gone; the same number is a new pool.
		CHECK(rollcall_record_pool(5, 1, ROLLCALL_UNLABELLED, 3) == 0);
		CHECK(rollcall_owner_open("b") > owner);
		CHECK(rollcall_candidate_begin("d") > candidate);
		c = snapshot();
		CHECK(c.live_working_pools == 1 && c.working_pools_allocated == 1);
		CHECK(c.peak_pool_bytes == 3 && c.live_working_bytes == 3);
		CHECK(census_search_read(&search) && search.candidates_attempted == 1);
		_exit(0);
	}
	int status = -1;
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	struct rollcall_census after = snapshot();
	CHECK(rollcall_census_equal(&before, &after, sizeof(before)));
	CHECK(rollcall_candidate_end(candidate, ROLLCALL_KEPT) == 0);
	CHECK(rollcall_owner_close(owner) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pools_left_by_a_closed_owner_are_outlived_until_they_are_freed),
		cmocka_unit_test(an_owner_that_closes_empty_leaves_nothing_and_says_nothing),
		cmocka_unit_test(an_owner_has_a_section_that_is_used_again_once_it_is_closed_and_empty),
		cmocka_unit_test(more_than_32_owners_are_counted_without_a_section),
		cmocka_unit_test(an_explicit_label_keeps_the_pushed_owner),
		cmocka_unit_test(label_ptr_gives_and_takes_owners),
		cmocka_unit_test(an_owner_that_is_closed_or_never_was_is_not_given_pools),
		cmocka_unit_test(owner_names_stop_being_asked_for_when_there_is_no_room),
		cmocka_unit_test(a_long_owner_name_is_cut),
		cmocka_unit_test(census_fields_are_unknown_until_the_first_pool_context_or_module),
		cmocka_unit_test(device_memory_is_unknown_until_observed_and_has_its_own_time),
		cmocka_unit_test(a_device_keeps_the_name_that_a_later_null_does_not_replace),
		cmocka_unit_test(every_entry_touches_the_publisher_first),
		cmocka_unit_test(a_forked_child_starts_with_an_empty_census_and_its_parents_is_untouched),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
