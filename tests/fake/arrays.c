// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Arrays of the fake driver, and what is somebody else's: memory of another
// process, and of another interface.

#include "driver.h"

struct extent {
	size_t width, height, depth;
	unsigned format, channels, flags;
};

// The driver does not say; this is what the census is to estimate. Its own table:
// bits of one channel by format.
static uint64_t array_bytes(const struct extent *extent)
{
	static const struct {
		unsigned format, bits, channels;
	} formats[] = {{0x01, 8, 0},  {0x02, 16, 0}, {0x03, 32, 0},  {0x08, 8, 0},	{0x09, 16, 0},
		       {0x0a, 32, 0}, {0x10, 16, 0}, {0x20, 32, 0},  {0xc0, 8, 1},	{0xc1, 8, 2},
		       {0xc2, 8, 4},  {0xc3, 16, 1}, {0xc4, 16, 2},  {0xc5, 16, 4},	{0xc6, 8, 1},
		       {0xc7, 8, 2},  {0xc8, 8, 4},  {0xc9, 16, 1},  {0xca, 16, 2},	{0xcb, 16, 4}};
	if (extent->flags & 0xc0)
		return 0;
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		if (formats[i].format != extent->format)
			continue;
		unsigned channels = formats[i].channels ? formats[i].channels : extent->channels;
		uint64_t cells = extent->width;
		cells *= extent->height > 0 ? extent->height : 1;
		cells *= extent->depth > 0 ? extent->depth : 1;
		return cells * channels * formats[i].bits / 8;
	}
	return 0;
}

static unsigned make_array(enum kind kind, uint64_t *ret_handle, const struct extent *extent)
{
	unsigned error;
	int device;
	struct object *context = fake_current_device(&error, &device);
	if (!context)
		return error;
	if (extent->width == 0 || extent->channels == 0 || extent->channels > 4)
		return INVALID_VALUE;
	uint64_t bytes = array_bytes(extent);
	if (kind == MIPMAP)
		bytes = bytes + bytes / 3;
	unsigned failed = fake_take_memory(device, bytes);
	if (failed)
		return failed;
	*ret_handle = fake_make(kind, device, bytes, context)->handle;
	return OK;
}

struct flat {
	size_t width, height;
	unsigned format, channels;
};

API(cuArrayCreate_v2, uint64_t *ret_handle, const struct flat *descriptor)
{
	const struct extent extent = {descriptor->width, descriptor->height, 0, descriptor->format,
				      descriptor->channels, 0};
	BEGIN();
	END(make_array(ARRAY, ret_handle, &extent));
}

API(cuArray3DCreate_v2, uint64_t *ret_handle, const struct extent *descriptor)
{
	BEGIN();
	END(make_array(ARRAY, ret_handle, descriptor));
}

API(cuMipmappedArrayCreate, uint64_t *ret_handle, const struct extent *descriptor, unsigned n_levels)
{
	BEGIN();
	END(n_levels ? make_array(MIPMAP, ret_handle, descriptor) : INVALID_VALUE);
}

API(cuArrayCreate, uint64_t *ret_handle, const void *descriptor)
{
	(void)ret_handle;
	(void)descriptor;
	BEGIN();
	END(NOT_SUPPORTED);
}

API(cuArray3DCreate, uint64_t *ret_handle, const void *descriptor)
{
	(void)ret_handle;
	(void)descriptor;
	BEGIN();
	END(NOT_SUPPORTED);
}

static unsigned end_kind(enum kind kind, uint64_t handle)
{
	struct object *object = fake_find(kind, handle);
	if (!object)
		return INVALID_HANDLE;
	fake_end_object(object);
	fake_delay();
	return OK;
}

API(cuArrayDestroy, uint64_t handle)
{
	BEGIN();
	END(end_kind(ARRAY, handle));
}

API(cuMipmappedArrayDestroy, uint64_t handle)
{
	BEGIN();
	END(end_kind(MIPMAP, handle));
}

// ---- From elsewhere --------------------------------------------------------------------------

struct ipc {
	char bytes[64];
};

static unsigned open_ipc(uint64_t *ret_address, const struct ipc *handle)
{
	unsigned error;
	int device;
	if (!fake_current_device(&error, &device))
		return error;
	// The same handle opened again is the same address.
	uint64_t address = UINT64_C(0x700000000000) + ((uint64_t)(unsigned char)handle->bytes[0] << 20);
	struct object *object = fake_find(IMPORTED_POINTER, address);
	if (object)
		object->refs++;
	else
		object = fake_make_at(IMPORTED_POINTER, address, device, 0, NULL);
	object->is_imported = true;
	*ret_address = address;
	return OK;
}

API(cuIpcOpenMemHandle, uint64_t *ret_address, struct ipc handle, unsigned flags)
{
	(void)flags;
	BEGIN();
	END(open_ipc(ret_address, &handle));
}

API(cuIpcOpenMemHandle_v2, uint64_t *ret_address, struct ipc handle, unsigned flags)
{
	(void)flags;
	BEGIN();
	END(open_ipc(ret_address, &handle));
}

API(cuIpcCloseMemHandle, uint64_t address)
{
	BEGIN();
	struct object *object = fake_find(IMPORTED_POINTER, address);
	if (!object || !object->is_imported)
		END(INVALID_VALUE);
	if (--object->refs == 0)
		fake_end_object(object);
	END(OK);
}

API(cuImportExternalMemory, uint64_t *ret_memory, const void *descriptor)
{
	unsigned error;
	int device;
	BEGIN();
	struct object *context = fake_current_device(&error, &device);
	if (!context)
		END(error);
	if (!descriptor)
		END(INVALID_VALUE);
	*ret_memory = fake_make(EXTERNAL, device, 0, context)->handle;
	END(OK);
}

API(cuExternalMemoryGetMappedBuffer, uint64_t *ret_address, uint64_t memory, const uint64_t *descriptor)
{
	unsigned error;
	int device;
	BEGIN();
	if (!fake_current_device(&error, &device))
		END(error);
	if (!fake_find(EXTERNAL, memory) || !descriptor)
		END(INVALID_HANDLE);
	*ret_address = fake_make(IMPORTED_POINTER, device, descriptor[1], NULL)->handle;
	END(OK);
}

API(cuExternalMemoryGetMappedMipmappedArray, uint64_t *ret_array, uint64_t memory, const void *descriptor)
{
	unsigned error;
	int device;
	BEGIN();
	struct object *context = fake_current_device(&error, &device);
	if (!context)
		END(error);
	if (!fake_find(EXTERNAL, memory) || !descriptor)
		END(INVALID_HANDLE);
	struct object *object = fake_make(MIPMAP, device, 0, context);
	object->is_imported = true;
	*ret_array = object->handle;
	END(OK);
}

API(cuDestroyExternalMemory, uint64_t memory)
{
	BEGIN();
	END(end_kind(EXTERNAL, memory));
}
