// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// malloc and free. A malloc takes the top entry of its thread's magazine,
// writes the slack of the slot, and adds to the span's word A; a free at home
// does the reverse. Neither takes a lock or touches the block. What is not that
// is in the functions that are not inlined.

#include "alloc.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "block.h"
#include "central.h"
#include "directory.h"
#include "heap.h"
#include "large.h"
#include "misuse.h"
#include "remote.h"
#include "thread.h"

#include "../libtelemetry/banned.h"

// Keeps the compiler from computing one address in three ways.
#define ONE_POINTER(p) __asm__("" : "+r"(p))

static inline struct alloc_magazine *magazine_at(struct alloc_heap *heap, size_t offset)
{
	struct alloc_magazine *magazine = (struct alloc_magazine *)(void *)((unsigned char *)heap + offset);
	ONE_POINTER(magazine);
	return magazine;
}

// Where the entries that `word` speaks of end.
static inline struct alloc_free_slot *entries_end(const struct alloc_magazine *magazine, uint64_t word)
{
	return (struct alloc_free_slot *)(void *)((unsigned char *)magazine->entries + alloc_magazine_bytes(word));
}

// Out of the magazine, which has an entry, into the books.
static inline void *take_slot(struct alloc_magazine *magazine, uint64_t word, size_t size_bytes, bool wide)
{
	const struct alloc_free_slot *entry = entries_end(magazine, word) - 1;
	unsigned char *block = entry->block;
	uint64_t place = entry->place;
	atomic_store_explicit(&magazine->word, word + ALLOC_MAGAZINE_TAKEN - sizeof(*entry), memory_order_release);
	struct alloc_span *span = alloc_entry_span(place);
	size_t slot = place & 0xffff;
	size_t state = magazine->state_base - size_bytes;
	if (wide)
		atomic_store_explicit(&((_Atomic uint16_t *)span->states)[slot], (uint16_t)state, memory_order_relaxed);
	else
		atomic_store_explicit(&span->states[slot], (uint8_t)state, memory_order_relaxed);
	alloc_word_add(&span->a, (state << 32) + 1);
	return block;
}

void *alloc_take_slot(uint32_t class, size_t size_bytes)
{
	struct alloc_heap *heap = alloc_self;
	for (;;) {
		struct alloc_magazine *magazine = &heap->magazines[class];
		uint64_t word = atomic_load_explicit(&magazine->word, memory_order_relaxed);
		if (TELE_LIKELY(alloc_magazine_bytes(word)))
			return take_slot(magazine, word, size_bytes,
					 magazine->state_base > ALLOC_NARROW_BYTES + ALLOC_STATE_LIVE);
		if (!alloc_heap_refill(heap, class))
			return alloc_no_memory(size_bytes);
	}
}

static __attribute__((noinline)) void *malloc_slow(size_t size_bytes)
{
	bool shared;
	if (!alloc_thread_enter(&shared))
		return alloc_no_memory(size_bytes);
	void *block;
	if (size_bytes <= ALLOC_SLOT_BYTES_MAX)
		block = alloc_take_slot(alloc_class_of(size_bytes), size_bytes);
	else
		block = alloc_big_take(size_bytes, 1, size_bytes, NULL);
	alloc_thread_leave(shared);
	return block;
}

void *alloc_malloc(size_t size_bytes)
{
	struct alloc_heap *heap = alloc_self;
	if (TELE_LIKELY(size_bytes <= ALLOC_NARROW_BYTES)) {
		struct alloc_magazine *magazine = magazine_at(heap, alloc_magazine_at[(size_bytes + 15) >> 4]);
		uint64_t word = atomic_load_explicit(&magazine->word, memory_order_relaxed);
		if (TELE_LIKELY(alloc_magazine_bytes(word)))
			return take_slot(magazine, word, size_bytes, false);
	} else if (TELE_LIKELY(size_bytes <= ALLOC_SLOT_BYTES_MAX)) {
		struct alloc_magazine *magazine = magazine_at(heap, alloc_magazine_at[(size_bytes + 15) >> 4]);
		uint64_t word = atomic_load_explicit(&magazine->word, memory_order_relaxed);
		if (TELE_LIKELY(alloc_magazine_bytes(word)))
			return take_slot(magazine, word, size_bytes, true);
	}
	return malloc_slow(size_bytes);
}

// A slot of a span that belongs to another heap, or to none.
static void free_foreign(struct alloc_span *span, void *block)
{
	uint32_t slot, state;
	if (!alloc_block_slot(span, block, &slot, &state))
		return;
	if (alloc_thread_has_heap()) {
		alloc_remote_free(alloc_self, span, slot, state - ALLOC_STATE_LIVE);
		return;
	}
	// A fork waits for the gate: it must not copy half of this.
	alloc_lock_take(&alloc_shared_gate);
	alloc_remote_hand_over(span, slot, state - ALLOC_STATE_LIVE);
	alloc_lock_drop(&alloc_shared_gate);
}

static __attribute__((noinline)) void free_slow(void *block)
{
	if (!block)
		return;
	struct alloc_segment *segment = alloc_directory_find((uintptr_t)block);
	if (!segment) {
		if (!alloc_large_give(block))
			alloc_misuse(alloc_large_was_freed(block) ? "double free" : "free of a pointer that is no block",
				     block);
		return;
	}
	struct alloc_span *span = alloc_span_of(segment, (uintptr_t)block);
	switch (atomic_load_explicit(&span->kind, memory_order_relaxed)) {
	case ALLOC_SPAN_SLOTS:
		free_foreign(span, block);
		break;
	case ALLOC_SPAN_RUN_HEAD:
		if (block == span->base)
			alloc_run_give(span);
		else
			alloc_misuse("free of a pointer into a block", block);
		break;
	case ALLOC_SPAN_RUN_TAIL:
		alloc_misuse("free of a pointer into a block", block);
		break;
	default:
		alloc_misuse("double free, or free of a pointer that is no block", block);
		break;
	}
}

