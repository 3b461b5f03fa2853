// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The row codec: one row as the differences to the row before it, for the open
// chunks of the ring. docs/format-segment.md, "Row frames", is the definition.

#ifndef TELE_CODEC_H
#define TELE_CODEC_H

#include "base.h"
#include "plan.h"

// Both sides keep the same state; a chunk starts from the empty one, so that
// its first row is a keyframe.
struct tele_codec {
	const struct tele_plan *plan;
	uint32_t n_fields;
	bool is_wide; // the machine compares four fields at once
	// By field, `n_fields` each, storage by the caller:
	uint64_t *last; // the row before: may hold TELE_UNKNOWN
	uint64_t *base; // the last known value
	uint64_t *step; // DOD, OFFSET: the last difference of known values; DERIVED, when
			// encoding: 1 where the last row had what was derived
	// The plan's special fields that such rows have, in the plan's order: the
	// first n_predicted are not DERIVED.
	uint32_t n_special, n_predicted;
	uint16_t special[TELE_SPECIAL_MAX];
};

// Words of storage that tele_codec_init needs for n_fields.
#define TELE_CODEC_WORDS(n_fields) (3 * (size_t)(n_fields))

// The most bytes one row can take.
#define TELE_ROW_BYTES_MAX(n_fields) (((size_t)(n_fields) + 7) / 8 + ((size_t)(n_fields) + 63) / 64 + 9 * (size_t)(n_fields) + 16)

// Starts a chunk: every field unknown, base 0. `words` has
// TELE_CODEC_WORDS(n_fields) words and lives as long as the codec; n_fields is
// at most the plan's.
void tele_codec_init(struct tele_codec *codec, const struct tele_plan *plan, uint32_t n_fields,
		     uint64_t *words);

// Encodes `row` (n_fields values) into out, which has room for
// TELE_ROW_BYTES_MAX(n_fields). Returns the bytes written.
size_t tele_codec_encode(struct tele_codec *codec, const uint64_t *row, uint8_t *out);

// Decodes the next row from `bytes` into ret_row. Returns the bytes used, or
// TELE_EDAMAGED; never reads beyond n_bytes.
int64_t tele_codec_decode(struct tele_codec *codec, const uint8_t *bytes, size_t n_bytes,
			  uint64_t *ret_row);

#endif
