// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A pass visits the spans that had a slot freed since they were last clean.
// Under the heap's lock it computes the pages without a live or cached slot and
// claims the span, so that no refill takes from it; the discard itself runs
// without a lock and for many spans at once; then the page bits change, if and
// only if it succeeded. Spans that are central's fare likewise.

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

// Early passes are that part of the decay time apart, at least.
#define EARLY_PART 8u

enum pass {
	PASS_EARLY, // what needs no second pass
	PASS_DUE,
	PASS_ALL,
};

// Some microseconds.
#define LOCK_TRIES 100

struct alloc_lock alloc_reclaim_lock;
_Atomic uint64_t alloc_reclaim_refused_bytes;
_Atomic int alloc_reclaim_refused_errno;
_Atomic uint64_t alloc_reclaim_discarded_bytes;
static _Atomic uint64_t reclaim_last_ns;
static _Atomic uint64_t reclaim_early_ns;
static _Atomic uint64_t reclaim_publisher_ns;
static uint32_t reclaim_pause; // under the reclaim lock
static uint32_t reclaim_pass;  // under the reclaim lock

// A span or spans of central's claimed for a discard: what it becomes is known
// when the kernel has answered.
struct claim {
	struct alloc_heap *heap; // NULL: of central
	struct alloc_span *span;
	uint32_t n_spans;
	uint32_t pages; // of one span: those to discard; then those that went
	uint32_t first_range, n_ranges;
};

#define CLAIMS_MAX 64u

// One call of the kernel discards many ranges: it flushes the other cores' views
// of them once, where a call a page costs ten times as much with threads
// running. Under the reclaim lock.
static struct {
	uint32_t n_claims, n_ranges;
	struct claim claims[CLAIMS_MAX];
	struct iovec ranges[ALLOC_SYS_RANGES_MAX];
	bool gone[ALLOC_SYS_RANGES_MAX];
} batch;

static bool batch_has_room(void)
{
	return batch.n_claims < CLAIMS_MAX && batch.n_ranges + ALLOC_SPAN_PAGES / 2 <= ALLOC_SYS_RANGES_MAX;
}

static struct claim *batch_add(struct alloc_heap *heap, struct alloc_span *span)
{
	TELE_ASSERT(batch_has_room());
	struct claim *claim = &batch.claims[batch.n_claims++];
	*claim = (struct claim){ .heap = heap, .span = span, .n_spans = 1, .first_range = batch.n_ranges };
	return claim;
}

static void batch_add_range(struct claim *claim, unsigned char *at, size_t size_bytes)
{
	batch.ranges[batch.n_ranges++] = (struct iovec){ at, size_bytes };
	claim->n_ranges++;
}

// Rows of pages, at most every other page.
static void batch_add_pages(struct claim *claim, uint32_t pages)
{
	claim->pages = pages;
	while (pages) {
		uint32_t first = (uint32_t)__builtin_ctz(pages);
		uint32_t n = (uint32_t)__builtin_ctz(~(pages >> first));
		batch_add_range(claim, claim->span->base + (size_t)first * ALLOC_PAGE_BYTES,
				(size_t)n * ALLOC_PAGE_BYTES);
		pages &= ~alloc_page_mask(first, first + n - 1);
	}
}

static bool discard(const struct iovec *range)
{
	int error = alloc_sys_discard(range->iov_base, range->iov_len);
	if (error == 0)
		return true;
	atomic_fetch_add_explicit(&alloc_reclaim_refused_bytes, range->iov_len, memory_order_relaxed);
	atomic_store_explicit(&alloc_reclaim_refused_errno, -error, memory_order_relaxed);
	reclaim_pause = REFUSED_PASSES;
	return false;
}

