// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Waiting for a word to change, within one process.

#ifndef TELE_FUTEX_H
#define TELE_FUTEX_H

#include "../base.h"

#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static inline uint64_t tele_monotonic_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

// Waits while *word is `expected`, at most until that time.
static inline void tele_futex_wait_until(_Atomic uint32_t *word, uint32_t expected, uint64_t at_ns)
{
	struct timespec until = {
		.tv_sec = (time_t)(at_ns / 1000000000u),
		.tv_nsec = (long)(at_ns % 1000000000u),
	};
	syscall(SYS_futex, word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, expected, &until, NULL,
		FUTEX_BITSET_MATCH_ANY);
}

// Wakes all who wait for the word.
static inline void tele_futex_wake(_Atomic uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, INT32_MAX, NULL, NULL, 0);
}

#endif
