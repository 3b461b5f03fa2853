// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Between magazines and spans. A refill prefers slots in this order: resident
// pages of the heap's own spans, of orphans' spans, spans that central still
// has resident, then a page that must be touched: one page at a time, so that
// what the books call resident runs at most a page a class ahead of the truth.

#include "central.h"
#include "directory.h"
#include "heap.h"
#include "queue.h"
#include "reclaim.h"
#include "remote.h"
#include "meta.h"
#include "misuse.h"

#include "../libtelemetry/collector.h"

#include "../libtelemetry/banned.h"

// How many orphans a refill looks at.
#define ORPHANS_MAX 8

// How often the slow path looks at the clock.
#define POLL_EVERY 64u

// An early pass is worth it once that part of what is mapped was turned over.
#define TURNED_BYTES_MIN (UINT64_C(8) << 20)
#define TURNED_SHARE 32u

static inline uint32_t pages_of_slot(uint32_t slot, uint32_t slot_bytes)
{
	uint32_t begin = slot * slot_bytes;
	uint32_t pages = alloc_page_mask(begin / ALLOC_PAGE_BYTES, (begin + slot_bytes - 1) / ALLOC_PAGE_BYTES);
	return TELE_LIKELY(alloc_page_bytes == ALLOC_PAGE_BYTES) ? pages : alloc_whole_pages(pages, false);
}

// Free slots among those whose states lie in one 64-bit word: eight narrow ones
// or four wide ones. Tables are padded to 64 bytes.
struct lanes {
	uint32_t per_word;
	uint32_t bits_shift; // a lane's bits are 1 << that
	uint64_t low_bits;   // all bits of each lane but its highest
};

static const struct lanes narrow_lanes = { 8, 3, 0x7f7f7f7f7f7f7f7fu };
static const struct lanes wide_lanes = { 4, 4, 0x7fff7fff7fff7fffu };

// The highest bit of each lane that is free, of the word that begins with slot
// `at`; `ignore` has bits set in lanes that do not matter.
static inline uint64_t free_lanes(const struct alloc_span *span, const struct lanes *lanes, uint32_t at, uint64_t ignore)
{
	uintptr_t word = (uintptr_t)span->states + ((uintptr_t)at << (lanes->bits_shift - 3));
	uint64_t states = atomic_load_explicit((_Atomic uint64_t *)word, memory_order_relaxed) | ignore;
	return ~(((states & lanes->low_bits) + lanes->low_bits) | states | lanes->low_bits);
}

// One taking from one span: the words as they will be, and what went where.
struct taking {
	struct alloc_span *span;
	struct alloc_bin *bin;
	const struct alloc_class *class;
	struct alloc_free_slot *entries;
	uint32_t want, taken;
	uint32_t resident, ever, high;
	uint32_t touched;  // pages of the slots taken
	uint32_t may_open; // pages that may become resident
};

// Whether a slot on these pages may be taken, opening them if need be.
static inline bool admits(struct taking *taking, uint32_t pages)
{
	uint32_t missing = pages & ~taking->resident;
	if (missing) {
		if (!taking->may_open)
			return false;
		uint32_t n_missing = (uint32_t)__builtin_popcount(missing);
		taking->may_open = n_missing < taking->may_open ? taking->may_open - n_missing : 0;
		taking->resident |= pages;
		taking->ever |= pages;
	}
	taking->touched |= pages;
	return true;
}

static inline void take_one(struct taking *taking, uint32_t slot)
{
	struct alloc_span *span = taking->span;
	alloc_state_write(span, slot, ALLOC_STATE_CACHED);
	taking->entries[taking->taken++] =
		(struct alloc_free_slot){ span->base + (size_t)slot * taking->class->slot_bytes, alloc_entry(span, slot) };
}

