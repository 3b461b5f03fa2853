// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Memory for the allocator's own descriptors and tables: never unmapped, never
// near a block (a guard page on either side), all of it in the books.

#ifndef ALLOC_META_H
#define ALLOC_META_H

#include "lock.h"
#include "words.h"

struct alloc_meta_chunk {
	uint64_t canary; // alloc_canary(), looked at with each taking
	_Atomic(struct alloc_meta_chunk *) next;
	size_t size_bytes;	  // of the mapping, guards included
	_Atomic size_t used_bytes; // from the mapping's first byte on
};

extern _Atomic(struct alloc_meta_chunk *) alloc_meta_chunks;

// Zeroed memory aligned to 64 bytes that is never given back. Takes the meta
// lock, or maps. NULL when the kernel refuses.
void *alloc_meta_take(size_t size_bytes);

// A table for a span of the class, all zero, and the way back. A table comes
// back zeroed.
void *alloc_meta_take_table(uint32_t class);
void alloc_meta_give_table(uint32_t class, void *table);

// What of a chunk was ever touched, whole pages.
uint64_t alloc_meta_touched_bytes(struct alloc_meta_chunk *chunk);

extern struct alloc_lock alloc_meta_lock;

#endif
