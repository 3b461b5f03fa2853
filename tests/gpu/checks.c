// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What only a real driver can answer, asked by a program of its own. Each mode
// prints lines that tests/gpu/run reads: `PASS what`, `FAIL what`, `FACT what`.
//
//	checks identity		addresses by dlsym and by cuGetProcAddress
//	checks semantics	what the census takes for granted of the driver
//	checks classes		one of everything, held until the input ends
//	checks cost		ns of a pair of cuMemAllocAsync and cuMemFreeAsync
//
// Managed memory stays at 1 MiB: more than the card has free can hang it.

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../census/cuda/abi.h"

#define MIB (1 << 20)

static void *driver;

#define CUDA_CALL(symbol, base, version, variant, body, params, args) static unsigned(*p_##symbol) params;
#define CUDA_PASS(symbol, base, version, variant, params, args) static unsigned(*p_##symbol) params;
#define CUDA_OLD(symbol, base, version)
#include "../../census/cuda_calls.def"

static unsigned (*set_current)(void *);
static unsigned (*get_state)(int, unsigned *, int *);
static unsigned (*stream_create)(void **, unsigned);
static unsigned (*stream_wait)(void *);
static unsigned (*begin_capture)(void *, int);
static unsigned (*end_capture)(void *, void **);
static unsigned (*library_module)(void **, void *);

static void open_driver(void)
{
	driver = dlopen("libcuda.so.1", RTLD_NOW);
	if (!driver) {
		printf("FAIL there is no driver: %s\n", dlerror());
		exit(1);
	}
#define CUDA_CALL(symbol, base, version, variant, body, params, args) *(void **)&p_##symbol = dlsym(driver, #symbol);
#define CUDA_PASS(symbol, base, version, variant, params, args) *(void **)&p_##symbol = dlsym(driver, #symbol);
#define CUDA_OLD(symbol, base, version)
#include "../../census/cuda_calls.def"
	*(void **)&set_current = dlsym(driver, "cuCtxSetCurrent");
	*(void **)&get_state = dlsym(driver, "cuDevicePrimaryCtxGetState");
	*(void **)&stream_create = dlsym(driver, "cuStreamCreate");
	*(void **)&stream_wait = dlsym(driver, "cuStreamSynchronize");
	*(void **)&begin_capture = dlsym(driver, "cuStreamBeginCapture_v2");
	*(void **)&end_capture = dlsym(driver, "cuStreamEndCapture");
	*(void **)&library_module = dlsym(driver, "cuLibraryGetModule");
}

static void verdict(int is_good, const char *what, unsigned result)
{
	printf("%s %s (%u)\n", is_good ? "PASS" : "FAIL", what, result);
}

static void fact(const char *what, uint64_t value)
{
	printf("FACT %s: %llu\n", what, (unsigned long long)value);
}

// ---- B: identity -------------------------------------------------------------

static const struct row {
	const char *base, *symbol;
	int version;
	uint64_t flags;
} rows[] = {
#define FLAGS_legacy 0
#define FLAGS_ptsz 2
#define CUDA_CALL(symbol, base, version, variant, body, params, args) {#base, #symbol, version, FLAGS_##variant},
#define CUDA_PASS(symbol, base, version, variant, params, args) {#base, #symbol, version, FLAGS_##variant},
#define CUDA_OLD(symbol, base, version) {#base, #symbol, version, 0},
#include "../../census/cuda_calls.def"
};

static void compare_addresses(const char *when)
{
	unsigned same = 0, different = 0, missing = 0;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		void *by_name = dlsym(driver, rows[i].symbol), *by_gpa = NULL;
		unsigned status;
		if (p_cuGetProcAddress_v2(rows[i].base, &by_gpa, rows[i].version, rows[i].flags, &status) != 0)
			by_gpa = NULL;
		if (!by_name || !by_gpa) {
			missing++;
		} else if (by_name == by_gpa) {
			same++;
		} else {
			different++;
			printf("FACT %s: %s by name %p, by cuGetProcAddress %p\n", when, rows[i].symbol, by_name, by_gpa);
		}
	}
	printf("%s %s: %u addresses are the same, %u are not, %u are missing\n", same > 60 ? "PASS" : "FAIL", when,
	       same, different, missing);
}

static int identity(void)
{
	compare_addresses("before cuInit");
	verdict(p_cuInit(0) == 0, "cuInit", 0);
	compare_addresses("after cuInit");
	return 0;
}

// ---- C: semantics ---------------------------------------------------------------

static void *context;

static int begin(void)
{
	unsigned result = p_cuInit(0);
	if (result == 0)
		result = p_cuDevicePrimaryCtxRetain((struct CUctx_st **)&context, 0);
	if (result == 0)
		result = set_current(context);
	if (result)
		verdict(0, "the driver starts", result);
	return result != 0;
}

static int is_active(void)
{
	unsigned flags;
	int active = -1;
	get_state(0, &flags, &active);
	return active;
}

