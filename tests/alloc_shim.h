// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Counts the allocator's mappings independently of it: every test_alloc_* is
// linked with --wrap for the three calls that change what is mapped. Also
// refuses calls on demand, and stands in for the publisher. Included once, by
// the test itself.

#ifndef TESTS_ALLOC_SHIM_H
#define TESTS_ALLOC_SHIM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <time.h>

#include "../libtelemetry/collector.h"

static _Atomic int64_t shim_mapped_bytes;
static _Atomic bool shim_refuses_maps;
static _Atomic bool shim_refuses_discards;
static _Atomic bool shim_refuses_unmaps;
static _Atomic uint32_t shim_discards_at_once; // ranges of a batch that go at most; 0: all

void *__real_alloc_sys_map(void *hint, size_t size_bytes);
int __real_alloc_sys_unmap(void *at, size_t size_bytes);
void *__real_alloc_sys_remap(void *at, size_t old_bytes, size_t new_bytes);
int __real_alloc_sys_discard(void *at, size_t size_bytes);
int64_t __real_alloc_sys_discard_many(const struct iovec *ranges, uint32_t n);
void *__wrap_alloc_sys_map(void *hint, size_t size_bytes);
int __wrap_alloc_sys_unmap(void *at, size_t size_bytes);
void *__wrap_alloc_sys_remap(void *at, size_t old_bytes, size_t new_bytes);
int __wrap_alloc_sys_discard(void *at, size_t size_bytes);
int64_t __wrap_alloc_sys_discard_many(const struct iovec *ranges, uint32_t n);

// The thread sanitizer keeps what it knew of addresses whose mapping went by a
// direct call, and breaks: it sees libc's. (A mapping that never went would keep
// its shadow, eight times its size, for good.)
#if defined(__SANITIZE_THREAD__)
#define SHIM_MAP(hint, n) shim_libc_map(hint, n)
#define SHIM_UNMAP(at, n) munmap(at, n)
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
	int ret = shim_refuses_unmaps ? -12 : SHIM_UNMAP(at, size_bytes);
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
		munmap(at, old_bytes);
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

int64_t __wrap_alloc_sys_discard_many(const struct iovec *ranges, uint32_t n)
{
	if (shim_refuses_discards)
		return -22;
	if (shim_discards_at_once && shim_discards_at_once < n)
		n = shim_discards_at_once; // as the kernel, where a range in the middle is locked
	return __real_alloc_sys_discard_many(ranges, n);
}

#define SHIM_COLLECTORS 128
static struct rollcall_collector shim_collectors[SHIM_COLLECTORS];
static uint32_t shim_n_collectors;
static _Atomic uint32_t shim_last_event;

int rollcall_collector_register(const struct rollcall_collector *collector)
{
	if (shim_n_collectors < SHIM_COLLECTORS)
		shim_collectors[shim_n_collectors++] = *collector;
	return 0;
}

static _Atomic uint32_t shim_tends;

void rollcall_tend(void)
{
	shim_tends++;
}

uint64_t rollcall_clock_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return ((uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec) & ~(uint64_t)1023;
}

int rollcall_event(uint32_t type, uint64_t subject, uint64_t value, const char *text)
{
	(void)subject;
	(void)value;
	(void)text;
	shim_last_event = type;
	return 0;
}

#endif
