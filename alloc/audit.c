// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The words A, B, C and G say what operations did; the states, the bits of
// foreign frees and the outboxes say what is. At rest the two must agree slot
// by slot, and no slot in use may overlap a page that was given back.

#include "audit.h"

#include "directory.h"
#include "heap.h"
#include "large.h"
#include "meta.h"
#include "sys.h"

#include "../libtelemetry/banned.h"

struct audit {
	uint64_t live_bytes, rounding_bytes, cache_bytes;
	uint64_t mapped_bytes;
	uint64_t n_differences;
	const char *first;
};

static void expect(struct audit *audit, bool holds, const char *what)
{
	if (holds)
		return;
	if (audit->n_differences++ == 0)
		audit->first = what;
}

static void audit_slots(struct audit *audit, const struct alloc_span *span, uint64_t g)
{
	const struct alloc_class *class = &alloc_classes[alloc_g_class(g)];
	uint32_t live = 0, parked = 0, n_free = 0, slack_bytes = 0, parked_slack_bytes = 0;
	for (uint32_t slot = 0; slot < class->n_slots; slot++) {
		uint32_t state = alloc_state_read(span, slot);
		if (slot >= alloc_g_high(g)) {
			expect(audit, state == ALLOC_STATE_FREE, "a slot above the high water is in use");
			continue;
		}
		n_free += state == ALLOC_STATE_FREE;
		if (state == ALLOC_STATE_FREE)
			continue;
		uint32_t begin = slot * class->slot_bytes;
		uint32_t pages = alloc_page_mask(begin / ALLOC_PAGE_BYTES,
						 (begin + class->slot_bytes - 1) / ALLOC_PAGE_BYTES);
		expect(audit, (pages & ~alloc_g_resident(g)) == 0, "a slot in use lies on a page given back");
		if (state < ALLOC_STATE_LIVE)
			continue;
		bool is_parked = atomic_load(&span->remote[slot >> 6]) >> (slot & 63) & 1;
		live++;
		slack_bytes += state - ALLOC_STATE_LIVE;
		parked += is_parked;
		parked_slack_bytes += is_parked ? state - ALLOC_STATE_LIVE : 0;
	}
	uint64_t a = atomic_load(&span->a), b = atomic_load(&span->b);
	expect(audit, span->n_free == n_free, "the count of free slots is not that of the states");
	expect(audit, alloc_pair_slots(a) - alloc_g_drained(g) == live, "A counts other slots than live states");
	expect(audit, alloc_pair_slots(b) - alloc_g_drained(g) == parked, "B counts other slots than parked bits");
	expect(audit, alloc_count_slack(a, b) == slack_bytes - parked_slack_bytes,
	       "the slack of A and B is not that of the states");
	audit->cache_bytes += (uint64_t)parked * class->slot_bytes;
	audit->rounding_bytes += slack_bytes - parked_slack_bytes;
	audit->live_bytes += (uint64_t)(live - parked) * class->slot_bytes - (slack_bytes - parked_slack_bytes);
}

static void audit_segment(struct audit *audit, struct alloc_segment *segment)
{
	static unsigned char vec[ALLOC_SEGMENT_BYTES / ALLOC_PAGE_BYTES];
	uintptr_t base = atomic_load(&segment->base);
	size_t page_bytes = alloc_page_bytes;
	expect(audit, segment->canary == alloc_canary(&segment->canary, 'S'), "a descriptor is damaged");
	expect(audit, alloc_sys_mincore((void *)base, ALLOC_SEGMENT_BYTES, vec) == 0, "a segment is not mapped");
	audit->mapped_bytes += ALLOC_SEGMENT_BYTES;
	for (uint32_t i = 0; i < ALLOC_SEGMENT_SPANS; i++) {
		const struct alloc_span *span = &segment->spans[i];
		uint64_t g = alloc_g_read(span);
		uint32_t class = alloc_g_class(g);
		for (uint32_t page = 0; page < ALLOC_SPAN_PAGES; page++) {
			size_t at = ((size_t)i * ALLOC_SPAN_PAGES + page) * ALLOC_PAGE_BYTES / page_bytes;
			if (!(alloc_g_resident(g) >> page & 1))
				expect(audit, !(vec[at] & 1), "a page that was given back or never touched is resident");
		}
		if (class == ALLOC_CLASS_NONE || class == ALLOC_CLASS_RUN) {
			expect(audit, (segment->free_mask >> i & 1) == (class == ALLOC_CLASS_NONE),
			       "central's mask does not say what the span is");
			if (class == ALLOC_CLASS_RUN) {
				uint64_t pages_bytes = alloc_g_high(g) * ALLOC_PAGE_BYTES;
				audit->live_bytes += pages_bytes - alloc_g_drained(g);
				audit->rounding_bytes += alloc_g_drained(g);
			}
			continue;
		}
		audit_slots(audit, span, g);
	}
}

