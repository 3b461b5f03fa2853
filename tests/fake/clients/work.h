// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The work that every client does, over functions that it has found in its own
// way. Included once in each client.

#ifndef TESTS_CLIENT_WORK_H
#define TESTS_CLIENT_WORK_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

// Member, symbol, name and version for cuGetProcAddress, parameters.
#define FUNCTIONS(X)                                                                          \
	X(init, cuInit, cuInit, 2000, (unsigned))                                             \
	X(retain, cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, 7000, (void **, int))   \
	X(set_current, cuCtxSetCurrent, cuCtxSetCurrent, 4000, (void *))                      \
	X(alloc, cuMemAlloc_v2, cuMemAlloc, 3020, (uint64_t *, size_t))                       \
	X(free, cuMemFree_v2, cuMemFree, 3020, (uint64_t))                                    \
	X(load, cuModuleLoadData, cuModuleLoadData, 2000, (void **, const void *))

struct name {
	const char *symbol, *base;
	int version;
};

static struct {
#define X(member, symbol, base, version, params) unsigned(*member) params;
	FUNCTIONS(X)
#undef X
} functions;

__attribute__((unused)) static int find_functions(void *(*find)(const struct name *))
{
	static const struct name names[] = {
#define X(member, symbol, base, version, params) {#symbol, #base, version},
		FUNCTIONS(X)
#undef X
	};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		((void **)&functions)[i] = find(&names[i]);
		if (!((void **)&functions)[i]) {
			fprintf(stderr, "client: there is no %s\n", names[i].symbol);
			return 1;
		}
	}
	return 0;
}

#if defined(LINKED)
#define X(member, symbol, base, version, params) extern unsigned symbol params;
FUNCTIONS(X)
#undef X

static int find_linked(void)
{
#define X(member, symbol, base, version, params) functions.member = symbol;
	FUNCTIONS(X)
#undef X
	return 0;
}
#endif

static int work(void)
{
	void *context, *module;
	uint64_t addresses[3];
	if (functions.init(0) || functions.retain(&context, 0) || functions.set_current(context))
		return 1;
	for (int i = 0; i < 3; i++)
		if (functions.alloc(&addresses[i], 1 << 20))
			return 1;
	return functions.free(addresses[1]) || functions.load(&module, "code");
}

__attribute__((unused)) static int churn(int n)
{
	void *context;
	uint64_t address;
	if (functions.init(0) || functions.retain(&context, 0) || functions.set_current(context))
		return 1;
	for (int i = 0; i < n; i++)
		if (functions.alloc(&address, 4096) || functions.free(address))
			return 1;
	return 0;
}

#endif