// Slots that were used before, lowest first.
static void take_used(struct taking *taking)
{
	struct alloc_span *span = taking->span;
	const struct lanes *lanes = alloc_span_is_wide(span) ? &wide_lanes : &narrow_lanes;
	uint32_t slot_bytes = taking->class->slot_bytes, n_left = span->n_free;
	uint32_t at = span->low / lanes->per_word * lanes->per_word;
	uint64_t ignore = ((uint64_t)1 << ((span->low - at) << lanes->bits_shift)) - 1;
	uint32_t next = span->low, skipped = taking->high;
	bool any_page = taking->resident == ALLOC_ALL_PAGES && !span->idle;
	while (n_left && taking->taken < taking->want) {
		TELE_ASSERT(at < taking->high);
		uint64_t zeros = free_lanes(span, lanes, at, ignore);
		for (; zeros && n_left && taking->taken < taking->want; zeros &= zeros - 1) {
			uint32_t slot = at + ((uint32_t)__builtin_ctzll(zeros) >> lanes->bits_shift);
			n_left--;
			next = slot + 1;
			if (any_page || admits(taking, pages_of_slot(slot, slot_bytes)))
				take_one(taking, slot);
			else if (slot < skipped)
				skipped = slot;
		}
		at += lanes->per_word;
		ignore = 0;
	}
	span->low = (uint16_t)(next < skipped ? next : skipped);
	span->n_free = (uint16_t)(span->n_free - taking->taken);
	taking->bin->n_holes -= taking->taken;
}

// Slots above the high water, as far as their pages go.
static void take_fresh(struct taking *taking)
{
	struct alloc_span *span = taking->span;
	uint32_t slot_bytes = taking->class->slot_bytes;
	while (taking->taken < taking->want && taking->high < taking->class->n_slots) {
		if (!admits(taking, pages_of_slot(taking->high, slot_bytes)))
			return;
		// As many as end where the row of resident pages ends.
		uint32_t begin = taking->high * slot_bytes;
		uint32_t page = (begin + slot_bytes - 1) / ALLOC_PAGE_BYTES;
		uint32_t n_pages = (uint32_t)__builtin_ctz(~(taking->resident >> page));
		uint32_t n = ((page + n_pages) * ALLOC_PAGE_BYTES - begin) / slot_bytes;
		uint32_t n_most = taking->want - taking->taken;
		n = n < n_most ? n : n_most;
		n_most = taking->class->n_slots - taking->high;
		n = n < n_most ? n : n_most;
		struct alloc_free_slot *entries = &taking->entries[taking->taken];
		for (uint32_t i = 0; i < n; i++) {
			uint32_t slot = taking->high + i;
			alloc_state_write(span, slot, ALLOC_STATE_CACHED);
			entries[n - 1 - i] = (struct alloc_free_slot){ span->base + (size_t)slot * slot_bytes,
								       alloc_entry(span, slot) };
		}
		taking->touched |= alloc_page_mask(begin / ALLOC_PAGE_BYTES, (begin + n * slot_bytes - 1) / ALLOC_PAGE_BYTES);
		taking->high += n;
		taking->taken += n;
	}
}

// Moves up to `want` free slots of the span into the magazine: those on
// resident pages, and those of up to may_open pages that are not. Returns how
// many; fewer than `want` means that no more are there on these terms.
static uint32_t take_slots(struct alloc_span *span, struct alloc_bin *bin, struct alloc_magazine *magazine,
			   uint32_t want, uint32_t may_open)
{
	alloc_remote_fold(span);
	uint64_t g = alloc_g_read(span);
	uint32_t n = alloc_magazine_count(atomic_load_explicit(&magazine->word, memory_order_relaxed));
	struct taking taking = {
		.span = span,
		.bin = bin,
		.class = &alloc_classes[span->class],
		.entries = &magazine->entries[n],
		.want = want,
		.resident = alloc_g_resident(g),
		.ever = alloc_g_ever(g),
		.high = alloc_g_high(g),
		.may_open = may_open,
	};
	take_used(&taking);
	take_fresh(&taking);
	if (!taking.taken)
		return 0;
	span->idle &= (uint16_t)~taking.touched;
	alloc_g_write(span, alloc_g_word(span->class, alloc_g_kept(g), taking.resident, taking.ever, taking.high, 0));
	alloc_word_add(&magazine->refilled, taking.taken);
	alloc_word_add(&magazine->word, alloc_magazine_entries(taking.taken));
	return taking.taken;
}

