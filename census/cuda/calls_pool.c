// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Stream-ordered memory. It belongs to a memory pool and to no context. A free
// counts at its call; the bytes usually stay in the pool. What happens on a
// stream that is being captured only adds nodes to a graph.
//
// A memory pool holds one reference until it is destroyed, and a mapping for
// every allocation of it that lives: it is gone when both are.

#include "calls.h"
#include "objects.h"
#include "place.h"
#include "report.h"

#include "../../libtelemetry/banned.h"

// The pool that cuMemAllocAsync takes from, where the program has set one; 0:
// the device's own.
static _Atomic uint64_t current_pools[CUDA_DEVICES];

static uint64_t of_pool(const struct CUmemPoolHandle_st *pool)
{
	return (uint64_t)(uintptr_t)pool;
}

// A pool that no call we saw had made: a device's own, or one from before we
// came. Its first allocation tells its device, which is remembered.
static bool discover_pool(uint64_t pool, unsigned long long address, struct cuda_object *ret_pool)
{
	const struct cuda_object found = {
		.handle = pool,
		.device = cuda_device_of_memory(address),
		.refs = 1,
		.mappings = 1,
		.kind = CUDA_IS_POOL,
		.class = CUDA_UNCOUNTED,
	};
	*ret_pool = found;
	return found.device >= 0 && cuda_object_put(&found);
}

// It is the current pool of the stream's device that the driver takes from,
// whatever context is current; a pool that is asked for may be of another device.
// A capture is not disturbed by asking about memory that does not exist yet.
static void allocated(unsigned long long address, size_t bytes, uint64_t pool, struct CUstream_st *stream,
		      bool is_captured)
{
	struct cuda_object of = {0};
	int device = cuda_device_of_stream(stream, is_captured ? 0 : address);
	if (!pool && device >= 0)
		pool = atomic_load_explicit(&current_pools[cuda_slot_of(device)], memory_order_relaxed);
	bool is_pool_known = false;
	if (pool && is_captured)
		is_pool_known = cuda_ledger_find(CUDA_IS_POOL, pool, &of);
	else if (pool)
		is_pool_known = cuda_ledger_change(CUDA_IS_POOL, pool, 0, 1, 0, 0, 0, false, &of) ||
				discover_pool(pool, address, &of);
	struct cuda_object object = {
		.handle = address,
		.bytes = bytes,
		.parent = is_pool_known && !is_captured ? pool : 0,
		.device = is_pool_known && of.device >= 0 ? of.device : device,
		.refs = 1,
		.kind = CUDA_IS_POINTER,
		.class = is_captured ? CUDA_GRAPH : of.flags & CUDA_IS_OF_HOST ? CUDA_PINNED : CUDA_ASYNC,
	};
	if (object.device < 0) {
		cuda_tally(CUDA_UNPLACED);
		if (object.parent)
			cuda_pool_let_go(pool);
		return;
	}
	cuda_object_made(&object);
}

// Counts what came of an allocation, and returns the result.
static unsigned asked(unsigned result, const unsigned long long *ret_address, size_t bytes, uint64_t pool,
		      struct CUstream_st *stream, bool is_captured)
{
	struct cuda_object of;
	if (result == CUDA_OK && ret_address)
		allocated(*ret_address, bytes, pool, stream, is_captured);
	if (result != CUDA_OUT_OF_MEMORY)
		return result;
	bool is_pool_known = pool && cuda_ledger_find(CUDA_IS_POOL, pool, &of) && of.device >= 0;
	int device = is_pool_known ? of.device : cuda_device_of_stream(stream, 0);
	cuda_count_refusal(device < 0 ? 0 : device, bytes);
	return result;
}

unsigned cuda_on_mem_alloc_async(enum cuda_row row,
				 unsigned (*real)(unsigned long long *, size_t, struct CUstream_st *),
				 unsigned long long *ret_address, size_t bytes, struct CUstream_st *stream)
{
	bool is_captured = cuda_is_capturing(stream, cuda_entries[row].is_per_thread);
	return asked(real(ret_address, bytes, stream), ret_address, bytes, 0, stream, is_captured);
}

unsigned cuda_on_mem_alloc_from_pool_async(
	enum cuda_row row,
	unsigned (*real)(unsigned long long *, size_t, struct CUmemPoolHandle_st *, struct CUstream_st *),
	unsigned long long *ret_address, size_t bytes, struct CUmemPoolHandle_st *pool,
	struct CUstream_st *stream)
{
	bool is_captured = cuda_is_capturing(stream, cuda_entries[row].is_per_thread);
	return asked(real(ret_address, bytes, pool, stream), ret_address, bytes, of_pool(pool), stream,
		     is_captured);
}

unsigned cuda_on_mem_free_async(enum cuda_row row,
				unsigned (*real)(unsigned long long, struct CUstream_st *),
				unsigned long long address, struct CUstream_st *stream)
{
	if (address == 0 || cuda_is_capturing(stream, cuda_entries[row].is_per_thread))
		return real(address, stream);
	(void)cuda_object_take(CUDA_IS_POINTER, address);
	return cuda_object_after(real(address, stream));
}

