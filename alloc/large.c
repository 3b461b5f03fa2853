// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Descriptors live in metadata and are found by address in a hash table. A
// descriptor is out of the table and out of the books before its mapping is
// unmapped or moved, so nobody else can be given the address meanwhile and meet
// the old entry. The pool is a short list, bounded in number and bytes, whose
// members are split for smaller requests and joined with their neighbours when
// they come back, so that pages that were faulted in once serve many sizes.

#include "large.h"

#include "central.h"
#include "config.h"
#include "classes.h"
#include "directory.h"
#include "meta.h"
#include "sys.h"

#include "../libtelemetry/banned.h"

#define BUCKETS_FIRST 256u
#define POOL_MAPPINGS_MAX 32u
#define POOL_BYTES_MAX ((size_t)64 << 20)
#define FREED_REMEMBERED 64u

_Atomic(struct alloc_large *) alloc_larges;
struct alloc_lock alloc_large_lock;

// Under the large lock.
static struct alloc_large **large_buckets;
static uint32_t large_n_buckets;
static uint32_t large_n_live;
static struct alloc_large *large_free;
static struct alloc_large *large_pool;
static uint32_t large_n_pooled;
static size_t large_pool_bytes;
static uintptr_t large_freed[FREED_REMEMBERED]; // where the last blocks lay
static uint32_t large_n_freed;

static size_t size_of_word(uint64_t word)
{
	return (size_t)alloc_l_pages(word) * ALLOC_PAGE_BYTES;
}

static size_t mapped_of(const struct alloc_large *large)
{
	return size_of_word(atomic_load_explicit(&large->word, memory_order_relaxed));
}

static struct alloc_large **bucket_of(uintptr_t at)
{
	uint64_t hash = (uint64_t)(at / ALLOC_PAGE_BYTES) * 0x9e3779b97f4a7c15u;
	return &large_buckets[(hash >> 32) & (large_n_buckets - 1)];
}

// Room for one more entry. Takes the lock itself, since it may map.
static bool ready_table(void)
{
	alloc_lock_take(&alloc_large_lock);
	uint32_t n_old = large_n_buckets;
	bool enough = large_n_live < n_old;
	alloc_lock_drop(&alloc_large_lock);
	if (enough)
		return true;
	uint32_t n_new = n_old ? 2 * n_old : BUCKETS_FIRST;
	struct alloc_large **buckets = alloc_meta_take(n_new * sizeof(struct alloc_large *));
	if (!buckets)
		return n_old != 0;
	alloc_lock_take(&alloc_large_lock);
	if (large_n_buckets == n_old) {
		struct alloc_large **old = large_buckets;
		large_buckets = buckets;
		large_n_buckets = n_new;
		for (uint32_t i = 0; i < n_old; i++) {
			for (struct alloc_large *large = old[i], *next; large; large = next) {
				next = large->other_next;
				struct alloc_large **bucket = bucket_of(atomic_load(&large->base));
				large->other_next = *bucket;
				*bucket = large;
			}
		}
	}
	alloc_lock_drop(&alloc_large_lock);
	return true;
}

static void table_insert(struct alloc_large *large)
{
	struct alloc_large **bucket = bucket_of(atomic_load_explicit(&large->base, memory_order_relaxed));
	large->other_next = *bucket;
	*bucket = large;
	large_n_live++;
}

static struct alloc_large *table_find(const void *at, bool remove)
{
	if (!large_buckets || (uintptr_t)at % ALLOC_PAGE_BYTES)
		return NULL;
	struct alloc_large **link = bucket_of((uintptr_t)at);
	while (*link && atomic_load_explicit(&(*link)->base, memory_order_relaxed) != (uintptr_t)at)
		link = &(*link)->other_next;
	struct alloc_large *large = *link;
	if (large && remove) {
		*link = large->other_next;
		large_n_live--;
	}
	return large;
}

// Under the large lock: a second free of this address is one.
static void remember_freed(const void *at)
{
	large_freed[large_n_freed++ % FREED_REMEMBERED] = (uintptr_t)at;
}

bool alloc_large_was_freed(const void *at)
{
	bool was = false;
	alloc_lock_take(&alloc_large_lock);
	for (uint32_t i = 0; i < FREED_REMEMBERED; i++)
		was = was || large_freed[i] == (uintptr_t)at;
	alloc_lock_drop(&alloc_large_lock);
	return was;
}