static void make_current(struct alloc_heap *heap, struct alloc_span *span)
{
	struct alloc_bin *bin = &heap->bins[span->class];
	TELE_ASSERT(span->place == ALLOC_PLACE_NONE && !bin->current);
	span->place = ALLOC_PLACE_CURRENT;
	bin->current = span;
}

// The books run ahead of the truth by the pages a refill opens, so how many it
// may open grows with the class: some half a per cent of what it holds.
static uint32_t pages_to_open(const struct alloc_bin *bin)
{
	uint32_t pages = 1 + bin->n_spans / 12;
	return pages < 4 ? pages : 4;
}

// Under the heap's lock: slots from resident pages of the heap's own spans,
// else, with `open`, from a page that must be touched.
static uint32_t fill(struct alloc_heap *heap, uint32_t class, uint32_t want, bool open)
{
	struct alloc_magazine *magazine = &heap->magazines[class];
	struct alloc_bin *bin = &heap->bins[class];
	uint32_t taken = 0;
	while (taken < want) {
		if (!bin->current) {
			struct alloc_span *warm = bin->warm;
			if (!warm)
				break;
			alloc_heap_detach(heap, warm);
			make_current(heap, warm);
		}
		struct alloc_span *span = bin->current;
		uint32_t got = take_slots(span, bin, magazine, want - taken, 0);
		taken += got;
		if (taken == want)
			break;
		// Nothing resident is left in it.
		alloc_heap_detach(heap, span);
		if (span->n_free || alloc_g_high(alloc_g_read(span)) < alloc_classes[class].n_slots) {
			span->place = ALLOC_PLACE_COLD;
			alloc_queue_push(&bin->cold, span);
		}
	}
	if (taken || !open || !bin->cold)
		return taken;
	struct alloc_span *span = bin->cold;
	alloc_heap_detach(heap, span);
	make_current(heap, span);
	taken = take_slots(span, bin, magazine, want, pages_to_open(bin));
	TELE_ASSERT(taken);
	return taken;
}

// Under the heap's lock: a span that central has handed out for the class.
static void assign(struct alloc_heap *heap, struct alloc_span *span, uint32_t class)
{
	uint64_t g = alloc_g_read(span);
	span->reciprocal = alloc_classes[class].reciprocal;
	span->slot_bytes = alloc_classes[class].slot_bytes;
	span->magazine_offset = (uint32_t)offsetof(struct alloc_heap, magazines) +
				class * (uint32_t)sizeof(struct alloc_magazine);
	span->class = (uint8_t)class;
	span->place = ALLOC_PLACE_NONE;
	span->n_free = span->low = span->idle = 0;
	span->drained_slack_bytes = 0;
	atomic_store_explicit(&span->pending, alloc_g_resident(g) != 0, memory_order_relaxed);
	alloc_g_write(span, alloc_g_word(class, alloc_g_resident(g) != 0, alloc_g_resident(g), alloc_g_ever(g), 0, 0));
	atomic_store_explicit(&span->kind, ALLOC_SPAN_SLOTS, memory_order_relaxed);
	// Pairs with the loads in free and mail_span.
	atomic_store_explicit(&span->heap, heap, memory_order_release);
	heap->bins[class].n_spans++;
	alloc_heap_place(heap, span);
}

