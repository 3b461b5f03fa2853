// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A lock of one word: 0 free, 1 held, 2 held with sleepers. All zero is free.
// Order of taking: reclaim, heaps, a heap, central, large, index, map, meta. No system
// call is made with one held except the futex's own.

#ifndef ALLOC_LOCK_H
#define ALLOC_LOCK_H

#include <stdatomic.h>

#include "../libtelemetry/base.h"

struct alloc_lock {
	_Atomic uint32_t word;
};

// Waits for a lock that someone holds.
void alloc_lock_wait(struct alloc_lock *lock);

// Hands the lock on to a sleeper.
void alloc_lock_wake(struct alloc_lock *lock);

static inline bool alloc_lock_try(struct alloc_lock *lock)
{
	uint32_t free_word = 0;
	return atomic_compare_exchange_strong_explicit(&lock->word, &free_word, 1, memory_order_acquire,
						       memory_order_relaxed);
}

static inline void alloc_lock_take(struct alloc_lock *lock)
{
	if (TELE_UNLIKELY(!alloc_lock_try(lock)))
		alloc_lock_wait(lock);
}

// Pairs with the acquire in alloc_lock_try and alloc_lock_wait.
static inline void alloc_lock_drop(struct alloc_lock *lock)
{
	if (TELE_UNLIKELY(atomic_exchange_explicit(&lock->word, 0, memory_order_release) == 2))
		alloc_lock_wake(lock);
}

// In the child of a fork, where the holder may not exist: free again.
static inline void alloc_lock_reset(struct alloc_lock *lock)
{
	atomic_store_explicit(&lock->word, 0, memory_order_relaxed);
}

#endif
