// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Each span has its first child, its next sibling, and `prev`: the sibling
// before it, or its parent when it is the first child. The root has neither.

#include "queue.h"

#include "../libtelemetry/banned.h"

static struct alloc_span *meld(struct alloc_span *a, struct alloc_span *b)
{
	if (!a)
		return b;
	if (!b)
		return a;
	if (b->order < a->order) {
		struct alloc_span *swap = a;
		a = b;
		b = swap;
	}
	b->prev = a;
	b->next = a->child;
	if (a->child)
		a->child->prev = b;
	a->child = b;
	return a;
}

// Melds a list of siblings in two passes: pairs from the left, then all pairs
// from the right. The pairs wait in a stack linked through `next`.
static struct alloc_span *meld_siblings(struct alloc_span *first)
{
	struct alloc_span *pairs = NULL;
	while (first) {
		struct alloc_span *a = first;
		struct alloc_span *b = a->next;
		first = b ? b->next : NULL;
		a->prev = a->next = NULL;
		if (b)
			b->prev = b->next = NULL;
		struct alloc_span *pair = meld(a, b);
		pair->next = pairs;
		pairs = pair;
	}
	struct alloc_span *root = NULL;
	while (pairs) {
		struct alloc_span *pair = pairs;
		pairs = pair->next;
		pair->next = NULL;
		root = meld(root, pair);
	}
	return root;
}

void alloc_queue_push(struct alloc_span **root, struct alloc_span *span)
{
	span->child = span->next = span->prev = NULL;
	*root = meld(*root, span);
}

struct alloc_span *alloc_queue_pop(struct alloc_span **root)
{
	struct alloc_span *span = *root;
	if (span) {
		*root = meld_siblings(span->child);
		span->child = NULL;
	}
	return span;
}

void alloc_queue_remove(struct alloc_span **root, struct alloc_span *span)
{
	if (span == *root) {
		alloc_queue_pop(root);
		return;
	}
	TELE_ASSERT(span->prev);
	if (span->prev->child == span)
		span->prev->child = span->next;
	else
		span->prev->next = span->next;
	if (span->next)
		span->next->prev = span->prev;
	struct alloc_span *children = meld_siblings(span->child);
	span->child = span->next = span->prev = NULL;
	*root = meld(*root, children);
}
