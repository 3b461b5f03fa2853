// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What the CUDA census promises beyond equal books: one call at a time.

#define ROLLCALL_BUILDING
#include "../libtelemetry/rollcall.h"

#include "support/cuda_books.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define THREADS 8

static void *allocate_and_free(void *context)
{
	(void)context;
	void *own;
	CHECK(cuDevicePrimaryCtxRetain((void *)&own, 0) == 0 && set_current(own) == 0);
	for (unsigned i = 0; i < 150; i++) {
		unsigned long long address = 0;
		CHECK(cuMemAlloc_v2(&address, 4096) == 0);
		CHECK(cuMemFree_v2(address) == 0);
	}
	CHECK(cuDevicePrimaryCtxRelease_v2(0) == 0);
	return NULL;
}

// The driver gives an address to one thread while the call of another that freed
// it has not come back.
IN_CHILD(an_address_that_comes_back_during_its_free_is_counted_once)
{
	pthread_t threads[THREADS];
	struct tele_cuda_values cuda;
	struct rollcall_census census;
	setenv("FAKE_FREE_DELAY_US", "200", 1);
	open_driver();
	for (unsigned i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, allocate_and_free, NULL);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	compare_all("at the end");
	CHECK(collect("cuda", 0, &cuda, sizeof(cuda)) && cuda.unknown_frees == 0);
	(void)rollcall_census_snapshot(0, &census, sizeof(census));
	CHECK(census.unlabelled_pools_allocated == THREADS * 150 && census.pools_freed == THREADS * 150);
}

// A free after the driver has gone down fails and changes nothing.
IN_CHILD(calls_after_the_driver_is_down_change_nothing)
{
	unsigned long long address = 0;
	void *context;
	open_driver();
	CHECK(cuCtxCreate_v2((void *)&context, 0, 0) == 0 && cuMemAlloc_v2(&address, 4096) == 0);
	((fake_deinitialize_fn *)get("fake_deinitialize"))();
	CHECK(cuMemFree_v2(address) == 4 && cuCtxDestroy_v2(context) == 4);
	struct rollcall_census census;
	(void)rollcall_census_snapshot(0, &census, sizeof(census));
	CHECK(rollcall_census_live_pools(&census) == 1 && census.contexts_released == 0);
}

// A context that was made by a path no entry point shows, and its last release.
IN_CHILD(a_hidden_primary_context_is_discovered_and_kept_while_it_is_active)
{
	unsigned long long address = 0;
	struct tele_driver_values ours;
	struct tele_cuda_values cuda;
	struct rollcall_census census;
	void *context;
	open_driver();
	uint64_t (*retain_hidden)(int);
	*(void **)&retain_hidden = get("fake_retain_hidden");
	CHECK(set_current(P(retain_hidden(1))) == 0);
	CHECK(cuMemAlloc_v2(&address, 4096) == 0);
	CHECK(collect("cuda", 0, &cuda, sizeof(cuda)) && cuda.discovered_contexts == 1);
	CHECK(collect("driver", 1, &ours, sizeof(ours)) && ours.primary_active == 1 && ours.contexts == 1);
	// Ours comes and goes; the hidden reference keeps the context and its memory.
	CHECK(cuDevicePrimaryCtxRetain((void *)&context, 1) == 0 && cuDevicePrimaryCtxRelease_v2(1) == 0);
	CHECK(collect("driver", 1, &ours, sizeof(ours)) && ours.primary_active == 1 && ours.live_pools == 1);
	CHECK(cuDevicePrimaryCtxRelease_v2(1) == 0);
	CHECK(collect("driver", 1, &ours, sizeof(ours)) && ours.primary_active == 0 && ours.live_pools == 0);
	(void)rollcall_census_snapshot(1, &census, sizeof(census));
	CHECK(census.contexts_created == 1 && census.contexts_released == 1);
}

