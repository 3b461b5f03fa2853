// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A word that the kernel sets to 0 in every child, however it was forked: our
// pthread_atfork handlers see fork(3) alone, and asking for the pid each time
// would be a system call. Where the page cannot be had, only handlers tell.

#include "fork_mark.h"

#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../banned.h"

_Atomic uint32_t *tele_fork_mark;

void tele_fork_mark_make(void)
{
	long page = sysconf(_SC_PAGESIZE);
	size_t bytes = page > 0 ? (size_t)page : 4096;
	void *mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mapped == MAP_FAILED)
		return;
	madvise(mapped, bytes, MADV_WIPEONFORK);
	tele_fork_mark = mapped;
}

void tele_fork_mark_set(void)
{
	if (tele_fork_mark)
		atomic_store_explicit(tele_fork_mark, 1, memory_order_relaxed);
}
