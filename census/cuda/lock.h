// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A lock of one word that the kernel is asked about only when threads meet: 0
// open, 1 held, 2 held and waited for. Held for some dozens of instructions.

#ifndef CENSUS_CUDA_LOCK_H
#define CENSUS_CUDA_LOCK_H

#include "../../libtelemetry/base.h"

#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

struct cuda_lock {
	_Atomic uint32_t word;
};

static inline void cuda_lock(struct cuda_lock *lock)
{
	uint32_t open = 0;
	if (TELE_LIKELY(atomic_compare_exchange_strong_explicit(&lock->word, &open, 1, memory_order_acquire,
								memory_order_relaxed)))
		return;
	while (atomic_exchange_explicit(&lock->word, 2, memory_order_acquire) != 0)
		(void)syscall(SYS_futex, &lock->word, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
}

static inline void cuda_unlock(struct cuda_lock *lock)
{
	if (TELE_UNLIKELY(atomic_exchange_explicit(&lock->word, 0, memory_order_release) == 2))
		(void)syscall(SYS_futex, &lock->word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

#endif