// Discards all ranges of the batch and notes which of them went.
static void discard_batch(bool from_publisher)
{
	// Only on the publisher's thread, which meets no seccomp filter but one from
	// before exec, or one that came by a way nobody sees.
	static bool cannot;
	int64_t at_once_bytes = 0;
	bool at_once = from_publisher && batch.n_ranges > 1 && !cannot && !alloc_sys_is_filtered();
	if (at_once)
		at_once_bytes = alloc_sys_discard_many(batch.ranges, batch.n_ranges);
	bool refused = at_once_bytes < 0;
	for (uint32_t i = 0; i < batch.n_ranges; i++) {
		const struct iovec *range = &batch.ranges[i];
		at_once_bytes -= (int64_t)range->iov_len;
		batch.gone[i] = at_once_bytes >= 0 || discard(range);
		if (batch.gone[i])
			atomic_fetch_add_explicit(&alloc_reclaim_discarded_bytes, range->iov_len, memory_order_relaxed);
	}
	if (refused && batch.gone[0])
		cannot = true; // the call, not the range
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

// Under the heap's lock: whether the span's free pages need not wait for a
// second pass. While the class has many holes refills fill those of its oldest
// spans, and spans are visited oldest first: of what refills took since the last
// pass half is left for the next, and the holes behind that nobody will want so
// soon.
static bool is_beyond_want(struct alloc_heap *heap, const struct alloc_span *span)
{
	struct alloc_bin *bin = &heap->bins[span->class];
	if (bin->pass != reclaim_pass) {
		bin->pass = reclaim_pass;
		bin->n_wanted = bin->n_taken / 2;
		bin->n_taken = 0;
	}
	bool beyond = bin->n_wanted == 0 && alloc_bin_is_holey(bin, span->class);
	bin->n_wanted -= span->n_free < bin->n_wanted ? span->n_free : bin->n_wanted;
	return beyond;
}

// Under the heap's lock: what to discard of the span, which is then claimed, or
// 0. A span that is empty for a whole pass goes to central instead.
static uint32_t claim_span(struct alloc_heap *heap, struct alloc_span *span, enum pass pass)
{
	bool is_beyond = is_beyond_want(heap, span);
	if (pass == PASS_EARLY && !is_beyond)
		return 0;
	uint32_t pages = free_pages(span);
	uint32_t ripe = is_beyond || pass == PASS_ALL ? pages : pages & span->idle;
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

// Who holds the lock is in a refill and soon out of it; if not, its spans can
// wait for the next pass.
static bool take_soon(struct alloc_lock *lock)
{
	for (int i = 0; i < LOCK_TRIES; i++)
		if (alloc_lock_try(lock))
			return true;
	return false;
}

// Claims the free pages of the span into the batch.
static void visit_span(struct alloc_span *span, enum pass pass)
{
	struct alloc_heap *heap = atomic_load_explicit(&span->heap, memory_order_acquire);
	if (!heap)
		return;
	if (pass == PASS_ALL)
		alloc_lock_take(&heap->lock);
	else if (!take_soon(&heap->lock))
		return;
	uint32_t ripe = 0;
	if (atomic_load_explicit(&span->heap, memory_order_relaxed) == heap)
		ripe = claim_span(heap, span, pass);
	alloc_lock_drop(&heap->lock);
	if (ripe)
		batch_add_pages(batch_add(heap, span), ripe);
}

// The pages that went are not resident, the span is its heap's again.
static size_t settle_span(const struct claim *claim)
{
	struct alloc_span *span = claim->span;
	uint32_t gone = 0;
	for (uint32_t i = claim->first_range; i < claim->first_range + claim->n_ranges; i++) {
		uint32_t first = (uint32_t)((unsigned char *)batch.ranges[i].iov_base - span->base) / ALLOC_PAGE_BYTES;
		uint32_t n = (uint32_t)(batch.ranges[i].iov_len / ALLOC_PAGE_BYTES);
		if (batch.gone[i])
			gone |= alloc_page_mask(first, first + n - 1);
	}
	alloc_lock_take(&claim->heap->lock);
	TELE_ASSERT(span->place == ALLOC_PLACE_CLAIMED);
	uint64_t g = alloc_g_read(span);
	alloc_g_write(span, g & ~((uint64_t)gone << ALLOC_G_RESIDENT_SHIFT));
	span->place = ALLOC_PLACE_NONE;
	alloc_heap_place(claim->heap, span);
	alloc_lock_drop(&claim->heap->lock);
	return (size_t)__builtin_popcount(gone) * ALLOC_PAGE_BYTES;
}

static size_t settle_spans(bool from_publisher)
{
	size_t freed_bytes = 0;
	discard_batch(from_publisher);
	for (uint32_t i = 0; i < batch.n_claims; i++)
		freed_bytes += settle_span(&batch.claims[i]);
	batch.n_claims = batch.n_ranges = 0;
	return freed_bytes;
}

static size_t reclaim_spans(enum pass pass, bool from_publisher)
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
			if (!atomic_load_explicit(&span->pending, memory_order_relaxed) ||
			    atomic_load_explicit(&span->kind, memory_order_relaxed) != ALLOC_SPAN_SLOTS)
				continue;
			visit_span(span, pass);
			if (!batch_has_room())
				freed_bytes += settle_spans(from_publisher);
		}
	}
	return freed_bytes + settle_spans(from_publisher);
}