// ---- Pools -----------------------------------------------------------------------

unsigned cuda_on_mem_pool_create(
	enum cuda_row row,
	unsigned (*real)(struct CUmemPoolHandle_st **, const struct CUmemPoolProps_st *),
	struct CUmemPoolHandle_st **ret_pool, const struct CUmemPoolProps_st *props)
{
	(void)row;
	unsigned result = real(ret_pool, props);
	if (result != CUDA_OK || !ret_pool || !props)
		return result;
	struct cuda_location location = ((const struct cuda_pool_props *)(const void *)props)->location;
	bool is_device = location.type == CUDA_LOCATION_DEVICE;
	cuda_object_made(&(struct cuda_object){
		.handle = of_pool(*ret_pool),
		.device = is_device ? location.id : -1,
		.refs = 1,
		.kind = CUDA_IS_POOL,
		.class = CUDA_MEMORY_POOL,
		.flags = is_device ? 0 : CUDA_IS_OF_HOST,
	});
	return result;
}

unsigned cuda_on_mem_pool_destroy(enum cuda_row row, unsigned (*real)(struct CUmemPoolHandle_st *),
				  struct CUmemPoolHandle_st *pool)
{
	(void)row;
	cuda_object_release(CUDA_IS_POOL, of_pool(pool));
	unsigned result = cuda_object_after(real(pool));
	if (result != CUDA_OK)
		return result;
	// A device whose current pool it was falls back to its own.
	for (unsigned i = 0; i < CUDA_DEVICES; i++) {
		uint64_t current = of_pool(pool);
		atomic_compare_exchange_strong_explicit(&current_pools[i], &current, 0, memory_order_relaxed,
							memory_order_relaxed);
	}
	return result;
}

unsigned cuda_on_mem_pool_import_from_shareable_handle(
	enum cuda_row row,
	unsigned (*real)(struct CUmemPoolHandle_st **, void *, unsigned, unsigned long long),
	struct CUmemPoolHandle_st **ret_pool, void *handle, unsigned handle_type, unsigned long long flags)
{
	(void)row;
	unsigned result = real(ret_pool, handle, handle_type, flags);
	if (result == CUDA_OK && ret_pool)
		cuda_object_made(&(struct cuda_object){
			.handle = of_pool(*ret_pool),
			.device = cuda_device_or_first(),
			.refs = 1,
			.kind = CUDA_IS_POOL,
			.class = CUDA_IMPORTED,
		});
	return result;
}

unsigned cuda_on_mem_pool_import_pointer(
	enum cuda_row row,
	unsigned (*real)(unsigned long long *, struct CUmemPoolHandle_st *, struct CUmemPoolPtrExportData_st *),
	unsigned long long *ret_address, struct CUmemPoolHandle_st *pool,
	struct CUmemPoolPtrExportData_st *data)
{
	struct cuda_object of;
	(void)row;
	unsigned result = real(ret_address, pool, data);
	if (result != CUDA_OK || !ret_address)
		return result;
	bool is_known = cuda_ledger_change(CUDA_IS_POOL, of_pool(pool), 0, 1, 0, 0, 0, false, &of);
	cuda_object_made(&(struct cuda_object){
		.handle = *ret_address,
		.parent = is_known ? of_pool(pool) : 0,
		.device = is_known && of.device >= 0 ? of.device : cuda_device_or_first(),
		.refs = 1,
		.kind = CUDA_IS_POINTER,
		.class = CUDA_IMPORTED,
	});
	return result;
}

static void set_current(int device, uint64_t pool)
{
	if (device >= 0 && device < CUDA_DEVICES)
		atomic_store_explicit(&current_pools[device], pool, memory_order_relaxed);
}

unsigned cuda_on_device_set_mem_pool(enum cuda_row row, unsigned (*real)(int, struct CUmemPoolHandle_st *),
				     int device, struct CUmemPoolHandle_st *pool)
{
	(void)row;
	unsigned result = real(device, pool);
	if (result == CUDA_OK)
		set_current(device, of_pool(pool));
	return result;
}

unsigned cuda_on_mem_set_mem_pool(
	enum cuda_row row,
	unsigned (*real)(struct CUmemLocation_st *, unsigned, struct CUmemPoolHandle_st *),
	struct CUmemLocation_st *location, unsigned type, struct CUmemPoolHandle_st *pool)
{
	(void)row;
	unsigned result = real(location, type, pool);
	if (result != CUDA_OK || !location || type != CUDA_ALLOCATION_PINNED)
		return result;
	const struct cuda_location *where = (const struct cuda_location *)(const void *)location;
	if (where->type == CUDA_LOCATION_DEVICE)
		set_current(where->id, of_pool(pool));
	return result;
}
