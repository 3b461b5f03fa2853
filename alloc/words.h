// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The geometry and the state words that the books rest on.
//
// A[span], written by the holder of the span's heap with every block:
//     live slots 32 | sum of their states 32
// B[span], fetch_add by threads that free into a foreign span:
//     slots handed back 32 | sum of their states 32
// G[span], written under the heap's lock (central's for an unassigned span):
//     class 7 | kept 1 | resident pages 16 | pages ever touched 16 |
//     high water 12 | drained slots 12
// L[large]: pages 32 | slack 31 | pooled 1.
//
// The state of a live slot is its slack, slot bytes minus requested bytes, plus
// 2: so what malloc and free add here is what they store and load there. Both
// sums wrap, and only their difference means something. A slot handed back stays
// in A and B together until its holder folds both; `drained` says how many of
// them are free again already.
//
// A run (a block of whole pages inside a segment) has no A and B: its spans
// carry class ALLOC_CLASS_RUN, live pages in place of the high water, and the
// slack of their last live page in place of the drained slots.

#ifndef ALLOC_WORDS_H
#define ALLOC_WORDS_H

#include "../libtelemetry/base.h"

#define ALLOC_PAGE_BYTES 4096u // the grain of a page mask, whatever the kernel's page is
#define ALLOC_SPAN_BYTES 65536u
#define ALLOC_SPAN_SHIFT 16
#define ALLOC_SPAN_PAGES 16u
#define ALLOC_SEGMENT_BYTES ((size_t)4 << 20)
#define ALLOC_SEGMENT_SHIFT 22
#define ALLOC_SEGMENT_SPANS 64u
#define ALLOC_ALL_PAGES 0xffffu

#define ALLOC_CLASS_NONE 0u
#define ALLOC_CLASS_COUNT 68u // classes 1 to 67 hold slots
#define ALLOC_CLASS_RUN 120u

static inline uint64_t alloc_pair_word(uint32_t slots, uint32_t slack)
{
	return (uint64_t)slots | (uint64_t)slack << 32;
}

static inline uint32_t alloc_pair_slots(uint64_t word)
{
	return (uint32_t)word;
}

static inline uint32_t alloc_pair_slack(uint64_t word)
{
	return (uint32_t)(word >> 32);
}

// States of a slot: free, held by its owner's magazine, or slack + ALLOC_STATE_LIVE.
#define ALLOC_STATE_FREE 0u
#define ALLOC_STATE_CACHED 1u
#define ALLOC_STATE_LIVE 2u

// Words A and B of so many slots with that slack in all, and the way back: the
// slack of the slots that A counts and B does not.
static inline uint64_t alloc_count_word(uint32_t slots, uint32_t slack)
{
	return alloc_pair_word(slots, slack + ALLOC_STATE_LIVE * slots);
}

static inline uint32_t alloc_count_slack(uint64_t a, uint64_t b)
{
	uint32_t slots = alloc_pair_slots(a) - alloc_pair_slots(b);
	uint32_t states = alloc_pair_slack(a) - alloc_pair_slack(b);
	return states - ALLOC_STATE_LIVE * slots;
}

#define ALLOC_G_KEPT ((uint64_t)1 << 7)
#define ALLOC_G_RESIDENT_SHIFT 8
#define ALLOC_G_EVER_SHIFT 24
#define ALLOC_G_HIGH_SHIFT 40
#define ALLOC_G_DRAINED_SHIFT 52

static inline uint64_t alloc_g_word(uint32_t class, bool kept, uint32_t resident, uint32_t ever,
				    uint32_t high, uint32_t drained)
{
	return (uint64_t)class | (kept ? ALLOC_G_KEPT : 0) |
	       (uint64_t)resident << ALLOC_G_RESIDENT_SHIFT | (uint64_t)ever << ALLOC_G_EVER_SHIFT |
	       (uint64_t)high << ALLOC_G_HIGH_SHIFT | (uint64_t)drained << ALLOC_G_DRAINED_SHIFT;
}

static inline uint32_t alloc_g_class(uint64_t g)
{
	return (uint32_t)g & 127;
}

static inline bool alloc_g_kept(uint64_t g)
{
	return g & ALLOC_G_KEPT;
}

static inline uint32_t alloc_g_resident(uint64_t g)
{
	return (uint32_t)(g >> ALLOC_G_RESIDENT_SHIFT) & ALLOC_ALL_PAGES;
}

static inline uint32_t alloc_g_ever(uint64_t g)
{
	return (uint32_t)(g >> ALLOC_G_EVER_SHIFT) & ALLOC_ALL_PAGES;
}

static inline uint32_t alloc_g_high(uint64_t g)
{
	return (uint32_t)(g >> ALLOC_G_HIGH_SHIFT) & 4095;
}

static inline uint32_t alloc_g_drained(uint64_t g)
{
	return (uint32_t)(g >> ALLOC_G_DRAINED_SHIFT) & 4095;
}

// Pages `first` to `last` of a span, both included.
static inline uint32_t alloc_page_mask(uint32_t first, uint32_t last)
{
	return (2u << last) - (1u << first);
}

// What the canary at this address holds while nobody has written over it. Each
// kind of metadata has its own: 'C' for a chunk, 'H' for a heap, 'S' for the
// descriptors of a segment.
static inline uint64_t alloc_canary(const uint64_t *at, char kind)
{
	return (uint64_t)(uintptr_t)at ^ 0x526f6c6c63616cu ^ (uint64_t)kind << 56;
}

#define ALLOC_L_POOLED ((uint64_t)1 << 63)

static inline uint64_t alloc_l_word(uint32_t pages, uint32_t slack, bool pooled)
{
	return (uint64_t)pages | (uint64_t)slack << 32 | (pooled ? ALLOC_L_POOLED : 0);
}

static inline uint32_t alloc_l_pages(uint64_t l)
{
	return (uint32_t)l;
}

static inline uint32_t alloc_l_slack(uint64_t l)
{
	return (uint32_t)(l >> 32) & 0x7fffffff;
}

#endif