static struct alloc_large *take_descriptor(void)
{
	alloc_lock_take(&alloc_large_lock);
	struct alloc_large *large = large_free;
	if (large)
		large_free = large->other_next;
	alloc_lock_drop(&alloc_large_lock);
	if (large)
		return large;
	large = alloc_meta_take(sizeof(*large));
	if (!large)
		return NULL;
	alloc_lock_take(&alloc_large_lock);
	atomic_store_explicit(&large->next, atomic_load_explicit(&alloc_larges, memory_order_relaxed),
			      memory_order_relaxed);
	atomic_store_explicit(&alloc_larges, large, memory_order_release);
	alloc_lock_drop(&alloc_large_lock);
	return large;
}

static void give_descriptor(struct alloc_large *large)
{
	alloc_lock_take(&alloc_large_lock);
	large->other_next = large_free;
	large_free = large;
	alloc_lock_drop(&alloc_large_lock);
}

// Enters, changes or strikes out (word 0) what the books know of a mapping.
static void set_mapping(struct alloc_large *large, uintptr_t base, uint64_t word)
{
	alloc_directory_begin();
	int64_t before = (int64_t)mapped_of(large);
	atomic_store_explicit(&large->base, base, memory_order_relaxed);
	atomic_store_explicit(&large->word, word, memory_order_relaxed);
	alloc_directory_end((int64_t)size_of_word(word) - before);
}

static uint64_t live_word(size_t mapped_bytes, size_t size_bytes)
{
	return alloc_l_word((uint32_t)(mapped_bytes / ALLOC_PAGE_BYTES), (uint32_t)(mapped_bytes - size_bytes), false);
}

static void *map_aligned(size_t size_bytes, size_t align)
{
	if (align <= alloc_page_bytes) {
		void *at = alloc_sys_map(NULL, size_bytes);
		if (at && alloc_config.huge != ALLOC_HUGE_SYSTEM)
			alloc_sys_huge(at, size_bytes, alloc_config.huge == ALLOC_HUGE_ALWAYS);
		return at;
	}
	if (size_bytes + align < size_bytes)
		return NULL;
	unsigned char *at = alloc_sys_map(NULL, size_bytes + align);
	if (!at)
		return NULL;
	unsigned char *aligned = (unsigned char *)tele_align_up((uintptr_t)at, align);
	if (aligned > at)
		alloc_sys_unmap(at, (size_t)(aligned - at));
	size_t tail_bytes = (size_t)(at + align - aligned);
	if (tail_bytes)
		alloc_sys_unmap(aligned + size_bytes, tail_bytes);
	if (alloc_config.huge != ALLOC_HUGE_SYSTEM)
		alloc_sys_huge(aligned, size_bytes, alloc_config.huge == ALLOC_HUGE_ALWAYS);
	return aligned;
}

static void pool_remove(struct alloc_large **link)
{
	struct alloc_large *large = *link;
	*link = large->other_next;
	large_n_pooled--;
	large_pool_bytes -= mapped_of(large);
}

static void pool_insert(struct alloc_large *large)
{
	large->other_next = large_pool;
	large_pool = large;
	large_n_pooled++;
	large_pool_bytes += mapped_of(large);
}

static uint64_t pooled_word(size_t mapped_bytes)
{
	return alloc_l_word((uint32_t)(mapped_bytes / ALLOC_PAGE_BYTES), 0, true);
}

// Moves the border between two neighbouring mappings, of which one may be new
// or go. The walk sees both change at once.
static void set_border(struct alloc_large *head, uint64_t head_word, struct alloc_large *tail, uint64_t tail_word,
		       uintptr_t tail_base)
{
	alloc_directory_begin();
	atomic_store_explicit(&head->word, head_word, memory_order_relaxed);
	atomic_store_explicit(&tail->base, tail_base, memory_order_relaxed);
	atomic_store_explicit(&tail->word, tail_word, memory_order_relaxed);
	alloc_directory_end(0);
}

