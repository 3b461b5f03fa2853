// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The census equals the driver's own ledger, to the byte. Random calls of every
// class go through the wrappers to the fake driver, some made to fail, and both
// books are compared: after every call of one thread, and at rest after eight.

#define ROLLCALL_BUILDING
#include "../libtelemetry/rollcall.h"

#include "support/cuda_walker.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define THREADS 8

static void use_pools(struct walker *w)
{
	struct thing *pool = pick(w, POOLS);
	struct thing *thing = pick(w, ASYNC);
	unsigned long long address = 0;
	size_t bytes = 1 + next(w) % 100000;
	bool on_legacy = next(w) % 2;
	void *stream = next(w) % 3 ? w->stream : w->far_stream;
	switch (next(w) % 10) {
	case 0: {
		const struct cuda_pool_props props = {.location = {next(w) % 8 ? 1 : 2, (int)(next(w) % 2)}};
		void *made_pool;
		if (has_room(w, POOLS) && cuMemPoolCreate((void *)&made_pool, (const void *)&props) == 0)
			hold(w, POOLS, (uintptr_t)made_pool, 0);
		break;
	}
	case 1:
		if (pool && cuMemPoolDestroy(P(pool->handle)) == 0)
			drop(w, POOLS, pool);
		break;
	case 2:
		if (pool && w->is_alone)
			(void)cuDeviceSetMemPool((int)(next(w) % 2), P(pool->handle));
		break;
	case 3:
		if (pool && w->is_alone) {
			const struct cuda_location location = {1, (int)(next(w) % 2)};
			(void)cuMemSetMemPool((void *)(uintptr_t)&location, 1, P(pool->handle));
		}
		break;
	case 4:
		if (pool)
			(void)cuMemPoolTrimTo(P(pool->handle), 0);
		(void)synchronize();
		break;
	case 5:
		if (has_room(w, ASYNC) && !w->is_capturing)
			made(w, ASYNC, on_legacy ? cuMemAllocAsync(&address, bytes, NULL)
						 : cuMemAllocAsync_ptsz(&address, bytes, stream),
			     &address, 0);
		break;
	case 6:
		if (pool && has_room(w, ASYNC) && !w->is_capturing)
			made(w, ASYNC, on_legacy ? cuMemAllocFromPoolAsync(&address, bytes, P(pool->handle), NULL)
						 : cuMemAllocFromPoolAsync_ptsz(&address, bytes,
										P(pool->handle), stream),
			     &address, 0);
		break;
	case 7:
		if (thing && cuMemFreeAsync(thing->handle, NULL) == 0)
			drop(w, ASYNC, thing);
		break;
	case 8:
		if (thing && !w->is_capturing && cuMemFreeAsync_ptsz(thing->handle, stream) == 0)
			drop(w, ASYNC, thing);
		break;
	default:
		if (thing && cuMemFree_v2(thing->handle) == 0)
			drop(w, ASYNC, thing);
		break;
	}
}

static void use_handles(struct walker *w)
{
	struct thing *thing = pick(w, HANDLES), *mapping = pick(w, MAPPED), *reserved = pick(w, RESERVED);
	unsigned long long handle = 0, address = 0;
	size_t bytes = (1 + next(w) % 8) << 21;
	switch (next(w) % 8) {
	case 0: {
		const struct cuda_allocation_prop prop = {
			.type = 1, .location = {next(w) % 8 ? 1 : 2, (int)(next(w) % 2)}};
		if (has_room(w, HANDLES))
			made(w, HANDLES, cuMemCreate(&handle, bytes, (const void *)&prop, 0), &handle, bytes);
		break;
	}
	case 1:
		if (thing && cuMemRelease(thing->handle) == 0)
			drop(w, HANDLES, thing);
		break;
	case 2:
		if (has_room(w, RESERVED))
			made(w, RESERVED, cuMemAddressReserve(&address, bytes, 0, 0, 0), &address, bytes);
		break;
	case 3:
		if (reserved && cuMemAddressFree(reserved->handle, reserved->extra) == 0)
			drop(w, RESERVED, reserved);
		break;
	case 4:
		if (thing && has_room(w, MAPPED)) {
			address = 0x300000000000 + (uint64_t)(uintptr_t)w * 4096 + next(w) % 64 * (64 << 20);
			if (cuMemMap(address, bytes, 0, thing->handle, 0) == 0)
				hold(w, MAPPED, address, bytes);
		}
		break;
	case 5:
		if (mapping && cuMemUnmap(mapping->handle, mapping->extra) == 0)
			drop(w, MAPPED, mapping);
		break;
	case 6:
		if (mapping && has_room(w, HANDLES))
			made(w, HANDLES, cuMemRetainAllocationHandle(&handle, P(mapping->handle)), &handle, 0);
		break;
	default:
		if (has_room(w, HANDLES))
			made(w, HANDLES, cuMemImportFromShareableHandle(&handle, NULL, 1), &handle, 0);
		break;
	}
}

