// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A lock of one word: 0 free, 1 held, 2 held with sleepers, 3 held by a fork.
// All zero is free. What a fork holds its own thread may take again: handlers
// of fork that are older than ours run inside of them, and may allocate.
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

#define ALLOC_LOCK_FORK 3u

// Between the two the calling thread forks, and may take locks held for that.
void alloc_lock_fork_begin(void);
void alloc_lock_fork_end(void);

// Holds a lock for the fork; lets it go again in the parent.
void alloc_lock_fork_take(struct alloc_lock *lock);
void alloc_lock_fork_drop(struct alloc_lock *lock);

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
	if (TELE_UNLIKELY(atomic_load_explicit(&lock->word, memory_order_relaxed) == ALLOC_LOCK_FORK))
		return; // the fork's own thread: it goes on being held
	if (TELE_UNLIKELY(atomic_exchange_explicit(&lock->word, 0, memory_order_release) == 2))
		alloc_lock_wake(lock);
}

// In the child of a fork, where the holder may not exist: free again.
static inline void alloc_lock_reset(struct alloc_lock *lock)
{
	atomic_store_explicit(&lock->word, 0, memory_order_relaxed);
}

#endif
