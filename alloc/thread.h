// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Threads: how one gets its heap, and what happens after it has given it up.

#ifndef ALLOC_THREAD_H
#define ALLOC_THREAD_H

#include "heap.h"

// Makes sure that alloc_self is a heap: the first call sets everything up. A
// thread past its last destructor borrows the shared heap, whose gate is then
// held until alloc_thread_leave. False when there is no memory.
bool alloc_thread_enter(bool *ret_shared);
void alloc_thread_leave(bool shared);

// The same without borrowing: whether the thread has a heap of its own now.
bool alloc_thread_has_heap(void);

// Registers the destructor that gives the heap up, and the handlers of fork.
// Run by the first thread that allocates.
void alloc_thread_prepare(void);

// The heap of threads that have none any more; NULL before the set-up.
struct alloc_heap *alloc_shared_heap(void);

extern struct alloc_lock alloc_shared_gate;

#endif
