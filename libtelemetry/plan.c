// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Building of codec plans. Every number that may come from a foreign schema is
// checked here once, so that the codecs can index without a check. The special
// list keeps derived fields last: their terms are decoded before them.

#include "plan.h"

#include "error.h"

#include <string.h>

#include "banned.h"

void tele_plan_init(struct tele_plan *plan)
{
	plan->n_fields = 0;
	plan->n_invariants = 0;
	plan->n_special = 0;
}

static void list_special(struct tele_plan *plan)
{
	uint32_t n = 0;
	memset(plan->special_mask, 0, sizeof(plan->special_mask));
	for (int derived = 0; derived < 2; derived++)
		for (uint32_t i = 0; i < plan->n_fields; i++) {
			unsigned predictor = plan->fields[i].predictor;
			bool is_derived = predictor == TELE_PREDICT_DERIVED;
			if (predictor == TELE_PREDICT_DELTA || is_derived != (derived == 1))
				continue;
			TELE_ASSERT(n < TELE_SPECIAL_MAX);
			plan->special[n++] = (uint16_t)i;
			plan->special_mask[i / 8] |= (uint8_t)(1u << (i % 8));
		}
	plan->n_special = n;
}

int tele_plan_add_field(struct tele_plan *plan, unsigned predictor, unsigned shift,
			uint32_t reference)
{
	if (plan->n_fields >= TELE_FIELDS_MAX || plan->n_special >= TELE_SPECIAL_MAX)
		return TELE_ELIMIT;
	if (predictor >= TELE_PREDICT_DERIVED || shift > 63)
		return TELE_EDAMAGED;
	// A plain or derived reference would not be there yet, or be learnt already,
	// when a decoder comes to this field.
	if (predictor == TELE_PREDICT_OFFSET &&
	    (reference >= plan->n_fields ||
	     (plan->fields[reference].predictor != TELE_PREDICT_DOD &&
	      plan->fields[reference].predictor != TELE_PREDICT_OFFSET)))
		return TELE_EDAMAGED;
	plan->fields[plan->n_fields++] = (struct tele_plan_field){
		.predictor = (uint8_t)predictor,
		.shift = (uint8_t)shift,
		.reference = predictor == TELE_PREDICT_OFFSET ? reference : 0,
	};
	if (predictor != TELE_PREDICT_DELTA)
		list_special(plan);
	return 0;
}

// Bytes of a 64-bit mask are groups, as they lie in memory.
static void note_groups(const struct tele_plan *plan, struct tele_plan_invariant *invariant)
{
	uint8_t groups[8] = {0};
	uint32_t first = UINT32_MAX;
	for (uint32_t k = 0; k < invariant->n_terms; k++)
		if (invariant->terms[k].index / 8 < first)
			first = invariant->terms[k].index / 8;
	invariant->first_group = first;
	invariant->terms_mask = 0;
	for (uint32_t k = 0; k < invariant->n_terms; k++) {
		uint32_t index = invariant->terms[k].index;
		if (plan->fields[index].predictor != TELE_PREDICT_DELTA || index / 8 - first >= 8)
			return;
		groups[index / 8 - first] |= (uint8_t)(1u << (index % 8));
	}
	memcpy(&invariant->terms_mask, groups, sizeof(groups));
}

