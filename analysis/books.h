// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The allocator's books as one row tells them, and every linear invariant of
// the row's schema. Read by the schema a row carries, so that a bucket of a
// later version is counted too.

#ifndef ANALYSIS_BOOKS_H
#define ANALYSIS_BOOKS_H

#include "../libtelemetry/base.h"
#include "../libtelemetry/schema.h"
#include "wide.h"

struct analysis_books {
	uint64_t mapped_bytes;			  // TELE_UNKNOWN when not told
	uint64_t bucket_bytes[TELE_BUCKET_COUNT]; // TELE_UNKNOWN when not told
	uint64_t unnamed_bytes;			  // in buckets of a later version
	uint64_t not_resident_bytes;		  // sum of buckets marked NO
	uint64_t retained_bytes;		  // sum of buckets marked RETAINED
	bool is_known;				  // mapped and every bucket of the schema are known
	bool is_balanced;			  // is_known, and mapped is their sum to the byte
	struct analysis_signed unexplained_bytes; // mapped minus the sum
};

// Reads the buckets of a row. Unknown values are never added: one unknown
// bucket makes the books unknown, not wrong.
void analysis_books_read(const struct tele_schema *schema, const uint64_t *row, uint32_t n_fields,
			 struct analysis_books *ret_books);

// The share of a bucket of that name that is resident, from the schema:
// enum tele_resident of the field, TELE_RESIDENT_NO when there is no such field.
unsigned analysis_bucket_residency(const struct tele_schema *schema, unsigned bucket);

// An invariant that a row breaks: field `target` is off by `off` from its terms.
struct analysis_broken {
	uint32_t target; // position in the row
	int64_t off;	 // target minus the sum of its terms; saturates
};

// Checks every invariant of the schema on a row. Those with an unknown or
// missing term are not judged. Fills at most `capacity` of ret_broken and
// returns how many are broken in all.
uint32_t analysis_invariants_check(const struct tele_schema *schema, const uint64_t *row,
				   uint32_t n_fields, struct analysis_broken *ret_broken,
				   uint32_t capacity);

#endif
