// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A list of leaves, each for 1,024 segments (4 GiB), searched word by word.

#include "index.h"

#include "meta.h"

#include "../libtelemetry/banned.h"

#define LEAF_SEGMENTS 1024u
#define LEAF_WORDS (LEAF_SEGMENTS / 64)

struct index_leaf {
	struct index_leaf *next;
	uint64_t free_bits[LEAF_WORDS];
	uint64_t kept_bits[LEAF_WORDS];
	struct alloc_segment *segments[LEAF_SEGMENTS];
};

struct alloc_lock alloc_index_lock;
static struct index_leaf *index_first;
static _Atomic uint32_t index_n_leaves;

static struct index_leaf *leaf_at(uint32_t number)
{
	struct index_leaf *leaf = index_first;
	while (number-- > 0 && leaf)
		leaf = leaf->next;
	return leaf;
}

bool alloc_index_reserve(uint32_t order)
{
	// Leaves are made one at a time, by whoever makes a segment; two of them
	// may make one too many, which the next 4 GiB use.
	while (atomic_load_explicit(&index_n_leaves, memory_order_acquire) <= order / LEAF_SEGMENTS) {
		struct index_leaf *leaf = alloc_meta_take(sizeof(*leaf));
		if (!leaf)
			return false;
		alloc_lock_take(&alloc_index_lock);
		struct index_leaf **link = &index_first;
		while (*link)
			link = &(*link)->next;
		*link = leaf;
		atomic_fetch_add_explicit(&index_n_leaves, 1, memory_order_release);
		alloc_lock_drop(&alloc_index_lock);
	}
	return true;
}

void alloc_index_update(struct alloc_segment *segment)
{
	struct index_leaf *leaf = leaf_at(segment->order / LEAF_SEGMENTS);
	TELE_ASSERT(leaf);
	uint32_t at = segment->order % LEAF_SEGMENTS;
	uint64_t bit = (uint64_t)1 << (at % 64);
	leaf->segments[at] = segment;
	leaf->free_bits[at / 64] = segment->free_mask ? leaf->free_bits[at / 64] | bit : leaf->free_bits[at / 64] & ~bit;
	leaf->kept_bits[at / 64] = segment->kept_mask ? leaf->kept_bits[at / 64] | bit : leaf->kept_bits[at / 64] & ~bit;
}

static struct alloc_segment *search(uint32_t from_order, bool kept)
{
	uint32_t at = from_order % LEAF_SEGMENTS;
	for (struct index_leaf *leaf = leaf_at(from_order / LEAF_SEGMENTS); leaf; leaf = leaf->next, at = 0) {
		for (uint32_t word = at / 64; word < LEAF_WORDS; word++) {
			uint64_t bits = kept ? leaf->kept_bits[word] : leaf->free_bits[word];
			if (word == at / 64)
				bits &= ~(uint64_t)0 << (at % 64);
			if (bits)
				return leaf->segments[word * 64 + (uint32_t)__builtin_ctzll(bits)];
		}
	}
	return NULL;
}

struct alloc_segment *alloc_index_free(uint32_t from_order)
{
	return search(from_order, false);
}

struct alloc_segment *alloc_index_kept(uint32_t from_order)
{
	return search(from_order, true);
}
