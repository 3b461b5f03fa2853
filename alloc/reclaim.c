// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A pass visits the spans that had a slot freed since they were last clean.
// Under the heap's lock it computes the pages without a live or cached slot and
// claims the span, so that no refill takes from it; the discard itself runs
// without a lock; then the page bits change, if and only if it succeeded.

#include "reclaim.h"

#include "central.h"
#include "central_internal.h"
#include "config.h"
#include "directory.h"
#include "heap.h"
#include "large.h"
#include "remote.h"
#include "sys.h"

#include "../libtelemetry/banned.h"

// How long the slow path leaves reclaim to a publisher that was here last.
#define PUBLISHER_NS 2000000000ull

// After a refusal, so many passes pass before the next try.
#define REFUSED_PASSES 64u

struct alloc_lock alloc_reclaim_lock;
_Atomic uint64_t alloc_reclaim_refused_bytes;
_Atomic int alloc_reclaim_refused_errno;
_Atomic uint64_t alloc_reclaim_discarded_bytes;
static _Atomic uint64_t reclaim_last_ns;
static _Atomic uint64_t reclaim_publisher_ns;
static uint32_t reclaim_pause; // under the reclaim lock

static bool discard(void *at, size_t size_bytes)
{
	int error = alloc_sys_discard(at, size_bytes);
	if (error == 0) {
		atomic_fetch_add_explicit(&alloc_reclaim_discarded_bytes, size_bytes, memory_order_relaxed);
		return true;
	}
	atomic_fetch_add_explicit(&alloc_reclaim_refused_bytes, size_bytes, memory_order_relaxed);
	atomic_store_explicit(&alloc_reclaim_refused_errno, -error, memory_order_relaxed);
	reclaim_pause = REFUSED_PASSES;
	return false;
}

// Discards the pages of the mask, run by run. Returns those that went.
static uint32_t discard_pages(unsigned char *base, uint32_t mask)
{
	uint32_t gone = 0;
	while (mask) {
		uint32_t first = (uint32_t)__builtin_ctz(mask);
		uint32_t n = (uint32_t)__builtin_ctz(~(mask >> first));
		uint32_t bits = alloc_page_mask(first, first + n - 1);
		if (discard(base + (size_t)first * ALLOC_PAGE_BYTES, (size_t)n * ALLOC_PAGE_BYTES))
			gone |= bits;
		mask &= ~bits;
	}
	return gone;
}

// Resident pages of the span that no live and no cached slot overlaps.
static uint32_t free_pages(const struct alloc_span *span)
{
	const struct alloc_class *class = &alloc_classes[span->class];
	uint64_t g = alloc_g_read(span);
	uint32_t pages = alloc_g_resident(g), high = alloc_g_high(g);
	if (span->n_free == high)
		return alloc_whole_pages(pages, true);
	for (uint32_t slot = 0; slot < high && pages; slot++) {
		uint32_t begin = slot * class->slot_bytes;
		if (alloc_state_read(span, slot) != ALLOC_STATE_FREE) {
			pages &= ~alloc_page_mask(begin / ALLOC_PAGE_BYTES,
						  (begin + class->slot_bytes - 1) / ALLOC_PAGE_BYTES);
			// The rest of this page cannot free it.
			uint32_t border = (begin / ALLOC_PAGE_BYTES + 1) * ALLOC_PAGE_BYTES;
			uint32_t next = (border - 1) / class->slot_bytes;
			if (next > slot + 1)
				slot = next - 1;
		}
	}
	return alloc_whole_pages(pages, true);
}

// Under the heap's lock: what to discard of the span, which is then claimed, or
// 0. A span that is empty for a whole pass goes to central instead.
static uint32_t claim_span(struct alloc_heap *heap, struct alloc_span *span, bool all)
{
	uint32_t pages = free_pages(span);
	uint32_t ripe = all ? pages : pages & span->idle;
	bool empty = span->n_free == alloc_g_high(alloc_g_read(span));
	span->idle = (uint16_t)(pages & ~ripe);
	if (!span->idle)
		atomic_store_explicit(&span->pending, 0, memory_order_relaxed);
	if (empty && (ripe || !pages)) {
		alloc_heap_detach(heap, span);
		alloc_heap_drop(heap, span, true);
		return 0;
	}
	if (!ripe)
		return 0;
	alloc_heap_detach(heap, span);
	span->place = ALLOC_PLACE_CLAIMED;
	return ripe;
}

