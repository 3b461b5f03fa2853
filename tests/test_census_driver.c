// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What was seen at the driver's calls, and how it makes way for what the
// program counts itself.

#define ROLLCALL_BUILDING
#include "../libtelemetry/rollcall.h"

#include "../census/census.h"
#include "../census/driver.h"
#include "support/fake_publisher.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "support/in_child.h"

static struct rollcall_census census_of(int device)
{
	struct rollcall_census census;
	rollcall_census_snapshot(device, &census, sizeof(census));
	return census;
}

static void check_balance(const struct rollcall_census *c)
{
	uint64_t allocated = c->working_pools_allocated + c->constant_pools_allocated +
			     c->staging_pools_allocated + c->unlabelled_pools_allocated;
	CHECK(allocated - c->pools_freed == rollcall_census_live_pools(c));
}

static bool is_pushed;

IN_CHILD(pools_of_the_driver_are_counted_as_the_programs)
{
	CHECK(rollcall_driver_pool_made(0, 1, ROLLCALL_UNLABELLED, 100, &is_pushed) == 0);
	CHECK(rollcall_driver_pool_made(0, 2, ROLLCALL_CONSTANT, 200, &is_pushed) == ROLLCALL_CONSTANT);
	rollcall_driver_context_made(0);
	rollcall_driver_module_made(0);
	struct rollcall_census c = census_of(0);
	CHECK(c.live_unlabelled_bytes == 100 && c.live_constant_bytes == 200);
	CHECK(c.contexts_created == 1 && c.modules_loaded == 1);
	rollcall_driver_pool_gone(0, 1);
	rollcall_driver_module_gone(0);
	c = census_of(0);
	CHECK(rollcall_census_live_pools(&c) == 1 && c.modules_unloaded == 1);
	check_balance(&c);
}

IN_CHILD(from_its_first_own_pool_on_a_device_is_the_programs)
{
	for (uint64_t serial = 0; serial < 5000; serial++)
		rollcall_driver_pool_made(serial % 2 ? 1 : 0, serial, ROLLCALL_UNLABELLED, 10, &is_pushed);
	rollcall_record_pool(0, 1, ROLLCALL_WORKING, 7);
	struct rollcall_census c = census_of(0);
	CHECK(rollcall_census_live_pools(&c) == 1 && c.live_working_bytes == 7);
	check_balance(&c);
	c = census_of(1);
	CHECK(rollcall_census_live_pools(&c) == 2500);
	// From here on device 0 is the program's.
	CHECK(rollcall_driver_pool_made(0, 9000, ROLLCALL_STAGING, 10, &is_pushed) == ROLLCALL_STAGING);
	rollcall_driver_pool_gone(0, 2);
	c = census_of(0);
	CHECK(rollcall_census_live_pools(&c) == 1);
	check_balance(&c);
	c = census_of(-1);
	check_balance(&c);
}

IN_CHILD(contexts_and_modules_change_hands_by_themselves)
{
	rollcall_driver_context_made(2);
	rollcall_driver_context_made(2);
	rollcall_driver_module_made(2);
	rollcall_context_created(2);
	struct rollcall_census c = census_of(2);
	CHECK(rollcall_census_unreleased_contexts(&c) == 1);
	CHECK(rollcall_census_live_modules(&c) == 1);
	rollcall_driver_context_gone(2);
	rollcall_driver_context_made(2);
	c = census_of(2);
	CHECK(rollcall_census_unreleased_contexts(&c) == 1);
	rollcall_module_unloaded(2);
	c = census_of(2);
	CHECK(rollcall_census_live_modules(&c) == 0);
}

IN_CHILD(a_pushed_label_goes_before_a_rule_and_brings_its_owner)
{
	uint64_t owner = rollcall_owner_open("step");
	rollcall_label_push(ROLLCALL_WORKING, owner);
	CHECK(rollcall_driver_pool_made(0, 1, ROLLCALL_CONSTANT, 100, &is_pushed) == ROLLCALL_WORKING);
	CHECK(is_pushed);
	rollcall_label_pop();
	uint64_t closed = rollcall_driver_owners_closed();
	rollcall_owner_close(owner);
	CHECK(rollcall_driver_owners_closed() == closed + 1);
	struct rollcall_census c = census_of(0);
	CHECK(c.outlived_pools == 1 && c.outlived_bytes == 100);
}

static bool find_two(uint64_t address, bool is_labelled, int *ret_device, uint64_t *ret_serial)
{
	CHECK(is_labelled);
	*ret_device = 3;
	*ret_serial = 77;
	return address == 0x1000;
}

IN_CHILD(an_address_is_labelled_through_the_finder)
{
	rollcall_driver_pool_made(3, 77, ROLLCALL_UNLABELLED, 5, &is_pushed);
	CHECK(rollcall_label_ptr((void *)0x1000, ROLLCALL_CONSTANT, 0) == 0);
	rollcall_driver_finder(find_two);
	CHECK(rollcall_label_ptr((void *)0x2000, ROLLCALL_CONSTANT, 0) == 0);
	CHECK(rollcall_label_ptr((void *)0x1000, ROLLCALL_CONSTANT, 0) == 1);
	struct rollcall_census c = census_of(3);
	CHECK(c.live_constant_bytes == 5 && c.live_unlabelled_pools == 0);
	rollcall_driver_finder(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pools_of_the_driver_are_counted_as_the_programs),
		cmocka_unit_test(from_its_first_own_pool_on_a_device_is_the_programs),
		cmocka_unit_test(contexts_and_modules_change_hands_by_themselves),
		cmocka_unit_test(a_pushed_label_goes_before_a_rule_and_brings_its_owner),
		cmocka_unit_test(an_address_is_labelled_through_the_finder),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
