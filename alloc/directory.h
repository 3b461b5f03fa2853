// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What is mapped, and which segment an address belongs to.

#ifndef ALLOC_DIRECTORY_H
#define ALLOC_DIRECTORY_H

#include "span.h"

#define ALLOC_LOOKUP_SLOTS 4096u

// Segments by the low bits of their number: the newest of those 16 GiB apart,
// which the slow lookup follows along lookup_next.
extern _Atomic(struct alloc_segment *) alloc_lookup[ALLOC_LOOKUP_SLOTS];

// All segments that were ever mapped, in the order of creation. A segment with
// base 0 is not mapped now.
extern _Atomic(struct alloc_segment *) alloc_segments;

// Bytes mapped by calls to mmap, munmap and mremap, kept beside the buckets and
// independent of them.
extern _Atomic uint64_t alloc_mapped_bytes;

// Odd while a mapping is entered or struck out. Pairs with the walk.
extern _Atomic uint64_t alloc_map_seq;

extern struct alloc_lock alloc_map_lock;

// Between the two the sequence is odd and the map lock held; what a walk can
// see of the mappings changes only in between. `delta_bytes` goes to the count.
void alloc_directory_begin(void);
void alloc_directory_end(int64_t delta_bytes);

// Gives a new descriptor its order and its canary. False past the last order.
bool alloc_directory_name(struct alloc_segment *segment);

// Enters a mapped segment, and strikes it out before it is unmapped.
void alloc_directory_add(struct alloc_segment *segment, uintptr_t base);
void alloc_directory_remove(struct alloc_segment *segment);

// The segment that holds the address, or NULL. Follows the chain.
struct alloc_segment *alloc_directory_find(uintptr_t at);

// The same for the newest segment of a lookup slot, which also says how far in
// the address lies. An address below the first segment may find a segment that
// is not mapped now.
static inline struct alloc_segment *alloc_directory_lookup(uintptr_t at, uintptr_t *ret_offset)
{
	struct alloc_segment *segment = atomic_load_explicit(
		&alloc_lookup[(at >> ALLOC_SEGMENT_SHIFT) % ALLOC_LOOKUP_SLOTS], memory_order_acquire);
	if (TELE_UNLIKELY(!segment))
		return NULL;
	uintptr_t offset = at ^ atomic_load_explicit(&segment->base, memory_order_relaxed);
	*ret_offset = offset;
	return TELE_LIKELY(offset < ALLOC_SEGMENT_BYTES) ? segment : NULL;
}

#endif