static void use_multicast(struct walker *w)
{
	struct thing *thing = pick(w, MULTICAST);
	unsigned long long handle = 0;
	char prop[64] = {0};
	switch (next(w) % 5) {
	case 0:
		if (has_room(w, MULTICAST))
			made(w, MULTICAST, cuMulticastCreate(&handle, (const void *)prop), &handle, 0);
		break;
	case 1:
		if (thing && cuMulticastBindMem(thing->handle, 0, 0, 0, 1 << 21, 0) == 0)
			thing->extra++;
		break;
	case 2:
		if (thing && cuMulticastBindAddr(thing->handle, 0, 0, 1 << 21, 0) == 0)
			thing->extra++;
		break;
	case 3:
		if (thing && thing->extra && cuMulticastUnbind(thing->handle, 0, 0, 1 << 21) == 0)
			thing->extra--;
		break;
	default:
		if (thing && cuMemRelease(thing->handle) == 0)
			drop(w, MULTICAST, thing);
		break;
	}
}

static void use_arrays(struct walker *w)
{
	static const unsigned formats[] = {1, 2, 3, 8, 9, 10, 16, 32, 0xb0, 0xc1, 0xc5, 0xc6, 0xcb, 0x91};
	struct thing *array = pick(w, ARRAYS), *mipmap = pick(w, MIPMAPS);
	unsigned format = formats[next(w) % (sizeof(formats) / sizeof(formats[0]))];
	const struct cuda_array flat = {1 + next(w) % 500, next(w) % 500, format, 1u << next(w) % 3};
	const struct cuda_array_3d deep = {1 + next(w) % 100, next(w) % 50, next(w) % 20, format,
					   1u << next(w) % 3, next(w) % 8 ? 0 : next(w) % 2 ? 0x40 : 0x80};
	void *handle = NULL;
	switch (next(w) % 5) {
	case 0:
		if (has_room(w, ARRAYS))
			made(w, ARRAYS, cuArrayCreate_v2((void *)&handle, (const void *)&flat), &handle, 0);
		break;
	case 1:
		if (has_room(w, ARRAYS))
			made(w, ARRAYS, cuArray3DCreate_v2((void *)&handle, (const void *)&deep), &handle, 0);
		break;
	case 2:
		if (has_room(w, MIPMAPS))
			made(w, MIPMAPS, cuMipmappedArrayCreate((void *)&handle, (const void *)&deep, 3),
			     &handle, 0);
		break;
	case 3:
		if (array && cuArrayDestroy(P(array->handle)) == 0)
			drop(w, ARRAYS, array);
		break;
	default:
		if (mipmap && cuMipmappedArrayDestroy(P(mipmap->handle)) == 0)
			drop(w, MIPMAPS, mipmap);
		break;
	}
}

static void use_code(struct walker *w)
{
	struct thing *module = pick(w, MODULES), *library = pick(w, LIBRARIES), *link = pick(w, LINKS);
	void *handle = NULL;
	switch (next(w) % 9) {
	case 0:
		if (has_room(w, MODULES))
			made(w, MODULES, cuModuleLoadData((void *)&handle, "code"), &handle, 0);
		break;
	case 1:
		if (has_room(w, MODULES))
			made(w, MODULES, cuModuleLoadDataEx((void *)&handle, "code", 0, NULL, NULL),
			     &handle, 0);
		break;
	case 2:
		if (has_room(w, MODULES))
			made(w, MODULES, cuModuleLoad((void *)&handle, next(w) % 8 ? "path" : NULL),
			     &handle, 0);
		break;
	case 3:
		if (module && cuModuleUnload(P(module->handle)) == 0)
			drop(w, MODULES, module);
		break;
	case 4:
		if (has_room(w, LIBRARIES))
			made(w, LIBRARIES,
			     cuLibraryLoadData((void *)&handle, "code", NULL, NULL, 0, NULL, NULL, 0),
			     &handle, 0);
		break;
	case 5:
		if (library) {
			unsigned (*get_module)(void **, void *);
			*(void **)&get_module = get("cuLibraryGetModule");
			// A library's module cannot be unloaded: nothing changes.
			if (get_module(&handle, P(library->handle)) == 0)
				CHECK(cuModuleUnload(handle) != 0);
		}
		break;
	case 6:
		if (library && cuLibraryUnload(P(library->handle)) == 0)
			drop(w, LIBRARIES, library);
		break;
	case 7:
		if (has_room(w, LINKS))
			made(w, LINKS, cuLinkCreate_v2(0, NULL, NULL, (void *)&handle), &handle, 0);
		break;
	default:
		if (link && cuLinkDestroy(P(link->handle)) == 0)
			drop(w, LINKS, link);
		break;
	}
}