// What has outlived eight closes has settled, and what is labelled never does.
IN_CHILD(an_unlabelled_pool_settles_and_is_never_called_constant)
{
	unsigned long long old = 0, constant = 0, young = 0;
	struct tele_driver_values ours;
	struct rollcall_census census;
	void *context;
	open_driver();
	CHECK(cuCtxCreate_v2((void *)&context, 0, 0) == 0);
	rollcall_label_push(ROLLCALL_CONSTANT, 0);
	CHECK(cuMemAlloc_v2(&constant, 3000) == 0);
	rollcall_label_pop();
	CHECK(cuMemAlloc_v2(&old, 1000) == 0);
	for (unsigned i = 0; i < 7; i++)
		CHECK(rollcall_owner_close(rollcall_owner_open(NULL)) == 0);
	CHECK(collect("driver", 0, &ours, sizeof(ours)) && ours.settled_pools == 0);
	CHECK(rollcall_owner_close(rollcall_owner_open(NULL)) == 0);
	CHECK(cuMemAlloc_v2(&young, 500) == 0);
	CHECK(collect("driver", 0, &ours, sizeof(ours)));
	CHECK(ours.settled_pools == 1 && ours.settled_bytes == 1000);
	(void)rollcall_census_snapshot(0, &census, sizeof(census));
	CHECK(census.live_constant_pools == 1 && census.live_unlabelled_pools == 2);
	// Labelled after the fact, it is settled no more.
	CHECK(rollcall_label_ptr(P(old), ROLLCALL_WORKING, 0) == 1);
	CHECK(collect("driver", 0, &ours, sizeof(ours)) && ours.settled_pools == 0);
	CHECK(cuMemFree_v2(old) == 0 && cuMemFree_v2(young) == 0);
	CHECK(collect("driver", 0, &ours, sizeof(ours)) && ours.settled_pools == 0 && ours.settled_bytes == 0);
}

// From the program's first own pool of a device on, its pools are its own, and
// what the driver holds is in its section.
IN_CHILD(a_program_that_records_its_own_pools_is_not_counted_twice)
{
	unsigned long long address = 0;
	struct tele_driver_values ours;
	struct rollcall_census census;
	void *context;
	open_driver();
	CHECK(cuCtxCreate_v2((void *)&context, 0, 0) == 0 && cuMemAlloc_v2(&address, 4096) == 0);
	rollcall_record_pool(0, address, ROLLCALL_WORKING, 4000);
	CHECK(cuMemAlloc_v2(&address, 4096) == 0);
	(void)rollcall_census_snapshot(0, &census, sizeof(census));
	CHECK(rollcall_census_live_pools(&census) == 1 && census.live_working_bytes == 4000);
	CHECK(collect("driver", 0, &ours, sizeof(ours)));
	CHECK(ours.live_pools == 2 && ours.live_bytes == 8192);
	CHECK(cuMemFree_v2(address) == 0);
	(void)rollcall_census_snapshot(0, &census, sizeof(census));
	CHECK(rollcall_census_live_pools(&census) == 1);
}

// Flags and versions are the driver's business: what it answers decides.
IN_CHILD(a_name_is_exchanged_for_the_variant_that_the_driver_chose)
{
	unsigned status = 9;
	void *legacy = NULL, *per_thread = NULL, *old = NULL, *function = NULL;
	open_driver();
	CHECK(cuGetProcAddress_v2("cuMemAllocAsync", &legacy, 12000, 0, &status) == 0);
	CHECK(cuGetProcAddress_v2("cuMemAllocAsync", &per_thread, 12000, 2, NULL) == 0);
	CHECK(legacy == (void *)cuMemAllocAsync && per_thread == (void *)cuMemAllocAsync_ptsz && status == 0);
	CHECK(cuGetProcAddress("cuCtxCreate", &function, 3020, 0) == 0 && function == (void *)cuCtxCreate_v2);
	CHECK(cuGetProcAddress("cuCtxCreate", &function, 12000, 0) == 0 && function == (void *)cuCtxCreate_v3);
	CHECK(cuGetProcAddress("cuCtxCreate", &function, 12050, 0) == 0 && function == (void *)cuCtxCreate_v4);
	// The ABI from before 3.2 is known and left alone.
	CHECK(cuGetProcAddress("cuMemAlloc", &old, 2000, 0) == 0 && old && old != (void *)cuMemAlloc_v2);
	// Names that only look like the driver's, and names nobody counts.
	CHECK(dlsym(driver, "cuDeviceGetCount") != NULL && dlsym(driver, "cublasCreate_v2") == NULL);
	struct tele_cuda_values cuda;
	CHECK(collect("cuda", 0, &cuda, sizeof(cuda)) && cuda.identity_mismatch == 0);
}

static void *create_without_context(void *handle)
{
	const struct cuda_allocation_prop prop = {.type = 1, .location = {1, 1}};
	CHECK(cuMemCreate(handle, 2 << 20, (const void *)&prop, 0) == 0);
	return NULL;
}

// A worker thread has no current context; the device is the one asked for.
IN_CHILD(a_handle_made_without_a_context_is_counted_on_its_own_device)
{
	unsigned long long handle = 0;
	struct tele_driver_values ours;
	pthread_t thread;
	open_driver();
	CHECK(pthread_create(&thread, NULL, create_without_context, &handle) == 0);
	pthread_join(thread, NULL);
	CHECK(collect("driver", 1, &ours, sizeof(ours)) && ours.vmm_pools == 1 && ours.vmm_bytes == 2 << 20);
	CHECK(cuMemRelease(handle) == 0);
	CHECK(collect("driver", 1, &ours, sizeof(ours)) && ours.vmm_pools == 0);
}

