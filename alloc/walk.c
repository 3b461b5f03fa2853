// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The walk visits segments, mappings and metadata along lists that only grow.
// Of a span it reads G, A, B and G again, and once more when G changed: then
// the class it multiplies with is the class the counts were made in.

#include "walk.h"

#include "central.h"
#include "directory.h"
#include "heap.h"
#include "large.h"
#include "meta.h"

#include "../libtelemetry/banned.h"

#define RETRIES 4

static void add_row(struct alloc_class_row *row, uint64_t g, uint64_t a, uint64_t b)
{
	uint32_t given = alloc_pair_slots(a), back = alloc_pair_slots(b), high = alloc_g_high(g);
	uint32_t used = given < high ? given : high; // slots that are not free
	uint32_t parked = back > alloc_g_drained(g) ? back - alloc_g_drained(g) : 0;
	uint32_t live = used > back ? used - back : 0;
	int32_t slack = (int32_t)alloc_count_slack(a, b);
	row->spans++;
	row->live_slots += live;
	row->free_slots += high - (live + parked < high ? live + parked : high);
	row->returned_bytes +=
		(uint64_t)__builtin_popcount(alloc_g_ever(g) & ~alloc_g_resident(g)) * ALLOC_PAGE_BYTES;
	row->rounding_bytes += slack > 0 ? (uint32_t)slack : 0;
}

static void walk_span(struct alloc_span *span, struct alloc_books *books, struct alloc_class_row rows[])
{
	uint64_t g, a, b;
	for (int tries = 0; tries < RETRIES; tries++) {
		// Acquire pairs with the releases of the holder; the fence keeps the
		// second look at G behind the counts.
		g = atomic_load_explicit(&span->g, memory_order_acquire);
		if (g == 0)
			break;
		a = atomic_load_explicit(&span->a, memory_order_acquire);
		b = atomic_load_explicit(&span->b, memory_order_acquire);
		if (atomic_load_explicit(&span->g, memory_order_relaxed) == g)
			break;
	}
	if (g == 0) {
		alloc_books_add_span(books, 0, 0, 0, 0);
		return;
	}
	uint32_t class = alloc_g_class(g);
	bool slots = class != ALLOC_CLASS_NONE && class < ALLOC_CLASS_COUNT;
	alloc_books_add_span(books, g, a, b, slots ? alloc_classes[class].slot_bytes : 0);
	if (rows && slots)
		add_row(&rows[class], g, a, b);
}

static void walk_mappings(struct alloc_books *books, struct alloc_class_row rows[])
{
	for (struct alloc_segment *segment = atomic_load_explicit(&alloc_segments, memory_order_acquire); segment;
	     segment = atomic_load_explicit(&segment->next, memory_order_acquire)) {
		if (!atomic_load_explicit(&segment->base, memory_order_acquire))
			continue;
		for (uint32_t i = 0; i < ALLOC_SEGMENT_SPANS; i++)
			walk_span(&segment->spans[i], books, rows);
	}
	for (struct alloc_large *large = atomic_load_explicit(&alloc_larges, memory_order_acquire); large;
	     large = atomic_load_explicit(&large->next, memory_order_acquire)) {
		uint64_t word = atomic_load_explicit(&large->word, memory_order_acquire);
		if (word)
			alloc_books_add_large(books, word);
	}
	for (struct alloc_meta_chunk *chunk = atomic_load_explicit(&alloc_meta_chunks, memory_order_acquire); chunk;
	     chunk = atomic_load_explicit(&chunk->next, memory_order_acquire))
		alloc_books_add_overhead(books, chunk->size_bytes, alloc_meta_touched_bytes(chunk));
}

static void raise_to(_Atomic uint64_t *highest, uint64_t *value)
{
	uint64_t seen = atomic_load_explicit(highest, memory_order_relaxed);
	while (seen < *value && !atomic_compare_exchange_weak_explicit(highest, &seen, *value, memory_order_relaxed,
								       memory_order_relaxed)) {
	}
	if (seen > *value)
		*value = seen;
}

// Takings are counted by the magazines; puttings are what is left over.
static void walk_heaps(struct alloc_reading *reading)
{
	static _Atomic uint64_t highest_mallocs, highest_frees;
	uint64_t mallocs = atomic_load_explicit(&alloc_block_mallocs, memory_order_relaxed);
	uint64_t frees = atomic_load_explicit(&alloc_block_frees, memory_order_relaxed);
	uint64_t slot_bytes = 0, slack_bytes = 0;
	for (struct alloc_heap *heap = atomic_load_explicit(&alloc_heaps, memory_order_acquire); heap;
	     heap = atomic_load_explicit(&heap->next, memory_order_acquire)) {
		uint64_t c = atomic_load_explicit(&heap->c, memory_order_acquire);
		slot_bytes += alloc_pair_slots(c);
		slack_bytes += alloc_pair_slack(c);
		frees += atomic_load_explicit(&heap->foreign_frees, memory_order_relaxed);
		for (uint32_t i = 1; i < ALLOC_CLASS_COUNT; i++) {
			const struct alloc_magazine *magazine = &heap->magazines[i];
			uint64_t refilled = atomic_load_explicit(&magazine->refilled, memory_order_relaxed);
			uint64_t word = atomic_load_explicit(&magazine->word, memory_order_relaxed);
			uint64_t taken = word / ALLOC_MAGAZINE_TAKEN;
			uint64_t put = alloc_magazine_count(word) + taken - refilled;
			mallocs += taken;
			frees += (int64_t)put < 0 ? 0 : put;
		}
	}
	alloc_books_move_unflushed(&reading->books, slot_bytes, slack_bytes);
	raise_to(&highest_mallocs, &mallocs);
	raise_to(&highest_frees, &frees);
	reading->mallocs = mallocs;
	reading->frees = frees;
}

void alloc_walk(struct alloc_reading *ret_reading, struct alloc_class_row rows[])
{
	struct alloc_reading reading = { 0 };
	struct alloc_class_row none = { 0 };
	for (uint32_t i = 0; rows && i < ALLOC_CLASS_COUNT; i++)
		rows[i] = none;
	// seq_cst pairs with alloc_directory_begin and _end.
	uint64_t seq = atomic_load_explicit(&alloc_map_seq, memory_order_seq_cst);
	reading.counted_bytes = atomic_load_explicit(&alloc_mapped_bytes, memory_order_seq_cst);
	walk_mappings(&reading.books, rows);
	reading.settled = (seq & 1) == 0 && atomic_load_explicit(&alloc_map_seq, memory_order_seq_cst) == seq;
	walk_heaps(&reading);
	*ret_reading = reading;
}
