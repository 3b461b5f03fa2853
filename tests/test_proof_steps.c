// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// docs/proof.md. Whole in a soak; a part that takes seconds else, the same one
// each time.

#include "tests/proof/stepped.h"
#include "tests/proof/watched.h"
#include "tests/support/mode.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static void tell(const char *name, const struct proof_sum *sum)
{
	printf("soak: %s steps=%llu states=%llu reads=%llu failures=%d\n", name,
	       (unsigned long long)sum->n_steps, (unsigned long long)sum->n_states,
	       (unsigned long long)sum->n_reads, sum->wrong != NULL);
	fflush(stdout);
	if (sum->wrong)
		fail_msg("%s: call %llu, state %llu", sum->wrong, (unsigned long long)sum->at_call,
			 (unsigned long long)sum->at_state);
}

static void a_writer_killed_at_any_instruction_leaves_all_it_committed(void **state)
{
	(void)state;
	skip_where_instrumented();
	struct proof_sum sum = {0};
	struct proof_plan plan = {
		.n_publishes = test_by_mode(15, 50, 240),
		.seal_every = test_by_mode(17, 17, 29),
		.stride = test_by_mode(64, 64, 8),
		.is_whole = test_by_mode(0, 0, 1),
		.stops_at_words = test_by_mode(0, 0, 1),
	};
	proof_kill(&plan, &sum);
	tell("killed", &sum);
}

static void the_same_when_the_ring_overwrites_its_oldest_blocks(void **state)
{
	(void)state;
	skip_where_instrumented();
	struct proof_sum sum = {0};
	struct proof_plan plan = {
		.n_before = 150,
		.n_publishes = test_by_mode(10, 40, 240),
		.stride = test_by_mode(64, 64, 8),
		.is_noisy = true,
	};
	proof_kill(&plan, &sum);
	tell("killed-overwriting", &sum);
}

static void a_reader_stopped_at_any_word_takes_nothing_torn(void **state)
{
	(void)state;
	skip_where_instrumented();
	struct proof_sum sum = {0};
	static const uint64_t distances[] = {1, 3, 45, 120, 400};
	for (size_t i = 0; i < TELE_ARRAY_LEN(distances) && !sum.wrong; i++) {
		struct proof_plan plan = {
			.n_before = 150,
			.n_publishes = distances[i],
			.stride = test_by_mode(331, 61, 1),
			.is_noisy = true,
		};
		proof_overtake(&plan, &sum);
	}
	tell("overtaken", &sum);
}

static void a_reader_that_is_lapped_takes_nothing_torn(void **state)
{
	(void)state;
	skip_where_instrumented();
	struct proof_sum sum = {0};
	struct proof_plan plan = {
		.n_before = 150, .n_publishes = 150, .stride = test_by_mode(37, 5, 1), .is_noisy = true, .by_call = true};
	proof_lap(&plan, &sum);
	plan.by_call = false;
	plan.stride = 300007;
	if (!sum.wrong && test_by_mode(0, 0, 1))
		proof_lap(&plan, &sum);
	tell("lapped", &sum);
}

static void a_process_that_exits_between_two_looks_was_not_killed(void **state)
{
	(void)state;
	skip_where_instrumented();
	struct proof_sum sum = {0};
	proof_exit_between(&sum);
	if (sum.wrong)
		fail_msg("%s", sum.wrong);
}

int main(int argc, char **argv)
{
	(void)argc;
	proof_copy_by_stores(argv);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_writer_killed_at_any_instruction_leaves_all_it_committed),
		cmocka_unit_test(the_same_when_the_ring_overwrites_its_oldest_blocks),
		cmocka_unit_test(a_reader_stopped_at_any_word_takes_nothing_torn),
		cmocka_unit_test(a_reader_that_is_lapped_takes_nothing_torn),
		cmocka_unit_test(a_process_that_exits_between_two_looks_was_not_killed),
	};
	if (getenv("CMOCKA_TEST_FILTER"))
		cmocka_set_test_filter(getenv("CMOCKA_TEST_FILTER"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
