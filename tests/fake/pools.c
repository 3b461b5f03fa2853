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

void fake_count_graph(int device, uint64_t bytes)
{
	graph_allocations[device]++;
	graph_bytes[device] += bytes;
}

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

static unsigned add_node(uint64_t *ret_address, int device, uint64_t bytes)
{
	*ret_address = fake_make(GRAPH_POINTER, device, bytes, NULL)->handle;
	fake_count_graph(device, bytes);
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
	if (fake_stream_is_capturing(stream))
		return add_node(ret_address, device, bytes);
	if (!pool)
		pool = current_pools[device] ? current_pools[device] : own_pool(device);
	if (pool->refs == 0 || pool->is_imported)
		return INVALID_VALUE;
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

void fake_end_async(struct object *object);
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

static unsigned set_current(int device, uint64_t handle)
{
	struct object *pool = fake_find(MEMORY_POOL, handle);
	if (device < 0 || device >= fake_n_devices)
		return INVALID_DEVICE;
	if (!pool || pool->refs == 0 || pool->is_imported)
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

// ---- Streams -------------------------------------------------------------------------------

static void settle(struct object *object, void *context)
{
	(void)context;
	if (object->kind == MEMORY_POOL)
		object->pending = 0;
}

static unsigned wait_for_all(void)
{
	unsigned error;
	int device;
	if (!fake_current_device(&error, &device))
		return error;
	fake_each(settle, NULL);
	return OK;
}

API(cuCtxSynchronize, void)
{
	BEGIN();
	END(wait_for_all());
}

API(cuStreamSynchronize, uint64_t stream)
{
	(void)stream;
	BEGIN();
	END(wait_for_all());
}

static unsigned make_stream(uint64_t *ret_stream)
{
	unsigned error;
	int device;
	struct object *context = fake_current_device(&error, &device);
	if (!context)
		return error;
	*ret_stream = fake_make(STREAM, device, 0, context)->handle;
	return OK;
}

API(cuStreamCreate, uint64_t *ret_stream, unsigned flags)
{
	(void)flags;
	BEGIN();
	END(make_stream(ret_stream));
}

API(cuStreamCreateWithPriority, uint64_t *ret_stream, unsigned flags, int priority)
{
	(void)flags;
	(void)priority;
	BEGIN();
	END(make_stream(ret_stream));
}

API(cuStreamDestroy_v2, uint64_t handle)
{
	BEGIN();
	struct object *stream = fake_find(STREAM, handle);
	if (!stream)
		END(INVALID_HANDLE);
	fake_end_object(stream);
	END(OK);
}

API(cuStreamQuery, uint64_t stream)
{
	(void)stream;
	BEGIN();
	END(OK);
}

API(cuStreamWaitEvent, uint64_t stream, uint64_t event, unsigned flags)
{
	(void)stream;
	(void)event;
	(void)flags;
	BEGIN();
	END(OK);
}

API(cuStreamAddCallback, uint64_t stream, void (*callback)(uint64_t, unsigned, void *), void *data,
    unsigned flags)
{
	(void)flags;
	callback(stream, OK, data);
	return OK;
}

API(cuStreamBeginCapture_v2, uint64_t handle, int mode)
{
	(void)mode;
	BEGIN();
	struct object *stream = fake_find(STREAM, handle);
	if (!stream || stream->is_capturing)
		END(INVALID_HANDLE);
	stream->is_capturing = true;
	END(OK);
}

API(cuStreamEndCapture, uint64_t handle, uint64_t *ret_graph)
{
	BEGIN();
	struct object *stream = fake_find(STREAM, handle);
	if (!stream || !stream->is_capturing)
		END(INVALID_HANDLE);
	stream->is_capturing = false;
	*ret_graph = fake_make(GRAPH, -1, 0, NULL)->handle;
	END(OK);
}

static unsigned is_capturing(uint64_t stream, int *ret_status)
{
	if (stream <= 2) { // no capture of it, and no lock needed
		*ret_status = 0;
		return OK;
	}
	fake_lock();
	*ret_status = fake_stream_is_capturing(stream);
	fake_unlock();
	return OK;
}

API(cuStreamIsCapturing, uint64_t stream, int *ret_status)
{
	return is_capturing(stream, ret_status);
}

API(cuStreamIsCapturing_ptsz, uint64_t stream, int *ret_status)
{
	return is_capturing(stream, ret_status);
}

// ---- Graphs ----------------------------------------------------------------------------------

API(cuGraphCreate, uint64_t *ret_graph, unsigned flags)
{
	(void)flags;
	BEGIN();
	*ret_graph = fake_make(GRAPH, -1, 0, NULL)->handle;
	END(OK);
}

API(cuGraphDestroy, uint64_t handle)
{
	BEGIN();
	struct object *graph = fake_find(GRAPH, handle);
	if (!graph)
		END(INVALID_VALUE);
	fake_end_object(graph);
	END(OK);
}

struct alloc_node {
	struct pool_props pool;
	char rest[72];
	const void *access;
	size_t n_access;
	size_t bytes;
	uint64_t address;
};

static unsigned add_alloc_node(uint64_t graph, struct alloc_node *node)
{
	if (!fake_find(GRAPH, graph) || node->bytes == 0 || node->pool.location_type != 1 ||
	    node->pool.location_id < 0 || node->pool.location_id >= fake_n_devices)
		return INVALID_VALUE;
	return add_node(&node->address, node->pool.location_id, node->bytes);
}

API(cuGraphAddMemAllocNode, uint64_t *ret_node, uint64_t graph, const uint64_t *dependencies, size_t n,
    struct alloc_node *params)
{
	(void)dependencies;
	(void)n;
	BEGIN();
	*ret_node = graph + 8;
	END(add_alloc_node(graph, params));
}

API(cuGraphAddMemFreeNode, uint64_t *ret_node, uint64_t graph, const uint64_t *dependencies, size_t n,
    uint64_t address)
{
	(void)dependencies;
	(void)n;
	BEGIN();
	*ret_node = graph + 16;
	END(fake_find(GRAPH, graph) && fake_find(GRAPH_POINTER, address) ? OK : INVALID_VALUE);
}

struct any_node {
	unsigned type;
	int reserved[3];
	struct alloc_node alloc;
};

static unsigned add_any_node(uint64_t *ret_node, uint64_t graph, struct any_node *params)
{
	*ret_node = graph + 8;
	if (params->type == 10)
		return add_alloc_node(graph, &params->alloc);
	return fake_find(GRAPH, graph) ? OK : INVALID_VALUE;
}

API(cuGraphAddNode, uint64_t *ret_node, uint64_t graph, const uint64_t *dependencies, size_t n,
    struct any_node *params)
{
	(void)dependencies;
	(void)n;
	BEGIN();
	END(add_any_node(ret_node, graph, params));
}

API(cuGraphAddNode_v2, uint64_t *ret_node, uint64_t graph, const uint64_t *dependencies, const void *edges,
    size_t n, struct any_node *params)
{
	(void)dependencies;
	(void)edges;
	(void)n;
	BEGIN();
	END(add_any_node(ret_node, graph, params));
}

API(cuDeviceGraphMemTrim, int device)
{
	BEGIN();
	END(device >= 0 && device < fake_n_devices ? OK : INVALID_DEVICE);
}