static void use_others(struct walker *w)
{
	struct thing *external = pick(w, EXTERNAL), *ipc = pick(w, IPC), *buffer = pick(w, BUFFERS);
	struct CUipcMemHandle_st handle = {{(char)(next(w) % 16 + 16 * ((uintptr_t)w % 8))}};
	unsigned long long address = 0;
	uint64_t descriptor[16] = {0, 4096};
	void *memory = NULL;
	switch (next(w) % 6) {
	case 0:
		if (has_room(w, EXTERNAL))
			made(w, EXTERNAL, cuImportExternalMemory((void *)&memory, (const void *)descriptor),
			     &memory, 0);
		break;
	case 1:
		if (external && cuDestroyExternalMemory(P(external->handle)) == 0)
			drop(w, EXTERNAL, external);
		break;
	case 2:
		if (external && has_room(w, BUFFERS))
			made(w, BUFFERS, cuExternalMemoryGetMappedBuffer(&address, P(external->handle),
									 (const void *)descriptor),
			     &address, 0);
		break;
	case 3:
		if (buffer && cuMemFree_v2(buffer->handle) == 0)
			drop(w, BUFFERS, buffer);
		break;
	case 4:
		if (has_room(w, IPC) && w->is_alone)
			made(w, IPC, cuIpcOpenMemHandle_v2(&address, handle, 1), &address, 0);
		break;
	default:
		if (ipc && cuIpcCloseMemHandle(ipc->handle) == 0)
			drop(w, IPC, ipc);
		break;
	}
}

static void use_graphs(struct walker *w)
{
	unsigned long long address = 0;
	void *graph;
	if (!w->is_capturing) {
		w->is_capturing = begin_capture(w->stream, 0) == 0;
		return;
	}
	if (cuMemAllocAsync(&address, 5000, w->stream) == 0) {
		CHECK(cuMemFreeAsync(address, w->stream) == 0);
		CHECK(next(w) % 2 || cuMemFree_v2(address) == 0);
	}
	if (next(w) % 4 == 0) {
		CHECK(end_capture(w->stream, &graph) == 0);
		w->is_capturing = false;
		struct cuda_node node = {.type = 10, .alloc = {.pool = {.location = {1, 1}}, .bytes = 777}};
		void *added;
		(void)cuGraphAddNode_v2((void *)&added, graph, NULL, NULL, 0, (void *)&node);
		(void)cuGraphAddMemAllocNode((void *)&added, graph, NULL, 0, (void *)&node.alloc);
	}
}

// A fresh context of the walker's own, and a stream in it.
static void settle(struct walker *w)
{
	w->is_capturing = false;
	CHECK(cuCtxCreate_v2((void *)&w->own, 0, w->device) == 0);
	CHECK(stream_create(&w->stream, 0) == 0);
	if (w->far)
		CHECK(cuCtxDestroy_v2(w->far) == 0);
	CHECK(cuCtxCreate_v2((void *)&w->far, 0, !w->device) == 0);
	CHECK(stream_create(&w->far_stream, 0) == 0);
	CHECK(set_current(w->own) == 0);
}