// Takes a span with resident free slots from a heap whose thread is gone.
static bool steal(struct alloc_heap *heap, uint32_t class)
{
	struct alloc_span *span = NULL;
	uint32_t holes = 0; // when it changed hands; later ones are counted here
	if (atomic_load_explicit(&alloc_heap_n_orphans, memory_order_relaxed) == 0)
		return false;
	alloc_lock_take(&alloc_heaps_lock);
	int tries = ORPHANS_MAX;
	for (struct alloc_heap *orphan = alloc_heap_orphans; orphan && !span && tries-- > 0;
	     orphan = orphan->orphan_next) {
		if (orphan->is_unflushed) {
			// What its magazines hold must not stay behind when spans go.
			orphan->is_unflushed = false;
			alloc_heap_flush(orphan);
		}
		if (!alloc_lock_try(&orphan->lock))
			continue;
		alloc_remote_drain(orphan, true);
		span = orphan->bins[class].current ? orphan->bins[class].current : orphan->bins[class].warm;
		if (span) {
			alloc_heap_detach(orphan, span);
			alloc_remote_fold(span);
			orphan->bins[class].n_spans--;
			holes = span->n_free;
			orphan->bins[class].n_holes -= holes;
			atomic_store_explicit(&span->heap, heap, memory_order_release);
		}
		alloc_lock_drop(&orphan->lock);
	}
	alloc_lock_drop(&alloc_heaps_lock);
	if (!span)
		return false;
	alloc_lock_take(&heap->lock);
	// Since it changed hands a drain or the reclaimer may have found it, and
	// even given it to central.
	heap->bins[class].n_spans++;
	heap->bins[class].n_holes += holes;
	if (atomic_load_explicit(&span->heap, memory_order_relaxed) == heap && span->place == ALLOC_PLACE_NONE)
		alloc_heap_place(heap, span);
	alloc_lock_drop(&heap->lock);
	return true;
}

static bool ready_magazine(struct alloc_magazine *magazine, uint32_t class)
{
	if (magazine->entries)
		return true;
	uint32_t room = alloc_classes[class].magazine_slots;
	magazine->entries = alloc_meta_take(room * sizeof(struct alloc_free_slot));
	if (!magazine->entries)
		return false;
	magazine->room_bytes = (uint32_t)alloc_magazine_entries(room);
	return true;
}

// Under the heap's lock: whether so much was taken where there are holes that
// the reclaim should look again before its time.
static bool has_turned(struct alloc_heap *heap, uint32_t class, uint32_t taken)
{
	if (!alloc_bin_is_holey(&heap->bins[class], class))
		return false;
	heap->turned_bytes += (uint64_t)taken * alloc_classes[class].slot_bytes;
	uint64_t mapped_bytes = atomic_load_explicit(&alloc_mapped_bytes, memory_order_relaxed);
	if (heap->turned_bytes < tele_max_u64(TURNED_BYTES_MIN, mapped_bytes / TURNED_SHARE))
		return false;
	heap->turned_bytes = 0;
	return true;
}

bool alloc_heap_refill(struct alloc_heap *heap, uint32_t class)
{
	struct alloc_magazine *magazine = &heap->magazines[class];
	if (TELE_UNLIKELY(heap->canary != alloc_canary(&heap->canary, 'H')))
		alloc_misuse("heap metadata is damaged", heap);
	if (++heap->slow_calls % POLL_EVERY == 0)
		alloc_reclaim_poll();
	if (!ready_magazine(magazine, class))
		return false;
	uint32_t want = alloc_classes[class].magazine_slots / 2;
	bool elsewhere = true; // other places may have resident slots
	for (;;) {
		elsewhere = elsewhere && (alloc_central_has_kept() ||
					  atomic_load_explicit(&alloc_heap_n_orphans, memory_order_relaxed));
		alloc_lock_take(&heap->lock);
		alloc_remote_drain(heap, true);
		uint32_t taken = fill(heap, class, want, !elsewhere);
		heap->bins[class].n_taken += taken;
		bool is_worth_a_pass = has_turned(heap, class, taken);
		alloc_lock_drop(&heap->lock);
		if (is_worth_a_pass)
			rollcall_tend();
		if (taken)
			return true;
		if (elsewhere && steal(heap, class))
			continue;
		struct alloc_span *span = alloc_central_take(class, elsewhere);
		if (!span && !elsewhere)
			return false;
		elsewhere = false;
		if (!span)
			continue;
		alloc_lock_take(&heap->lock);
		assign(heap, span, class);
		alloc_lock_drop(&heap->lock);
	}
}

