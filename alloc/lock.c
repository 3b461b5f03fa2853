// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The slow half of the lock: spin a little, let others run a little, then sleep
// on the futex. Sections are some fifty nanoseconds long, so a lock that stays
// taken belongs to a thread that is not running. A waiter that has slept takes
// the lock as 2, since it cannot know whether it was the last sleeper; one
// needless wake-up is the price.

#include "lock.h"

#include "sys.h"

#include "../libtelemetry/banned.h"

// The thread that forks, by the address of a variable of its own.
static __thread char lock_thread __attribute__((tls_model("initial-exec")));
static _Atomic(const char *) lock_forking;

#define SPINS 100
#define YIELDS 4

void alloc_lock_wait(struct alloc_lock *lock)
{
	for (int i = 0; i < SPINS + YIELDS; i++) {
		if (i >= SPINS)
			alloc_sys_yield();
#if defined(__x86_64__)
		__builtin_ia32_pause();
#endif
		if (atomic_load_explicit(&lock->word, memory_order_relaxed) == 0 && alloc_lock_try(lock))
			return;
	}
	for (;;) {
		uint32_t word = atomic_load_explicit(&lock->word, memory_order_relaxed);
		if (word == ALLOC_LOCK_FORK) {
			if (atomic_load_explicit(&lock_forking, memory_order_relaxed) == &lock_thread)
				return;
			alloc_sys_wait(&lock->word, ALLOC_LOCK_FORK);
		} else if (word == 2) {
			alloc_sys_wait(&lock->word, 2);
		} else if (atomic_compare_exchange_weak_explicit(&lock->word, &word, 2, memory_order_acquire,
								 memory_order_relaxed) &&
			   word == 0) {
			return;
		}
	}
}

void alloc_lock_fork_begin(void)
{
	atomic_store_explicit(&lock_forking, &lock_thread, memory_order_relaxed);
}

void alloc_lock_fork_end(void)
{
	atomic_store_explicit(&lock_forking, NULL, memory_order_relaxed);
}

void alloc_lock_fork_take(struct alloc_lock *lock)
{
	alloc_lock_take(lock);
	atomic_store_explicit(&lock->word, ALLOC_LOCK_FORK, memory_order_relaxed);
}

// Who slept before the fork took it, and since: all of them.
void alloc_lock_fork_drop(struct alloc_lock *lock)
{
	atomic_store_explicit(&lock->word, 0, memory_order_release);
	alloc_sys_wake(&lock->word, INT32_MAX);
}

void alloc_lock_wake(struct alloc_lock *lock)
{
	alloc_sys_wake(&lock->word, 1);
}
