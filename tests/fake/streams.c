// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Streams of the fake driver, their capture, and graphs.

#include "driver.h"

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

API(cuStreamGetDevice, uint64_t handle, int *ret_device)
{
	unsigned error;
	BEGIN();
	const struct object *stream = handle > 2 ? fake_find(STREAM, handle) : NULL;
	if (handle > 2 && !stream)
		END(INVALID_HANDLE);
	if (!stream && !fake_current_device(&error, ret_device))
		END(error);
	if (stream)
		*ret_device = stream->device;
	END(OK);
}

API(cuStreamDestroy_v2, uint64_t handle)
{
	BEGIN();
	END(fake_destroy(STREAM, handle, INVALID_HANDLE));
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
	END(fake_destroy(GRAPH, handle, INVALID_VALUE));
}

struct alloc_node {
	unsigned type, handle_types;
	int location_type, location_id;
	char rest[72];
	const void *access;
	size_t n_access;
	size_t bytes;
	uint64_t address;
};

static unsigned add_alloc_node(uint64_t graph, struct alloc_node *node)
{
	if (!fake_find(GRAPH, graph) || node->bytes == 0 || node->location_type != 1 ||
	    node->location_id < 0 || node->location_id >= fake_n_devices)
		return INVALID_VALUE;
	return fake_add_node(&node->address, node->location_id, node->bytes);
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
