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
	while (atomic_exchange_explicit(&lock->word, 2, memory_order_acquire) != 0)
		alloc_sys_wait(&lock->word, 2);
}

void alloc_lock_wake(struct alloc_lock *lock)
{
	alloc_sys_wake(&lock->word);
}
