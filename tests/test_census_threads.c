// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The census while many threads use it: equations that hold in every reading,
// and forks in the middle of it. Run it under SAN=thread too.

#define ROLLCALL_BUILDING
#include "../libtelemetry/rollcall.h"

#include "../census/census.h"
#include "support/fake_publisher.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/in_child.h"

#define THREADS 6

static _Atomic bool stop;
static unsigned steps; // of each thread; 0: until `stop`

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

// Pools of the threads overlap, so that they regrow, relabel and forget each
// other's. Devices 0 to 3; owners come and go.
static void *hammer(void *argument)
{
	uint64_t random = 88172645463325252u + (uintptr_t)argument * 7919;
	uint64_t owner = 0;
	for (unsigned step = 0; steps ? step < steps : !atomic_load(&stop); step++) {
		uint64_t r = next_random(&random);
		int device = (int)(r % 4);
		uint64_t pool = (r >> 8) % 512;
		switch ((r >> 32) % 16) {
		case 0:
			if (owner) {
				rollcall_label_pop();
				rollcall_owner_close(owner);
			}
			owner = rollcall_owner_open(NULL);
			rollcall_label_push(ROLLCALL_STAGING, owner);
			break;
		case 1:
			rollcall_context_created(device);
			rollcall_context_released(device);
			break;
		case 2:
			rollcall_module_loaded(device);
			rollcall_module_unloaded(device);
			break;
		case 3:
			rollcall_label_ptr((void *)(uintptr_t)pool, (enum rollcall_label)(r >> 60 & 3), owner);
			break;
		case 4:
			rollcall_device_memory(device, pool, pool);
			break;
		case 5:
		case 6:
		case 7:
		case 8:
		case 9:
			rollcall_forget_pool(device, pool);
			break;
		default:
			rollcall_record_pool(device, pool, (enum rollcall_label)(r >> 60 & 3), 1000 + pool);
			break;
		}
	}
	if (owner) {
		rollcall_label_pop();
		rollcall_owner_close(owner);
	}
	return NULL;
}

static void check_reading(const struct rollcall_census *c, const struct rollcall_census *before)
{
	uint64_t allocated = c->working_pools_allocated + c->constant_pools_allocated +
			     c->staging_pools_allocated + c->unlabelled_pools_allocated;
	uint64_t live = rollcall_census_live_pools(c);
	CHECK(allocated - c->pools_freed == live);
	CHECK(live <= 4 * 512);
	CHECK(rollcall_census_live_pool_bytes(c) >= live * 1000);
	CHECK(rollcall_census_live_pool_bytes(c) < live * 1512 + 1);
	CHECK(c->peak_pool_bytes >= rollcall_census_live_pool_bytes(c));
	CHECK(c->outlived_pools <= live);
	CHECK(c->contexts_released <= c->contexts_created);
	CHECK(c->modules_unloaded <= c->modules_loaded);
	CHECK(c->pools_freed >= before->pools_freed);
	CHECK(c->working_pools_allocated >= before->working_pools_allocated);
	CHECK(c->unlabelled_pools_allocated >= before->unlabelled_pools_allocated);
	CHECK(c->contexts_created >= before->contexts_created);
}

static void start(pthread_t *threads, unsigned n, void *(*body)(void *))
{
	for (unsigned i = 0; i < n; i++)
		CHECK(pthread_create(&threads[i], NULL, body, (void *)(uintptr_t)(i + 1)) == 0);
}

static void join(pthread_t *threads, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
}

IN_CHILD(every_snapshot_balances_while_threads_hammer)
{
	pthread_t threads[THREADS];
	start(threads, THREADS, hammer);
	struct rollcall_census before[5] = {0};
	struct tele_device_values device;
	struct tele_owner_values owner;
	while (before[0].pools_freed < 20000) {
		for (int i = -1; i < 4; i++) {
			struct rollcall_census c;
			if (rollcall_census_snapshot(i, &c, sizeof(c)) < 0)
				continue;
			check_reading(&c, &before[i + 1]);
			before[i + 1] = c;
		}
		if (fake_collect("device", 1, &device, sizeof(device)) && device.used_bytes != TELE_UNKNOWN)
			CHECK(device.used_bytes == device.total_bytes);
		if (fake_collect("owner", 0, &owner, sizeof(owner)))
			CHECK(owner.open == TELE_UNKNOWN || owner.open <= 1);
	}
	atomic_store(&stop, true);
	join(threads, THREADS);
}

IN_CHILD(after_the_threads_are_gone_everything_can_be_forgotten)
{
	pthread_t threads[THREADS];
	steps = 20000;
	start(threads, THREADS, hammer);
	join(threads, THREADS);
	struct rollcall_census c;
	for (int device = 0; device < 4; device++) {
		for (uint64_t pool = 0; pool < 512; pool++)
			rollcall_forget_pool(device, pool);
	}
	CHECK(rollcall_census_snapshot(-1, &c, sizeof(c)) == 0);
	CHECK(rollcall_census_live_pools(&c) == 0 && rollcall_census_live_pool_bytes(&c) == 0);
	CHECK(c.outlived_pools == 0 && c.outlived_bytes == 0);
	CHECK(rollcall_census_reset_peak(-1) == 0);
	CHECK(rollcall_census_snapshot(-1, &c, sizeof(c)) == 0 && c.peak_pool_bytes == 0);
	struct tele_owner_values owner;
	for (unsigned n = 0; n < 32; n++)
		CHECK(!fake_collect("owner", n, &owner, sizeof(owner)) || owner.id == TELE_UNKNOWN);
	struct tele_census_values values;
	CHECK(fake_collect("census", ROLLCALL_NO_INSTANCE, &values, sizeof(values)));
	CHECK(values.owners_open == 0);
}

