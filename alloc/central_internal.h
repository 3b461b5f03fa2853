// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What central.c, run.c and the central half of the reclaim share. Everything
// here but grow and retire wants central's lock.

#ifndef ALLOC_CENTRAL_INTERNAL_H
#define ALLOC_CENTRAL_INTERNAL_H

#include "span.h"

extern _Atomic uint32_t alloc_central_n_kept; // bits in all kept_masks

// Takes unassigned spans, or makes spans unassigned.
void alloc_central_mark_taken(struct alloc_segment *segment, uint64_t mask);
void alloc_central_mark_free(struct alloc_segment *segment, uint64_t mask);

// Stops the program when something wrote over the descriptor.
void alloc_central_check(const struct alloc_segment *segment);

// Maps one more segment. No lock held. False when the kernel refuses.
bool alloc_central_grow(void);

// Unmaps a segment of which all spans were taken for that. No lock held.
void alloc_central_retire(struct alloc_segment *segment);

// The segment a descriptor lies in.
static inline struct alloc_segment *alloc_segment_of(struct alloc_span *span)
{
	size_t index = span->order % ALLOC_SEGMENT_SPANS;
	return (struct alloc_segment *)((unsigned char *)(span - index) - offsetof(struct alloc_segment, spans));
}

#endif
