// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Chunks of 1 MiB, handed out by a cursor; only span tables are ever reused,
// within their class. The first and the last page of a chunk are guards: an
// overflow that runs into them stops there.

#include "meta.h"

#include <string.h>

#include "classes.h"
#include "directory.h"
#include "misuse.h"
#include "sys.h"

#include "../libtelemetry/banned.h"

#define CHUNK_BYTES ((size_t)1 << 20)

struct alloc_lock alloc_meta_lock;
_Atomic(struct alloc_meta_chunk *) alloc_meta_chunks;
static struct alloc_meta_chunk *meta_current;
static void *meta_free_tables[ALLOC_CLASS_COUNT]; // linked through their first word

static struct alloc_meta_chunk *map_chunk(size_t payload_bytes)
{
	size_t guard_bytes = alloc_page_bytes;
	size_t size_bytes = tele_align_up(payload_bytes + 64 + 2 * guard_bytes, CHUNK_BYTES);
	unsigned char *at = alloc_sys_map(NULL, size_bytes);
	if (!at)
		return NULL;
	alloc_sys_huge(at, size_bytes, false);
	alloc_sys_guard(at, guard_bytes);
	alloc_sys_guard(at + size_bytes - guard_bytes, guard_bytes);
	struct alloc_meta_chunk *chunk = (struct alloc_meta_chunk *)(at + guard_bytes);
	chunk->canary = alloc_canary(&chunk->canary, 'C');
	chunk->size_bytes = size_bytes;
	atomic_store_explicit(&chunk->used_bytes, guard_bytes + 64, memory_order_relaxed);
	return chunk;
}

static void *carve(struct alloc_meta_chunk *chunk, size_t size_bytes)
{
	size_t guard_bytes = alloc_page_bytes;
	if (TELE_UNLIKELY(chunk->canary != alloc_canary(&chunk->canary, 'C')))
		alloc_misuse("heap metadata is damaged", chunk);
	size_t used_bytes = atomic_load_explicit(&chunk->used_bytes, memory_order_relaxed);
	if (used_bytes + size_bytes > chunk->size_bytes - guard_bytes)
		return NULL;
	atomic_store_explicit(&chunk->used_bytes, used_bytes + size_bytes, memory_order_release);
	return (unsigned char *)chunk - guard_bytes + used_bytes;
}

void *alloc_meta_take(size_t size_bytes)
{
	size_bytes = tele_align_up(size_bytes, 64);
	alloc_lock_take(&alloc_meta_lock);
	void *memory = meta_current ? carve(meta_current, size_bytes) : NULL;
	alloc_lock_drop(&alloc_meta_lock);
	if (memory)
		return memory;
	struct alloc_meta_chunk *chunk = map_chunk(size_bytes);
	if (!chunk)
		return NULL;
	memory = carve(chunk, size_bytes);
	TELE_ASSERT(memory);
	alloc_directory_begin();
	atomic_store_explicit(&chunk->next, atomic_load_explicit(&alloc_meta_chunks, memory_order_relaxed),
			      memory_order_relaxed);
	atomic_store_explicit(&alloc_meta_chunks, chunk, memory_order_release);
	alloc_directory_end((int64_t)chunk->size_bytes);
	alloc_lock_take(&alloc_meta_lock);
	meta_current = chunk;
	alloc_lock_drop(&alloc_meta_lock);
	return memory;
}

void *alloc_meta_take_table(uint32_t class)
{
	TELE_ASSERT(class > 0 && class < ALLOC_CLASS_COUNT);
	alloc_lock_take(&alloc_meta_lock);
	void **table = meta_free_tables[class];
	if (table) {
		meta_free_tables[class] = *table;
		*table = NULL;
	}
	alloc_lock_drop(&alloc_meta_lock);
	return table ? (void *)table : alloc_meta_take(alloc_classes[class].table_bytes);
}

void alloc_meta_give_table(uint32_t class, void *table)
{
	TELE_ASSERT(class > 0 && class < ALLOC_CLASS_COUNT && table);
	alloc_lock_take(&alloc_meta_lock);
	*(void **)table = meta_free_tables[class];
	meta_free_tables[class] = table;
	alloc_lock_drop(&alloc_meta_lock);
}

uint64_t alloc_meta_touched_bytes(struct alloc_meta_chunk *chunk)
{
	// The first guard is not touched; the chunk's own header is behind it.
	size_t page_bytes = alloc_page_bytes;
	size_t used_bytes = atomic_load_explicit(&chunk->used_bytes, memory_order_acquire);
	return tele_align_up(used_bytes, page_bytes) - page_bytes;
}