static size_t reclaim_span(struct alloc_span *span, bool all)
{
	struct alloc_heap *heap = atomic_load_explicit(&span->heap, memory_order_acquire);
	if (!heap)
		return 0;
	if (all)
		alloc_lock_take(&heap->lock);
	else if (!alloc_lock_try(&heap->lock))
		return 0;
	uint32_t ripe = 0;
	if (atomic_load_explicit(&span->heap, memory_order_relaxed) == heap)
		ripe = claim_span(heap, span, all);
	alloc_lock_drop(&heap->lock);
	if (!ripe)
		return 0;

	uint32_t gone = discard_pages(span->base, ripe);

	alloc_lock_take(&heap->lock);
	TELE_ASSERT(span->place == ALLOC_PLACE_CLAIMED);
	uint64_t g = alloc_g_read(span);
	alloc_g_write(span, g & ~((uint64_t)gone << ALLOC_G_RESIDENT_SHIFT));
	span->place = ALLOC_PLACE_NONE;
	alloc_heap_place(heap, span);
	alloc_lock_drop(&heap->lock);
	return (size_t)__builtin_popcount(gone) * ALLOC_PAGE_BYTES;
}

static size_t reclaim_spans(bool all)
{
	size_t freed_bytes = 0;
	for (struct alloc_heap *heap = atomic_load_explicit(&alloc_heaps, memory_order_acquire); heap;
	     heap = atomic_load_explicit(&heap->next, memory_order_acquire)) {
		if (!atomic_load_explicit(&heap->mail, memory_order_relaxed) || !alloc_lock_try(&heap->lock))
			continue;
		alloc_remote_drain(heap, false);
		alloc_lock_drop(&heap->lock);
	}
	for (struct alloc_segment *segment = atomic_load_explicit(&alloc_segments, memory_order_acquire); segment;
	     segment = atomic_load_explicit(&segment->next, memory_order_acquire)) {
		if (!atomic_load_explicit(&segment->base, memory_order_relaxed))
			continue;
		for (uint32_t i = 0; i < ALLOC_SEGMENT_SPANS; i++) {
			struct alloc_span *span = &segment->spans[i];
			if (atomic_load_explicit(&span->pending, memory_order_relaxed) &&
			    atomic_load_explicit(&span->kind, memory_order_relaxed) == ALLOC_SPAN_SLOTS)
				freed_bytes += reclaim_span(span, all);
		}
	}
	return freed_bytes;
}

#define BATCH 16

struct batch {
	uint32_t n;
	struct alloc_segment *segments[BATCH];
	uint64_t ripe[BATCH]; // spans claimed, to be discarded
};

// Under central's lock: claims what is ripe in the next few segments, and notes
// those of which no span is assigned. Returns where to go on.
static struct alloc_segment *claim_batch(struct alloc_segment *segment, bool all, struct batch *batch)
{
	batch->n = 0;
	for (; segment && batch->n < BATCH; segment = atomic_load_explicit(&segment->next, memory_order_acquire)) {
		uint64_t ripe = all ? segment->kept_mask : segment->kept_mask & segment->idle_mask;
		segment->idle_mask = segment->kept_mask;
		if (!ripe && segment->free_mask != ~(uint64_t)0)
			continue;
		if (ripe)
			alloc_central_mark_taken(segment, ripe);
		batch->segments[batch->n] = segment;
		batch->ripe[batch->n++] = ripe;
	}
	return segment;
}