// Off the pool: the smallest mapping that is large enough, its rest left in the
// pool under the descriptor *spare, which is then NULL; else the largest one of
// at least half the size. NULL when there is neither.
static struct alloc_large *take_pooled(size_t mapped_bytes, size_t align, struct alloc_large **spare)
{
	struct alloc_large **best = NULL;
	size_t best_bytes = 0;
	alloc_lock_take(&alloc_large_lock);
	for (struct alloc_large **link = &large_pool; *link; link = &(*link)->other_next) {
		size_t have_bytes = mapped_of(*link);
		bool fits = have_bytes >= mapped_bytes, best_fits = best_bytes >= mapped_bytes;
		if (atomic_load_explicit(&(*link)->base, memory_order_relaxed) & (align - 1) ||
		    (!fits && (align > ALLOC_PAGE_BYTES || have_bytes < mapped_bytes / 2)))
			continue;
		if (best && (best_fits ? !fits || have_bytes >= best_bytes : !fits && have_bytes <= best_bytes))
			continue;
		best = link;
		best_bytes = have_bytes;
	}
	struct alloc_large *large = best ? *best : NULL;
	if (large) {
		pool_remove(best);
		if (best_bytes > mapped_bytes && *spare) {
			struct alloc_large *tail = *spare;
			uintptr_t base = atomic_load_explicit(&large->base, memory_order_relaxed);
			set_border(large, pooled_word(mapped_bytes), tail, pooled_word(best_bytes - mapped_bytes),
				   base + mapped_bytes);
			tail->pooled_at_ns = large->pooled_at_ns;
			pool_insert(tail);
			*spare = NULL;
		}
	}
	alloc_lock_drop(&alloc_large_lock);
	return large;
}

// Under the large lock: takes pooled neighbours of a mapping into it. Returns
// descriptors that are free now.
static struct alloc_large *join_neighbours(struct alloc_large *large)
{
	struct alloc_large *freed = NULL;
	for (struct alloc_large **link = &large_pool; *link;) {
		struct alloc_large *other = *link;
		uintptr_t base = atomic_load_explicit(&large->base, memory_order_relaxed);
		uintptr_t other_base = atomic_load_explicit(&other->base, memory_order_relaxed);
		bool after = base + mapped_of(large) == other_base;
		if (!after && other_base + mapped_of(other) != base) {
			link = &other->other_next;
			continue;
		}
		pool_remove(link);
		alloc_directory_begin();
		atomic_store_explicit(&large->word, pooled_word(mapped_of(large) + mapped_of(other)),
				      memory_order_relaxed);
		atomic_store_explicit(&large->base, after ? base : other_base, memory_order_relaxed);
		atomic_store_explicit(&other->word, 0, memory_order_relaxed);
		atomic_store_explicit(&other->base, 0, memory_order_relaxed);
		alloc_directory_end(0);
		other->other_next = freed;
		freed = other;
	}
	return freed;
}

// Makes a mapping that is in no table mapped_bytes long. The word in the books
// stays that of a mapping, live with size_bytes. False: unchanged.
static bool resize_mapping(struct alloc_large *large, size_t mapped_bytes, size_t size_bytes)
{
	unsigned char *at = (unsigned char *)atomic_load_explicit(&large->base, memory_order_relaxed);
	uint64_t before = atomic_load_explicit(&large->word, memory_order_relaxed);
	size_t have_bytes = size_of_word(before);
	if (mapped_bytes < have_bytes) {
		set_mapping(large, (uintptr_t)at, live_word(mapped_bytes, size_bytes));
		if (alloc_sys_unmap(at + mapped_bytes, have_bytes - mapped_bytes) != 0) {
			// To the kernel it would be one mapping too many.
			set_mapping(large, (uintptr_t)at, before);
			return false;
		}
	} else if (mapped_bytes > have_bytes) {
		void *moved = alloc_sys_remap(at, have_bytes, mapped_bytes);
		if (!moved)
			return false;
		set_mapping(large, (uintptr_t)moved, live_word(mapped_bytes, size_bytes));
	} else {
		atomic_store_explicit(&large->word, live_word(mapped_bytes, size_bytes), memory_order_release);
	}
	return true;
}

// Gives a mapping that is in no table and no list back to the kernel.
static void unmap_large(struct alloc_large *large)
{
	void *at = (void *)atomic_load_explicit(&large->base, memory_order_relaxed);
	size_t mapped_bytes = mapped_of(large);
	set_mapping(large, 0, 0);
	if (alloc_sys_unmap(at, mapped_bytes) == 0) {
		give_descriptor(large);
		return;
	}
	// Still there, and in the books: the next reclaim tries again.
	set_mapping(large, (uintptr_t)at, pooled_word(mapped_bytes));
	alloc_lock_take(&alloc_large_lock);
	pool_insert(large);
	alloc_lock_drop(&alloc_large_lock);
}

