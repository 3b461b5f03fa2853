// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// From state words to buckets. A span's resident pages are shared out among
// live, rounding, cache and the free rest, in that order; the other pages are
// virgin or returned. So the sum is 64 KiB by construction, and a word that was
// read while it changed is clamped where a share would run past what is left.

#include "books.h"

#include "../libtelemetry/banned.h"

uint64_t alloc_books_accounted(const struct alloc_books *books)
{
	return books->live_bytes + books->rounding_bytes + books->cache_bytes + books->span_free_bytes +
	       books->returned_bytes + books->virgin_bytes + books->hysteresis_bytes +
	       books->segment_overhead_bytes;
}

bool alloc_books_balanced(const struct alloc_books *books)
{
	return books->mapped_bytes == alloc_books_accounted(books);
}

uint64_t alloc_books_predicted_resident(const struct alloc_books *books)
{
	return books->mapped_bytes - books->virgin_bytes - books->returned_bytes;
}

uint64_t alloc_books_predicted_resident_floor(const struct alloc_books *books)
{
	return alloc_books_predicted_resident(books) - books->hysteresis_bytes;
}

void alloc_books_merge(struct alloc_books *books, const struct alloc_books *other)
{
	books->mapped_bytes += other->mapped_bytes;
	books->live_bytes += other->live_bytes;
	books->rounding_bytes += other->rounding_bytes;
	books->cache_bytes += other->cache_bytes;
	books->span_free_bytes += other->span_free_bytes;
	books->returned_bytes += other->returned_bytes;
	books->virgin_bytes += other->virgin_bytes;
	books->hysteresis_bytes += other->hysteresis_bytes;
	books->segment_overhead_bytes += other->segment_overhead_bytes;
	books->large_count += other->large_count;
	books->spans_assigned += other->spans_assigned;
}

// Bits of two 16-bit masks at once: the count of the low half in the low half,
// of the high half in the high half.
static uint32_t count_bits(uint32_t pair)
{
	pair -= (pair >> 1) & 0x55555555u;
	pair = (pair & 0x33333333u) + ((pair >> 2) & 0x33333333u);
	pair = (pair + (pair >> 4)) & 0x0f0f0f0fu;
	return (pair + (pair >> 8)) & 0x001f001fu;
}

// Resident bytes at or above `cursor`, for a span that was kept from an earlier
// life: they were touched by another class.
static uint32_t resident_above(uint32_t resident, uint32_t cursor)
{
	uint32_t page = cursor / ALLOC_PAGE_BYTES;
	if (page >= ALLOC_SPAN_PAGES)
		return 0;
	uint32_t above = count_bits(resident & ~((1u << page) - 1)) * ALLOC_PAGE_BYTES;
	if (resident & (1u << page))
		above -= cursor % ALLOC_PAGE_BYTES;
	return above;
}

static uint32_t less(uint32_t from, uint32_t count)
{
	return from > count ? from - count : 0;
}

static void add_slots(struct alloc_books *books, uint64_t g, uint64_t a, uint64_t b, uint32_t slot_bytes,
		      uint32_t resident_bytes)
{
	// Drained slots are free already, though A and B still count them.
	uint32_t slots_max = resident_bytes / slot_bytes;
	uint32_t used = less(alloc_pair_slots(a), alloc_g_drained(g));
	uint32_t parked = less(alloc_pair_slots(b), alloc_g_drained(g));
	used = used < slots_max ? used : slots_max;
	parked = parked < used ? parked : used;
	uint32_t live_slots_bytes = (used - parked) * slot_bytes;
	uint32_t cache_bytes = parked * slot_bytes;
	int32_t slack = (int32_t)alloc_count_slack(a, b);
	uint32_t slack_bytes = slack < 0 ? 0 : (uint32_t)slack;
	if (slack_bytes > live_slots_bytes)
		slack_bytes = live_slots_bytes;
	uint32_t free_bytes = resident_bytes - live_slots_bytes - cache_bytes;

	books->live_bytes += live_slots_bytes - slack_bytes;
	books->rounding_bytes += slack_bytes;
	books->cache_bytes += cache_bytes;
	books->spans_assigned++;
	if (used == 0) {
		books->hysteresis_bytes += free_bytes;
		return;
	}
	if (alloc_g_kept(g)) {
		uint32_t above = resident_above(alloc_g_resident(g), alloc_g_high(g) * slot_bytes);
		if (above > free_bytes)
			above = free_bytes;
		books->hysteresis_bytes += above;
		free_bytes -= above;
	}
	books->span_free_bytes += free_bytes;
}

void alloc_books_add_span(struct alloc_books *books, uint64_t g, uint64_t a, uint64_t b, uint32_t slot_bytes)
{
	uint32_t resident = alloc_g_resident(g);
	uint32_t ever = alloc_g_ever(g) | resident;
	uint32_t counts = count_bits(resident | (ever & ~resident) << 16);
	uint32_t resident_bytes = (counts & 0xffff) * ALLOC_PAGE_BYTES;
	uint32_t returned_bytes = (counts >> 16) * ALLOC_PAGE_BYTES;

	books->mapped_bytes += ALLOC_SPAN_BYTES;
	books->returned_bytes += returned_bytes;
	books->virgin_bytes += ALLOC_SPAN_BYTES - resident_bytes - returned_bytes;
	if (slot_bytes) {
		add_slots(books, g, a, b, slot_bytes, resident_bytes);
	} else if (alloc_g_class(g) == ALLOC_CLASS_RUN) {
		uint32_t pages_bytes = alloc_g_high(g) * ALLOC_PAGE_BYTES;
		if (pages_bytes > resident_bytes)
			pages_bytes = resident_bytes;
		uint32_t slack_bytes = alloc_g_drained(g) < pages_bytes ? alloc_g_drained(g) : pages_bytes;
		books->live_bytes += pages_bytes - slack_bytes;
		books->rounding_bytes += slack_bytes;
		books->span_free_bytes += resident_bytes - pages_bytes;
	} else {
		books->hysteresis_bytes += resident_bytes;
	}
}

void alloc_books_add_large(struct alloc_books *books, uint64_t l)
{
	uint64_t size_bytes = (uint64_t)alloc_l_pages(l) * ALLOC_PAGE_BYTES;
	books->mapped_bytes += size_bytes;
	if (l & ALLOC_L_POOLED) {
		// A pooled mapping has no slack: its place says whether the pages went.
		if (alloc_l_slack(l))
			books->returned_bytes += size_bytes;
		else
			books->hysteresis_bytes += size_bytes;
		return;
	}
	uint64_t slack_bytes = tele_min_u64(alloc_l_slack(l), size_bytes);
	books->live_bytes += size_bytes - slack_bytes;
	books->rounding_bytes += slack_bytes;
	books->large_count++;
}

void alloc_books_add_overhead(struct alloc_books *books, uint64_t size_bytes, uint64_t touched_bytes)
{
	books->mapped_bytes += size_bytes;
	books->segment_overhead_bytes += touched_bytes;
	books->virgin_bytes += size_bytes - touched_bytes;
}

void alloc_books_move_unflushed(struct alloc_books *books, uint64_t slot_bytes, uint64_t slack_bytes)
{
	uint64_t slack = tele_min_u64(tele_min_u64(slack_bytes, slot_bytes), books->rounding_bytes);
	uint64_t asked = tele_min_u64(slot_bytes - slack, books->live_bytes);
	books->rounding_bytes -= slack;
	books->live_bytes -= asked;
	books->cache_bytes += slack + asked;
}
