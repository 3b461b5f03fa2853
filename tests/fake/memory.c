// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Memory of the fake driver that is not stream-ordered: plain, managed, of the
// host, by handles and mappings. Addresses stand for nothing: copies from the
// device give zeros.

#include "driver.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

// ---- Plain -----------------------------------------------------------------------

static unsigned allocate(enum kind kind, uint64_t *ret_address, uint64_t bytes)
{
	unsigned error;
	int device;
	struct object *context = fake_current_device(&error, &device);
	if (!context)
		return error;
	if (bytes == 0 || !ret_address)
		return INVALID_VALUE;
	unsigned failed = kind == LINEAR ? fake_take_memory(device, bytes) : OK;
	if (failed)
		return failed;
	*ret_address = fake_make(kind, device, bytes, context)->handle;
	return OK;
}

API(cuMemAlloc_v2, uint64_t *ret_address, size_t bytes)
{
	BEGIN();
	END(allocate(LINEAR, ret_address, bytes));
}

// Memory by a path that no entry point shows.
__attribute__((visibility("default"))) uint64_t fake_alloc_hidden(uint64_t bytes);
uint64_t fake_alloc_hidden(uint64_t bytes)
{
	uint64_t address = 0;
	fake_lock();
	(void)allocate(LINEAR, &address, bytes);
	fake_unlock();
	return address;
}

API(cuMemAllocPitch_v2, uint64_t *ret_address, size_t *ret_pitch, size_t width, size_t height, unsigned element)
{
	if (element != 4 && element != 8 && element != 16)
		return INVALID_VALUE;
	*ret_pitch = (width + 511) / 512 * 512;
	if (getenv("FAKE_NESTED")) {
		// As a driver that calls its own entry points by name.
		unsigned (*alloc)(uint64_t *, size_t) =
			(unsigned (*)(uint64_t *, size_t))dlsym(RTLD_DEFAULT, "cuMemAlloc_v2");
		return alloc ? alloc(ret_address, *ret_pitch * height) : INVALID_VALUE;
	}
	BEGIN();
	END(allocate(LINEAR, ret_address, *ret_pitch * height));
}

API(cuMemAllocManaged, uint64_t *ret_address, size_t bytes, unsigned flags)
{
	BEGIN();
	END(flags == 1 || flags == 2 ? allocate(MANAGED, ret_address, bytes) : INVALID_VALUE);
}

static unsigned free_pointer(uint64_t address)
{
	struct object *object = fake_find_pointer(address);
	if (address == 0)
		return OK;
	if (!object || object->refs > 1)
		return INVALID_VALUE;
	if (object->kind == ASYNC || (object->kind == IMPORTED_POINTER && object->of))
		fake_end_async(object);
	else if (object->kind != GRAPH_POINTER)
		fake_end_object(object);
	fake_delay();
	return OK;
}

API(cuMemFree_v2, uint64_t address)
{
	BEGIN();
	END(free_pointer(address));
}

API(cuMemGetInfo_v2, size_t *ret_free, size_t *ret_total)
{
	unsigned error;
	int device;
	BEGIN();
	if (!fake_current_device(&error, &device))
		END(error);
	if (ret_free)
		*ret_free = fake_capacity_bytes() - fake_used_bytes(device);
	if (ret_total)
		*ret_total = fake_capacity_bytes();
	END(OK);
}

// The 32-bit ABI, left alone by the census.
API(cuMemGetInfo, unsigned *ret_free, unsigned *ret_total)
{
	BEGIN();
	*ret_free = *ret_total = 0;
	END(OK);
}

API(cuMemAlloc, unsigned *ret_address, unsigned bytes)
{
	(void)bytes;
	BEGIN();
	*ret_address = 0;
	END(NOT_SUPPORTED);
}

API(cuMemFree, unsigned address)
{
	(void)address;
	BEGIN();
	END(NOT_SUPPORTED);
}

API(cuMemAllocPitch, unsigned *ret_address, unsigned *ret_pitch, unsigned width, unsigned height,
    unsigned element)
{
	(void)ret_address;
	(void)ret_pitch;
	(void)width;
	(void)height;
	(void)element;
	BEGIN();
	END(NOT_SUPPORTED);
}

