// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// mincore a segment at a time. A span whose resident pages are those that the
// books expect is shared out as the books share it; any other is looked at slot
// by slot, each slot's bytes going to its bucket as far as its pages are there.

#include "residency.h"

#include "classes.h"
#include "directory.h"
#include "large.h"
#include "meta.h"
#include "sys.h"

#include "../libtelemetry/banned.h"

#define SEGMENT_PAGES (ALLOC_SEGMENT_BYTES / ALLOC_PAGE_BYTES)

// One pass at a time, on the publisher's thread or under a test.
static unsigned char residency_vec[SEGMENT_PAGES];

// Resident bytes of [begin, end) of a span.
static uint64_t resident_within(uint32_t mask, uint32_t begin, uint32_t end)
{
	uint64_t bytes = 0;
	while (begin < end) {
		uint32_t page = begin / ALLOC_PAGE_BYTES;
		uint32_t stop = (page + 1) * ALLOC_PAGE_BYTES < end ? (page + 1) * ALLOC_PAGE_BYTES : end;
		if (mask & (1u << page))
			bytes += stop - begin;
		begin = stop;
	}
	return bytes;
}

static void add_by_slot(struct alloc_books *buckets, const struct alloc_span *span, uint64_t g, uint32_t mask)
{
	uint32_t slot_bytes = alloc_classes[alloc_g_class(g)].slot_bytes;
	uint32_t high = alloc_g_high(g), expected = alloc_g_resident(g);
	uint64_t begin = 0, seen = 0;
	for (uint32_t slot = 0; slot < high && begin < ALLOC_SPAN_BYTES; slot++, begin += slot_bytes) {
		uint32_t at = (uint32_t)begin;
		uint32_t state = alloc_state_read(span, slot);
		if (state < ALLOC_STATE_LIVE)
			continue;
		uint64_t whole = resident_within(mask, at, at + slot_bytes);
		uint64_t bit = (uint64_t)1 << (slot & 63);
		seen += whole;
		if (atomic_load_explicit(&span->remote[slot >> 6], memory_order_relaxed) & bit) {
			buckets->cache_bytes += whole;
			continue;
		}
		uint32_t size_bytes = slot_bytes - (state - ALLOC_STATE_LIVE);
		uint64_t live = resident_within(mask, at, at + size_bytes);
		buckets->live_bytes += live;
		buckets->rounding_bytes += whole - live;
	}
	// The rest of the resident pages holds no live slot.
	uint64_t all = resident_within(mask, 0, ALLOC_SPAN_BYTES);
	uint64_t returned = resident_within(mask & alloc_g_ever(g) & ~expected, 0, ALLOC_SPAN_BYTES);
	uint64_t virgin = resident_within(mask & ~alloc_g_ever(g), 0, ALLOC_SPAN_BYTES);
	uint64_t rest = all > seen + returned + virgin ? all - seen - returned - virgin : 0;
	buckets->returned_bytes += returned;
	buckets->virgin_bytes += virgin;
	if (seen)
		buckets->span_free_bytes += rest;
	else
		buckets->hysteresis_bytes += rest;
}

static void add_run(struct alloc_books *buckets, uint64_t g, uint32_t mask)
{
	uint32_t pages_bytes = alloc_g_high(g) * ALLOC_PAGE_BYTES;
	uint32_t slack_bytes = alloc_g_drained(g);
	uint32_t expected = alloc_g_resident(g), ever = alloc_g_ever(g);
	if (pages_bytes > ALLOC_SPAN_BYTES || slack_bytes > pages_bytes)
		return;
	buckets->live_bytes += resident_within(mask, 0, pages_bytes - slack_bytes);
	buckets->rounding_bytes += resident_within(mask, pages_bytes - slack_bytes, pages_bytes);
	buckets->span_free_bytes += resident_within(mask & expected, pages_bytes, ALLOC_SPAN_BYTES);
	buckets->returned_bytes += resident_within(mask & ever & ~expected, 0, ALLOC_SPAN_BYTES);
	buckets->virgin_bytes += resident_within(mask & ~ever & ~expected, 0, ALLOC_SPAN_BYTES);
}

