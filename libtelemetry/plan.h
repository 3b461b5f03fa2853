// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The codec plan: what the row codec and the block codec must know of a
// schema, and nothing else. Built field by field while a schema is written (in
// the process) or read (by a tool). A plan of more fields serves every record
// that uses fewer of them.

#ifndef TELE_PLAN_H
#define TELE_PLAN_H

#include "base.h"

#define TELE_FIELDS_MAX 4096
#define TELE_INVARIANTS_MAX 256
#define TELE_TERMS_MAX 16
#define TELE_SPECIAL_MAX 1024

// How the next value of a field is predicted; what is coded is the difference.
// Wire numbers.
enum tele_predictor {
	TELE_PREDICT_DELTA = 0,	  // the last known value of the field
	TELE_PREDICT_DOD = 1,	  // last known value plus the last difference
	TELE_PREDICT_OFFSET = 2,  // last known value plus the change of field `reference`
	TELE_PREDICT_DERIVED = 3, // the sum of an invariant's terms, where all are known
	TELE_PREDICT_COUNT
};

struct tele_plan_field {
	uint8_t predictor;
	uint8_t shift;	    // low bits that are always zero and are not coded
	uint16_t invariant; // DERIVED: its number in `invariants`
	uint32_t reference; // OFFSET: a lower field that is DOD or OFFSET itself
};

struct tele_plan_invariant {
	uint32_t target;
	uint32_t n_terms;
	uint32_t n_added; // terms with sign +1; they come first
	uint32_t highest; // index of a term
	struct {
		uint32_t index;
		int32_t sign; // +1 or -1
	} terms[TELE_TERMS_MAX];
	// Where the terms stand in the row codec's groups of eight: a bit each, from
	// the first such group on. 0 where a term is no DELTA field or they stand
	// further apart.
	uint32_t first_group;
	uint64_t terms_mask;
};

struct tele_plan {
	uint32_t n_fields;
	uint32_t n_invariants;
	uint32_t n_special; // fields whose predictor is not DELTA
	struct tele_plan_field fields[TELE_FIELDS_MAX];
	uint16_t special[TELE_SPECIAL_MAX]; // their numbers: DERIVED ones last
	uint8_t special_mask[TELE_FIELDS_MAX / 8]; // the same, a bit each
	struct tele_plan_invariant invariants[TELE_INVARIANTS_MAX];
};

// Empties a plan. The storage is the caller's (about 110 KiB, zeroed pages
// stay untouched).
void tele_plan_init(struct tele_plan *plan);

// Appends the next field. Returns 0, or TELE_ELIMIT / TELE_EDAMAGED for values
// a foreign schema may carry: an unknown predictor, shift above 63, a reference
// that is not a lower field number, more than TELE_SPECIAL_MAX special fields.
int tele_plan_add_field(struct tele_plan *plan, unsigned predictor, unsigned shift,
			uint32_t reference);

// Makes field `target` (one of the plan, DELTA so far) derived from `terms`,
// (index, sign) pairs that name fields of the plan other than derived ones.
// Returns 0 or an error as above.
int tele_plan_add_invariant(struct tele_plan *plan, uint32_t target, uint32_t n_terms,
			    const uint32_t *term_indexes, const int8_t *signs);

// Appends copies of the fields [first, first + n_fields) and of the invariants
// among them, for one more instance of a section. References and terms outside
// the range stay as they are. Returns 0 or an error, then with nothing added.
int tele_plan_repeat(struct tele_plan *plan, uint32_t first, uint32_t n_fields);

// What invariant `number` gives for a row, or TELE_UNKNOWN where a term is
// unknown. Wraps modulo 2^64.
uint64_t tele_plan_derive(const struct tele_plan *plan, uint32_t number, const uint64_t *row);

#endif
