// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Tells a child of a fork that no handler saw (a raw clone) from its parent.

#ifndef TELE_FORK_MARK_H
#define TELE_FORK_MARK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

// One word on a page that the kernel wipes in a child; NULL before it is made,
// and where there is no memory for it.
extern _Atomic uint32_t *tele_fork_mark;

// Makes the word, once, when the library is loaded.
void tele_fork_mark_make(void);

// The calling process is one whose publisher's life has begun.
void tele_fork_mark_set(void);

// Whether it is not: no lock and no system call, for any thread.
static inline bool tele_is_foreign_process(void)
{
	return tele_fork_mark && atomic_load_explicit(tele_fork_mark, memory_order_relaxed) == 0;
}

#endif
