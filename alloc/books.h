// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The books: every mapped byte in exactly one bucket. Pure functions over the
// state words; walk.h reads a whole process with them.

#ifndef ALLOC_BOOKS_H
#define ALLOC_BOOKS_H

#include "words.h"

struct alloc_books {
	uint64_t mapped_bytes;
	uint64_t live_bytes;	 // asked for and not freed
	uint64_t rounding_bytes; // slot or page bytes beyond that
	uint64_t cache_bytes;	 // freed by a foreign thread, not yet home
	uint64_t span_free_bytes; // free and resident
	uint64_t returned_bytes; // touched once, given back since
	uint64_t virgin_bytes;	 // never touched
	uint64_t hysteresis_bytes; // emptied and kept, resident
	uint64_t segment_overhead_bytes; // descriptors and tables
	uint64_t large_count;
	uint64_t spans_assigned;
};

// The sum of the eight buckets.
uint64_t alloc_books_accounted(const struct alloc_books *books);

// Whether mapped equals that sum. True of all zeroes.
bool alloc_books_balanced(const struct alloc_books *books);

// Mapped less virgin less returned: what is resident if every live block has
// been written.
uint64_t alloc_books_predicted_resident(const struct alloc_books *books);

// The same less hysteresis: what is left when all that is kept goes.
uint64_t alloc_books_predicted_resident_floor(const struct alloc_books *books);

// Adds every term of `other`.
void alloc_books_merge(struct alloc_books *books, const struct alloc_books *other);

// Adds one span by its words, read in the order A, B with G the same before and
// after. Whatever the words are, exactly ALLOC_SPAN_BYTES are added to mapped
// and to the buckets together. slot_bytes is that of G's class, 0 for others.
void alloc_books_add_span(struct alloc_books *books, uint64_t g, uint64_t a, uint64_t b, uint32_t slot_bytes);

// Adds one mapping of its own by its word. A pooled one is hysteresis, or
// returned when its slack is not 0: its pages have then been given back.
void alloc_books_add_large(struct alloc_books *books, uint64_t l);

// Adds metadata: size_bytes mapped, of which touched_bytes were ever used.
void alloc_books_add_overhead(struct alloc_books *books, uint64_t size_bytes, uint64_t touched_bytes);

// Moves what threads have freed and not yet flushed from live and rounding to
// cache, as far as it is there.
void alloc_books_move_unflushed(struct alloc_books *books, uint64_t slot_bytes, uint64_t slack_bytes);

#endif
