// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What block_encode.c and block_decode.c share: the bits of a column's mode
// byte and the prediction of its values. docs/format-trace.md, "Data blocks",
// is the definition.

#ifndef TELE_BLOCK_WIRE_H
#define TELE_BLOCK_WIRE_H

#include "block.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "blocks are copied as they are in memory");

// What the body of a column holds, in this order. A column whose mode is 0 has
// no body: every row is known and is what the predictor says.
enum tele_column_mode {
	TELE_COLUMN_UNKNOWN = 1,     // a bitmap of the rows in which it is unknown
	TELE_COLUMN_FIRST = 2,	     // the first known value's difference
	TELE_COLUMN_BASE = 4,	     // what is subtracted from every other difference
	TELE_COLUMN_WIDTH = 8,	     // differences of that many bits, packed
	TELE_COLUMN_EXCEPTIONS = 16, // differences that do not fit
	TELE_COLUMN_ALL_UNKNOWN = 32, // alone: no row is known
	TELE_COLUMN_MODES = 63
};

// A packed difference takes 0 to 57 bits, so that one load reads it, or 64.
#define TELE_COLUMN_WIDTH_MAX 57

// Prediction within one column. The encoder and the decoder go through the
// known rows in order, with `aux` made from columns that come before:
// OFFSET: the last known value of the reference up to each row (0 before);
// DERIVED: the sum of the terms in each row, or unknown; NULL where the block
// lacks them.
struct tele_predict {
	unsigned predictor;
	const uint64_t *aux;
	uint64_t last;
	uint64_t step;
	uint64_t aux_last;
	bool is_started;
};

static inline uint64_t tele_predict_row(const struct tele_predict *predict, uint32_t row)
{
	switch (predict->predictor) {
	case TELE_PREDICT_DOD:
		return predict->last + predict->step;
	case TELE_PREDICT_OFFSET:
		return predict->aux ? predict->last + predict->aux[row] - predict->aux_last :
				      predict->last;
	case TELE_PREDICT_DERIVED:
		return predict->aux && predict->aux[row] != TELE_UNKNOWN ? predict->aux[row] :
									   predict->last;
	default:
		return predict->last;
	}
}

static inline void tele_predict_learn(struct tele_predict *predict, uint32_t row, uint64_t value)
{
	predict->step = predict->is_started ? value - predict->last : 0;
	predict->is_started = true;
	predict->last = value;
	if (predict->aux)
		predict->aux_last = predict->aux[row];
}

// The order in which columns are stored: what is predicted from nothing or from
// a lower field first, derived ones last. Returns whether `field` belongs to
// `pass` 0 or 1.
static inline bool tele_column_is_of_pass(const struct tele_plan *plan, uint32_t field, int pass)
{
	return (plan->fields[field].predictor == TELE_PREDICT_DERIVED) == (pass == 1);
}

// Makes aux of a reference column of n_rows.
static inline void tele_aux_of_reference(const uint64_t *reference, uint32_t n_rows, uint64_t *ret_aux)
{
	uint64_t last = 0;
	for (uint32_t r = 0; r < n_rows; r++) {
		if (reference[r] != TELE_UNKNOWN)
			last = reference[r];
		ret_aux[r] = last;
	}
}

// Adds a term's column to aux, which starts as zeroes; unknown stays unknown.
static inline void tele_aux_add_term(const uint64_t *term, int32_t sign, uint32_t n_rows,
				     uint64_t *aux, uint8_t *is_unknown)
{
	for (uint32_t r = 0; r < n_rows; r++) {
		is_unknown[r] |= term[r] == TELE_UNKNOWN;
		aux[r] += sign > 0 ? term[r] : 0 - term[r];
	}
}

// Whether all terms of a derived field are in rows of n_fields.
static inline bool tele_terms_are_within(const struct tele_plan_invariant *invariant, uint32_t n_fields)
{
	for (uint32_t i = 0; i < invariant->n_terms; i++)
		if (invariant->terms[i].index >= n_fields)
			return false;
	return true;
}

#endif
