// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Descriptors of spans and segments. They live apart from the memory they
// describe, so no overflow of a block reaches them and no live slot keeps one
// of their pages.

#ifndef ALLOC_SPAN_H
#define ALLOC_SPAN_H

#include <stdatomic.h>

#include "classes.h"
#include "lock.h"
#include "words.h"

struct alloc_heap;
struct alloc_segment;

enum alloc_span_kind {
	ALLOC_SPAN_FREE, // unassigned: central's
	ALLOC_SPAN_SLOTS,
	ALLOC_SPAN_RUN_HEAD,
	ALLOC_SPAN_RUN_TAIL,
};

// Whose list a span is on; under its heap's lock.
enum alloc_span_place {
	ALLOC_PLACE_NONE, // full, or being worked on
	ALLOC_PLACE_CURRENT,
	ALLOC_PLACE_WARM, // has free slots on resident pages
	ALLOC_PLACE_EMPTY, // the same, and no other slots
	ALLOC_PLACE_COLD, // free slots need a page that is not resident
	ALLOC_PLACE_CLAIMED, // the reclaimer discards some of its pages
};

struct alloc_span {
	// Read by every thread that frees here; written only while nothing in
	// the span is live, but for `heap`.
	_Alignas(64) _Atomic(struct alloc_heap *) heap; // NULL unless SLOTS
	_Atomic uint8_t *states;	   // one or two bytes a slot
	_Atomic uint64_t *remote;	   // one bit a slot that a foreign thread freed
	unsigned char *base;
	uint32_t reciprocal;
	uint32_t slot_bytes;
	uint32_t magazine_offset; // of the class's magazine in a heap
	uint32_t order;		  // creation order of segments, then of spans
	uint8_t class;
	_Atomic uint8_t kind;
	uint8_t run_spans; // of a run's head
	uint8_t place;
	uint32_t drained_slack_bytes; // goes with G's drained slots; under the heap's lock
	union {
		void *table;	  // of slots: where `remote` and `states` lie
		size_t run_bytes; // of a run's head: requested
	};

	// Read by the walk, written by the holder.
	_Alignas(64) _Atomic uint64_t a;
	_Atomic uint64_t b;
	_Atomic uint64_t g;
	struct alloc_span *child, *next, *prev; // of the queue it is on
	struct alloc_span *mail_next;
	uint16_t n_free; // slots below the high water in state FREE
	uint16_t low;	 // no free slot lies below this one
	uint16_t idle;	 // pages that were free at the last reclaim and since
	_Atomic uint8_t mailed;
	_Atomic uint8_t pending; // reclaim has something to look at
};
_Static_assert(sizeof(struct alloc_span) == 128, "two cache lines a span");

struct alloc_segment {
	_Atomic uintptr_t base; // 0 while the segment is not mapped
	uint64_t canary;	// alloc_canary(), else something wrote here
	_Atomic(struct alloc_segment *) next; // in the directory, in creation order
	_Atomic(struct alloc_segment *) lookup_next; // of the same lookup slot
	uint32_t order;

	// Under central's lock.
	uint64_t free_mask; // unassigned spans
	uint64_t kept_mask; // those with resident pages
	uint64_t idle_mask; // those that were kept at the last reclaim
	uint64_t claimed_mask; // those the reclaimer works on, out of free_mask
	uint32_t run_limit; // no longer row of free spans exists
	struct alloc_segment *unmapped_next;

	struct alloc_span spans[ALLOC_SEGMENT_SPANS];
};

// The span of a block of which `segment` is known to hold the address, or of the
// address's offset in it.
static inline struct alloc_span *alloc_span_of(struct alloc_segment *segment, uintptr_t at)
{
	// spans[(at >> 16) & 63], as one shift and one mask.
	size_t offset = (at >> (ALLOC_SPAN_SHIFT - 7)) & ((ALLOC_SEGMENT_SPANS - 1) * sizeof(struct alloc_span));
	return (struct alloc_span *)(void *)((unsigned char *)segment->spans + offset);
}

// The upper half of offset * reciprocal is the slot that the offset falls into,
// and the lower half is less than the reciprocal only where a slot begins; exact
// for every offset of a span.
static inline uint64_t alloc_slot_product(uint32_t offset, uint32_t reciprocal)
{
	return (uint64_t)offset * reciprocal;
}

static inline uint32_t alloc_slot_of(uint64_t product)
{
	return (uint32_t)(product >> 32);
}

static inline bool alloc_begins_slot(uint64_t product, uint32_t reciprocal)
{
	return (uint32_t)product < reciprocal;
}

// Slots of at most ALLOC_NARROW_BYTES have no smaller reciprocal.
#define ALLOC_NARROW_RECIPROCAL (uint32_t)(((uint64_t)1 << 32) / ALLOC_NARROW_BYTES)

static inline bool alloc_span_is_wide(const struct alloc_span *span)
{
	return span->slot_bytes > ALLOC_NARROW_BYTES;
}

static inline uint32_t alloc_state_read(const struct alloc_span *span, uint32_t slot)
{
	if (alloc_span_is_wide(span))
		return atomic_load_explicit(&((_Atomic uint16_t *)span->states)[slot], memory_order_relaxed);
	return atomic_load_explicit(&span->states[slot], memory_order_relaxed);
}

static inline void alloc_state_write(struct alloc_span *span, uint32_t slot, uint32_t state)
{
	if (alloc_span_is_wide(span))
		atomic_store_explicit(&((_Atomic uint16_t *)span->states)[slot], (uint16_t)state,
				      memory_order_relaxed);
	else
		atomic_store_explicit(&span->states[slot], (uint8_t)state, memory_order_relaxed);
}

// The word has one writer at a time; the release pairs with the acquire of the
// walk, so that a reader who sees an operation sees those before it.
static inline void alloc_word_add(_Atomic uint64_t *word, uint64_t addend)
{
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
	// One instruction, which the compiler does not make of the lines below.
	__asm__ volatile("addq %1, %0" : "+m"(*word) : "er"(addend) : "cc", "memory");
#else
	atomic_store_explicit(word, atomic_load_explicit(word, memory_order_relaxed) + addend,
			      memory_order_release);
#endif
}

static inline uint64_t alloc_g_read(const struct alloc_span *span)
{
	return atomic_load_explicit(&span->g, memory_order_relaxed);
}

static inline void alloc_g_write(struct alloc_span *span, uint64_t g)
{
	atomic_store_explicit(&span->g, g, memory_order_release);
}

#endif
