// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The CUDA driver, opened when the program starts: its functions, as far as the
// search needs them, declared by hand.

#ifndef SEARCH_DRIVER_H
#define SEARCH_DRIVER_H

#include <stddef.h>
#include <stdint.h>

// Name in the struct, symbol, parameters.
#define SEARCH_FUNCTIONS(X)                                                                           \
	X(init, cuInit, (unsigned))                                                                   \
	X(error_text, cuGetErrorString, (unsigned, const char **))                                    \
	X(get_device, cuDeviceGet, (int *, int))                                                          \
	X(get_name, cuDeviceGetName, (char *, int, int))                                           \
	X(attribute, cuDeviceGetAttribute, (int *, int, int))                                         \
	X(retain, cuDevicePrimaryCtxRetain, (void **, int))                                           \
	X(release, cuDevicePrimaryCtxRelease_v2, (int))                                               \
	X(set_current, cuCtxSetCurrent, (void *))                                                     \
	X(context_create, cuCtxCreate_v2, (void **, unsigned, int))                                   \
	X(context_pop, cuCtxPopCurrent_v2, (void **))                                                 \
	X(context_destroy, cuCtxDestroy_v2, (void *))                                                 \
	X(alloc, cuMemAlloc_v2, (uint64_t *, size_t))                                                 \
	X(free, cuMemFree_v2, (uint64_t))                                                             \
	X(info, cuMemGetInfo_v2, (size_t *, size_t *))                                                \
	X(upload, cuMemcpyHtoD_v2, (uint64_t, const void *, size_t))                                  \
	X(download, cuMemcpyDtoH_v2, (void *, uint64_t, size_t))                                      \
	X(link_create, cuLinkCreate_v2, (unsigned, int *, void **, void **))                          \
	X(link_add, cuLinkAddData_v2, (void *, int, void *, size_t, const char *, unsigned, int *, void **)) \
	X(link_complete, cuLinkComplete, (void *, void **, size_t *))                                 \
	X(link_destroy, cuLinkDestroy, (void *))                                                      \
	X(module_load, cuModuleLoadData, (void **, const void *))                                     \
	X(module_unload, cuModuleUnload, (void *))                                                    \
	X(function, cuModuleGetFunction, (void **, void *, const char *))                             \
	X(launch, cuLaunchKernel,                                                                     \
	  (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **)) \
	X(event_create, cuEventCreate, (void **, unsigned))                                           \
	X(event_destroy, cuEventDestroy_v2, (void *))                                                 \
	X(event_record, cuEventRecord, (void *, void *))                                              \
	X(event_wait, cuEventSynchronize, (void *))                                                   \
	X(event_elapsed, cuEventElapsedTime, (float *, void *, void *))

struct search_driver {
#define X(name, symbol, params) unsigned (*name) params;
	SEARCH_FUNCTIONS(X)
#undef X
	int device;
	int capability; // 86 for 8.6
	int is_fake;	// kernels do not run: nothing is checked or timed
	char device_name[128];
	void *context; // the primary one, where all work happens
};

extern struct search_driver driver;

// Opens the driver and its first device. Returns 0, or says why not on stderr
// and returns -1.
int search_driver_open(void);
void search_driver_close(void);

// The driver's words for a result.
const char *search_driver_text(unsigned result);

#endif
