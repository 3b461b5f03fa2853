// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What the kernel holds of our mappings, shared out among the buckets.

#ifndef ALLOC_RESIDENCY_H
#define ALLOC_RESIDENCY_H

#include "books.h"

// Resident bytes; the members of `buckets` that are no buckets stay 0.
struct alloc_residency {
	uint64_t resident_bytes;
	uint64_t live_bytes;
	struct alloc_books buckets;
};

// Asks the kernel about every page of ours and fills *ret_residency; live_bytes
// is what was live on the pages that were asked about. Exact at rest, off by
// the operations that overlap else. Any thread, one at a time; takes no lock;
// about half a millisecond a GiB, and more where blocks were never written.
void alloc_residency(struct alloc_residency *ret_residency);

#endif
