// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The malloc family under names of our own: what entry.c exports and what tests
// link beside another malloc. Each does what its namesake does in glibc, errno
// included.

#ifndef ALLOC_ALLOC_H
#define ALLOC_ALLOC_H

#include "../libtelemetry/base.h"

void *alloc_malloc(size_t size_bytes);
void alloc_free(void *block);
void *alloc_calloc(size_t count, size_t size_bytes);
void *alloc_realloc(void *block, size_t size_bytes);
void *alloc_reallocarray(void *block, size_t count, size_t size_bytes);
void *alloc_memalign(size_t align, size_t size_bytes);
void *alloc_aligned_alloc(size_t align, size_t size_bytes);
int alloc_posix_memalign(void **ret_block, size_t align, size_t size_bytes);
void *alloc_valloc(size_t size_bytes);
void *alloc_pvalloc(size_t size_bytes);
size_t alloc_usable_size(void *block);
int alloc_trim(size_t pad_bytes);
int alloc_mallopt(int parameter, int value);

// Reads the environment and tells the publisher. Run by the constructor; all of
// the above works before.
void alloc_start(void);

// Gives up the calling thread's heap, as its exit does.
void alloc_thread_exit(void);

// Fork handlers; registered by alloc_start.
void alloc_before_fork(void);
void alloc_after_fork_parent(void);
void alloc_after_fork_child(void);

#endif
