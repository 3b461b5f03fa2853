// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A segment's unassigned spans are bits of its free_mask; those that still have
// resident pages are also in its kept_mask, and are taken first: reuse costs no
// page fault and raises no residency.

#include "central.h"

#include "central_internal.h"
#include "config.h"
#include "directory.h"
#include "index.h"
#include "meta.h"
#include "misuse.h"
#include "sys.h"

#include "../libtelemetry/banned.h"

struct alloc_lock alloc_central_lock;
_Atomic uint64_t alloc_block_mallocs;
_Atomic uint64_t alloc_block_frees;
_Atomic uint32_t alloc_central_n_kept;
static struct alloc_segment *central_unmapped; // descriptors without memory
static _Atomic uintptr_t central_hint; // where the last segment lies

uint32_t alloc_whole_pages(uint32_t mask, bool inward)
{
	uint32_t group = (uint32_t)tele_min_u64(alloc_page_bytes / ALLOC_PAGE_BYTES, ALLOC_SPAN_PAGES);
	if (TELE_LIKELY(group <= 1))
		return mask;
	uint32_t whole = 0;
	for (uint32_t at = 0; at < ALLOC_SPAN_PAGES; at += group) {
		uint32_t bits = alloc_page_mask(at, at + group - 1);
		if (inward ? (mask & bits) == bits : (mask & bits) != 0)
			whole |= bits;
	}
	return whole;
}

void alloc_central_check(const struct alloc_segment *segment)
{
	if (TELE_UNLIKELY(segment->canary != alloc_canary(&segment->canary, 'S')))
		alloc_misuse("heap metadata is damaged", segment);
}

void alloc_central_mark_taken(struct alloc_segment *segment, uint64_t mask)
{
	TELE_ASSERT((segment->free_mask & mask) == mask);
	uint64_t kept = segment->kept_mask & mask;
	segment->free_mask &= ~mask;
	segment->kept_mask &= ~mask;
	segment->idle_mask &= ~mask;
	atomic_fetch_sub_explicit(&alloc_central_n_kept, (uint32_t)__builtin_popcountll(kept),
				  memory_order_relaxed);
	alloc_index_update(segment);
}

void alloc_central_mark_free(struct alloc_segment *segment, uint64_t mask)
{
	TELE_ASSERT((segment->free_mask & mask) == 0);
	segment->free_mask |= mask;
	for (uint64_t rest = mask; rest; rest &= rest - 1) {
		unsigned i = (unsigned)__builtin_ctzll(rest);
		struct alloc_span *span = &segment->spans[i];
		uint64_t g = alloc_g_read(span);
		uint32_t resident = alloc_g_resident(g);
		alloc_g_write(span, alloc_g_word(ALLOC_CLASS_NONE, resident != 0, resident, alloc_g_ever(g), 0, 0));
		atomic_store_explicit(&span->kind, ALLOC_SPAN_FREE, memory_order_relaxed);
		if (resident) {
			segment->kept_mask |= (uint64_t)1 << i;
			atomic_fetch_add_explicit(&alloc_central_n_kept, 1, memory_order_relaxed);
		}
	}
	segment->run_limit = ALLOC_SEGMENT_SPANS;
	alloc_index_update(segment);
}

// Maps 4 MiB on a multiple of 4 MiB; beside the last one where that is free.
static uintptr_t map_segment(void)
{
	uintptr_t last = atomic_load_explicit(&central_hint, memory_order_relaxed);
	uintptr_t hint = last ? last - ALLOC_SEGMENT_BYTES : 0;
	unsigned char *at = alloc_sys_map((void *)hint, ALLOC_SEGMENT_BYTES);
	if (!at)
		return 0;
	if ((uintptr_t)at & (ALLOC_SEGMENT_BYTES - 1)) {
		alloc_sys_unmap(at, ALLOC_SEGMENT_BYTES);
		at = alloc_sys_map(NULL, 2 * ALLOC_SEGMENT_BYTES);
		if (!at)
			return 0;
		unsigned char *aligned = (unsigned char *)tele_align_up((uintptr_t)at, ALLOC_SEGMENT_BYTES);
		if (aligned > at)
			alloc_sys_unmap(at, (size_t)(aligned - at));
		size_t tail_bytes = (size_t)(at + ALLOC_SEGMENT_BYTES - aligned);
		if (tail_bytes)
			alloc_sys_unmap(aligned + ALLOC_SEGMENT_BYTES, tail_bytes);
		at = aligned;
	}
	if (alloc_config.huge != ALLOC_HUGE_SYSTEM)
		alloc_sys_huge(at, ALLOC_SEGMENT_BYTES, alloc_config.huge == ALLOC_HUGE_ALWAYS);
	atomic_store_explicit(&central_hint, (uintptr_t)at, memory_order_relaxed);
	return (uintptr_t)at;
}