static size_t discard_spans(struct alloc_segment *segment, uint64_t ripe)
{
	size_t freed_bytes = 0;
	for (uint64_t rest = ripe; rest;) {
		uint32_t first = (uint32_t)__builtin_ctzll(rest);
		uint64_t shifted = ~(rest >> first);
		uint32_t n = shifted ? (uint32_t)__builtin_ctzll(shifted) : 64;
		if (n > ALLOC_SEGMENT_SPANS - first)
			n = ALLOC_SEGMENT_SPANS - first;
		uint64_t bits = (n == 64 ? ~(uint64_t)0 : ((uint64_t)1 << n) - 1) << first;
		bool gone = discard(segment->spans[first].base, (size_t)n * ALLOC_SPAN_BYTES);
		for (uint32_t i = first; gone && i < first + n; i++) {
			uint64_t g = alloc_g_read(&segment->spans[i]);
			freed_bytes += (size_t)__builtin_popcount(alloc_g_resident(g)) * ALLOC_PAGE_BYTES;
			alloc_g_write(&segment->spans[i], alloc_g_word(ALLOC_CLASS_NONE, false, 0, alloc_g_ever(g), 0, 0));
		}
		rest &= ~bits;
	}
	return freed_bytes;
}

// Under central's lock: the claimed spans are free again. Keeps of the batch
// the segments that hold nothing, all spans taken, but for one spare in all.
static void settle_batch(struct batch *batch, bool *spare)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < batch->n; i++) {
		struct alloc_segment *segment = batch->segments[i];
		if (batch->ripe[i])
			alloc_central_mark_free(segment, batch->ripe[i]);
		if (segment->free_mask != ~(uint64_t)0 || segment->kept_mask ||
		    !atomic_load_explicit(&segment->base, memory_order_relaxed))
			continue;
		if (*spare) {
			*spare = false;
			continue;
		}
		alloc_central_mark_taken(segment, ~(uint64_t)0);
		batch->segments[n++] = segment;
	}
	batch->n = n;
}

size_t alloc_central_reclaim(bool all)
{
	size_t freed_bytes = 0;
	struct alloc_segment *segment = atomic_load_explicit(&alloc_segments, memory_order_acquire);
	bool spare = true;
	while (segment) {
		struct batch batch;
		alloc_lock_take(&alloc_central_lock);
		segment = claim_batch(segment, all, &batch);
		alloc_lock_drop(&alloc_central_lock);
		for (uint32_t i = 0; i < batch.n; i++)
			freed_bytes += discard_spans(batch.segments[i], batch.ripe[i]);
		if (batch.n == 0)
			continue;
		alloc_lock_take(&alloc_central_lock);
		settle_batch(&batch, &spare);
		alloc_lock_drop(&alloc_central_lock);
		for (uint32_t i = 0; i < batch.n; i++)
			alloc_central_retire(batch.segments[i]);
	}
	return freed_bytes;
}

static size_t run_pass(uint64_t now_ns, bool all)
{
	size_t freed_bytes = reclaim_spans(all);
	freed_bytes += alloc_central_reclaim(all);
	return freed_bytes + alloc_large_reclaim(now_ns, all);
}

void alloc_reclaim_tick(bool from_publisher)
{
	uint64_t now_ns = alloc_sys_clock_ns();
	if (from_publisher)
		atomic_store_explicit(&reclaim_publisher_ns, now_ns, memory_order_relaxed);
	else if (now_ns - atomic_load_explicit(&reclaim_publisher_ns, memory_order_relaxed) < PUBLISHER_NS)
		return;
	uint64_t last_ns = atomic_load_explicit(&reclaim_last_ns, memory_order_relaxed);
	if (alloc_config.keeps || now_ns - last_ns < alloc_config.decay_ns / 2 || !alloc_lock_try(&alloc_reclaim_lock))
		return;
	atomic_store_explicit(&reclaim_last_ns, now_ns, memory_order_relaxed);
	if (reclaim_pause)
		reclaim_pause--;
	else
		run_pass(now_ns, false);
	alloc_lock_drop(&alloc_reclaim_lock);
}

void alloc_reclaim_poll(void)
{
	alloc_reclaim_tick(false);
}

size_t alloc_reclaim_all(void)
{
	alloc_lock_take(&alloc_reclaim_lock);
	reclaim_pause = 0;
	size_t freed_bytes = run_pass(alloc_sys_clock_ns(), true);
	alloc_lock_drop(&alloc_reclaim_lock);
	return freed_bytes;
}