// A heap's magazines hold slots of its own spans, or two threads would write
// the words of one.
static void audit_cached(struct audit *audit, const struct alloc_heap *heap, const struct alloc_free_slot *entries,
			 uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct alloc_span *span = alloc_entry_span(entries[i].place);
		uint32_t slot = alloc_entry_slot(entries[i].place);
		expect(audit, atomic_load(&span->heap) == heap, "a magazine holds a slot of another heap");
		expect(audit, alloc_state_read(span, slot) == ALLOC_STATE_CACHED, "a slot in a magazine is not cached");
	}
}

static void audit_magazines(struct audit *audit)
{
	for (struct alloc_heap *heap = atomic_load(&alloc_heaps); heap; heap = atomic_load(&heap->next)) {
		for (uint32_t class = 1; class < ALLOC_CLASS_COUNT; class++) {
			const struct alloc_magazine *magazine = &heap->magazines[class];
			audit_cached(audit, heap, magazine->entries,
				     alloc_magazine_count(atomic_load(&magazine->word)));
			audit_cached(audit, heap, heap->bins[class].aside, heap->bins[class].n_aside);
		}
	}
}

static void audit_outboxes(struct audit *audit)
{
	for (struct alloc_heap *heap = atomic_load(&alloc_heaps); heap; heap = atomic_load(&heap->next)) {
		uint64_t c = 0;
		for (uint32_t i = 0; i < heap->n_outbox; i++)
			c += alloc_pair_word(alloc_entry_span(heap->outbox[i])->slot_bytes,
					     heap->outbox_slack_bytes[i]);
		expect(audit, c == atomic_load(&heap->c), "C is not the sum of the outbox");
		audit->cache_bytes += alloc_pair_slots(c);
		audit->rounding_bytes -= alloc_pair_slack(c);
		audit->live_bytes -= alloc_pair_slots(c) - alloc_pair_slack(c);
	}
}

uint64_t alloc_audit(const char **ret_difference)
{
	struct audit audit = { 0 };
	struct alloc_reading reading;
	alloc_walk(&reading, NULL);
	for (struct alloc_segment *segment = atomic_load(&alloc_segments); segment;
	     segment = atomic_load(&segment->next))
		if (atomic_load(&segment->base))
			audit_segment(&audit, segment);
	audit_outboxes(&audit);
	audit_magazines(&audit);
	for (struct alloc_large *large = atomic_load(&alloc_larges); large; large = atomic_load(&large->next)) {
		uint64_t word = atomic_load(&large->word);
		audit.mapped_bytes += (uint64_t)alloc_l_pages(word) * ALLOC_PAGE_BYTES;
		if (!word || word & ALLOC_L_POOLED)
			continue;
		audit.live_bytes += (uint64_t)alloc_l_pages(word) * ALLOC_PAGE_BYTES - alloc_l_slack(word);
		audit.rounding_bytes += alloc_l_slack(word);
	}
	for (struct alloc_meta_chunk *chunk = atomic_load(&alloc_meta_chunks); chunk; chunk = atomic_load(&chunk->next))
		audit.mapped_bytes += chunk->size_bytes;
	const struct alloc_books *books = &reading.books;
	expect(&audit, reading.settled, "the walk is not settled");
	expect(&audit, alloc_books_balanced(books), "the books do not balance");
	expect(&audit, books->mapped_bytes == audit.mapped_bytes, "mapped is not the sum of the directory");
	expect(&audit, books->mapped_bytes == reading.counted_bytes, "mapped is not what was counted");
	expect(&audit, books->live_bytes == audit.live_bytes, "live differs from the states");
	expect(&audit, books->rounding_bytes == audit.rounding_bytes, "rounding differs from the states");
	expect(&audit, books->cache_bytes == audit.cache_bytes, "cache differs from the states");
	*ret_difference = audit.first;
	return audit.n_differences;
}
