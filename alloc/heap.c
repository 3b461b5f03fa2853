// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The life of a heap: made for a thread, left by it, adopted by another. Heaps
// are never freed; there are at most as many as there were threads at once.
// What a span's slots are free for is kept in two queues a class, oldest span
// first, so that new blocks pack into old spans and young spans run empty.

#include "heap.h"

#include <string.h>

#include "central.h"
#include "meta.h"
#include "queue.h"
#include "remote.h"

#include "../libtelemetry/banned.h"

// How many spans whose slots are all free a class keeps to itself: those of
// small slots, which take a while to fill again.
static uint32_t empty_spans_max(uint32_t class)
{
	return alloc_classes[class].slot_bytes <= 4096 ? 1 : 0;
}

__thread struct alloc_heap *alloc_self __attribute__((tls_model("initial-exec"))) = &alloc_heap_none;
struct alloc_heap alloc_heap_none;
struct alloc_heap alloc_heap_exited;

struct alloc_lock alloc_heaps_lock;
_Atomic(struct alloc_heap *) alloc_heaps;
struct alloc_heap *alloc_heap_orphans;
_Atomic uint32_t alloc_heap_n_orphans;

struct alloc_heap *alloc_heap_create(void)
{
	struct alloc_heap *heap = alloc_meta_take(sizeof(*heap));
	if (!heap)
		return NULL;
	for (uint32_t c = 1; c < ALLOC_CLASS_COUNT; c++)
		heap->magazines[c].state_base = alloc_classes[c].slot_bytes + ALLOC_STATE_LIVE;
	heap->outbox_max = ALLOC_OUTBOX_SLOTS;
	heap->canary = alloc_canary(&heap->canary, 'H');
	alloc_lock_take(&alloc_heaps_lock);
	atomic_store_explicit(&heap->next, atomic_load_explicit(&alloc_heaps, memory_order_relaxed),
			      memory_order_relaxed);
	atomic_store_explicit(&alloc_heaps, heap, memory_order_release);
	alloc_lock_drop(&alloc_heaps_lock);
	return heap;
}

struct alloc_heap *alloc_heap_acquire(void)
{
	alloc_lock_take(&alloc_heaps_lock);
	struct alloc_heap *heap = alloc_heap_orphans;
	if (heap) {
		alloc_heap_orphans = heap->orphan_next;
		heap->state = ALLOC_HEAP_OWNED;
		heap->is_unflushed = false;
		atomic_fetch_sub_explicit(&alloc_heap_n_orphans, 1, memory_order_relaxed);
	}
	alloc_lock_drop(&alloc_heaps_lock);
	if (!heap)
		return alloc_heap_create();
	// Whoever held the orphan (a thief, the reclaimer) is done with it after this.
	alloc_lock_take(&heap->lock);
	alloc_lock_drop(&heap->lock);
	return heap;
}

static void make_orphan(struct alloc_heap *heap)
{
	heap->state = ALLOC_HEAP_ORPHAN;
	heap->orphan_next = alloc_heap_orphans;
	alloc_heap_orphans = heap;
	atomic_fetch_add_explicit(&alloc_heap_n_orphans, 1, memory_order_relaxed);
}

void alloc_heap_release(struct alloc_heap *heap)
{
	alloc_heap_flush(heap);
	alloc_lock_take(&alloc_heaps_lock);
	make_orphan(heap);
	alloc_lock_drop(&alloc_heaps_lock);
}

void alloc_heaps_orphan_all(const struct alloc_heap *own, const struct alloc_heap *shared)
{
	for (struct alloc_heap *heap = atomic_load_explicit(&alloc_heaps, memory_order_relaxed); heap;
	     heap = atomic_load_explicit(&heap->next, memory_order_relaxed)) {
		if (heap == own || heap == shared || heap->state == ALLOC_HEAP_ORPHAN)
			continue;
		// The thread may have stopped between an entry and its count.
		uint64_t c = 0;
		for (uint32_t i = 0; i < heap->n_outbox; i++)
			c += alloc_pair_word(alloc_entry_span(heap->outbox[i])->slot_bytes,
					     heap->outbox_slack_bytes[i]);
		atomic_store_explicit(&heap->c, c, memory_order_relaxed);
		make_orphan(heap);
		heap->is_unflushed = true; // most children exec before it matters
	}
}

