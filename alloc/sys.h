// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The allocator's system calls, made directly: a preload that wraps mmap or
// clock_gettime may allocate inside its wrapper, and we hold locks. None of
// them touches errno; all are safe before any constructor has run.

#ifndef ALLOC_SYS_H
#define ALLOC_SYS_H

#include <sys/uio.h>

#include "../libtelemetry/base.h"

// Maps private zeroed memory near hint (NULL: anywhere). NULL when refused.
void *alloc_sys_map(void *hint, size_t size_bytes);

// Unmaps whole pages. Returns 0 or -errno.
int alloc_sys_unmap(void *at, size_t size_bytes);

// Resizes a mapping, moving it when it must. NULL when refused: the old mapping
// is then untouched.
void *alloc_sys_remap(void *at, size_t old_bytes, size_t new_bytes);

// Makes pages inaccessible. Returns 0 or -errno.
int alloc_sys_guard(void *at, size_t size_bytes);

// Gives the pages' memory back; they read as zero from then on. 0 or -errno.
int alloc_sys_discard(void *at, size_t size_bytes);

// The same for up to ALLOC_SYS_RANGES_MAX ranges in one call. Returns how many
// bytes went, counted from the first range on, or -errno when none did: before
// Linux 6.14 always. A strict seccomp filter may kill for it: not to be called
// where there is one.
#define ALLOC_SYS_RANGES_MAX 1024u
int64_t alloc_sys_discard_many(const struct iovec *ranges, uint32_t n);

// Whether a seccomp filter rules the calling thread, or may.
bool alloc_sys_is_filtered(void);

// Asks for huge pages, or for none. Refusal does not matter and is not told.
void alloc_sys_huge(void *at, size_t size_bytes, bool wanted);

// One byte a page into vec, bit 0 set for a resident page. 0 or -errno.
int alloc_sys_mincore(void *at, size_t size_bytes, unsigned char *vec);

// CLOCK_MONOTONIC_COARSE, in ns.
uint64_t alloc_sys_clock_ns(void);

// The kernel's page size.
size_t alloc_sys_page_bytes(void);

// Lets another thread run.
void alloc_sys_yield(void);

// Sleeps while *word is `value`; spurious wake-ups happen.
void alloc_sys_wait(_Atomic uint32_t *word, uint32_t value);

// Wakes so many sleepers.
void alloc_sys_wake(_Atomic uint32_t *word, int n);

// Writes len bytes to descriptor 2, as far as it goes.
void alloc_sys_complain(const char *text, size_t len);

#endif
