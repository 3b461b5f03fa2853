// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A slot freed elsewhere keeps its state, so the owner's fast path and the bits
// never touch the same byte; a second free of it finds the bit set. B grows
// before the bits are set and shrinks after A has: a walk in between counts the
// slots of one batch as cache or as free, never below zero.

#include "remote.h"

#include "misuse.h"

#include "../libtelemetry/banned.h"

#define GROUPS (2 * ALLOC_OUTBOX_SLOTS)

struct group {
	struct alloc_span *span;
	uint32_t slots;
	uint32_t slack_bytes;
};

static void mail_span(struct alloc_span *span)
{
	// The exchange pairs with the one in drain_span: bits set before it are
	// seen by the drain that resets it, or the span is mailed again.
	// (All of this and set_bit is seq_cst: a look that finds it mailed suffices.)
	while (!atomic_load(&span->mailed) && !atomic_exchange(&span->mailed, 1)) {
		struct alloc_heap *heap = atomic_load_explicit(&span->heap, memory_order_acquire);
		if (heap) {
			struct alloc_span *head = atomic_load_explicit(&heap->mail, memory_order_relaxed);
			do {
				span->mail_next = head;
			} while (!atomic_compare_exchange_weak_explicit(&heap->mail, &head, span, memory_order_release,
									memory_order_relaxed));
			return;
		}
		// Drained and given to central meanwhile. Whoever freed into its next
		// life and found it mailed relies on the second look.
		atomic_exchange(&span->mailed, 0);
		if (!atomic_load_explicit(&span->heap, memory_order_acquire))
			return;
	}
}

static void set_bit(struct alloc_span *span, uint32_t slot, uint32_t slack_bytes)
{
	uint64_t bit = (uint64_t)1 << (slot & 63);
	uint64_t before = atomic_fetch_or(&span->remote[slot >> 6], bit);
	if (TELE_UNLIKELY(before & bit)) {
		// B has counted it twice: take one back.
		atomic_fetch_sub_explicit(&span->b, alloc_count_word(1, slack_bytes), memory_order_relaxed);
		alloc_misuse("double free", span->base + (size_t)slot * span->slot_bytes);
	}
}

void alloc_remote_hand_over(struct alloc_span *span, uint32_t slot, uint32_t slack_bytes)
{
	atomic_fetch_add_explicit(&span->b, alloc_count_word(1, slack_bytes), memory_order_release);
	set_bit(span, slot, slack_bytes);
	mail_span(span);
}

// Which group of the batch the span has, in an open table by address.
static uint32_t group_of(struct group groups[GROUPS], struct alloc_span *span)
{
	uint32_t at = (uint32_t)((uintptr_t)span >> 7) % GROUPS;
	while (groups[at].span && groups[at].span != span)
		at = (at + 1) % GROUPS;
	groups[at].span = span;
	return at;
}

void alloc_remote_flush(struct alloc_heap *heap)
{
	struct group groups[GROUPS] = { 0 };
	uint16_t order[ALLOC_OUTBOX_SLOTS];
	uint32_t n_groups = 0, n = heap->n_outbox;
	if (n == 0)
		return;
	// Only a fork asks for this lock here: it must not copy half a flush.
	alloc_lock_take(&heap->lock);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = group_of(groups, alloc_entry_span(heap->outbox[i]));
		if (groups[at].slots++ == 0)
			order[n_groups++] = (uint16_t)at;
		groups[at].slack_bytes += heap->outbox_slack_bytes[i];
	}
	for (uint32_t k = 0; k < n_groups; k++) {
		struct group *group = &groups[order[k]];
		atomic_fetch_add_explicit(&group->span->b, alloc_count_word(group->slots, group->slack_bytes),
					  memory_order_release);
	}
	for (uint32_t i = 0; i < n; i++)
		set_bit(alloc_entry_span(heap->outbox[i]), alloc_entry_slot(heap->outbox[i]),
			heap->outbox_slack_bytes[i]);
	heap->n_outbox = 0;
	atomic_store_explicit(&heap->c, 0, memory_order_release);
	for (uint32_t k = 0; k < n_groups; k++)
		mail_span(groups[order[k]].span);
	alloc_lock_drop(&heap->lock);
}

void alloc_remote_fold(struct alloc_span *span)
{
	uint64_t g = alloc_g_read(span);
	uint32_t drained = alloc_g_drained(g);
	if (!drained)
		return;
	uint64_t pair = alloc_count_word(drained, span->drained_slack_bytes);
	alloc_word_add(&span->a, -pair);
	atomic_fetch_sub_explicit(&span->b, pair, memory_order_release);
	alloc_g_write(span, alloc_g_word(alloc_g_class(g), alloc_g_kept(g), alloc_g_resident(g), alloc_g_ever(g),
					 alloc_g_high(g), 0));
	span->drained_slack_bytes = 0;
}

// Frees the slots whose bits are set. Returns how many.
static uint32_t take_bits(struct alloc_span *span, uint32_t *ret_slack_bytes)
{
	uint32_t n = 0, slack_bytes = 0;
	uint32_t n_words = (alloc_classes[span->class].n_slots + 63) / 64;
	for (uint32_t w = 0; w < n_words; w++) {
		if (!atomic_load(&span->remote[w]))
			continue;
		uint64_t bits = atomic_exchange(&span->remote[w], 0);
		for (; bits; bits &= bits - 1) {
			uint32_t slot = w * 64 + (uint32_t)__builtin_ctzll(bits);
			uint32_t state = alloc_state_read(span, slot);
			if (TELE_UNLIKELY(state < ALLOC_STATE_LIVE)) {
				// The owner freed it too; its books already say so.
				atomic_fetch_sub_explicit(&span->b, alloc_count_word(1, 0), memory_order_relaxed);
				alloc_misuse("double free", span->base + (size_t)slot * span->slot_bytes);
				continue;
			}
			alloc_state_write(span, slot, ALLOC_STATE_FREE);
			slack_bytes += state - ALLOC_STATE_LIVE;
			if (slot < span->low)
				span->low = (uint16_t)slot;
			n++;
		}
	}
	*ret_slack_bytes = slack_bytes;
	return n;
}

static void drain_span(struct alloc_heap *heap, struct alloc_span *span, bool owns)
{
	atomic_exchange(&span->mailed, 0);
	uint32_t slack_bytes;
	uint32_t n = take_bits(span, &slack_bytes);
	if (n == 0)
		return;
	uint64_t g = alloc_g_read(span);
	span->drained_slack_bytes += slack_bytes;
	alloc_g_write(span, alloc_g_word(alloc_g_class(g), alloc_g_kept(g), alloc_g_resident(g), alloc_g_ever(g),
					 alloc_g_high(g), alloc_g_drained(g) + n));
	span->n_free = (uint16_t)(span->n_free + n);
	heap->bins[span->class].n_holes += n;
	if (owns)
		alloc_remote_fold(span);
	alloc_heap_note_free(heap, span);
}

void alloc_remote_drain(struct alloc_heap *heap, bool owns)
{
	if (!atomic_load_explicit(&heap->mail, memory_order_relaxed))
		return;
	struct alloc_span *span = atomic_exchange_explicit(&heap->mail, NULL, memory_order_acquire);
	while (span) {
		struct alloc_span *next = span->mail_next;
		if (atomic_load_explicit(&span->heap, memory_order_relaxed) == heap) {
			drain_span(heap, span, owns);
		} else {
			// Taken over by another heap since: forward it.
			atomic_exchange(&span->mailed, 0);
			mail_span(span);
		}
		span = next;
	}
}