#define SEGMENTS_MAX 16

struct claimed_segments {
	uint32_t n;
	struct alloc_segment *segments[SEGMENTS_MAX];
	uint64_t ripe[SEGMENTS_MAX]; // spans claimed, to be discarded
};

// Under central's lock: claims what is ripe in the next few segments, and notes
// those of which no span is assigned. Returns where to go on.
static struct alloc_segment *claim_segments(struct alloc_segment *segment, bool all, struct claimed_segments *claimed)
{
	claimed->n = 0;
	for (; segment && claimed->n < SEGMENTS_MAX;
	     segment = atomic_load_explicit(&segment->next, memory_order_acquire)) {
		uint64_t ripe = all ? segment->kept_mask : segment->kept_mask & segment->idle_mask;
		segment->idle_mask = segment->kept_mask;
		if (!ripe && segment->free_mask != ~(uint64_t)0)
			continue;
		if (ripe)
			alloc_central_mark_taken(segment, ripe);
		claimed->segments[claimed->n] = segment;
		claimed->ripe[claimed->n++] = ripe;
	}
	return segment;
}

// Of the spans of the mask those that went are virgin or returned.
static size_t settle_central(bool from_publisher)
{
	size_t freed_bytes = 0;
	discard_batch(from_publisher);
	for (uint32_t i = 0; i < batch.n_claims; i++) {
		const struct claim *claim = &batch.claims[i];
		for (uint32_t k = 0; batch.gone[claim->first_range] && k < claim->n_spans; k++) {
			uint64_t g = alloc_g_read(&claim->span[k]);
			freed_bytes += (size_t)__builtin_popcount(alloc_g_resident(g)) * ALLOC_PAGE_BYTES;
			alloc_g_write(&claim->span[k], alloc_g_word(ALLOC_CLASS_NONE, false, 0, alloc_g_ever(g), 0, 0));
		}
	}
	batch.n_claims = batch.n_ranges = 0;
	return freed_bytes;
}

static size_t discard_segment(struct alloc_segment *segment, uint64_t ripe, bool from_publisher)
{
	size_t freed_bytes = 0;
	for (uint64_t rest = ripe; rest;) {
		uint32_t first = (uint32_t)__builtin_ctzll(rest);
		uint64_t shifted = ~(rest >> first);
		uint32_t n = shifted ? (uint32_t)__builtin_ctzll(shifted) : 64;
		if (n > ALLOC_SEGMENT_SPANS - first)
			n = ALLOC_SEGMENT_SPANS - first;
		struct claim *claim = batch_add(NULL, &segment->spans[first]);
		claim->n_spans = n;
		batch_add_range(claim, segment->spans[first].base, (size_t)n * ALLOC_SPAN_BYTES);
		rest &= ~((n == 64 ? ~(uint64_t)0 : ((uint64_t)1 << n) - 1) << first);
		if (!batch_has_room())
			freed_bytes += settle_central(from_publisher);
	}
	return freed_bytes;
}