// The driver's answer stands, and the census does not fall below nothing.
IN_CHILD(a_free_of_what_was_not_known_is_passed_on_and_told)
{
	void *context;
	struct tele_cuda_values cuda;
	struct tele_driver_values ours;
	open_driver();
	uint64_t (*alloc_hidden)(uint64_t);
	*(void **)&alloc_hidden = get("fake_alloc_hidden");
	CHECK(cuCtxCreate_v2((void *)&context, 0, 0) == 0);
	CHECK(cuMemFree_v2(alloc_hidden(4096)) == 0);
	CHECK(cuMemFree_v2(0x1234) == 1); // fails as without us, and is no free
	CHECK(collect("cuda", 0, &cuda, sizeof(cuda)) && cuda.unknown_frees == 1 && cuda.failures == 1);
	CHECK(cuda.last_failure == 1);
	CHECK(collect("driver", 0, &ours, sizeof(ours)) && ours.live_pools == 0 && ours.pools_allocated == 0);
}

// A driver that reaches its own entry points by name finds ours in front.
IN_CHILD(what_the_driver_calls_inside_a_call_is_not_counted_again)
{
	void *context;
	unsigned long long address = 0;
	size_t pitch = 0;
	struct tele_driver_values ours;
	struct tele_cuda_values cuda;
	setenv("FAKE_NESTED", "1", 1);
	open_driver();
	CHECK(cuCtxCreate_v2((void *)&context, 0, 0) == 0);
	CHECK(cuMemAllocPitch_v2(&address, &pitch, 1000, 3, 4) == 0 && pitch == 1024);
	CHECK(collect("driver", 0, &ours, sizeof(ours)));
	CHECK(ours.live_pools == 1 && ours.live_bytes == 3072 && ours.pools_allocated == 1);
	CHECK(collect("cuda", 0, &cuda, sizeof(cuda)) && cuda.calls == 3); // cuInit, and the two here
	CHECK(cuMemFree_v2(address) == 0);
	compare_all("at the end");
}

// What is refused for want of memory is counted with its size.
IN_CHILD(a_refusal_is_counted_with_the_largest_size)
{
	void *context;
	unsigned long long address = 0;
	struct tele_driver_values ours;
	setenv("FAKE_CAPACITY_MIB", "100", 1);
	open_driver();
	CHECK(cuCtxCreate_v2((void *)&context, 0, 0) == 0);
	CHECK(cuMemAlloc_v2(&address, 200 << 20) == 2 && cuMemAlloc_v2(&address, 50 << 20) == 2);
	CHECK(cuMemAlloc_v2(&address, 1 << 20) == 0);
	CHECK(collect("driver", 0, &ours, sizeof(ours)) && ours.refusals == 2);
	CHECK(ours.largest_refused_bytes == 200 << 20 && ours.live_pools == 1);
}

// A device's own pool is made by no call, and may be used from another device.
IN_CHILD(a_device_s_own_pool_is_counted_on_that_device)
{
	struct CUmemPoolHandle_st *pool = NULL;
	unsigned long long addresses[3] = {0};
	struct tele_driver_values ours;
	struct tele_cuda_values cuda;
	void *context;
	open_driver();
	unsigned (*own_pool)(struct CUmemPoolHandle_st **, int);
	*(void **)&own_pool = get("cuDeviceGetDefaultMemPool");
	CHECK(cuCtxCreate_v2((void *)&context, 0, 0) == 0);
	CHECK(own_pool(&pool, 1) == 0);
	for (unsigned i = 0; i < 3; i++)
		CHECK(cuMemAllocFromPoolAsync(&addresses[i], 4096, pool, NULL) == 0);
	compare_all("allocated");
	CHECK(collect("driver", 1, &ours, sizeof(ours)) && ours.async_pools == 3 && ours.memory_pools == 0);
	CHECK(cuMemFree_v2(addresses[0]) == 0 && cuMemFreeAsync(addresses[1], NULL) == 0);
	compare_all("freed");
	CHECK(cuMemPoolDestroy(pool) != 0); // nobody may
	CHECK(cuMemFree_v2(addresses[2]) == 0 && cuMemAllocFromPoolAsync(addresses, 64, pool, NULL) == 0);
	compare_all("still its own");
	CHECK(collect("cuda", 0, &cuda, sizeof(cuda)) && cuda.unknown_frees == 0);
}

static struct tele_driver_values driver_of(uint32_t device)
{
	struct tele_driver_values values;
	CHECK(collect("driver", device, &values, sizeof(values)));
	return values;
}

