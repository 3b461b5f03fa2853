// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Reading the books of the whole process, on any thread, without a lock.

#ifndef ALLOC_WALK_H
#define ALLOC_WALK_H

#include "books.h"

// One size class of the process.
struct alloc_class_row {
	uint64_t spans;
	uint64_t live_slots;
	uint64_t free_slots; // used once and free now
	uint64_t returned_bytes;
	uint64_t rounding_bytes;
};

struct alloc_reading {
	struct alloc_books books;
	uint64_t counted_bytes; // mapped, by the count that is kept beside the books
	bool settled;		// no mapping changed meanwhile: mapped equals counted
	uint64_t mallocs;	// blocks given out and taken back since the start;
	uint64_t frees;		// neither ever falls
};

// Fills *ret_reading, and rows[class] where rows is not NULL. Balanced whatever
// threads do meanwhile; exact when they do nothing.
void alloc_walk(struct alloc_reading *ret_reading, struct alloc_class_row rows[]);

#endif