void *alloc_large_take(size_t size_bytes, size_t align, size_t *ret_dirty_bytes)
{
	size_t mapped_bytes = tele_align_up(size_bytes, alloc_page_bytes);
	if (mapped_bytes < size_bytes || mapped_bytes / ALLOC_PAGE_BYTES > UINT32_MAX || !ready_table())
		return NULL;
	*ret_dirty_bytes = 0;
	struct alloc_large *spare = take_descriptor();
	struct alloc_large *large = take_pooled(mapped_bytes, align, &spare);
	if (large) {
		*ret_dirty_bytes = mapped_of(large);
		if (!resize_mapping(large, mapped_bytes, size_bytes)) {
			unmap_large(large);
			large = NULL;
			*ret_dirty_bytes = 0;
		}
	}
	if (!large && spare) {
		void *mapped = map_aligned(mapped_bytes, align);
		if (mapped) {
			large = spare;
			spare = NULL;
			set_mapping(large, (uintptr_t)mapped, live_word(mapped_bytes, size_bytes));
		}
	}
	if (spare)
		give_descriptor(spare);
	if (!large)
		return NULL;
	void *at = (void *)atomic_load_explicit(&large->base, memory_order_relaxed);
	alloc_lock_take(&alloc_large_lock);
	table_insert(large);
	alloc_lock_drop(&alloc_large_lock);
	atomic_fetch_add_explicit(&alloc_block_mallocs, 1, memory_order_relaxed);
	return at;
}

bool alloc_large_size(const void *at, size_t *ret_size_bytes, size_t *ret_usable_bytes)
{
	alloc_lock_take(&alloc_large_lock);
	const struct alloc_large *large = table_find(at, false);
	uint64_t word = large ? atomic_load_explicit(&large->word, memory_order_relaxed) : 0;
	alloc_lock_drop(&alloc_large_lock);
	*ret_usable_bytes = size_of_word(word);
	*ret_size_bytes = size_of_word(word) - alloc_l_slack(word);
	return large != NULL;
}

bool alloc_large_give(void *at)
{
	alloc_lock_take(&alloc_large_lock);
	struct alloc_large *large = table_find(at, true);
	if (!large) {
		alloc_lock_drop(&alloc_large_lock);
		return false;
	}
	remember_freed(at);
	size_t mapped_bytes = mapped_of(large);
	bool pools = large_n_pooled < POOL_MAPPINGS_MAX && large_pool_bytes + mapped_bytes <= POOL_BYTES_MAX;
	if (pools) {
		atomic_store_explicit(&large->word, pooled_word(mapped_bytes), memory_order_release);
		large->pooled_at_ns = 0; // the next reclaim dates it
		struct alloc_large *freed = join_neighbours(large);
		pool_insert(large);
		while (freed) {
			struct alloc_large *next = freed->other_next;
			freed->other_next = large_free;
			large_free = freed;
			freed = next;
		}
	}
	alloc_lock_drop(&alloc_large_lock);
	if (!pools)
		unmap_large(large);
	atomic_fetch_add_explicit(&alloc_block_frees, 1, memory_order_relaxed);
	return true;
}

void *alloc_large_resize(void *at, size_t size_bytes)
{
	size_t mapped_bytes = tele_align_up(size_bytes, alloc_page_bytes);
	if (mapped_bytes < size_bytes || mapped_bytes / ALLOC_PAGE_BYTES > UINT32_MAX)
		return NULL;
	alloc_lock_take(&alloc_large_lock);
	struct alloc_large *large = table_find(at, true);
	alloc_lock_drop(&alloc_large_lock);
	if (!large)
		return NULL;
	bool done = resize_mapping(large, mapped_bytes, size_bytes);
	void *now_at = (void *)atomic_load_explicit(&large->base, memory_order_relaxed);
	alloc_lock_take(&alloc_large_lock);
	table_insert(large);
	if (now_at != at)
		remember_freed(at);
	alloc_lock_drop(&alloc_large_lock);
	return done ? now_at : NULL;
}

size_t alloc_large_reclaim(uint64_t now_ns, bool all)
{
	struct alloc_large *gone = NULL;
	size_t freed_bytes = 0;
	alloc_lock_take(&alloc_large_lock);
	for (struct alloc_large **link = &large_pool; *link;) {
		struct alloc_large *large = *link;
		if (large->pooled_at_ns == 0)
			large->pooled_at_ns = now_ns;
		if (!all && now_ns - large->pooled_at_ns < alloc_config.decay_ns) {
			link = &large->other_next;
			continue;
		}
		pool_remove(link);
		large->other_next = gone;
		gone = large;
		freed_bytes += mapped_of(large);
	}
	alloc_lock_drop(&alloc_large_lock);
	while (gone) {
		struct alloc_large *next = gone->other_next;
		unmap_large(gone);
		gone = next;
	}
	return freed_bytes;
}
