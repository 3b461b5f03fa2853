// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Counts the allocator's mappings independently of it: every test_alloc_* is
// linked with --wrap for the three calls that change what is mapped. Included
// once, by the test itself. Also refuses calls on demand.

#ifndef TESTS_ALLOC_SHIM_H
#define TESTS_ALLOC_SHIM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

static _Atomic int64_t shim_mapped_bytes;
static _Atomic bool shim_refuses_maps;
static _Atomic bool shim_refuses_discards;

void *__real_alloc_sys_map(void *hint, size_t size_bytes);
int __real_alloc_sys_unmap(void *at, size_t size_bytes);
void *__real_alloc_sys_remap(void *at, size_t old_bytes, size_t new_bytes);
int __real_alloc_sys_discard(void *at, size_t size_bytes);
void *__wrap_alloc_sys_map(void *hint, size_t size_bytes);
int __wrap_alloc_sys_unmap(void *at, size_t size_bytes);
void *__wrap_alloc_sys_remap(void *at, size_t old_bytes, size_t new_bytes);
int __wrap_alloc_sys_discard(void *at, size_t size_bytes);

// The thread sanitizer keeps what it knew of addresses whose mapping went by a
// direct call, and breaks: under it nothing is unmapped, so none comes back.
#if defined(__SANITIZE_THREAD__)
#define SHIM_MAP(hint, n) shim_libc_map(hint, n)
#define SHIM_UNMAP(at, n) madvise(at, n, MADV_DONTNEED)
#else
#define SHIM_MAP(hint, n) __real_alloc_sys_map(hint, n)
#define SHIM_UNMAP(at, n) __real_alloc_sys_unmap(at, n)
#endif

static inline void *shim_libc_map(void *hint, size_t size_bytes)
{
	void *at = mmap(hint, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return at == MAP_FAILED ? NULL : at;
}

void *__wrap_alloc_sys_map(void *hint, size_t size_bytes)
{
	void *at = shim_refuses_maps ? NULL : SHIM_MAP(hint, size_bytes);
	if (at)
		shim_mapped_bytes += (int64_t)size_bytes;
	return at;
}

int __wrap_alloc_sys_unmap(void *at, size_t size_bytes)
{
	int ret = SHIM_UNMAP(at, size_bytes);
	if (ret == 0)
		shim_mapped_bytes -= (int64_t)size_bytes;
	return ret;
}

void *__wrap_alloc_sys_remap(void *at, size_t old_bytes, size_t new_bytes)
{
	void *moved = NULL;
#if defined(__SANITIZE_THREAD__)
	moved = shim_libc_map(NULL, new_bytes);
	if (moved) {
		memcpy(moved, at, old_bytes < new_bytes ? old_bytes : new_bytes);
		madvise(at, old_bytes, MADV_DONTNEED);
	}
#else
	if (!shim_refuses_maps)
		moved = __real_alloc_sys_remap(at, old_bytes, new_bytes);
#endif
	if (moved)
		shim_mapped_bytes += (int64_t)new_bytes - (int64_t)old_bytes;
	return moved;
}

int __wrap_alloc_sys_discard(void *at, size_t size_bytes)
{
	return shim_refuses_discards ? -22 : __real_alloc_sys_discard(at, size_bytes);
}

#endif