static void allocate_on_a_stream_of_device_1(void)
{
	const struct cuda_pool_props near = {.location = {1, 0}}, far = {.location = {1, 1}};
	struct CUmemPoolHandle_st *pools[2];
	unsigned long long addresses[3] = {0};
	void *context, *other, *graph;
	struct CUstream_st *stream;
	unsigned (*stream_create)(struct CUstream_st **, unsigned);
	unsigned (*begin_capture)(struct CUstream_st *, int);
	unsigned (*end_capture)(struct CUstream_st *, void **);
	*(void **)&stream_create = get("cuStreamCreate");
	*(void **)&begin_capture = get("cuStreamBeginCapture_v2");
	*(void **)&end_capture = get("cuStreamEndCapture");
	CHECK(cuCtxCreate_v2((void *)&other, 0, 1) == 0 && stream_create(&stream, 0) == 0);
	CHECK(cuCtxCreate_v2((void *)&context, 0, 0) == 0);
	CHECK(cuMemAllocAsync(&addresses[0], 4096, stream) == 0);
	compare_all("of its device's own pool");
	CHECK(driver_of(1).async_bytes == 4096 && driver_of(0).async_bytes == 0);
	CHECK(cuMemPoolCreate(&pools[0], (const void *)&near) == 0);
	CHECK(cuMemPoolCreate(&pools[1], (const void *)&far) == 0 && cuDeviceSetMemPool(1, pools[1]) == 0);
	CHECK(cuMemAllocAsync_ptsz(&addresses[1], 8192, stream) == 0);
	CHECK(cuMemPoolDestroy(pools[1]) == 0);
	compare_all("of its device's current pool");
	CHECK(driver_of(1).memory_pools == 1); // until that is freed
	CHECK(cuMemAllocFromPoolAsync(&addresses[2], 512, pools[0], stream) == 0);
	compare_all("of another device's pool");
	for (unsigned i = 0; i < 3; i++)
		CHECK(cuMemFreeAsync(addresses[i], i ? stream : NULL) == 0);
	compare_all("freed");
	CHECK(cuMemAllocAsync(&addresses[0], 200 << 20, stream) == 2);
	CHECK(driver_of(1).refusals == 1 && driver_of(0).refusals == 0);
	CHECK(begin_capture(stream, 0) == 0 && cuMemAllocAsync(&addresses[0], 4096, stream) == 0);
	CHECK(end_capture(stream, &graph) == 0);
}

// The current context is of device 0 all the while.
IN_CHILD(what_is_allocated_on_a_stream_is_counted_on_its_device)
{
	setenv("FAKE_CAPACITY_MIB", "100", 1);
	open_driver();
	allocate_on_a_stream_of_device_1();
	compare_all("captured");
	CHECK(driver_of(1).graph_allocations == 1);
}

// Before 12.8 a stream does not tell its device; the memory does.
IN_CHILD(an_older_driver_tells_the_device_of_the_memory)
{
	open_version("12040");
	unsigned long long address = 0;
	void *context, *other, *stream;
	unsigned (*stream_create)(void **, unsigned);
	*(void **)&stream_create = get("cuStreamCreate");
	CHECK(!dlsym(driver, "cuStreamGetDevice"));
	CHECK(cuCtxCreate_v2((void *)&other, 0, 1) == 0 && stream_create(&stream, 0) == 0);
	CHECK(cuCtxCreate_v2((void *)&context, 0, 0) == 0);
	CHECK(cuMemAllocAsync(&address, 4096, stream) == 0);
	compare_all("allocated");
	CHECK(driver_of(1).async_bytes == 4096);
	CHECK(cuMemFreeAsync(address, NULL) == 0);
	compare_all("freed");
}

int main(int n_arguments, char **arguments)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_that_comes_back_during_its_free_is_counted_once),
		cmocka_unit_test(calls_after_the_driver_is_down_change_nothing),
		cmocka_unit_test(a_hidden_primary_context_is_discovered_and_kept_while_it_is_active),
		cmocka_unit_test(an_unlabelled_pool_settles_and_is_never_called_constant),
		cmocka_unit_test(a_program_that_records_its_own_pools_is_not_counted_twice),
		cmocka_unit_test(a_name_is_exchanged_for_the_variant_that_the_driver_chose),
		cmocka_unit_test(a_handle_made_without_a_context_is_counted_on_its_own_device),
		cmocka_unit_test(a_free_of_what_was_not_known_is_passed_on_and_told),
		cmocka_unit_test(what_the_driver_calls_inside_a_call_is_not_counted_again),
		cmocka_unit_test(a_device_s_own_pool_is_counted_on_that_device),
		cmocka_unit_test(what_is_allocated_on_a_stream_is_counted_on_its_device),
		cmocka_unit_test(an_older_driver_tells_the_device_of_the_memory),
		cmocka_unit_test(a_refusal_is_counted_with_the_largest_size),
	};
	(void)n_arguments;
	without_off(arguments);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
