// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Another hook behind ours, as limiters of GPU memory are: it answers dlsym for
// one name of the driver with a function of its own, which counts its calls and
// says so when the process ends. Both hooks must see every call.

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static unsigned n_calls;
static unsigned (*real_alloc)(uint64_t *, size_t);

static unsigned hooked_alloc(uint64_t *ret_address, size_t bytes)
{
	n_calls++;
	return real_alloc(ret_address, bytes);
}

__attribute__((visibility("default"))) void *dlsym(void *restrict handle, const char *restrict name)
{
	static void *(*real)(void *, const char *);
	if (!real)
		*(void **)&real = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
	if (!real)
		*(void **)&real = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
	void *function = real(handle, name);
	if (function && handle != RTLD_NEXT && handle != RTLD_DEFAULT && strcmp(name, "cuMemAlloc_v2") == 0) {
		*(void **)&real_alloc = function;
		return (void *)hooked_alloc;
	}
	return function;
}

__attribute__((destructor)) static void report(void)
{
	if (n_calls)
		fprintf(stderr, "hook: %u allocations\n", n_calls);
}
