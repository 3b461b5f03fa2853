// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Stream-ordered memory of the fake driver. A freed block stays in its pool:
// pending until something is waited for, then slack until the pool is trimmed.
// A pool destroyed in use ends with its last allocation. On a stream that is
// captured, allocations and frees are nodes of a graph.

#include "driver.h"

#include <string.h>

static struct object *own_pools[8], *current_pools[8];
static uint64_t graph_allocations[8], graph_bytes[8];

uint64_t fake_graph_allocations(int device)
{
	return graph_allocations[device];
}

uint64_t fake_graph_bytes(int device)
{
	return graph_bytes[device];
}

static struct object *own_pool(int device)
{
	if (!own_pools[device]) {
		own_pools[device] = fake_make(MEMORY_POOL, device, 0, NULL);
		own_pools[device]->is_default = true;
	}
	return own_pools[device];
}

bool fake_stream_is_capturing(uint64_t stream)
{
	struct object *object = stream > 2 ? fake_find(STREAM, stream) : NULL;
	return object && object->is_capturing;
}

// ---- Allocations --------------------------------------------------------------------

unsigned fake_add_node(uint64_t *ret_address, int device, uint64_t bytes)
{
	*ret_address = fake_make(GRAPH_POINTER, device, bytes, NULL)->handle;
	graph_allocations[device]++;
	graph_bytes[device] += bytes;
	return OK;
}

static unsigned grow(struct object *pool, uint64_t bytes)
{
	uint64_t free_bytes = pool->reserved - pool->used - pool->pending;
	if (pool->is_host || bytes <= free_bytes)
		return OK;
	unsigned failed = fake_take_memory(pool->device, bytes - free_bytes);
	if (!failed)
		pool->reserved += bytes - free_bytes;
	return failed;
}

static unsigned allocate(uint64_t *ret_address, uint64_t bytes, struct object *pool, uint64_t stream)
{
	unsigned error;
	int device;
	if (!fake_current_device(&error, &device))
		return error;
	if (bytes == 0 || !ret_address)
		return INVALID_VALUE;
	const struct object *on = stream > 2 ? fake_find(STREAM, stream) : NULL;
	if (on)
		device = on->device;
	if (!pool)
		pool = current_pools[device] ? current_pools[device] : own_pool(device);
	if (pool->refs == 0 || pool->is_imported)
		return INVALID_VALUE;
	if (fake_stream_is_capturing(stream))
		return fake_add_node(ret_address, pool->is_host ? device : pool->device, bytes);
	unsigned failed = grow(pool, bytes);
	if (failed)
		return failed;
	struct object *object = fake_make(ASYNC, pool->is_host ? device : pool->device, bytes, NULL);
	object->of = pool;
	object->is_host = pool->is_host;
	pool->mappings++;
	pool->used += pool->is_host ? 0 : bytes;
	*ret_address = object->handle;
	return OK;
}

static void end_pool(struct object *pool)
{
	if (!pool->is_host && !pool->is_imported)
		(void)fake_take_memory(pool->device, -pool->reserved);
	fake_end_object(pool);
}

void fake_end_async(struct object *object)
{
	struct object *pool = object->of;
	if (!pool->is_host && object->kind == ASYNC) {
		pool->used -= object->bytes;
		pool->pending += object->bytes;
	}
	pool->mappings--;
	fake_end_object(object);
	if (pool->refs == 0 && pool->mappings == 0)
		end_pool(pool);
}

static unsigned free_async(uint64_t address, uint64_t stream)
{
	unsigned error;
	int device;
	if (!fake_current_device(&error, &device))
		return error;
	struct object *object = fake_find_pointer(address);
	if (!object)
		return INVALID_VALUE;
	if (fake_stream_is_capturing(stream) || object->kind == GRAPH_POINTER)
		return OK; // a node
	if (object->kind == ASYNC || (object->kind == IMPORTED_POINTER && object->of)) {
		fake_end_async(object);
		fake_delay();
		return OK;
	}
	if (object->kind != LINEAR)
		return INVALID_VALUE;
	fake_end_object(object);
	fake_delay();
	return OK;
}

API(cuMemAllocAsync, uint64_t *ret_address, size_t bytes, uint64_t stream)
{
	BEGIN();
	END(allocate(ret_address, bytes, NULL, stream));
}

API(cuMemAllocAsync_ptsz, uint64_t *ret_address, size_t bytes, uint64_t stream)
{
	BEGIN();
	END(allocate(ret_address, bytes, NULL, stream));
}

static unsigned allocate_from(uint64_t *ret_address, uint64_t bytes, uint64_t handle, uint64_t stream)
{
	struct object *pool = fake_find(MEMORY_POOL, handle);
	return pool ? allocate(ret_address, bytes, pool, stream) : INVALID_VALUE;
}

API(cuMemAllocFromPoolAsync, uint64_t *ret_address, size_t bytes, uint64_t pool, uint64_t stream)
{
	BEGIN();
	END(allocate_from(ret_address, bytes, pool, stream));
}

