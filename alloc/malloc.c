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

// Out of the magazine, which has an entry, into the books.
static inline void *take_slot(struct alloc_magazine *magazine, uint64_t word, size_t size_bytes, bool wide)
{
	uint32_t n = (uint32_t)word & ALLOC_MAGAZINE_COUNT;
	uint64_t entry = atomic_load_explicit(&magazine->entries[n - 1], memory_order_relaxed);
	atomic_store_explicit(&magazine->word, word + ALLOC_MAGAZINE_TAKEN - 1, memory_order_release);
	struct alloc_span *span = alloc_entry_span(entry);
	uint32_t slot = alloc_entry_slot(entry);
	uint32_t slack_bytes = magazine->slot_bytes - (uint32_t)size_bytes;
	uint32_t state = slack_bytes + ALLOC_STATE_LIVE;
	if (wide)
		atomic_store_explicit(&((_Atomic uint16_t *)span->states)[slot], (uint16_t)state,
				      memory_order_relaxed);
	else
		atomic_store_explicit(&span->states[slot], (uint8_t)state, memory_order_relaxed);
	alloc_word_add(&span->a, alloc_pair_word(1, slack_bytes));
	return span->base + slot * magazine->slot_bytes;
}

void *alloc_take_slot(uint32_t class, size_t size_bytes)
{
	struct alloc_heap *heap = alloc_self;
	for (;;) {
		struct alloc_magazine *magazine = &heap->magazines[class];
		uint64_t word = atomic_load_explicit(&magazine->word, memory_order_relaxed);
		if (TELE_LIKELY(word & ALLOC_MAGAZINE_COUNT))
			return take_slot(magazine, word, size_bytes, magazine->slot_bytes > ALLOC_NARROW_BYTES);
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
		struct alloc_magazine *magazine = &heap->magazines[alloc_small_class[(size_bytes + 15) >> 4]];
		uint64_t word = atomic_load_explicit(&magazine->word, memory_order_relaxed);
		if (TELE_LIKELY(word & ALLOC_MAGAZINE_COUNT))
			return take_slot(magazine, word, size_bytes, false);
	} else if (TELE_LIKELY(size_bytes <= ALLOC_SLOT_BYTES_MAX)) {
		struct alloc_magazine *magazine = &heap->magazines[alloc_middle_class[(size_bytes + 127) >> 7]];
		uint64_t word = atomic_load_explicit(&magazine->word, memory_order_relaxed);
		if (TELE_LIKELY(word & ALLOC_MAGAZINE_COUNT))
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
	if (alloc_thread_has_heap())
		alloc_remote_free(alloc_self, span, slot, state - ALLOC_STATE_LIVE);
	else
		alloc_remote_hand_over(span, slot, state - ALLOC_STATE_LIVE);
}

static __attribute__((noinline)) void free_slow(void *block)
{
	if (!block)
		return;
	struct alloc_segment *segment = alloc_directory_find((uintptr_t)block);
	if (!segment) {
		if (!alloc_large_give(block))
			alloc_misuse("free of a pointer that is no block", block);
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

static inline void free_home(struct alloc_heap *heap, struct alloc_span *span, uint32_t slot, uint32_t state)
{
	alloc_word_add(&span->a, -alloc_pair_word(1, state - ALLOC_STATE_LIVE));
	struct alloc_magazine *magazine =
		(struct alloc_magazine *)(void *)((unsigned char *)heap + span->magazine_offset);
	uint64_t word = atomic_load_explicit(&magazine->word, memory_order_relaxed);
	uint32_t n = (uint32_t)word & ALLOC_MAGAZINE_COUNT;
	if (TELE_UNLIKELY(n == magazine->room)) {
		alloc_heap_spill(heap, span->class, (n + 1) / 2);
		word = atomic_load_explicit(&magazine->word, memory_order_relaxed);
		n = (uint32_t)word & ALLOC_MAGAZINE_COUNT;
	}
	atomic_store_explicit(&magazine->entries[n], alloc_entry(span, slot), memory_order_relaxed);
	// After the entry, for a fork that copies this thread in between.
	atomic_store_explicit(&magazine->word, word + 1, memory_order_release);
}

void alloc_free(void *block)
{
	uintptr_t at = (uintptr_t)block;
	struct alloc_segment *segment = alloc_directory_lookup(at);
	if (TELE_UNLIKELY(!segment)) {
		free_slow(block);
		return;
	}
	struct alloc_span *span = alloc_span_of(segment, at);
	struct alloc_heap *heap = alloc_self;
	if (TELE_UNLIKELY(atomic_load_explicit(&span->heap, memory_order_relaxed) != heap)) {
		free_slow(block);
		return;
	}
	uint32_t offset = (uint32_t)at & (ALLOC_SPAN_BYTES - 1);
	uint32_t slot = alloc_slot_of(span, offset);
	_Atomic uint8_t *narrow = &span->states[slot];
	if (TELE_LIKELY(span->slot_bytes <= ALLOC_NARROW_BYTES)) {
		uint32_t state = atomic_load_explicit(narrow, memory_order_relaxed);
		if (TELE_UNLIKELY(slot * span->slot_bytes != offset || state < ALLOC_STATE_LIVE)) {
			free_misused(span, block);
			return;
		}
		atomic_store_explicit(narrow, ALLOC_STATE_CACHED, memory_order_relaxed);
		free_home(heap, span, slot, state);
		return;
	}
	_Atomic uint16_t *wide = &((_Atomic uint16_t *)span->states)[slot];
	uint32_t state = atomic_load_explicit(wide, memory_order_relaxed);
	if (TELE_UNLIKELY(slot * span->slot_bytes != offset || state < ALLOC_STATE_LIVE)) {
		free_misused(span, block);
		return;
	}
	atomic_store_explicit(wide, ALLOC_STATE_CACHED, memory_order_relaxed);
	free_home(heap, span, slot, state);
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
