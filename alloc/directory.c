// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The directory is a list that only grows: a segment that is unmapped keeps its
// descriptor, with base 0, until central maps memory for it again. So a walk
// follows it without a lock.

#include "directory.h"

#include "../libtelemetry/banned.h"

_Atomic(struct alloc_segment *) alloc_lookup[ALLOC_LOOKUP_SLOTS];
_Atomic(struct alloc_segment *) alloc_segments;
_Atomic uint64_t alloc_mapped_bytes;
_Atomic uint64_t alloc_map_seq;
struct alloc_lock alloc_map_lock;
static struct alloc_segment *directory_last;
static _Atomic uint32_t directory_count;

void alloc_directory_begin(void)
{
	alloc_lock_take(&alloc_map_lock);
	// seq_cst pairs with the two loads of the walk: what is stored in between
	// is not seen by a walk that read the same even number on both sides.
	atomic_fetch_add_explicit(&alloc_map_seq, 1, memory_order_seq_cst);
}

void alloc_directory_end(int64_t delta_bytes)
{
	atomic_fetch_add_explicit(&alloc_mapped_bytes, (uint64_t)delta_bytes, memory_order_relaxed);
	atomic_fetch_add_explicit(&alloc_map_seq, 1, memory_order_seq_cst);
	alloc_lock_drop(&alloc_map_lock);
}

static _Atomic(struct alloc_segment *) *lookup_slot(uintptr_t base)
{
	return &alloc_lookup[(base >> ALLOC_SEGMENT_SHIFT) % ALLOC_LOOKUP_SLOTS];
}

bool alloc_directory_name(struct alloc_segment *segment)
{
	if (segment->canary)
		return true;
	uint32_t order = atomic_fetch_add_explicit(&directory_count, 1, memory_order_relaxed);
	if (order > UINT32_MAX / ALLOC_SEGMENT_SPANS - 1)
		return false; // 256 TiB
	segment->canary = alloc_canary(&segment->canary, 'S');
	segment->order = order;
	for (uint32_t i = 0; i < ALLOC_SEGMENT_SPANS; i++)
		segment->spans[i].order = order * ALLOC_SEGMENT_SPANS + i;
	return true;
}

void alloc_directory_add(struct alloc_segment *segment, uintptr_t base)
{
	TELE_ASSERT(base && (base & (ALLOC_SEGMENT_BYTES - 1)) == 0);
	TELE_ASSERT(atomic_load_explicit(&segment->base, memory_order_relaxed) == 0);
	alloc_directory_begin();
	bool fresh = atomic_load_explicit(&segment->next, memory_order_relaxed) == NULL && segment != directory_last;
	for (uint32_t i = 0; i < ALLOC_SEGMENT_SPANS; i++)
		segment->spans[i].base = (unsigned char *)base + (size_t)i * ALLOC_SPAN_BYTES;
	atomic_store_explicit(&segment->base, base, memory_order_release);
	if (fresh) {
		if (directory_last)
			atomic_store_explicit(&directory_last->next, segment, memory_order_release);
		else
			atomic_store_explicit(&alloc_segments, segment, memory_order_release);
		directory_last = segment;
	}
	atomic_store_explicit(&segment->lookup_next, atomic_load_explicit(lookup_slot(base), memory_order_relaxed),
			      memory_order_relaxed);
	atomic_store_explicit(lookup_slot(base), segment, memory_order_release);
	alloc_directory_end((int64_t)ALLOC_SEGMENT_BYTES);
}

void alloc_directory_remove(struct alloc_segment *segment)
{
	uintptr_t base = atomic_load_explicit(&segment->base, memory_order_relaxed);
	TELE_ASSERT(base);
	alloc_directory_begin();
	_Atomic(struct alloc_segment *) *link = lookup_slot(base);
	while (atomic_load_explicit(link, memory_order_relaxed) != segment)
		link = &atomic_load_explicit(link, memory_order_relaxed)->lookup_next;
	atomic_store_explicit(link, atomic_load_explicit(&segment->lookup_next, memory_order_relaxed),
			      memory_order_release);
	for (uint32_t i = 0; i < ALLOC_SEGMENT_SPANS; i++)
		alloc_g_write(&segment->spans[i], 0);
	atomic_store_explicit(&segment->base, 0, memory_order_relaxed);
	alloc_directory_end(-(int64_t)ALLOC_SEGMENT_BYTES);
}

static struct alloc_segment *follow(uintptr_t at, uintptr_t base)
{
	struct alloc_segment *segment = atomic_load_explicit(lookup_slot(at), memory_order_acquire);
	while (segment && atomic_load_explicit(&segment->base, memory_order_relaxed) != base)
		segment = atomic_load_explicit(&segment->lookup_next, memory_order_acquire);
	return segment;
}

struct alloc_segment *alloc_directory_find(uintptr_t at)
{
	uintptr_t base = at & ~(ALLOC_SEGMENT_BYTES - 1);
	if (!base)
		return NULL;
	if (!atomic_load_explicit(lookup_slot(at), memory_order_acquire))
		return NULL;
	struct alloc_segment *segment = follow(at, base);
	if (segment)
		return segment;
	// Another segment of the chain may have left for another chain meanwhile,
	// and taken us along: once more, with all of them standing still.
	alloc_lock_take(&alloc_map_lock);
	segment = follow(at, base);
	alloc_lock_drop(&alloc_map_lock);
	return segment;
}