API(cuMemAllocHost, void **ret_pointer, unsigned bytes)
{
	(void)ret_pointer;
	(void)bytes;
	BEGIN();
	END(NOT_SUPPORTED);
}

// ---- Of the host ---------------------------------------------------------------------

static unsigned allocate_host(void **ret_pointer, size_t bytes, bool ends_with_context)
{
	unsigned error;
	int device;
	struct object *context = fake_current_device(&error, &device);
	if (!context)
		return error;
	if (bytes == 0 || !ret_pointer)
		return INVALID_VALUE;
	*ret_pointer = malloc(bytes);
	if (!*ret_pointer)
		return OUT_OF_MEMORY;
	fake_make_at(HOST_POINTER, (uint64_t)(uintptr_t)*ret_pointer, device, bytes,
		     ends_with_context ? context : NULL);
	return OK;
}

API(cuMemAllocHost_v2, void **ret_pointer, size_t bytes)
{
	BEGIN();
	END(allocate_host(ret_pointer, bytes, true));
}

API(cuMemHostAlloc, void **ret_pointer, size_t bytes, unsigned flags)
{
	(void)flags;
	BEGIN();
	END(allocate_host(ret_pointer, bytes, false));
}

API(cuMemFreeHost, void *pointer)
{
	BEGIN();
	struct object *object = fake_find(HOST_POINTER, (uint64_t)(uintptr_t)pointer);
	if (!object)
		END(INVALID_VALUE);
	fake_end_object(object);
	free(pointer);
	fake_delay();
	END(OK);
}

static unsigned register_host(void *pointer, size_t bytes)
{
	unsigned error;
	int device;
	if (!fake_current_device(&error, &device))
		return error;
	if (!pointer || bytes == 0 || fake_find(REGISTERED, (uint64_t)(uintptr_t)pointer))
		return INVALID_VALUE;
	fake_make_at(REGISTERED, (uint64_t)(uintptr_t)pointer, device, bytes, NULL);
	return OK;
}

API(cuMemHostRegister, void *pointer, size_t bytes, unsigned flags)
{
	(void)flags;
	BEGIN();
	END(register_host(pointer, bytes));
}

API(cuMemHostRegister_v2, void *pointer, size_t bytes, unsigned flags)
{
	(void)flags;
	BEGIN();
	END(register_host(pointer, bytes));
}

API(cuMemHostUnregister, void *pointer)
{
	BEGIN();
	END(fake_destroy(REGISTERED, (uint64_t)(uintptr_t)pointer, INVALID_VALUE));
}

// ---- By handles -----------------------------------------------------------------------

struct prop {
	unsigned type, handle_types;
	int location_type, location_id;
};

API(cuMemCreate, uint64_t *ret_handle, size_t bytes, const struct prop *prop, unsigned long long flags)
{
	unsigned error;
	int device = 0;
	(void)flags;
	BEGIN();
	if (!prop || bytes == 0)
		END(INVALID_VALUE);
	bool is_host = prop->location_type != 1;
	if (is_host)
		(void)fake_current_device(&error, &device);
	else
		device = prop->location_id;
	if (!is_host) {
		unsigned failed = fake_take_memory(device, bytes);
		if (failed)
			END(failed);
	}
	struct object *object = fake_make(HANDLE, device, bytes, NULL);
	object->is_host = is_host;
	*ret_handle = object->handle;
	END(OK);
}

static struct object *find_handle(uint64_t handle)
{
	struct object *object = fake_find(HANDLE, handle);
	return object ? object : fake_find(MULTICAST, handle);
}

static void end_if_unused(struct object *object)
{
	if (object->refs == 0 && object->mappings == 0)
		fake_end_object(object);
}

API(cuMemRelease, uint64_t handle)
{
	BEGIN();
	struct object *object = find_handle(handle);
	if (!object || object->refs == 0)
		END(INVALID_VALUE);
	object->refs--;
	end_if_unused(object);
	fake_delay();
	END(OK);
}

API(cuMemRetainAllocationHandle, uint64_t *ret_handle, void *address)
{
	BEGIN();
	struct object *mapping = fake_find(MAPPING, (uint64_t)(uintptr_t)address);
	if (!mapping)
		END(INVALID_VALUE);
	mapping->of->refs++;
	*ret_handle = mapping->of->handle;
	END(OK);
}

