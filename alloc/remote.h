// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Frees into spans of other heaps. A thread gathers them in its outbox (word
// C), hands them over in batches as bits of the span (word B), and mails the
// span to its heap; whoever holds that heap drains.

#ifndef ALLOC_REMOTE_H
#define ALLOC_REMOTE_H

#include "heap.h"

// Puts a live slot of a foreign span into the outbox, flushing it when full.
// The heap is one: its outbox_max is not 0.
static inline void alloc_remote_free(struct alloc_heap *heap, struct alloc_span *span, uint32_t slot,
				     uint32_t slack_bytes);

// Hands over everything in the outbox. Takes the heap's own lock.
void alloc_remote_flush(struct alloc_heap *heap);

// Hands over a single slot at once, for threads without a heap.
void alloc_remote_hand_over(struct alloc_span *span, uint32_t slot, uint32_t slack_bytes);

// Under the heap's lock: takes home all that was mailed. `owns` says that the
// caller may write the words A of the heap's spans: it is the owner, or there
// is none.
void alloc_remote_drain(struct alloc_heap *heap, bool owns);

// Under the heap's lock, for a caller that owns: settles drained slots.
void alloc_remote_fold(struct alloc_span *span);

static inline void alloc_remote_free(struct alloc_heap *heap, struct alloc_span *span, uint32_t slot,
				     uint32_t slack_bytes)
{
	uint32_t n = heap->n_outbox;
	heap->outbox[n] = alloc_entry(span, slot);
	heap->outbox_slack_bytes[n] = slack_bytes;
	alloc_word_add(&heap->c, alloc_pair_word(span->slot_bytes, slack_bytes));
	alloc_word_add(&heap->foreign_frees, 1);
	atomic_signal_fence(memory_order_release);
	heap->n_outbox = n + 1;
	if (TELE_UNLIKELY(n + 1 == ALLOC_OUTBOX_SLOTS ||
			  alloc_pair_slots(atomic_load_explicit(&heap->c, memory_order_relaxed)) >= ALLOC_OUTBOX_BYTES))
		alloc_remote_flush(heap);
}

#endif