// Under central's lock: the claimed spans are free again. Keeps in `claimed` the
// segments that hold nothing, all spans taken, but for one spare in all.
static void settle_segments(struct claimed_segments *claimed, bool *spare)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < claimed->n; i++) {
		struct alloc_segment *segment = claimed->segments[i];
		if (claimed->ripe[i])
			alloc_central_mark_free(segment, claimed->ripe[i]);
		if (segment->free_mask != ~(uint64_t)0 || segment->kept_mask ||
		    !atomic_load_explicit(&segment->base, memory_order_relaxed))
			continue;
		if (*spare) {
			*spare = false;
			continue;
		}
		alloc_central_mark_taken(segment, ~(uint64_t)0);
		claimed->segments[n++] = segment;
	}
	claimed->n = n;
}

static size_t reclaim_central(bool all, bool from_publisher)
{
	size_t freed_bytes = 0;
	struct alloc_segment *segment = atomic_load_explicit(&alloc_segments, memory_order_acquire);
	bool spare = true;
	while (segment) {
		struct claimed_segments claimed;
		alloc_lock_take(&alloc_central_lock);
		segment = claim_segments(segment, all, &claimed);
		alloc_lock_drop(&alloc_central_lock);
		for (uint32_t i = 0; i < claimed.n; i++)
			freed_bytes += discard_segment(claimed.segments[i], claimed.ripe[i], from_publisher);
		freed_bytes += settle_central(from_publisher);
		if (claimed.n == 0)
			continue;
		alloc_lock_take(&alloc_central_lock);
		settle_segments(&claimed, &spare);
		alloc_lock_drop(&alloc_central_lock);
		for (uint32_t i = 0; i < claimed.n; i++)
			alloc_central_retire(claimed.segments[i]);
	}
	return freed_bytes;
}

static size_t run_pass(uint64_t now_ns, enum pass pass, bool from_publisher)
{
	reclaim_pass++;
	size_t freed_bytes = reclaim_spans(pass, from_publisher);
	if (pass == PASS_EARLY)
		return freed_bytes;
	freed_bytes += reclaim_central(pass == PASS_ALL, from_publisher);
	return freed_bytes + alloc_large_reclaim(now_ns, pass == PASS_ALL);
}

// Runs a pass unless one ran so lately, or runs.
static void run_after(uint64_t now_ns, uint64_t interval_ns, _Atomic uint64_t *last_ns, enum pass pass,
		      bool from_publisher)
{
	if (alloc_config.keeps || now_ns - atomic_load_explicit(last_ns, memory_order_relaxed) < interval_ns ||
	    !alloc_lock_try(&alloc_reclaim_lock))
		return;
	atomic_store_explicit(last_ns, now_ns, memory_order_relaxed);
	if (!reclaim_pause)
		run_pass(now_ns, pass, from_publisher);
	else if (pass == PASS_DUE)
		reclaim_pause--;
	alloc_lock_drop(&alloc_reclaim_lock);
}

void alloc_reclaim_tick(bool from_publisher)
{
	uint64_t now_ns = alloc_sys_clock_ns();
	if (from_publisher)
		atomic_store_explicit(&reclaim_publisher_ns, now_ns, memory_order_relaxed);
	else if (now_ns - atomic_load_explicit(&reclaim_publisher_ns, memory_order_relaxed) < PUBLISHER_NS)
		return;
	run_after(now_ns, alloc_config.decay_ns / 2, &reclaim_last_ns, PASS_DUE, from_publisher);
}

void alloc_reclaim_tend(void)
{
	run_after(alloc_sys_clock_ns(), alloc_config.decay_ns / EARLY_PART, &reclaim_early_ns, PASS_EARLY, true);
}

void alloc_reclaim_poll(void)
{
	alloc_reclaim_tick(false);
}

size_t alloc_reclaim_all(void)
{
	alloc_lock_take(&alloc_reclaim_lock);
	reclaim_pause = 0;
	size_t freed_bytes = run_pass(alloc_sys_clock_ns(), PASS_ALL, false);
	alloc_lock_drop(&alloc_reclaim_lock);
	return freed_bytes;
}