static void check_memory(void)
{
	unsigned long long address = 0, one = 0;
	size_t before, after, total;
	verdict(p_cuMemFree_v2(0) == 0, "cuMemFree of 0 has no effect", 0);
	verdict(p_cuMemAllocAsync(&address, MIB, NULL) == 0 && p_cuMemFree_v2(address) == 0,
		"cuMemFree ends memory of cuMemAllocAsync", 0);
	p_cuMemGetInfo_v2(&before, &total);
	p_cuMemAlloc_v2(&one, 1);
	p_cuMemGetInfo_v2(&after, &total);
	fact("bytes that cuMemAlloc(1) takes", before - after);
	p_cuMemFree_v2(one);
	verdict(p_cuMemAlloc_v2(&address, 0) != 0, "cuMemAlloc of 0 fails", 0);
	verdict(p_cuMemGetInfo_v2(NULL, &total) == 0, "cuMemGetInfo takes NULL", 0);
}

static void check_context(void)
{
	void *own = NULL, *again = NULL, *kept = NULL, *ended = NULL;
	unsigned long long plain = 0, async = 0;
	if (p_cuCtxCreate_v2((struct CUctx_st **)&own, 0, 0) != 0) {
		verdict(0, "cuCtxCreate", 0);
		return;
	}
	p_cuMemHostAlloc(&kept, MIB, 1); // portable
	p_cuMemAllocHost_v2(&ended, MIB);
	p_cuMemAlloc_v2(&plain, MIB);
	p_cuMemAllocAsync(&async, MIB, NULL);
	verdict(p_cuCtxDestroy_v2(own) == 0, "cuCtxDestroy", 0);
	set_current(context);
	verdict(p_cuMemFreeAsync(async, NULL) == 0, "memory of cuMemAllocAsync survives its context", 0);
	verdict(p_cuMemFreeHost(kept) == 0, "memory of cuMemHostAlloc survives its context", 0);
	unsigned result = p_cuMemFree_v2(plain);
	verdict(result != 0, "memory of cuMemAlloc ends with its context", result);
	p_cuCtxCreate_v2((struct CUctx_st **)&again, 0, 0);
	fact("a context's handle comes back", again == own);
	p_cuCtxDestroy_v2(again);
	set_current(context);
}

static void check_primary(void)
{
	void *first, *second, *third;
	unsigned long long address;
	p_cuDevicePrimaryCtxRetain((struct CUctx_st **)&second, 0);
	verdict(second == context, "a second retain gives the same handle", 0);
	verdict(p_cuDevicePrimaryCtxRelease_v2(0) == 0 && is_active() == 1, "one release of two leaves it active", 0);
	p_cuMemAlloc_v2(&address, MIB);
	verdict(p_cuDevicePrimaryCtxReset_v2(0) == 0, "cuDevicePrimaryCtxReset", 0);
	fact("active after a reset", (uint64_t)is_active());
	first = context;
	unsigned result = p_cuMemAlloc_v2(&address, MIB);
	fact("result of the first cuMemAlloc after a reset", result);
	result = p_cuDevicePrimaryCtxRetain((struct CUctx_st **)&third, 0);
	set_current(third);
	verdict(result == 0 && third == first, "the handle is the same after a reset", result);
	verdict(p_cuMemAlloc_v2(&address, MIB) == 0 && is_active() == 1, "and is active with its next use", 0);
	context = third;
}

static void check_handles(void)
{
	const struct cuda_allocation_prop prop = {.type = 1, .location = {1, 0}};
	const size_t bytes = 2 * MIB;
	unsigned long long handle = 0, next = 0, address = 0;
	unsigned result = p_cuMemCreate(&handle, bytes, (const void *)&prop, 0);
	if (result == 0)
		result = p_cuMemAddressReserve(&address, bytes, 0, 0, 0);
	if (result == 0)
		result = p_cuMemMap(address, bytes, 0, handle, 0);
	verdict(result == 0, "cuMemCreate, cuMemAddressReserve and cuMemMap", result);
	verdict(p_cuMemRelease(handle) == 0, "a handle may be released while it is mapped", 0);
	verdict(p_cuMemRetainAllocationHandle(&next, (void *)(uintptr_t)address) == 0 && next == handle,
		"and is given again by its address", 0);
	p_cuMemRelease(next);
	verdict(p_cuMemUnmap(address, bytes) == 0 && p_cuMemAddressFree(address, bytes) == 0, "cuMemUnmap", 0);
	p_cuMemCreate(&next, bytes, (const void *)&prop, 0);
	fact("a handle comes back", next == handle);
	p_cuMemRelease(next);
}

static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() { ret; }\n";

static void check_code(void)
{
	void *library = NULL, *module = NULL;
	if (!p_cuLibraryLoadData || !library_module)
		return;
	unsigned result = p_cuLibraryLoadData((struct CUlib_st **)&library, ptx, NULL, NULL, 0, NULL, NULL, 0);
	if (result == 0)
		result = library_module(&module, library);
	verdict(result == 0, "a library and its module", result);
	result = p_cuModuleUnload(module);
	verdict(result != 0, "a library's module cannot be unloaded", result);
	verdict(p_cuLibraryUnload(library) == 0, "cuLibraryUnload", 0);
}