// Under the heap's lock: cached slots back into their spans.
static void give_back(struct alloc_heap *heap, uint32_t class, const struct alloc_free_slot *entries, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct alloc_span *span = alloc_entry_span(entries[i].place);
		uint32_t slot = alloc_entry_slot(entries[i].place);
		alloc_state_write(span, slot, ALLOC_STATE_FREE);
		span->n_free++;
		heap->bins[class].n_holes++;
		if (slot < span->low)
			span->low = (uint16_t)slot;
		alloc_heap_note_free(heap, span);
	}
}

// The owner puts the n coldest slots of a magazine back. Returns whether the
// class has many holes now.
static bool spill(struct alloc_heap *heap, uint32_t class, uint32_t n)
{
	struct alloc_magazine *magazine = &heap->magazines[class];
	uint64_t word = atomic_load_explicit(&magazine->word, memory_order_relaxed);
	uint32_t count = alloc_magazine_count(word);
	TELE_ASSERT(n <= count);
	alloc_lock_take(&heap->lock);
	give_back(heap, class, magazine->entries, n);
	for (uint32_t i = n; i < count; i++)
		magazine->entries[i - n] = magazine->entries[i];
	alloc_word_add(&magazine->refilled, -(uint64_t)n);
	alloc_word_add(&magazine->word, -alloc_magazine_entries(n));
	bool holey = alloc_bin_is_holey(&heap->bins[class], class);
	alloc_lock_drop(&heap->lock);
	return holey;
}

static bool spill_aside(struct alloc_heap *heap, uint32_t class)
{
	struct alloc_bin *bin = &heap->bins[class];
	alloc_lock_take(&heap->lock);
	give_back(heap, class, bin->aside, bin->n_aside);
	bin->n_aside = 0;
	bool holey = alloc_bin_is_holey(bin, class);
	alloc_lock_drop(&heap->lock);
	return holey;
}

bool alloc_heap_make_room(struct alloc_heap *heap, uint32_t class, struct alloc_free_slot slot)
{
	struct alloc_magazine *magazine = &heap->magazines[class];
	struct alloc_bin *bin = &heap->bins[class];
	if (magazine->room_bytes) {
		uint32_t count = alloc_magazine_count(atomic_load_explicit(&magazine->word, memory_order_relaxed));
		if (!spill(heap, class, (count + 1) / 2))
			return false;
		if (!bin->aside)
			bin->aside = alloc_meta_take(ALLOC_ASIDE_SLOTS * sizeof(struct alloc_free_slot));
		if (!bin->aside)
			return false;
		magazine->room_bytes = 0;
	}
	bin->aside[bin->n_aside] = slot;
	// As if it went straight into its span: takings less refills count it.
	alloc_word_add(&magazine->refilled, -(uint64_t)1);
	atomic_signal_fence(memory_order_release);
	if (++bin->n_aside == ALLOC_ASIDE_SLOTS && !spill_aside(heap, class))
		magazine->room_bytes = (uint32_t)alloc_magazine_entries(alloc_classes[class].magazine_slots);
	return true;
}

void alloc_heap_flush(struct alloc_heap *heap)
{
	alloc_remote_flush(heap);
	for (uint32_t c = 1; c < ALLOC_CLASS_COUNT; c++) {
		uint64_t word = atomic_load_explicit(&heap->magazines[c].word, memory_order_relaxed);
		uint32_t count = alloc_magazine_count(word);
		if (count)
			spill(heap, c, count);
		if (heap->bins[c].n_aside)
			spill_aside(heap, c);
	}
}
