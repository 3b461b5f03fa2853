// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The proof finds mistakes: each seeded one is caught, or is harmless for a
// reason that stands here.

#include "tests/proof/mutants.h"
#include "tests/proof/stepped.h"
#include "tests/proof/watched.h"
#include "tests/support/mode.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static const char *const texts[] = {
#define X(name, text) text,
	PROOF_MUTANTS(X)
#undef X
};

// Two are harmless while stores are seen in the order of the program.
// - ROWS_BEFORE_LATEST: a count says nothing of other words.
// - EPOCH_KEPT: no frame is overwritten before the new epoch is there; and who
//   reads `used` of the old chunk and `first seq` of the new one finds a hole
//   before it, and looks again. Where stores are seen in another order there is
//   no such promise: tests/proof/weak.py.
static bool is_harmless(enum proof_mutant mutant)
{
	return mutant == PROOF_NONE || mutant == PROOF_ROWS_BEFORE_LATEST || mutant == PROOF_EPOCH_KEPT;
}

// Each with less than the proof itself has: what is wrong shows soon.
static void try(enum proof_mutant mutant, struct proof_sum *sum)
{
	static const struct proof_plan plans[] = {
		{.n_before = 150, .n_publishes = 120, .stride = 127, .is_noisy = true},
		{.n_before = 150, .n_publishes = 45, .stride = 127, .is_noisy = true},
		{.n_publishes = 15, .seal_every = 4, .stride = 200},
		{.n_before = 150, .n_publishes = 12, .seal_every = 9, .stride = 200, .is_noisy = true},
	};
	// Where nothing will be found, not every commit waits for it.
	bool is_brief = test_is_quick() && is_harmless(mutant);
	// What a writer does wrong shows best where it is stopped.
	size_t first = mutant < PROOF_READER_KEEPS_EPOCH ? 2 : 0;
	size_t n = is_brief ? 1 : TELE_ARRAY_LEN(plans);
	for (size_t k = 0; k < n && !sum->wrong; k++) {
		size_t i = (first + k) % TELE_ARRAY_LEN(plans);
		(i < 2 ? proof_overtake : proof_kill)(&plans[i], sum);
	}
}

static void every_seeded_mistake_is_caught_or_harmless(void **state)
{
	(void)state;
	skip_where_instrumented();
	unsigned n_caught = 0, n_harmless = 0, n_failed = 0;
	struct proof_sum all = {0};
	for (int mutant = 0; mutant < PROOF_MUTANT_COUNT; mutant++) {
		struct proof_sum sum = {0};
		proof_set_mutant((enum proof_mutant)mutant);
		try((enum proof_mutant)mutant, &sum);
		bool is_right = (sum.wrong == NULL) == is_harmless((enum proof_mutant)mutant);
		printf("%s: %s\n", texts[mutant], sum.wrong ? sum.wrong : "nothing found");
		n_caught += sum.wrong != NULL;
		n_harmless += mutant && sum.wrong == NULL;
		n_failed += !is_right;
		all.n_steps += sum.n_steps;
	}
	printf("soak: mutants tried=%u caught=%u harmless=%u steps=%llu failures=%u\n", PROOF_MUTANT_COUNT - 1,
	       n_caught, n_harmless, (unsigned long long)all.n_steps, n_failed);
	assert_int_equal(n_failed, 0);
}

int main(int argc, char **argv)
{
	(void)argc;
	proof_copy_by_stores(argv);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_seeded_mistake_is_caught_or_harmless),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