int tele_plan_add_invariant(struct tele_plan *plan, uint32_t target, uint32_t n_terms,
			    const uint32_t *term_indexes, const int8_t *signs)
{
	if (plan->n_invariants >= TELE_INVARIANTS_MAX || n_terms > TELE_TERMS_MAX ||
	    plan->n_special >= TELE_SPECIAL_MAX)
		return TELE_ELIMIT;
	if (target >= plan->n_fields || n_terms == 0 ||
	    plan->fields[target].predictor != TELE_PREDICT_DELTA || plan->fields[target].shift)
		return TELE_EDAMAGED;
	for (uint32_t i = 0; i < n_terms; i++)
		if (term_indexes[i] >= plan->n_fields || term_indexes[i] == target ||
		    (signs[i] != 1 && signs[i] != -1) ||
		    plan->fields[term_indexes[i]].predictor == TELE_PREDICT_DERIVED)
			return TELE_EDAMAGED;
	// A field that is a term already must stay decodable without this one.
	for (uint32_t i = 0; i < plan->n_invariants; i++)
		for (uint32_t k = 0; k < plan->invariants[i].n_terms; k++)
			if (plan->invariants[i].terms[k].index == target)
				return TELE_EDAMAGED;
	struct tele_plan_invariant *invariant = &plan->invariants[plan->n_invariants];
	invariant->target = target;
	invariant->n_terms = n_terms;
	invariant->highest = 0;
	invariant->n_added = 0;
	for (uint32_t i = 0; i < n_terms; i++)
		invariant->n_added += signs[i] > 0;
	uint32_t added = 0;
	uint32_t taken = invariant->n_added;
	for (uint32_t i = 0; i < n_terms; i++) {
		uint32_t k = signs[i] > 0 ? added++ : taken++;
		invariant->terms[k].index = term_indexes[i];
		invariant->terms[k].sign = signs[i];
		if (term_indexes[i] > invariant->highest)
			invariant->highest = term_indexes[i];
	}
	note_groups(plan, invariant);
	plan->fields[target].predictor = TELE_PREDICT_DERIVED;
	plan->fields[target].invariant = (uint16_t)plan->n_invariants++;
	list_special(plan);
	return 0;
}

// An invariant belongs to the range when its target and all its terms do.
static bool invariant_is_within(const struct tele_plan_invariant *invariant, uint32_t first,
				uint32_t end)
{
	if (invariant->target < first || invariant->target >= end)
		return false;
	for (uint32_t k = 0; k < invariant->n_terms; k++)
		if (invariant->terms[k].index < first || invariant->terms[k].index >= end)
			return false;
	return true;
}

int tele_plan_repeat(struct tele_plan *plan, uint32_t first, uint32_t n_fields)
{
	uint32_t end = first + n_fields;
	uint32_t shift = plan->n_fields - first;
	uint32_t n_invariants = plan->n_invariants;
	uint32_t n_added = 0;
	if (n_fields > TELE_FIELDS_MAX - plan->n_fields)
		return TELE_ELIMIT;
	uint32_t n_special = 0;
	if (n_fields == 0 || first >= plan->n_fields || n_fields > plan->n_fields - first)
		return TELE_EDAMAGED;
	for (uint32_t i = 0; i < n_invariants; i++)
		n_added += invariant_is_within(&plan->invariants[i], first, end);
	for (uint32_t i = first; i < end; i++)
		n_special += plan->fields[i].predictor != TELE_PREDICT_DELTA;
	if (n_added > TELE_INVARIANTS_MAX - n_invariants ||
	    n_special > TELE_SPECIAL_MAX - plan->n_special)
		return TELE_ELIMIT;
	for (uint32_t i = first; i < end; i++) {
		struct tele_plan_field field = plan->fields[i];
		if (field.predictor == TELE_PREDICT_OFFSET && field.reference >= first)
			field.reference += shift;
		if (field.predictor == TELE_PREDICT_DERIVED)
			field.predictor = TELE_PREDICT_DELTA;
		plan->fields[plan->n_fields++] = field;
	}
	for (uint32_t i = 0; i < n_invariants; i++) {
		if (!invariant_is_within(&plan->invariants[i], first, end))
			continue;
		struct tele_plan_invariant *copy = &plan->invariants[plan->n_invariants];
		*copy = plan->invariants[i];
		copy->target += shift;
		copy->highest += shift;
		for (uint32_t k = 0; k < copy->n_terms; k++)
			copy->terms[k].index += shift;
		note_groups(plan, copy);
		plan->fields[copy->target].predictor = TELE_PREDICT_DERIVED;
		plan->fields[copy->target].invariant = (uint16_t)plan->n_invariants++;
	}
	list_special(plan);
	return 0;
}

uint64_t tele_plan_derive(const struct tele_plan *plan, uint32_t number, const uint64_t *row)
{
	const struct tele_plan_invariant *invariant = &plan->invariants[number];
	uint64_t sum = 0;
	for (uint32_t i = 0; i < invariant->n_added; i++) {
		uint64_t value = row[invariant->terms[i].index];
		if (value == TELE_UNKNOWN)
			return TELE_UNKNOWN;
		sum += value;
	}
	for (uint32_t i = invariant->n_added; i < invariant->n_terms; i++) {
		uint64_t value = row[invariant->terms[i].index];
		if (value == TELE_UNKNOWN)
			return TELE_UNKNOWN;
		sum -= value;
	}
	return sum;
}
