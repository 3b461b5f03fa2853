// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Runs: 32 KiB to 1 MiB on consecutive spans of one segment. Each span of a run
// says of itself how many of its pages live and how many bytes of the last one
// are slack, so the walk needs no head. A run may hold more spans than it lives
// on: that is the room it grows into, and it costs addresses only.

#include "central.h"

#include "central_internal.h"
#include "index.h"

#include "../libtelemetry/banned.h"

// Where n set bits in a row begin, on a multiple of `step`, or -1.
static int find_bits(uint64_t mask, uint32_t n, uint32_t step)
{
	uint32_t have = 1;
	while (have < n && mask) {
		uint32_t shift = n - have < have ? n - have : have;
		mask &= mask >> shift;
		have += shift;
	}
	for (; mask; mask &= mask - 1) {
		int at = __builtin_ctzll(mask);
		if ((uint32_t)at % step == 0)
			return at;
	}
	return -1;
}

static uint64_t bits_of(uint32_t at, uint32_t n)
{
	return (n == 64 ? ~(uint64_t)0 : ((uint64_t)1 << n) - 1) << at;
}

// Writes the words of all the run's spans for size_bytes live bytes.
static void set_live(struct alloc_span *head, uint32_t n_spans, size_t size_bytes)
{
	size_t pages = (size_bytes + ALLOC_PAGE_BYTES - 1) / ALLOC_PAGE_BYTES;
	uint32_t slack_bytes = (uint32_t)(pages * ALLOC_PAGE_BYTES - size_bytes);
	for (uint32_t i = 0; i < n_spans; i++) {
		struct alloc_span *span = &head[i];
		uint64_t g = alloc_g_read(span);
		uint32_t here = pages < ALLOC_SPAN_PAGES ? (uint32_t)pages : ALLOC_SPAN_PAGES;
		pages -= here;
		uint32_t touched = here ? alloc_whole_pages(alloc_page_mask(0, here - 1), false) : 0;
		uint32_t resident = alloc_g_resident(g) | touched;
		bool last = here && pages == 0;
		alloc_g_write(span, alloc_g_word(ALLOC_CLASS_RUN, false, resident, alloc_g_ever(g) | touched, here,
						 last ? slack_bytes : 0));
		atomic_store_explicit(&span->kind, i == 0 ? ALLOC_SPAN_RUN_HEAD : ALLOC_SPAN_RUN_TAIL,
				      memory_order_relaxed);
	}
	head->run_spans = (uint8_t)n_spans;
	head->run_bytes = size_bytes;
}

// The bytes from the run's start up to its last page that is not zero.
static size_t dirty_bytes(const struct alloc_span *head, uint32_t n_spans)
{
	for (uint32_t i = n_spans; i-- > 0;) {
		uint32_t resident = alloc_g_resident(alloc_g_read(&head[i]));
		if (resident)
			return (size_t)i * ALLOC_SPAN_BYTES +
			       (size_t)(32 - __builtin_clz(resident)) * ALLOC_PAGE_BYTES;
	}
	return 0;
}

static struct alloc_span *take_from(struct alloc_segment *segment, uint64_t from, uint32_t n_spans, uint32_t step,
				    uint32_t n_room)
{
	int at = find_bits(from, n_spans, step);
	if (at < 0)
		return NULL;
	alloc_central_check(segment);
	while (n_spans < n_room && (uint32_t)at + n_spans < ALLOC_SEGMENT_SPANS &&
	       segment->free_mask & (uint64_t)1 << ((uint32_t)at + n_spans))
		n_spans++;
	alloc_central_mark_taken(segment, bits_of((uint32_t)at, n_spans));
	segment->spans[at].run_spans = (uint8_t)n_spans;
	return &segment->spans[at];
}