API(cuMemAllocFromPoolAsync_ptsz, uint64_t *ret_address, size_t bytes, uint64_t pool, uint64_t stream)
{
	BEGIN();
	END(allocate_from(ret_address, bytes, pool, stream));
}

API(cuMemFreeAsync, uint64_t address, uint64_t stream)
{
	BEGIN();
	END(free_async(address, stream));
}

API(cuMemFreeAsync_ptsz, uint64_t address, uint64_t stream)
{
	BEGIN();
	END(free_async(address, stream));
}

// ---- Pools -------------------------------------------------------------------------------

struct pool_props {
	unsigned type, handle_types;
	int location_type, location_id;
};

API(cuMemPoolCreate, uint64_t *ret_pool, const struct pool_props *props)
{
	BEGIN();
	if (!props || (props->location_type == 1 &&
		       (props->location_id < 0 || props->location_id >= fake_n_devices)))
		END(INVALID_VALUE);
	bool is_host = props->location_type != 1;
	struct object *pool = fake_make(MEMORY_POOL, is_host ? -1 : props->location_id, 0, NULL);
	pool->is_host = is_host;
	*ret_pool = pool->handle;
	END(OK);
}

API(cuMemPoolDestroy, uint64_t handle)
{
	BEGIN();
	struct object *pool = fake_find(MEMORY_POOL, handle);
	if (!pool || pool->is_default || pool->refs == 0)
		END(INVALID_VALUE);
	for (int device = 0; device < fake_n_devices; device++)
		if (current_pools[device] == pool)
			current_pools[device] = NULL;
	pool->refs = 0;
	if (pool->mappings == 0)
		end_pool(pool);
	fake_delay();
	END(OK);
}

API(cuMemPoolTrimTo, uint64_t handle, size_t keep_bytes)
{
	BEGIN();
	struct object *pool = fake_find(MEMORY_POOL, handle);
	if (!pool)
		END(INVALID_VALUE);
	uint64_t kept = pool->used + pool->pending;
	kept = kept > keep_bytes ? kept : keep_bytes;
	if (!pool->is_host && !pool->is_imported && pool->reserved > kept) {
		(void)fake_take_memory(pool->device, -(pool->reserved - kept));
		pool->reserved = kept;
	}
	END(OK);
}

API(cuMemPoolSetAttribute, uint64_t pool, int attribute, void *value)
{
	(void)attribute;
	(void)value;
	BEGIN();
	END(fake_find(MEMORY_POOL, pool) ? OK : INVALID_VALUE);
}

API(cuMemPoolImportFromShareableHandle, uint64_t *ret_pool, void *handle, unsigned type,
    unsigned long long flags)
{
	unsigned error;
	int device = 0;
	(void)handle;
	(void)type;
	(void)flags;
	BEGIN();
	(void)fake_current_device(&error, &device);
	struct object *pool = fake_make(MEMORY_POOL, device, 0, NULL);
	pool->is_imported = true;
	*ret_pool = pool->handle;
	END(OK);
}

API(cuMemPoolImportPointer, uint64_t *ret_address, uint64_t handle, const void *data)
{
	BEGIN();
	struct object *pool = fake_find(MEMORY_POOL, handle);
	if (!pool || !pool->is_imported || !data)
		END(INVALID_VALUE);
	struct object *object = fake_make(IMPORTED_POINTER, pool->device, 4096, NULL);
	object->of = pool;
	pool->mappings++;
	*ret_address = object->handle;
	END(OK);
}

API(cuDeviceGetDefaultMemPool, uint64_t *ret_pool, int device)
{
	BEGIN();
	if (device < 0 || device >= fake_n_devices)
		END(INVALID_DEVICE);
	*ret_pool = own_pool(device)->handle;
	END(OK);
}

API(cuPointerGetAttribute, void *ret_value, int attribute, uint64_t address)
{
	BEGIN();
	const struct object *object = fake_find_pointer(address);
	if (!object || attribute != 9 || !ret_value)
		END(INVALID_VALUE);
	memcpy(ret_value, &object->device, sizeof(int));
	END(OK);
}

static unsigned set_current(int device, uint64_t handle)
{
	struct object *pool = fake_find(MEMORY_POOL, handle);
	if (device < 0 || device >= fake_n_devices)
		return INVALID_DEVICE;
	// It must be local to the device.
	if (!pool || pool->refs == 0 || pool->is_imported || pool->device != device)
		return INVALID_VALUE;
	current_pools[device] = pool;
	return OK;
}

API(cuDeviceSetMemPool, int device, uint64_t pool)
{
	BEGIN();
	END(set_current(device, pool));
}

API(cuMemSetMemPool, const int *location, unsigned type, uint64_t pool)
{
	(void)type;
	BEGIN();
	END(location[0] == 1 ? set_current(location[1], pool) : INVALID_VALUE);
}
