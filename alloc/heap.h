// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Heaps. A thread owns one; its fast path touches only its magazines, the
// states of slots that its magazines or its program hold, and the words A of
// their spans, all without a lock. Everything else of a heap wants its lock,
// which the owner takes in the slow path only. When a thread exits, its heap is
// an orphan: a later thread adopts it whole, others take spans from it.

#ifndef ALLOC_HEAP_H
#define ALLOC_HEAP_H

#include "span.h"

// What a thread frees elsewhere waits until it is that many blocks or bytes: of
// mixed sizes each flush then finds several blocks of a span.
#define ALLOC_OUTBOX_SLOTS 256u
#define ALLOC_OUTBOX_BYTES 262144u

// Where a slot is: the span's address and the slot's number in one word.
static inline uint64_t alloc_entry(const struct alloc_span *span, uint32_t slot)
{
	return (uint64_t)(uintptr_t)span << 16 | slot;
}

static inline struct alloc_span *alloc_entry_span(uint64_t entry)
{
	return (struct alloc_span *)(uintptr_t)(entry >> 16);
}

static inline uint32_t alloc_entry_slot(uint64_t entry)
{
	return (uint32_t)entry & 0xffff;
}

// `word` has the length of the entries in its low 16 bits and counts all takings
// above them, so that one addition does both.
#define ALLOC_MAGAZINE_TAKEN ((uint64_t)1 << 16)

// A free slot in a magazine. The address is kept although it follows from the
// place: what a malloc returns then hangs on one load.
struct alloc_free_slot {
	unsigned char *block;
	uint64_t place;
};

struct alloc_magazine {
	_Atomic uint64_t word;
	struct alloc_free_slot *entries;
	uint32_t state_base; // less a requested size it is the state of its slot
	uint32_t room_bytes; // of entries a free may leave in it; 0: frees go aside
	_Atomic uint64_t refilled; // entries brought less entries taken away by the slow path
};

_Static_assert(sizeof(struct alloc_magazine) == ALLOC_MAGAZINE_BYTES, "the lookup tables count in these");

static inline size_t alloc_magazine_bytes(uint64_t word)
{
	return (uint16_t)word;
}

static inline uint32_t alloc_magazine_count(uint64_t word)
{
	return (uint32_t)(alloc_magazine_bytes(word) / sizeof(struct alloc_free_slot));
}

// What to add to the word for so many entries more.
static inline uint64_t alloc_magazine_entries(uint64_t n)
{
	return n * sizeof(struct alloc_free_slot);
}

struct alloc_bin {
	struct alloc_span *current; // refills come from here
	struct alloc_span *warm;    // spans with free slots on resident pages
	struct alloc_span *cold;    // spans whose free slots need a page
	uint32_t n_empty;	    // spans of warm whose slots are all free
	uint32_t n_spans;	    // all of the class; a thief counts late
	int64_t n_holes;	    // free slots below the high water of its spans
	uint32_t n_taken;	    // slots that refills took since the reclaim's last pass
	uint32_t n_wanted;	    // holes that this pass leaves for the next refills
	uint32_t pass;		    // the pass that set it
	// While there are many holes: slots freed at home, not to be given out
	// again before the holes of older spans. Owner only.
	uint32_t n_aside;
	struct alloc_free_slot *aside;
};

#define ALLOC_ASIDE_SLOTS 64u

enum alloc_heap_state {
	ALLOC_HEAP_OWNED,
	ALLOC_HEAP_ORPHAN,
};

struct alloc_heap {
	_Alignas(64) struct alloc_magazine magazines[ALLOC_CLASS_COUNT]; // first: see the tables of classes.h

	uint64_t canary; // alloc_canary(); each refill looks at it

	// Foreign blocks freed here and not yet flushed: the word C counts their
	// slot bytes and slack (alloc_pair_word). Owner only.
	_Atomic uint64_t c;
	uint32_t n_outbox;
	uint32_t outbox_max; // ALLOC_OUTBOX_SLOTS, or 0 in a heap that is none
	uint32_t slow_calls;
	uint64_t turned_bytes; // taken out of holey classes since the last early pass was asked for
	uint64_t outbox[ALLOC_OUTBOX_SLOTS];
	uint32_t outbox_slack_bytes[ALLOC_OUTBOX_SLOTS];
	_Atomic uint64_t foreign_frees;

	_Alignas(64) struct alloc_lock lock;
	uint8_t state;	   // under alloc_heaps_lock
	bool is_unflushed; // an orphan whose magazines are not empty; under alloc_heaps_lock
	_Atomic(struct alloc_heap *) next; // all heaps; never removed
	struct alloc_heap *orphan_next;
	struct alloc_bin bins[ALLOC_CLASS_COUNT];

	// Spans into which foreign threads have freed since the last drain.
	_Alignas(64) _Atomic(struct alloc_span *) mail;
};

// The calling thread's heap; one of the two below until it has one, and after
// it has none any more. Their magazines are empty and have no room.
extern __thread struct alloc_heap *alloc_self __attribute__((tls_model("initial-exec")));
extern struct alloc_heap alloc_heap_none;
extern struct alloc_heap alloc_heap_exited;

extern struct alloc_lock alloc_heaps_lock;
extern _Atomic(struct alloc_heap *) alloc_heaps;
extern struct alloc_heap *alloc_heap_orphans; // under alloc_heaps_lock
extern _Atomic uint32_t alloc_heap_n_orphans;

// Gives the calling thread a heap: an orphan or a new one. NULL without memory.
struct alloc_heap *alloc_heap_acquire(void);

// A new heap that no thread owns, or NULL.
struct alloc_heap *alloc_heap_create(void);

// Makes the calling thread's heap an orphan: flushes what it holds.
void alloc_heap_release(struct alloc_heap *heap);

// In the child of a fork: every heap but these two is an orphan now.
void alloc_heaps_orphan_all(const struct alloc_heap *own, const struct alloc_heap *shared);

// The owner takes free slots of the class into its magazine, at least one.
// Drains what foreign threads sent first. False when there is no memory.
bool alloc_heap_refill(struct alloc_heap *heap, uint32_t class);

// The owner's magazine of the class has no room for a slot that was freed: makes
// some, or puts the slot aside and returns true.
bool alloc_heap_make_room(struct alloc_heap *heap, uint32_t class, struct alloc_free_slot slot);

// The owner empties all its magazines and its outbox.
void alloc_heap_flush(struct alloc_heap *heap);

// Under the heap's lock: notes that a slot of the span became free, and puts
// the span where it belongs. A span whose last slot this was goes to central
// when the class has empty ones enough; it must not be looked at afterwards.
void alloc_heap_note_free(struct alloc_heap *heap, struct alloc_span *span);

// Under the heap's lock: gives a span whose slots are all free to central.
void alloc_heap_drop(struct alloc_heap *heap, struct alloc_span *span, bool idle);

// Under the heap's lock: whether more than a MiB of the class and one slot in
// eight is a hole. New blocks should then fill the holes of old spans, not the
// slot that was freed last, and no page of a young span will be wanted soon.
bool alloc_bin_is_holey(const struct alloc_bin *bin, uint32_t class);

// Under the heap's lock: off the queue the span is on, and onto the queue its
// free slots ask for.
void alloc_heap_detach(struct alloc_heap *heap, struct alloc_span *span);
void alloc_heap_place(struct alloc_heap *heap, struct alloc_span *span);

#endif