static struct alloc_span *search(uint32_t n_spans, uint32_t step, uint32_t n_room)
{
	for (struct alloc_segment *segment = alloc_index_kept(0); segment; segment = alloc_index_kept(segment->order + 1)) {
		struct alloc_span *head = segment->run_limit < n_spans
						  ? NULL
						  : take_from(segment, segment->kept_mask, n_spans, step, n_room);
		if (head)
			return head;
	}
	for (struct alloc_segment *segment = alloc_index_free(0); segment; segment = alloc_index_free(segment->order + 1)) {
		if (segment->run_limit < n_spans)
			continue;
		struct alloc_span *head = take_from(segment, segment->free_mask, n_spans, step, n_room);
		if (head)
			return head;
		if (step == 1)
			segment->run_limit = n_spans - 1;
	}
	return NULL;
}

static uint32_t spans_for(size_t size_bytes)
{
	size_t n_spans = (size_bytes + ALLOC_SPAN_BYTES - 1) / ALLOC_SPAN_BYTES;
	return n_spans ? (uint32_t)n_spans : 1;
}

void *alloc_run_take(size_t size_bytes, size_t align, size_t room_bytes, size_t *ret_dirty_bytes)
{
	TELE_ASSERT(size_bytes <= ALLOC_RUN_BYTES_MAX && align <= ALLOC_SEGMENT_BYTES);
	uint32_t n_spans = spans_for(size_bytes);
	uint32_t n_room = spans_for(room_bytes < ALLOC_RUN_BYTES_MAX ? room_bytes : ALLOC_RUN_BYTES_MAX);
	uint32_t step = align <= ALLOC_SPAN_BYTES ? 1 : (uint32_t)(align / ALLOC_SPAN_BYTES);
	struct alloc_span *head;
	for (;;) {
		alloc_lock_take(&alloc_central_lock);
		head = search(n_spans, step, n_room);
		if (head)
			break;
		alloc_lock_drop(&alloc_central_lock);
		if (!alloc_central_grow())
			return NULL;
	}
	*ret_dirty_bytes = dirty_bytes(head, n_spans);
	set_live(head, head->run_spans, size_bytes);
	alloc_lock_drop(&alloc_central_lock);
	atomic_fetch_add_explicit(&alloc_block_mallocs, 1, memory_order_relaxed);
	return head->base;
}

void alloc_run_give(struct alloc_span *head)
{
	struct alloc_segment *segment = alloc_segment_of(head);
	alloc_lock_take(&alloc_central_lock);
	alloc_central_check(segment);
	alloc_central_mark_free(segment, bits_of((uint32_t)(head - segment->spans), head->run_spans));
	alloc_lock_drop(&alloc_central_lock);
	atomic_fetch_add_explicit(&alloc_block_frees, 1, memory_order_relaxed);
}

bool alloc_run_resize(struct alloc_span *head, size_t size_bytes)
{
	struct alloc_segment *segment = alloc_segment_of(head);
	uint32_t at = (uint32_t)(head - segment->spans);
	uint32_t n_spans = spans_for(size_bytes);
	if (size_bytes > ALLOC_RUN_BYTES_MAX || at + n_spans > ALLOC_SEGMENT_SPANS)
		return false;
	alloc_lock_take(&alloc_central_lock);
	uint32_t had = head->run_spans;
	bool fits = true;
	if (n_spans > had) {
		uint64_t more = bits_of(at + had, n_spans - had);
		fits = (segment->free_mask & more) == more;
		if (fits)
			alloc_central_mark_taken(segment, more);
	} else {
		n_spans = had;
	}
	if (fits && size_bytes < head->run_bytes && spans_for(size_bytes) < had) {
		// A run that shrinks by whole spans leaves them.
		n_spans = spans_for(size_bytes);
		alloc_central_mark_free(segment, bits_of(at + n_spans, had - n_spans));
	}
	if (fits)
		set_live(head, n_spans, size_bytes);
	alloc_lock_drop(&alloc_central_lock);
	return fits;
}