static void add_span(struct alloc_residency *residency, const struct alloc_span *span, uint32_t mask)
{
	uint64_t g = atomic_load_explicit(&span->g, memory_order_acquire);
	uint64_t a = atomic_load_explicit(&span->a, memory_order_acquire);
	uint64_t b = atomic_load_explicit(&span->b, memory_order_acquire);
	uint32_t class = alloc_g_class(g);
	bool slots = class != ALLOC_CLASS_NONE && class < ALLOC_CLASS_COUNT;
	struct alloc_books expected = { 0 };
	alloc_books_add_span(&expected, g, a, b, slots ? alloc_classes[class].slot_bytes : 0);
	residency->live_bytes += expected.live_bytes;
	residency->resident_bytes += resident_within(mask, 0, ALLOC_SPAN_BYTES);
	struct alloc_books *buckets = &residency->buckets;
	if (mask == alloc_g_resident(g)) {
		expected.virgin_bytes = expected.returned_bytes = 0;
		expected.mapped_bytes = expected.spans_assigned = 0;
		alloc_books_merge(buckets, &expected);
	} else if (slots) {
		if (alloc_g_read(span) == g)
			add_by_slot(buckets, span, g, mask);
	} else if (class == ALLOC_CLASS_RUN) {
		add_run(buckets, g, mask);
	} else {
		uint32_t ever = alloc_g_ever(g), kept = alloc_g_resident(g);
		buckets->hysteresis_bytes += resident_within(mask & kept, 0, ALLOC_SPAN_BYTES);
		buckets->returned_bytes += resident_within(mask & ever & ~kept, 0, ALLOC_SPAN_BYTES);
		buckets->virgin_bytes += resident_within(mask & ~ever & ~kept, 0, ALLOC_SPAN_BYTES);
	}
}

// The vec has one byte a page of the kernel; ours are spread over it.
static uint32_t span_mask(uint32_t span_index)
{
	size_t page_bytes = alloc_page_bytes;
	uint32_t mask = 0;
	for (uint32_t i = 0; i < ALLOC_SPAN_PAGES; i++) {
		size_t at = (size_t)span_index * ALLOC_SPAN_BYTES + (size_t)i * ALLOC_PAGE_BYTES;
		mask |= (uint32_t)(residency_vec[at / page_bytes] & 1) << i;
	}
	return mask;
}

// Resident bytes of any mapping.
static uint64_t resident_of(uintptr_t at, uint64_t size_bytes)
{
	uint64_t bytes = 0;
	size_t page_bytes = alloc_page_bytes;
	while (size_bytes) {
		size_t step = size_bytes < ALLOC_SEGMENT_BYTES ? (size_t)size_bytes : ALLOC_SEGMENT_BYTES;
		if (alloc_sys_mincore((void *)at, step, residency_vec) != 0)
			break; // unmapped meanwhile
		for (size_t i = 0; i < (step + page_bytes - 1) / page_bytes; i++)
			bytes += (residency_vec[i] & 1) * page_bytes;
		at += step;
		size_bytes -= step;
	}
	return bytes;
}

static void add_large(struct alloc_residency *residency, const struct alloc_large *large)
{
	uint64_t word = atomic_load_explicit(&large->word, memory_order_acquire);
	uintptr_t base = atomic_load_explicit(&large->base, memory_order_relaxed);
	if (!word || !base)
		return;
	uint64_t size_bytes = (uint64_t)alloc_l_pages(word) * ALLOC_PAGE_BYTES;
	uint64_t resident = resident_of(base, size_bytes);
	residency->resident_bytes += resident;
	if (word & ALLOC_L_POOLED) {
		residency->buckets.hysteresis_bytes += resident;
		return;
	}
	// Slack lies in the last page: rounding, if that page is there.
	uint64_t last_bytes = alloc_page_bytes;
	uint64_t slack = resident_of(base + size_bytes - last_bytes, last_bytes) ? alloc_l_slack(word) : 0;
	slack = tele_min_u64(slack, resident);
	residency->live_bytes += size_bytes - alloc_l_slack(word);
	residency->buckets.rounding_bytes += slack;
	residency->buckets.live_bytes += resident - slack;
}

void alloc_residency(struct alloc_residency *ret_residency)
{
	struct alloc_residency residency = { 0 };
	for (struct alloc_segment *segment = atomic_load_explicit(&alloc_segments, memory_order_acquire); segment;
	     segment = atomic_load_explicit(&segment->next, memory_order_acquire)) {
		uintptr_t base = atomic_load_explicit(&segment->base, memory_order_acquire);
		if (!base || alloc_sys_mincore((void *)base, ALLOC_SEGMENT_BYTES, residency_vec) != 0)
			continue;
		for (uint32_t i = 0; i < ALLOC_SEGMENT_SPANS; i++)
			add_span(&residency, &segment->spans[i], span_mask(i));
	}
	for (const struct alloc_large *large = atomic_load_explicit(&alloc_larges, memory_order_acquire); large;
	     large = atomic_load_explicit(&large->next, memory_order_acquire))
		add_large(&residency, large);
	for (struct alloc_meta_chunk *chunk = atomic_load_explicit(&alloc_meta_chunks, memory_order_acquire); chunk;
	     chunk = atomic_load_explicit(&chunk->next, memory_order_acquire)) {
		size_t guard_bytes = alloc_page_bytes;
		uint64_t resident = resident_of((uintptr_t)chunk - guard_bytes, chunk->size_bytes);
		uint64_t touched = tele_min_u64(resident, alloc_meta_touched_bytes(chunk));
		residency.resident_bytes += resident;
		residency.buckets.segment_overhead_bytes += touched;
		residency.buckets.virgin_bytes += resident - touched;
	}
	*ret_residency = residency;
}
