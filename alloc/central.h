// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Segments and their unassigned spans, shared by all heaps; and runs, which are
// blocks of whole pages on consecutive spans of one segment.

#ifndef ALLOC_CENTRAL_H
#define ALLOC_CENTRAL_H

#include "span.h"

#define ALLOC_RUN_SPANS_MAX 16u
#define ALLOC_RUN_BYTES_MAX ((size_t)ALLOC_RUN_SPANS_MAX * ALLOC_SPAN_BYTES)

extern struct alloc_lock alloc_central_lock;

// Blocks that runs have given and taken back, and large ones; relaxed counts.
extern _Atomic uint64_t alloc_block_mallocs;
extern _Atomic uint64_t alloc_block_frees;

// Widens a page mask to whole pages of the kernel.
uint32_t alloc_whole_pages(uint32_t mask, bool inward);

// A span for the class with an empty table, class and words not yet set; of the
// spans that are still resident first. With only_kept it takes no other. May
// map: no heap lock is held. NULL when there is none.
struct alloc_span *alloc_central_take(uint32_t class, bool only_kept);

// Whether take(only_kept) is worth a try. Racy, and cheap.
bool alloc_central_has_kept(void);

// Takes back a span whose slots are all free, under its heap's lock. `idle` says
// that it has been free for a pass already.
void alloc_central_give(struct alloc_span *span, bool idle);

// A run of `size_bytes`, 32 KiB to ALLOC_RUN_BYTES_MAX, aligned to `align` (a
// power of two of at most a segment), with room to grow to room_bytes where
// that is free. *ret_dirty_bytes gets how many bytes from the start may not be zero.
// NULL when nothing can be mapped.
void *alloc_run_take(size_t size_bytes, size_t align, size_t room_bytes, size_t *ret_dirty_bytes);

// Frees the run at this head.
void alloc_run_give(struct alloc_span *head);

// Resizes in place, into following spans where they are free. Returns false
// when it cannot.
bool alloc_run_resize(struct alloc_span *head, size_t size_bytes);

#endif