static void use_contexts(struct walker *w)
{
	struct thing *green = pick(w, GREEN), *primary = pick(w, PRIMARIES), *other = pick(w, CONTEXTS);
	int device = (int)(next(w) % 2);
	void *context = NULL;
	switch (next(w) % 10) {
	case 0: // all that is made here ends
		if (cuCtxDestroy_v2(w->own) == 0) {
			forget_context(w);
			w->device = device;
			settle(w);
		}
		break;
	case 1:
		if (has_room(w, CONTEXTS) && w->n[CONTEXTS] < 8 &&
		    cuCtxCreate_v4((void *)&context, NULL, 0, device) == 0)
			hold(w, CONTEXTS, (uintptr_t)context, 0);
		break;
	case 2:
		if (other && cuCtxDestroy_v2(P(other->handle)) == 0)
			drop(w, CONTEXTS, other);
		break;
	case 3:
		if (has_room(w, GREEN) && w->n[GREEN] < 4)
			made(w, GREEN, cuGreenCtxCreate((void *)&context, NULL, device, 1), &context, 0);
		break;
	case 4:
		if (green && cuGreenCtxDestroy(P(green->handle)) == 0)
			drop(w, GREEN, green);
		break;
	case 5:
		if (has_room(w, PRIMARIES))
			made(w, PRIMARIES, cuDevicePrimaryCtxRetain((void *)&context, device), &context,
			     (uint64_t)device);
		break;
	case 6:
		if (primary && cuDevicePrimaryCtxRelease_v2((int)primary->extra) == 0)
			drop(w, PRIMARIES, primary);
		break;
	case 7: // use it for a moment
		if (primary) {
			unsigned long long address = 0;
			CHECK(set_current(P(primary->handle)) == 0);
			if (cuMemAlloc_v2(&address, 4096) == 0 && next(w) % 2)
				(void)cuMemFree_v2(address);
			(void)cuModuleLoadData((void *)&context, "code");
		}
		break;
	case 8:
		if (green) {
			unsigned long long address = 0;
			CHECK(from_green(&context, P(green->handle)) == 0 && set_current(context) == 0);
			(void)cuMemAlloc_v2(&address, 512);
		}
		break;
	default:
		if (w->is_alone)
			(void)cuDevicePrimaryCtxReset_v2(device);
		if (next(w) % 4 == 0 && cuCtxAttach((void *)&context, 0) == 0)
			CHECK(cuCtxDetach(context) == 0);
		break;
	}
	CHECK(set_current(w->own) == 0);
}

static void walk_one(struct walker *w)
{
	static void (*const uses[])(struct walker *) = {make_memory, free_memory, make_memory, free_memory,
							use_pools,   use_pools,	  use_handles, use_multicast,
							use_arrays,  use_code,	  use_others,  use_graphs};
	static const char *const names[] = {"memory",  "memory", "memory",    "memory", "pools",  "pools",
					    "handles", "multicast", "arrays", "code",	"others", "graphs"};
	unsigned use = (unsigned)(next(w) % 13);
	size_t size, total;
	if (next(w) % 8 == 0 && use != 11)
		fail_next((unsigned[]){2, 1, 999, 4}[next(w) % 4]);
	w->last = use == 12 ? "contexts" : names[use];
	if (use == 12) {
		fail_next(0);
		use_contexts(w);
	} else {
		uses[use](w);
	}
	fail_next(0);
	if (next(w) % 16 == 0)
		(void)cuMemGetInfo_v2(&size, next(w) % 2 ? &total : NULL);
}

static void open_all(void)
{
	open_driver();
	*(void **)&stream_create = get("cuStreamCreate");
	*(void **)&begin_capture = get("cuStreamBeginCapture_v2");
	*(void **)&end_capture = get("cuStreamEndCapture");
	*(void **)&synchronize = get("cuCtxSynchronize");
	*(void **)&from_green = get("cuCtxFromGreenCtx");
}

static unsigned steps(unsigned alone)
{
	const char *text = getenv("ROLLCALL_CUDA_STEPS");
	return text ? (unsigned)strtoul(text, NULL, 10) : alone;
}

IN_CHILD(the_census_equals_the_ledger_after_every_call)
{
	open_all();
	static struct walker w = {.random = 88172645463325252u, .is_alone = true};
	settle(&w);
	for (unsigned step = 0; step < steps(100000); step++) {
		walk_one(&w);
		compare_all(w.last);
	}
	CHECK(w.failures > 0);
	for (unsigned kind = 0; kind < HELD_KINDS; kind++)
		CHECK(seen[kind] > 0);
}

static pthread_barrier_t barrier;

static void *walk(void *argument)
{
	struct walker *w = argument;
	settle(w);
	for (unsigned round = 0; round < 20; round++) {
		for (unsigned step = 0; step < steps(400000) / THREADS / 20; step++)
			walk_one(w);
		pthread_barrier_wait(&barrier);
		if (w->is_first)
			compare_all("at rest");
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

IN_CHILD(the_census_equals_the_ledger_at_rest_after_eight_threads)
{
	open_all();
	static struct walker walkers[THREADS];
	pthread_t threads[THREADS];
	pthread_barrier_init(&barrier, NULL, THREADS);
	for (unsigned i = 0; i < THREADS; i++) {
		walkers[i] = (struct walker){.random = 77777777777u + i * 7919, .is_alone = false};
		walkers[i].device = (int)(i % 2);
		walkers[i].is_first = i == 0;
	}
	for (unsigned i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, walk, &walkers[i]);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	compare_all("at the end");
}

int main(int n_arguments, char **arguments)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_census_equals_the_ledger_after_every_call),
		cmocka_unit_test(the_census_equals_the_ledger_at_rest_after_eight_threads),
	};
	(void)n_arguments;
	without_off(arguments);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