void alloc_heap_detach(struct alloc_heap *heap, struct alloc_span *span)
{
	struct alloc_bin *bin = &heap->bins[span->class];
	switch (span->place) {
	case ALLOC_PLACE_CURRENT:
		bin->current = NULL;
		break;
	case ALLOC_PLACE_EMPTY:
		bin->n_empty--;
		alloc_queue_remove(&bin->warm, span);
		break;
	case ALLOC_PLACE_WARM:
		alloc_queue_remove(&bin->warm, span);
		break;
	case ALLOC_PLACE_COLD:
		alloc_queue_remove(&bin->cold, span);
		break;
	default:
		break;
	}
	span->place = ALLOC_PLACE_NONE;
}

#define HOLES_BYTES ((int64_t)1 << 20)

bool alloc_bin_is_holey(const struct alloc_bin *bin, uint32_t class)
{
	const struct alloc_class *sizes = &alloc_classes[class];
	return bin->n_holes * sizes->slot_bytes > HOLES_BYTES &&
	       bin->n_holes * 8 > (int64_t)bin->n_spans * sizes->n_slots;
}

// Whether the first slot above the high water lies on resident pages: in a span
// that another class had before.
static bool is_fresh_resident(const struct alloc_span *span, uint64_t g)
{
	uint32_t high = alloc_g_high(g);
	if (high == alloc_classes[span->class].n_slots)
		return false;
	uint32_t begin = high * span->slot_bytes;
	uint32_t pages =
		alloc_page_mask(begin / ALLOC_PAGE_BYTES, (begin + span->slot_bytes - 1) / ALLOC_PAGE_BYTES);
	return (pages & ~alloc_g_resident(g)) == 0;
}

void alloc_heap_place(struct alloc_heap *heap, struct alloc_span *span)
{
	struct alloc_bin *bin = &heap->bins[span->class];
	uint64_t g = alloc_g_read(span);
	TELE_ASSERT(span->place == ALLOC_PLACE_NONE);
	if (span->n_free == 0 && alloc_g_high(g) == alloc_classes[span->class].n_slots)
		return;
	if (alloc_g_resident(g) == 0 || (span->n_free == 0 && !is_fresh_resident(span, g))) {
		span->place = ALLOC_PLACE_COLD;
		alloc_queue_push(&bin->cold, span);
		return;
	}
	bool empty = span->n_free == alloc_g_high(g);
	span->place = empty ? ALLOC_PLACE_EMPTY : ALLOC_PLACE_WARM;
	bin->n_empty += empty;
	alloc_queue_push(&bin->warm, span);
}

void alloc_heap_drop(struct alloc_heap *heap, struct alloc_span *span, bool idle)
{
	heap->bins[span->class].n_spans--;
	heap->bins[span->class].n_holes -= span->n_free;
	alloc_central_give(span, idle);
}

void alloc_heap_note_free(struct alloc_heap *heap, struct alloc_span *span)
{
	struct alloc_bin *bin = &heap->bins[span->class];
	atomic_store_explicit(&span->pending, 1, memory_order_relaxed);
	if (span->place == ALLOC_PLACE_CURRENT || span->place == ALLOC_PLACE_CLAIMED ||
	    span->place == ALLOC_PLACE_EMPTY)
		return;
	bool empty = span->n_free == alloc_g_high(alloc_g_read(span));
	if (span->place == ALLOC_PLACE_WARM && !empty)
		return;
	alloc_heap_detach(heap, span);
	if (empty && bin->n_empty >= empty_spans_max(span->class))
		alloc_heap_drop(heap, span, false);
	else
		alloc_heap_place(heap, span);
}
