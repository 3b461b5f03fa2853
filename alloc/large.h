// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Blocks of more than 1 MiB: a mapping each, grown in place by mremap, and kept
// for a while when freed.

#ifndef ALLOC_LARGE_H
#define ALLOC_LARGE_H

#include <stdatomic.h>

#include "lock.h"
#include "words.h"

struct alloc_large {
	_Atomic uint64_t word; // L; 0 when the descriptor is not in use
	_Atomic(struct alloc_large *) next; // all descriptors, never removed
	_Atomic uintptr_t base;
	struct alloc_large *other_next; // in its hash bucket, the pool or the free list
	uint64_t pooled_at_ns;
};

extern _Atomic(struct alloc_large *) alloc_larges;
extern struct alloc_lock alloc_large_lock;

// A block aligned to `align` (a power of two). *ret_dirty_bytes gets how many
// bytes from the start may not be zero. NULL when the kernel refuses.
void *alloc_large_take(size_t size_bytes, size_t align, size_t *ret_dirty_bytes);

// The requested size of the block that begins at this address, and in
// *ret_usable_bytes its pages. False when there is none.
bool alloc_large_size(const void *at, size_t *ret_size_bytes, size_t *ret_usable_bytes);

// Frees the block that begins there. False when there is none.
bool alloc_large_give(void *at);

// Whether a block at this address, where none is now, was freed or moved away
// not long ago: one of the last 64.
bool alloc_large_was_freed(const void *at);

// Resizes the block, which may move. NULL when refused: it is untouched then.
void *alloc_large_resize(void *at, size_t size_bytes);

// Unmaps what has been pooled since before the decay time; with `all`, all that
// is pooled. Returns the bytes unmapped.
size_t alloc_large_reclaim(uint64_t now_ns, bool all);

#endif
