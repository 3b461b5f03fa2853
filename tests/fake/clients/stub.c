// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A plugin of the shape of XLA's: it defines the driver's names itself, each a
// function that opens the driver at its first call and jumps on. Compiled with
// STUB_HIDDEN its names stay inside, else they are exported and ours stand in
// front of them.

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef STUB_HIDDEN
#define VISIBLE __attribute__((visibility("hidden")))
#else
#define VISIBLE __attribute__((visibility("default")))
#endif

static void *find(const char *name)
{
	static void *driver;
	if (!driver)
		driver = dlopen("libcuda.so.1", RTLD_NOW);
	void *function = driver ? dlsym(driver, name) : NULL;
	if (!function) {
		fprintf(stderr, "stub: no %s\n", name);
		abort();
	}
	return function;
}

#define STUB(name, params, args)                                       \
	VISIBLE unsigned name params;                                  \
	unsigned name params                                           \
	{                                                              \
		static unsigned(*function) params;                     \
		if (!function)                                         \
			*(void **)&function = find(#name);             \
		return function args;                                  \
	}

STUB(cuInit, (unsigned flags), (flags))
STUB(cuDevicePrimaryCtxRetain, (void **ret_context, int device), (ret_context, device))
STUB(cuCtxSetCurrent, (void *context), (context))
STUB(cuMemAlloc_v2, (uint64_t * ret_address, size_t bytes), (ret_address, bytes))
STUB(cuMemFree_v2, (uint64_t address), (address))
STUB(cuModuleLoadData, (void **ret_module, const void *code), (ret_module, code))

__attribute__((visibility("default"))) int plugin_work(void);
int plugin_work(void)
{
	void *context, *module;
	uint64_t addresses[3];
	if (cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context))
		return 1;
	for (int i = 0; i < 3; i++)
		if (cuMemAlloc_v2(&addresses[i], 1 << 20))
			return 1;
	return cuMemFree_v2(addresses[1]) || cuModuleLoadData(&module, "code");
}