static void *ask_info(void *result)
{
	size_t free_bytes, total;
	set_current(context);
	*(unsigned *)result = p_cuMemGetInfo_v2(&free_bytes, &total);
	return NULL;
}

static void check_capture(void)
{
	void *stream, *graph = NULL;
	unsigned long long address = 0;
	pthread_t thread;
	for (int mode = 0; mode <= 2; mode += 2) { // global, relaxed
		unsigned asked = 9;
		stream_create(&stream, 1);
		unsigned result = begin_capture(stream, mode);
		if (result == 0)
			result = p_cuMemAllocAsync(&address, MIB, stream);
		verdict(result == 0, mode ? "cuMemAllocAsync is captured (relaxed)" : "cuMemAllocAsync is captured (global)",
			result);
		pthread_create(&thread, NULL, ask_info, &asked);
		pthread_join(thread, NULL);
		fact(mode ? "another thread's cuMemGetInfo in a relaxed capture" :
			    "another thread's cuMemGetInfo in a global capture", asked);
		result = end_capture(stream, &graph);
		fact("result of ending that capture", result);
	}
}

static int semantics(void)
{
	if (begin())
		return 1;
	check_memory();
	check_context();
	check_handles();
	check_code();
	check_capture();
	check_primary();
	return 0;
}

// ---- D: one of every class ----------------------------------------------------------

static int classes(void)
{
	const struct cuda_allocation_prop prop = {.type = 1, .location = {1, 0}};
	const struct cuda_pool_props pool_props = {.type = 1, .location = {1, 0}};
	const struct cuda_array flat = {64, 32, 0x20, 1};
	unsigned long long address, handle;
	size_t pitch = 0, free_bytes, total;
	void *pool, *array, *pointer, *module, *library, *own;
	char line[8];
	if (begin())
		return 1;
	unsigned failed = p_cuMemAlloc_v2(&address, 3 * MIB);
	failed |= p_cuMemAllocPitch_v2(&address, &pitch, 1000, 10, 4);
	failed |= p_cuMemAllocManaged(&address, MIB, 1);
	failed |= p_cuMemAllocAsync(&address, 2 * MIB, NULL);
	failed |= p_cuMemPoolCreate((struct CUmemPoolHandle_st **)&pool, (const void *)&pool_props);
	failed |= p_cuMemAllocFromPoolAsync(&address, MIB, pool, NULL);
	failed |= p_cuMemCreate(&handle, 4 * MIB, (const void *)&prop, 0);
	failed |= p_cuArrayCreate_v2((struct CUarray_st **)&array, (const void *)&flat);
	failed |= p_cuMemHostAlloc(&pointer, 5000, 0);
	failed |= p_cuModuleLoadData((struct CUmod_st **)&module, ptx);
	if (p_cuLibraryLoadData)
		failed |= p_cuLibraryLoadData((struct CUlib_st **)&library, ptx, NULL, NULL, 0, NULL, NULL, 0);
	failed |= p_cuMemGetInfo_v2(&free_bytes, &total);
	failed |= p_cuCtxCreate_v2((struct CUctx_st **)&own, 0, 0);
	verdict(!failed, "one of every class", failed);
	fact("pitch", pitch);
	printf("READY %d\n", (int)getpid());
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin))
		;
	return failed != 0;
}

// ---- J: cost --------------------------------------------------------------------------

static int cost(void)
{
	enum { PAIRS = 100000 };
	unsigned long long address;
	struct timespec from, to;
	if (begin())
		return 1;
	for (int i = 0; i < 1000; i++)
		if (p_cuMemAllocAsync(&address, 4096, NULL) || p_cuMemFreeAsync(address, NULL))
			return 1;
	clock_gettime(CLOCK_MONOTONIC, &from);
	for (int i = 0; i < PAIRS; i++)
		if (p_cuMemAllocAsync(&address, 4096, NULL) || p_cuMemFreeAsync(address, NULL))
			return 1;
	clock_gettime(CLOCK_MONOTONIC, &to);
	fact("ns of a pair", (uint64_t)(((double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec)) /
					PAIRS));
	return 0;
}

int main(int n_arguments, char **arguments)
{
	const char *mode = n_arguments > 1 ? arguments[1] : "";
	setvbuf(stdout, NULL, _IOLBF, 0);
	open_driver();
	if (strcmp(mode, "identity") == 0)
		return identity();
	if (strcmp(mode, "semantics") == 0)
		return semantics();
	if (strcmp(mode, "classes") == 0)
		return classes();
	if (strcmp(mode, "cost") == 0)
		return cost();
	fprintf(stderr, "checks: identity, semantics, classes or cost\n");
	return 2;
}
