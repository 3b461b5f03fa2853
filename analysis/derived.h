// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Everything that follows from one row: what JSON calls `derived`, and what
// screens and rules of `check` read. One function, so that they cannot differ.

#ifndef ANALYSIS_DERIVED_H
#define ANALYSIS_DERIVED_H

#include "../libtelemetry/base.h"
#include "books.h"
#include "residency.h"

struct analysis_derived {
	struct analysis_books books;
	struct analysis_residency residency;
	uint64_t live_pools; // over all labels; TELE_UNKNOWN when one is
	uint64_t live_pool_bytes;
	struct analysis_signed live_modules;	    // loaded - unloaded
	struct analysis_signed unreleased_contexts; // created - released: not a live count
	struct analysis_signed unattributed;	    // devices' used - what this process holds there

	// Over all devices, as observers told it (outside.h); from the row alone unknown.
	struct analysis_signed overhead; // what the process has - what is live
	struct analysis_signed foreign;	 // used - what all processes have
};

void analysis_derived_read(const struct tele_schema *schema, const uint64_t *row, uint32_t n_fields,
			   struct analysis_derived *ret_derived);

// The numbers of `derived` by name, in the order of the JSON contract:
// "unexplained_bytes", "predicted_resident_bytes", ... Returns false past the
// last index. Unsigned ones come as their magnitude; `balanced` is not among
// them.
struct analysis_derived_number {
	const char *name;
	bool is_known;
	bool is_negative;
	uint64_t magnitude;
};
bool analysis_derived_at(const struct analysis_derived *derived, size_t index,
			 struct analysis_derived_number *ret_number);

#endif
