// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// How often the judge is right: a small simulation with a fixed seed
// (bench/verdict is the large one).

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../analysis/growth.h"
#include "support/noise.h"

static struct analysis_history history;
static struct analysis_growth growth;
static double values[SERIES_POINTS_MAX];

static void judge(size_t n)
{
	analysis_history_init(&history);
	for (size_t i = 0; i < n; i++)
		analysis_history_add(&history, (double)i, values[i], true);
	analysis_judge(&history, &growth);
}

static bool run_grows(const struct series_kind *kind, struct series_rng *rng, size_t n, bool *ret_held)
{
	double slope;

	kind->make(rng, n, kind->parameter, values, &slope);
	judge(n);
	*ret_held = growth.slope_low <= slope * (1 + 1e-9) && slope * (1 - 1e-9) <= growth.slope_high;
	return analysis_shape_grows(growth.shape);
}

// 4 x 60 series a kind: a rate of 1 % gives more than 10 once in 5,000.
static void quiet_series_of_each_kind_are_not_called_growing(void **state)
{
	static const size_t sizes[] = {50, 120, 400, 1500};
	struct series_rng rng;
	unsigned n_all = 0, n_false = 0;
	(void)state;
	series_seed(&rng, 2026);
	for (size_t k = 0; k < series_kinds_count; k++) {
		const struct series_kind *kind = &series_kinds[k];
		unsigned n_grow = 0;
		bool held;
		if (kind->class != SERIES_QUIET && kind->class != SERIES_QUIET_LEVEL)
			continue;
		for (size_t s = 0; s < 4; s++)
			for (unsigned i = 0; i < 60; i++)
				n_grow += run_grows(kind, &rng, sizes[s], &held);
		if (n_grow > (kind->class == SERIES_QUIET ? 7 : 11)) {
			print_error("%s: %u of 240 called growing\n", kind->name, n_grow);
			fail();
		}
		n_all += 240;
		n_false += n_grow;
	}
	assert_true(n_false * 200 < n_all); // 0.5 % over all kinds
}

static void real_slopes_are_found_and_their_intervals_hold(void **state)
{
	static const struct {
		const char *name;
		size_t n;
		double percent_found, percent_held;
	} goals[] = {
		{"white, 0.02", 100, 90, 93}, // 95 expected
		{"white, 0.02", 200, 98, 93},	{"mixture 0.02 to 0.4", 400, 98.5, 93},
		{"mixture 0.02 to 0.4", 1500, 99, 93}, {"counter p = 0.49", 200, 98, 87},
		{"exact", 100, 100, 100},	{"teeth, floor +2", 400, 100, 95},
		{"teeth, floor +2, noisy", 400, 98, 93}, {"starts at n/2, 0.05", 400, 97, 90},
		{"teeth random, floor +1", 400, 90, 75},
	};
	struct series_rng rng;
	(void)state;
	series_seed(&rng, 550);
	for (size_t k = 0; k < sizeof(goals) / sizeof(goals[0]); k++) {
		const struct series_kind *kind = series_find(goals[k].name);
		unsigned n_found = 0, n_held = 0;
		bool held;
		for (unsigned i = 0; i < 300; i++) {
			if (!run_grows(kind, &rng, goals[k].n, &held))
				continue;
			n_found++;
			n_held += held;
		}
		if (n_found * 100 < goals[k].percent_found * 300 || n_held * 100 < goals[k].percent_held * n_found) {
			print_error("%s, n %zu: %u of 300 found, %u held\n", kind->name, goals[k].n, n_found, n_held);
			fail();
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quiet_series_of_each_kind_are_not_called_growing),
		cmocka_unit_test(real_slopes_are_found_and_their_intervals_hold),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