API(cuMemImportFromShareableHandle, uint64_t *ret_handle, void *os_handle, unsigned type)
{
	unsigned error;
	int device = 0;
	(void)os_handle;
	(void)type;
	BEGIN();
	(void)fake_current_device(&error, &device);
	struct object *object = fake_make(HANDLE, device, 0, NULL);
	object->is_imported = true;
	*ret_handle = object->handle;
	END(OK);
}

API(cuMemMap, uint64_t address, size_t bytes, size_t offset, uint64_t handle, unsigned long long flags)
{
	(void)offset;
	(void)flags;
	BEGIN();
	struct object *object = find_handle(handle);
	if (!object || object->refs == 0 || fake_find(MAPPING, address) || bytes == 0)
		END(INVALID_VALUE);
	struct object *mapping = fake_make_at(MAPPING, address, -1, bytes, NULL);
	mapping->of = object;
	object->mappings++;
	END(OK);
}

API(cuMemUnmap, uint64_t address, size_t bytes)
{
	BEGIN();
	for (uint64_t at = address; at < address + bytes;) {
		struct object *mapping = fake_find(MAPPING, at);
		if (!mapping || at + mapping->bytes > address + bytes)
			END(INVALID_VALUE);
		at += mapping->bytes;
	}
	for (uint64_t at = address; at < address + bytes;) {
		struct object *mapping = fake_find(MAPPING, at);
		struct object *object = mapping->of;
		at += mapping->bytes;
		fake_end_object(mapping);
		object->mappings--;
		end_if_unused(object);
	}
	fake_delay();
	END(OK);
}

API(cuMemAddressReserve, uint64_t *ret_address, size_t bytes, size_t alignment, uint64_t address,
    unsigned long long flags)
{
	unsigned error;
	int device = 0;
	(void)alignment;
	(void)address;
	(void)flags;
	BEGIN();
	if (bytes == 0)
		END(INVALID_VALUE);
	(void)fake_current_device(&error, &device);
	*ret_address = fake_make(RESERVATION, device, bytes, NULL)->handle;
	END(OK);
}

API(cuMemAddressFree, uint64_t address, size_t bytes)
{
	BEGIN();
	struct object *object = fake_find(RESERVATION, address);
	if (!object || object->bytes != bytes)
		END(INVALID_VALUE);
	fake_end_object(object);
	END(OK);
}

API(cuMemSetAccess, uint64_t address, size_t bytes, const void *access, size_t n)
{
	(void)address;
	(void)bytes;
	(void)access;
	(void)n;
	BEGIN();
	END(OK);
}

API(cuMemGetAllocationGranularity, size_t *ret_bytes, const void *prop, unsigned option)
{
	(void)prop;
	(void)option;
	BEGIN();
	*ret_bytes = 2 << 20;
	END(OK);
}

API(cuMulticastCreate, uint64_t *ret_handle, const void *prop)
{
	BEGIN();
	if (!prop)
		END(INVALID_VALUE);
	*ret_handle = fake_make(MULTICAST, -1, 0, NULL)->handle;
	END(OK);
}

static unsigned bind(uint64_t handle, uint64_t bytes)
{
	struct object *object = fake_find(MULTICAST, handle);
	if (!object)
		return INVALID_VALUE;
	object->bytes += bytes;
	return OK;
}

API(cuMulticastBindMem, uint64_t handle, size_t offset, uint64_t memory, size_t memory_offset, size_t bytes,
    unsigned long long flags)
{
	(void)offset;
	(void)memory;
	(void)memory_offset;
	(void)flags;
	BEGIN();
	END(bind(handle, bytes));
}

API(cuMulticastBindAddr, uint64_t handle, size_t offset, uint64_t address, size_t bytes,
    unsigned long long flags)
{
	(void)offset;
	(void)address;
	(void)flags;
	BEGIN();
	END(bind(handle, bytes));
}

API(cuMulticastUnbind, uint64_t handle, int device, size_t offset, size_t bytes)
{
	(void)device;
	(void)offset;
	BEGIN();
	struct object *object = fake_find(MULTICAST, handle);
	if (!object || object->bytes < bytes)
		END(INVALID_VALUE);
	object->bytes -= bytes;
	END(OK);
}
