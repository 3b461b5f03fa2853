// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// See random.h. The generator is splitmix64.

#include "random.h"

uint64_t test_random_next(struct test_random *random)
{
	uint64_t z = (random->state += UINT64_C(0x9e3779b97f4a7c15));
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

uint64_t test_random_below(struct test_random *random, uint64_t limit)
{
	return test_random_next(random) % limit;
}

void test_random_plan(struct test_random *random, struct tele_plan *plan, uint32_t n_fields)
{
	tele_plan_init(plan);
	for (uint32_t i = 0; i < n_fields; i++) {
		unsigned predictor = TELE_PREDICT_DELTA;
		unsigned shift = 0;
		uint32_t reference = 0;
		if (i == 0) {
			predictor = TELE_PREDICT_DOD;
			shift = 10;
		} else if (plan->n_special < TELE_SPECIAL_MAX / 2) {
			uint64_t pick = test_random_below(random, 12);
			if (pick == 0)
				predictor = TELE_PREDICT_OFFSET;
			else if (pick == 1)
				predictor = TELE_PREDICT_DOD;
			if (pick <= 2)
				shift = 10;
		}
		(void)tele_plan_add_field(plan, predictor, shift, reference);
	}
	for (uint32_t i = 0; n_fields > 4 && i < n_fields / 8; i++) {
		uint32_t terms[TELE_TERMS_MAX];
		int8_t signs[TELE_TERMS_MAX];
		uint32_t n_terms = 1 + (uint32_t)test_random_below(random, TELE_TERMS_MAX);
		for (uint32_t k = 0; k < n_terms; k++) {
			terms[k] = (uint32_t)test_random_below(random, n_fields);
			signs[k] = test_random_below(random, 2) ? 1 : -1;
		}
		// Refused where it makes no sense: so much the better.
		(void)tele_plan_add_invariant(plan, (uint32_t)test_random_below(random, n_fields),
					      n_terms, terms, signs);
	}
}

static uint64_t next_value(struct test_random *random, unsigned shape, uint64_t last)
{
	uint64_t dice = test_random_next(random);
	switch (shape) {
	case 0:
		return 0;
	case 1:
		return last;
	case 2: // a counter with a steady rate
		return last + 1000 + dice % 16;
	case 3: // rare steps
		return dice % 50 ? last : last + dice % 4096;
	case 4: // a gauge that wanders
		return last + dice % 512 - 256;
	case 5: // huge jumps
		return dice % 30 ? last + 1 : test_random_next(random);
	case 6: // anything
		return dice;
	case 7: // small numbers
		return dice % 5;
	case 8: // falls by the same each time, and so wraps below 0
		return last - 7;
	case 9: // flaps
		return dice % 2 ? TELE_UNKNOWN : (last == TELE_UNKNOWN ? 0 : last) + 4096;
	case 10:
		return TELE_UNKNOWN;
	default: // mostly known
		return dice % 40 ? dice % 100 : TELE_UNKNOWN;
	}
}

void test_random_rows(struct test_random *random, const struct tele_plan *plan, uint64_t *rows,
		      size_t row_stride, uint32_t n_fields, uint32_t n_rows)
{
	for (uint32_t f = 0; f < n_fields; f++) {
		unsigned shape = (unsigned)test_random_below(random, 12);
		uint64_t last = test_random_next(random) >> test_random_below(random, 64);
		uint64_t zeroes = (UINT64_C(1) << plan->fields[f].shift) - 1;
		for (uint32_t r = 0; r < n_rows; r++) {
			uint64_t value = next_value(random, shape, last);
			rows[r * row_stride + f] = value == TELE_UNKNOWN ? value : value & ~zeroes;
			last = value;
		}
	}
	for (uint32_t i = 0; i < plan->n_invariants; i++) {
		const struct tele_plan_invariant *invariant = &plan->invariants[i];
		bool is_within = invariant->target < n_fields;
		for (uint32_t k = 0; k < invariant->n_terms; k++)
			is_within = is_within && invariant->terms[k].index < n_fields;
		if (!is_within || test_random_below(random, 4) == 0)
			continue;
		for (uint32_t r = 0; r < n_rows; r++)
			if (test_random_below(random, 20))
				rows[r * row_stride + invariant->target] =
					tele_plan_derive(plan, i, rows + r * row_stride);
	}
}
