// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What the entry points share about blocks of any kind.

#ifndef ALLOC_BLOCK_H
#define ALLOC_BLOCK_H

#include "span.h"

// A slot of the class from the calling thread's heap, for size_bytes; NULL with
// errno. The thread has entered (thread.h).
void *alloc_take_slot(uint32_t class, size_t size_bytes);

// A run or a mapping for size_bytes, aligned to at least a page and to `align`,
// with room to grow to room_bytes. *ret_dirty_bytes, if not NULL, gets how many
// bytes from the start may not be zero. NULL with errno.
void *alloc_big_take(size_t size_bytes, size_t align, size_t room_bytes, size_t *ret_dirty_bytes);

// The slot of a block and its state, when the block is a live one; else says
// what is wrong with the pointer and returns false.
bool alloc_block_slot(struct alloc_span *span, const void *block, uint32_t *ret_slot, uint32_t *ret_state);

// What is known of a live block. False, and the misuse said, for anything else.
struct alloc_block {
	struct alloc_span *span; // NULL for a mapping of its own
	uint32_t slot;
	bool run;
	size_t size_bytes;   // requested
	size_t usable_bytes;
};
bool alloc_block_find(const void *block, struct alloc_block *ret_block);

// Sets errno to ENOMEM, leaves an event for the publisher, returns NULL.
void *alloc_no_memory(size_t size_bytes);

#endif
