// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A priority queue of spans, oldest first: a pairing heap threaded through the
// descriptors. Under the lock of the heap that owns the spans.

#ifndef ALLOC_QUEUE_H
#define ALLOC_QUEUE_H

#include "span.h"

// Adds a span that is on no queue. Constant time.
void alloc_queue_push(struct alloc_span **root, struct alloc_span *span);

// Takes the oldest span out, or returns NULL. Logarithmic, amortised.
struct alloc_span *alloc_queue_pop(struct alloc_span **root);

// Takes this span out, wherever it is.
void alloc_queue_remove(struct alloc_span **root, struct alloc_span *span);

#endif