// Moves one pool to and fro between the labels of one device, with twenty that
// stay: at every moment there are 21.
static void *relabel(void *argument)
{
	(void)argument;
	for (uint64_t i = 0; !atomic_load(&stop); i++)
		rollcall_record_pool(0, 0, i & 1 ? ROLLCALL_WORKING : ROLLCALL_CONSTANT, 64);
	return NULL;
}

IN_CHILD(a_pool_that_changes_its_label_is_never_seen_twice_or_not_at_all)
{
	pthread_t thread;
	for (uint64_t pool = 0; pool <= 20; pool++)
		rollcall_record_pool(0, pool, ROLLCALL_WORKING, 64);
	start(&thread, 1, relabel);
	for (int i = 0; i < 20000; i++) {
		struct rollcall_census c;
		CHECK(rollcall_census_snapshot(0, &c, sizeof(c)) == 0);
		CHECK(rollcall_census_live_pools(&c) == 21);
		CHECK(rollcall_census_live_pool_bytes(&c) == 21 * 64);
	}
	atomic_store(&stop, true);
	join(&thread, 1);
}

static void *search(void *argument)
{
	uint64_t random = 88172645463325252u + (uintptr_t)argument;
	for (unsigned i = 0; i < steps; i++) {
		uint64_t candidate = rollcall_candidate_begin("c");
		unsigned outcome = 1 + (unsigned)(next_random(&random) % 7);
		CHECK(rollcall_candidate_end(candidate, (enum rollcall_outcome)outcome) == 0);
		if (outcome == ROLLCALL_TIMED && i % 2)
			CHECK(rollcall_candidate_end(candidate, ROLLCALL_KEPT) == 0);
	}
	return NULL;
}

IN_CHILD(counts_of_the_search_rise_in_the_order_of_the_slots)
{
	pthread_t threads[4];
	steps = 25;
	rollcall_record_pool(0, 1, ROLLCALL_WORKING, 1);
	start(threads, 4, search);
	join(threads, 4);
	struct tele_search_values before = {0}, values;
	CHECK(fake.n_rows >= 200);
	for (unsigned i = 0; i < fake.n_rows; i++) {
		const struct fake_part *part =
			fake_part_of(&fake.rows[i], TELE_SECTION_SEARCH, ROLLCALL_NO_INSTANCE);
		CHECK(part != NULL);
		memcpy(&values, part->values, sizeof(values));
		CHECK(values.candidates_attempted >= before.candidates_attempted);
		CHECK(values.candidates_linked >= before.candidates_linked);
		CHECK(values.candidates_timed >= before.candidates_timed);
		CHECK(values.candidates_kept >= before.candidates_kept);
		CHECK(values.candidates_kept <= values.candidates_timed);
		CHECK(values.candidates_linked + values.candidates_declined + values.open_candidates ==
		      values.candidates_attempted);
		before = values;
	}
	CHECK(before.candidates_attempted == 100 && before.open_candidates == 0);
}

IN_CHILD(children_forked_while_threads_record_start_empty_and_can_record)
{
	pthread_t threads[THREADS];
	start(threads, THREADS, hammer);
	for (int i = 0; i < 100; i++) {
		pid_t pid = fork();
		CHECK(pid >= 0);
		if (pid == 0) {
			struct rollcall_census c, zero = {0};
			CHECK(rollcall_census_snapshot(-1, &c, sizeof(c)) == 0);
			CHECK(rollcall_census_equal(&c, &zero, sizeof(c)));
			for (uint64_t pool = 0; pool < 300; pool++)
				CHECK(rollcall_record_pool(0, pool, ROLLCALL_WORKING, 1) == 0);
			uint64_t owner = rollcall_owner_open(NULL);
			CHECK(rollcall_owner_close(owner) == 0);
			CHECK(rollcall_candidate_end(rollcall_candidate_begin("c"), ROLLCALL_KEPT) == 0);
			CHECK(rollcall_census_snapshot(-1, &c, sizeof(c)) == 0);
			CHECK(c.live_working_pools == 300 && c.peak_pool_bytes == 300);
			_exit(0);
		}
		int status = -1;
		CHECK(waitpid(pid, &status, 0) == pid && status == 0);
		struct rollcall_census c, before = {0};
		CHECK(rollcall_census_snapshot(-1, &c, sizeof(c)) == 0);
		check_reading(&c, &before);
	}
	atomic_store(&stop, true);
	join(threads, THREADS);
}

// A writer that stops in the middle of a change keeps no reader waiting.
IN_CHILD(a_change_that_is_never_finished_leaves_the_last_whole_copy)
{
	rollcall_record_pool(0, 1, ROLLCALL_WORKING, 5);
	unsigned shard = (unsigned)(census_pool_hash(0, 1) >> 60);
	struct census_cell *cell = &census_cells[0][shard];
	census_latch_step(&cell->seq);
	census_word_add(&cell->copies[0][0], 99);
	struct rollcall_census c;
	CHECK(rollcall_census_snapshot(-1, &c, sizeof(c)) == 0);
	CHECK(c.live_working_pools == 1 && c.live_working_bytes == 5 && c.live_unlabelled_pools == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_snapshot_balances_while_threads_hammer),
		cmocka_unit_test(after_the_threads_are_gone_everything_can_be_forgotten),
		cmocka_unit_test(a_pool_that_changes_its_label_is_never_seen_twice_or_not_at_all),
		cmocka_unit_test(counts_of_the_search_rise_in_the_order_of_the_slots),
		cmocka_unit_test(children_forked_while_threads_record_start_empty_and_can_record),
		cmocka_unit_test(a_change_that_is_never_finished_leaves_the_last_whole_copy),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
