// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// From a pointer to the block it begins, or to the reason why it does not.

#include "block.h"

#include <errno.h>

#include "../libtelemetry/collector.h"
#include "../libtelemetry/event.h"
#include "central.h"
#include "directory.h"
#include "large.h"
#include "misuse.h"

#include "../libtelemetry/banned.h"

void *alloc_no_memory(size_t size_bytes)
{
	// Past PTRDIFF_MAX nothing was ever refused by anyone but us.
	if (size_bytes <= PTRDIFF_MAX)
		rollcall_event(TELE_EVENT_OUT_OF_MEMORY, size_bytes, 0, "mmap");
	errno = ENOMEM;
	return NULL;
}

void *alloc_big_take(size_t size_bytes, size_t align, size_t room_bytes, size_t *ret_dirty_bytes)
{
	size_t dirty_bytes;
	void *block = NULL;
	if (size_bytes <= PTRDIFF_MAX) {
		if (size_bytes <= ALLOC_RUN_BYTES_MAX && align <= ALLOC_SEGMENT_BYTES)
			block = alloc_run_take(size_bytes, align, room_bytes, &dirty_bytes);
		else
			block = alloc_large_take(size_bytes, align, &dirty_bytes);
	}
	if (!block)
		return alloc_no_memory(size_bytes);
	if (ret_dirty_bytes)
		*ret_dirty_bytes = dirty_bytes;
	return block;
}

bool alloc_block_slot(struct alloc_span *span, const void *block, uint32_t *ret_slot, uint32_t *ret_state)
{
	uint32_t offset = (uint32_t)(uintptr_t)block & (ALLOC_SPAN_BYTES - 1);
	uint64_t product = alloc_slot_product(offset, span->reciprocal);
	uint32_t slot = alloc_slot_of(product);
	if (slot >= alloc_classes[span->class].n_slots || !alloc_begins_slot(product, span->reciprocal)) {
		alloc_misuse("free of a pointer into a block", block);
		return false;
	}
	uint32_t state = alloc_state_read(span, slot);
	if (state < ALLOC_STATE_LIVE) {
		alloc_misuse("double free", block);
		return false;
	}
	*ret_slot = slot;
	*ret_state = state;
	return true;
}

bool alloc_block_find(const void *block, struct alloc_block *ret_block)
{
	struct alloc_segment *segment = alloc_directory_find((uintptr_t)block);
	*ret_block = (struct alloc_block){ 0 };
	if (!segment) {
		if (alloc_large_size(block, &ret_block->size_bytes, &ret_block->usable_bytes))
			return true;
		alloc_misuse("use of a pointer that is no block", block);
		return false;
	}
	struct alloc_span *span = alloc_span_of(segment, (uintptr_t)block);
	uint8_t kind = atomic_load_explicit(&span->kind, memory_order_relaxed);
	ret_block->span = span;
	if (kind == ALLOC_SPAN_SLOTS) {
		uint32_t state;
		if (!alloc_block_slot(span, block, &ret_block->slot, &state))
			return false;
		ret_block->usable_bytes = span->slot_bytes;
		ret_block->size_bytes = span->slot_bytes - (state - ALLOC_STATE_LIVE);
		return true;
	}
	if (kind == ALLOC_SPAN_RUN_HEAD && block == span->base) {
		ret_block->run = true;
		ret_block->size_bytes = span->run_bytes;
		ret_block->usable_bytes = tele_align_up(span->run_bytes, ALLOC_PAGE_BYTES);
		return true;
	}
	alloc_misuse("use of a pointer that is no block", block);
	return false;
}
