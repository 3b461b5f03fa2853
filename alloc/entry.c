// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The exported names, each a jump to its implementation. The only file a test
// that keeps its own malloc leaves out.

#include <stdio.h>

#include "alloc.h"
#include "stats.h"

#include "../libtelemetry/banned.h"

#define ENTRY __attribute__((visibility("default")))

ENTRY void *malloc(size_t size_bytes)
{
	return alloc_malloc(size_bytes);
}

ENTRY void free(void *block)
{
	alloc_free(block);
}

ENTRY void *calloc(size_t count, size_t size_bytes)
{
	return alloc_calloc(count, size_bytes);
}

ENTRY void *realloc(void *block, size_t size_bytes)
{
	return alloc_realloc(block, size_bytes);
}

ENTRY void *reallocarray(void *block, size_t count, size_t size_bytes)
{
	return alloc_reallocarray(block, count, size_bytes);
}

void free_sized(void *block, size_t size_bytes);
ENTRY void free_sized(void *block, size_t size_bytes)
{
	(void)size_bytes;
	alloc_free(block);
}

void free_aligned_sized(void *block, size_t align, size_t size_bytes);
ENTRY void free_aligned_sized(void *block, size_t align, size_t size_bytes)
{
	(void)align;
	(void)size_bytes;
	alloc_free(block);
}

void cfree(void *block);
ENTRY void cfree(void *block)
{
	alloc_free(block);
}

void *memalign(size_t align, size_t size_bytes);
ENTRY void *memalign(size_t align, size_t size_bytes)
{
	return alloc_memalign(align, size_bytes);
}

ENTRY void *aligned_alloc(size_t align, size_t size_bytes)
{
	return alloc_aligned_alloc(align, size_bytes);
}

ENTRY int posix_memalign(void **ret_block, size_t align, size_t size_bytes)
{
	return alloc_posix_memalign(ret_block, align, size_bytes);
}

void *valloc(size_t size_bytes);
ENTRY void *valloc(size_t size_bytes)
{
	return alloc_valloc(size_bytes);
}

void *pvalloc(size_t size_bytes);
ENTRY void *pvalloc(size_t size_bytes)
{
	return alloc_pvalloc(size_bytes);
}

size_t malloc_usable_size(void *block);
ENTRY size_t malloc_usable_size(void *block)
{
	return alloc_usable_size(block);
}

int malloc_trim(size_t pad_bytes);
ENTRY int malloc_trim(size_t pad_bytes)
{
	return alloc_trim(pad_bytes);
}

int mallopt(int parameter, int value);
ENTRY int mallopt(int parameter, int value)
{
	return alloc_mallopt(parameter, value);
}

struct alloc_mallinfo2 mallinfo2(void);
ENTRY struct alloc_mallinfo2 mallinfo2(void)
{
	return alloc_mallinfo2();
}

struct alloc_mallinfo mallinfo(void);
ENTRY struct alloc_mallinfo mallinfo(void)
{
	return alloc_mallinfo();
}

void malloc_stats(void);
ENTRY void malloc_stats(void)
{
	char text[ALLOC_STATS_TEXT_BYTES];
	alloc_stats_text(text, false);
	alloc_stats_complain(text);
}

int malloc_info(int options, FILE *stream);
ENTRY int malloc_info(int options, FILE *stream)
{
	if (options != 0)
		return 22; // EINVAL
	char text[ALLOC_STATS_TEXT_BYTES];
	alloc_stats_text(text, true);
	return fputs(text, stream) < 0 ? -1 : 0;
}

static __attribute__((constructor)) void start(void)
{
	alloc_start();
}
