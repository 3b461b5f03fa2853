// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// realloc and the aligned family. A block stays where it is when its slot, its
// run or its mapping can hold the new size and is not far too large for it. In
// a foreign span a block that stays changes the slack of word B, which any
// thread may add to; what counts is the difference of A and B.

#include "alloc.h"

#include <errno.h>
#include <string.h>

#include "block.h"
#include "central.h"
#include "large.h"
#include "sys.h"
#include "thread.h"

#include "../libtelemetry/banned.h"

// Changes the requested size of a slot in place. False when the slot is too
// small, or so large that another class should have it.
static bool resize_slot(struct alloc_span *span, uint32_t slot, size_t old_bytes, size_t size_bytes)
{
	if (size_bytes > span->slot_bytes || size_bytes < span->slot_bytes / 2)
		return false;
	uint32_t slack_bytes = span->slot_bytes - (uint32_t)size_bytes;
	if (slack_bytes > alloc_classes[span->class].slack_max_bytes)
		return false;
	uint64_t more = (uint64_t)(old_bytes - size_bytes) << 32; // modulo 2^64, as slack is
	alloc_state_write(span, slot, slack_bytes + ALLOC_STATE_LIVE);
	if (atomic_load_explicit(&span->heap, memory_order_relaxed) == alloc_self)
		alloc_word_add(&span->a, more);
	else
		atomic_fetch_sub_explicit(&span->b, more, memory_order_release);
	return true;
}

static void *move_block(void *block, const struct alloc_block *old, size_t size_bytes)
{
	void *moved;
	if (size_bytes > ALLOC_SLOT_BYTES_MAX && size_bytes > old->size_bytes) {
		// What grows once grows again: leave it room, which costs addresses only.
		bool shared;
		if (!alloc_thread_enter(&shared))
			return alloc_no_memory(size_bytes);
		moved = alloc_big_take(size_bytes, 1, 2 * size_bytes, NULL);
		alloc_thread_leave(shared);
	} else {
		moved = alloc_malloc(size_bytes);
	}
	if (!moved)
		return NULL;
	memcpy(moved, block, old->usable_bytes < size_bytes ? old->usable_bytes : size_bytes);
	alloc_free(block);
	return moved;
}

void *alloc_realloc(void *block, size_t size_bytes)
{
	if (!block)
		return alloc_malloc(size_bytes);
	if (size_bytes == 0) {
		alloc_free(block);
		return NULL;
	}
	struct alloc_block old;
	if (!alloc_block_find(block, &old))
		return NULL;
	if (size_bytes > PTRDIFF_MAX)
		return alloc_no_memory(size_bytes);
	if (old.span && !old.run) {
		if (resize_slot(old.span, old.slot, old.size_bytes, size_bytes))
			return block;
	} else if (size_bytes > ALLOC_SLOT_BYTES_MAX) {
		if (old.run && alloc_run_resize(old.span, size_bytes))
			return block;
		if (!old.span && size_bytes > ALLOC_RUN_BYTES_MAX / 2) {
			// Refused where joined neighbours are two mappings to the kernel.
			void *resized = alloc_large_resize(block, size_bytes);
			if (resized)
				return resized;
		}
	}
	return move_block(block, &old, size_bytes);
}

void *alloc_reallocarray(void *block, size_t count, size_t size_bytes)
{
	size_t total_bytes;
	if (__builtin_mul_overflow(count, size_bytes, &total_bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return alloc_realloc(block, total_bytes);
}

// `align` is a power of two. NULL with errno.
static void *take_aligned(size_t align, size_t size_bytes)
{
	if (align <= 16)
		return alloc_malloc(size_bytes);
	if (size_bytes > PTRDIFF_MAX || align > PTRDIFF_MAX)
		return alloc_no_memory(size_bytes);
	bool shared;
	if (!alloc_thread_enter(&shared))
		return alloc_no_memory(size_bytes);
	uint32_t class = align <= ALLOC_SLOT_BYTES_MAX ? alloc_class_aligned(size_bytes, align) : 0;
	void *block = class ? alloc_take_slot(class, size_bytes) : alloc_big_take(size_bytes, align, size_bytes, NULL);
	alloc_thread_leave(shared);
	return block;
}

static bool is_power_of_two(size_t value)
{
	return value && (value & (value - 1)) == 0;
}

void *alloc_memalign(size_t align, size_t size_bytes)
{
	// glibc rounds a strange alignment up to a power of two.
	if (align > (SIZE_MAX >> 1) + 1) {
		errno = EINVAL;
		return NULL;
	}
	size_t power = 16;
	while (power < align)
		power *= 2;
	return take_aligned(power, size_bytes);
}

void *alloc_aligned_alloc(size_t align, size_t size_bytes)
{
	if (!is_power_of_two(align)) {
		errno = EINVAL;
		return NULL;
	}
	return take_aligned(align, size_bytes);
}

int alloc_posix_memalign(void **ret_block, size_t align, size_t size_bytes)
{
	if (!is_power_of_two(align) || align % sizeof(void *))
		return EINVAL;
	int saved = errno;
	void *block = take_aligned(align, size_bytes);
	errno = saved;
	if (!block)
		return ENOMEM;
	*ret_block = block;
	return 0;
}

void *alloc_valloc(size_t size_bytes)
{
	return alloc_memalign(alloc_sys_page_bytes(), size_bytes);
}

void *alloc_pvalloc(size_t size_bytes)
{
	size_t page_bytes = alloc_sys_page_bytes();
	size_t rounded_bytes = tele_align_up(size_bytes, page_bytes);
	if (rounded_bytes < size_bytes) {
		errno = ENOMEM;
		return NULL;
	}
	return alloc_memalign(page_bytes, rounded_bytes);
}

size_t alloc_usable_size(void *block)
{
	struct alloc_block found;
	return block && alloc_block_find(block, &found) ? found.usable_bytes : 0;
}
