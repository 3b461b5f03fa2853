// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Which segments have unassigned spans, in order of creation: two bits a
// segment. The oldest are found first, so that the youngest run empty and can
// be unmapped. Everything here wants central's lock.

#ifndef ALLOC_INDEX_H
#define ALLOC_INDEX_H

#include "span.h"

// Held while a leaf is hung in; a fork waits for it.
extern struct alloc_lock alloc_index_lock;

// Makes room for a segment of this order. Maps; no lock held. False without
// memory.
bool alloc_index_reserve(uint32_t order);

// Notes the segment's masks after they changed.
void alloc_index_update(struct alloc_segment *segment);

// The oldest segment of at least this order with an unassigned span, or with
// one that still has resident pages; NULL at the end.
struct alloc_segment *alloc_index_free(uint32_t from_order);
struct alloc_segment *alloc_index_kept(uint32_t from_order);

#endif
