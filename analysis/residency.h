// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Predicted residency against what the kernel says, and the difference split
// into named parts, from one row.

#ifndef ANALYSIS_RESIDENCY_H
#define ANALYSIS_RESIDENCY_H

#include "../libtelemetry/base.h"
#include "books.h"

// residual = file + shmem + own + other + untouched + huge, exactly, where all
// are known but huge, which is in other where it is not; untouched is negative
// or 0.
struct analysis_residency {
	uint64_t predicted_bytes;	// mapped - virgin - returned
	uint64_t predicted_floor_bytes; // also minus hysteresis
	uint64_t rss_bytes;
	struct analysis_signed residual_bytes;	// rss - predicted
	struct analysis_signed untouched_bytes; // asked for and never written
	// Resident bytes of virgin and returned that came along in huge pages.
	// Unknown where there are none.
	struct analysis_signed huge_bytes;
	struct analysis_signed file_bytes;	// resident file pages
	struct analysis_signed shmem_bytes;	// shared memory, our segment apart
	struct analysis_signed own_bytes;	// Rollcall's own pages and segment
	struct analysis_signed other_bytes;	// anonymous memory not from the malloc
	// How far the prediction is off inside the allocator's own mappings,
	// after what was never written and what huge pages brought along:
	// resident - huge - (predicted - untouched).
	struct analysis_signed error_bytes;
};

// Reads a row by its schema. A part that was not measured is unknown, and so
// is what would rest on it.
void analysis_residency_read(const struct tele_schema *schema, const uint64_t *row,
			     uint32_t n_fields, struct analysis_residency *ret_residency);

// The same for who has the books of that row already.
void analysis_residency_of_books(const struct tele_schema *schema, const uint64_t *row,
				 uint32_t n_fields, const struct analysis_books *books,
				 struct analysis_residency *ret_residency);

// The residual alone, for whoever reads every row.
struct analysis_signed analysis_residual_read(const struct tele_schema *schema, const uint64_t *row,
					      uint32_t n_fields);

#endif