static __attribute__((noinline)) void free_misused(struct alloc_span *span, void *block)
{
	uint32_t slot, state;
	alloc_block_slot(span, block, &slot, &state);
}

// A slot of a span that belongs to another heap: into the outbox.
static __attribute__((noinline)) void free_elsewhere(struct alloc_heap *heap, struct alloc_span *span, void *block)
{
	if (TELE_UNLIKELY(!atomic_load_explicit(&span->heap, memory_order_relaxed) || !heap->outbox_max)) {
		free_slow(block);
		return;
	}
	uint32_t reciprocal = span->reciprocal;
	uint64_t product = alloc_slot_product((uint32_t)(uintptr_t)block & (ALLOC_SPAN_BYTES - 1), reciprocal);
	uint32_t slot = alloc_slot_of(product);
	uint32_t state = alloc_state_read(span, slot);
	if (TELE_UNLIKELY(!alloc_begins_slot(product, reciprocal) || state < ALLOC_STATE_LIVE))
		free_misused(span, block);
	else
		alloc_remote_free(heap, span, slot, state - ALLOC_STATE_LIVE);
}

static inline void put_entry(struct alloc_magazine *magazine, uint64_t word, void *block, struct alloc_span *span,
			     size_t slot)
{
	struct alloc_free_slot *entry = entries_end(magazine, word);
	entry->block = block;
	entry->place = (uint64_t)(uintptr_t)span << 16 | slot;
	// After the entry, for a fork that copies this thread in between.
	atomic_store_explicit(&magazine->word, word + sizeof(*entry), memory_order_release);
}

static __attribute__((noinline)) void put_slowly(struct alloc_heap *heap, void *block, struct alloc_span *span,
						 size_t slot)
{
	struct alloc_magazine *magazine = magazine_at(heap, span->magazine_offset);
	struct alloc_free_slot entry = { block, (uint64_t)(uintptr_t)span << 16 | slot };
	if (!alloc_heap_make_room(heap, span->class, entry))
		put_entry(magazine, atomic_load_explicit(&magazine->word, memory_order_relaxed), block, span, slot);
}

static inline void free_home(struct alloc_heap *heap, void *block, struct alloc_span *span, size_t slot, size_t state)
{
	alloc_word_add(&span->a, -((state << 32) + 1));
	struct alloc_magazine *magazine = magazine_at(heap, span->magazine_offset);
	uint64_t word = atomic_load_explicit(&magazine->word, memory_order_relaxed);
	if (TELE_UNLIKELY(alloc_magazine_bytes(word) >= magazine->room_bytes))
		put_slowly(heap, block, span, slot);
	else
		put_entry(magazine, word, block, span, slot);
}

void alloc_free(void *block)
{
	uintptr_t at = (uintptr_t)block, segment_offset;
	struct alloc_segment *segment = alloc_directory_lookup(at, &segment_offset);
	if (TELE_UNLIKELY(!segment)) {
		free_slow(block);
		return;
	}
	struct alloc_span *span = alloc_span_of(segment, segment_offset);
	ONE_POINTER(span);
	struct alloc_heap *heap = alloc_self;
	if (TELE_UNLIKELY(atomic_load_explicit(&span->heap, memory_order_relaxed) != heap)) {
		free_elsewhere(heap, span, block);
		return;
	}
	uint32_t reciprocal = span->reciprocal;
	uint64_t product = alloc_slot_product((uint32_t)at & (ALLOC_SPAN_BYTES - 1), reciprocal);
	size_t slot = alloc_slot_of(product);
	if (TELE_UNLIKELY(!alloc_begins_slot(product, reciprocal))) {
		free_misused(span, block);
		return;
	}
	if (TELE_LIKELY(reciprocal >= ALLOC_NARROW_RECIPROCAL)) {
		_Atomic uint8_t *narrow = &span->states[slot];
		size_t state = atomic_load_explicit(narrow, memory_order_relaxed);
		if (TELE_UNLIKELY(state < ALLOC_STATE_LIVE)) {
			free_misused(span, block);
			return;
		}
		atomic_store_explicit(narrow, ALLOC_STATE_CACHED, memory_order_relaxed);
		free_home(heap, block, span, slot, state);
		return;
	}
	_Atomic uint16_t *wide = &((_Atomic uint16_t *)span->states)[slot];
	size_t state = atomic_load_explicit(wide, memory_order_relaxed);
	if (TELE_UNLIKELY(state < ALLOC_STATE_LIVE)) {
		free_misused(span, block);
		return;
	}
	atomic_store_explicit(wide, ALLOC_STATE_CACHED, memory_order_relaxed);
	free_home(heap, block, span, slot, state);
}

void *alloc_calloc(size_t count, size_t size_bytes)
{
	size_t total_bytes;
	if (__builtin_mul_overflow(count, size_bytes, &total_bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	if (total_bytes <= ALLOC_SLOT_BYTES_MAX) {
		void *block = alloc_malloc(total_bytes);
		return block ? memset(block, 0, total_bytes) : NULL;
	}
	bool shared;
	if (!alloc_thread_enter(&shared))
		return alloc_no_memory(total_bytes);
	size_t dirty_bytes = 0;
	void *block = alloc_big_take(total_bytes, 1, total_bytes, &dirty_bytes);
	alloc_thread_leave(shared);
	if (block && dirty_bytes)
		memset(block, 0, dirty_bytes < total_bytes ? dirty_bytes : total_bytes);
	return block;
}