bool alloc_central_grow(void)
{
	uintptr_t base = map_segment();
	if (!base)
		return false;
	alloc_lock_take(&alloc_central_lock);
	struct alloc_segment *segment = central_unmapped;
	if (segment)
		central_unmapped = segment->unmapped_next;
	alloc_lock_drop(&alloc_central_lock);
	if (!segment)
		segment = alloc_meta_take(sizeof(*segment));
	if (!segment || !alloc_directory_name(segment) || !alloc_index_reserve(segment->order)) {
		alloc_sys_unmap((void *)base, ALLOC_SEGMENT_BYTES);
		return false;
	}
	alloc_directory_add(segment, base);
	alloc_lock_take(&alloc_central_lock);
	alloc_central_mark_free(segment, ~(uint64_t)0);
	alloc_lock_drop(&alloc_central_lock);
	return true;
}

void alloc_central_retire(struct alloc_segment *segment)
{
	uintptr_t base = atomic_load_explicit(&segment->base, memory_order_relaxed);
	alloc_directory_remove(segment);
	bool gone = alloc_sys_unmap((void *)base, ALLOC_SEGMENT_BYTES) == 0;
	if (!gone)
		alloc_directory_add(segment, base);
	alloc_lock_take(&alloc_central_lock);
	if (gone) {
		segment->unmapped_next = central_unmapped;
		central_unmapped = segment;
	} else {
		alloc_central_mark_free(segment, ~(uint64_t)0);
	}
	alloc_lock_drop(&alloc_central_lock);
}

bool alloc_central_has_kept(void)
{
	return atomic_load_explicit(&alloc_central_n_kept, memory_order_relaxed) != 0;
}

static struct alloc_span *take_oldest(bool only_kept)
{
	struct alloc_segment *segment = alloc_central_has_kept() ? alloc_index_kept(0) : NULL;
	if (!segment && !only_kept)
		segment = alloc_index_free(0);
	if (!segment)
		return NULL;
	alloc_central_check(segment);
	uint64_t from = segment->kept_mask ? segment->kept_mask : segment->free_mask;
	unsigned i = (unsigned)__builtin_ctzll(from);
	alloc_central_mark_taken(segment, (uint64_t)1 << i);
	return &segment->spans[i];
}

struct alloc_span *alloc_central_take(uint32_t class, bool only_kept)
{
	void *table = alloc_meta_take_table(class);
	if (!table)
		return NULL;
	struct alloc_span *span;
	do {
		alloc_lock_take(&alloc_central_lock);
		span = take_oldest(only_kept);
		alloc_lock_drop(&alloc_central_lock);
	} while (!span && !only_kept && alloc_central_grow());
	if (!span) {
		alloc_meta_give_table(class, table);
		return NULL;
	}
	span->table = table;
	span->remote = table;
	span->states = (_Atomic uint8_t *)((unsigned char *)table + alloc_classes[class].states_at);
	return span;
}

void alloc_central_give(struct alloc_span *span, bool idle)
{
	struct alloc_segment *segment = alloc_segment_of(span);
	uint64_t g = alloc_g_read(span);
	TELE_ASSERT(span->n_free == alloc_g_high(g) && alloc_g_class(g) == span->class);
	atomic_store_explicit(&span->heap, NULL, memory_order_relaxed);
	alloc_meta_give_table(span->class, span->table);
	alloc_lock_take(&alloc_central_lock);
	alloc_central_check(segment);
	// What the walk reads changes class first: of an unassigned span it looks at G only.
	uint64_t bit = (uint64_t)1 << (span - segment->spans);
	alloc_central_mark_free(segment, bit);
	if (idle)
		segment->idle_mask |= bit;
	atomic_store_explicit(&span->a, 0, memory_order_relaxed);
	atomic_store_explicit(&span->b, 0, memory_order_relaxed);
	span->class = ALLOC_CLASS_NONE;
	alloc_lock_drop(&alloc_central_lock);
}
