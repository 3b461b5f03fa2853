// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What else clients need of the fake driver: devices, copies (which move
// nothing: what comes from the device is zeros), events with a clock, launches
// that do nothing, and the names that must exist for real clients to start.

#include "driver.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static bool is_device(int device)
{
	return device >= 0 && device < fake_n_devices;
}

API(cuDriverGetVersion, int *ret_version)
{
	*ret_version = fake_version;
	return OK;
}

API(cuDeviceGetCount, int *ret_n)
{
	BEGIN();
	*ret_n = fake_n_devices;
	END(OK);
}

API(cuDeviceGet, int *ret_device, int ordinal)
{
	BEGIN();
	*ret_device = ordinal;
	END(is_device(ordinal) ? OK : INVALID_DEVICE);
}

API(cuDeviceGetName, char *ret_name, int size, int device)
{
	BEGIN();
	snprintf(ret_name, (size_t)size, "Fake %d", device);
	END(is_device(device) ? OK : INVALID_DEVICE);
}

static unsigned get_uuid(unsigned char *ret_uuid, int device)
{
	if (!is_device(device))
		return INVALID_DEVICE;
	for (int i = 0; i < 16; i++)
		ret_uuid[i] = (unsigned char)(0xf0 + device + i * 16);
	return OK;
}

API(cuDeviceGetUuid, unsigned char *ret_uuid, int device)
{
	BEGIN();
	END(get_uuid(ret_uuid, device));
}

API(cuDeviceGetUuid_v2, unsigned char *ret_uuid, int device)
{
	BEGIN();
	END(get_uuid(ret_uuid, device));
}

API(cuDeviceTotalMem_v2, size_t *ret_bytes, int device)
{
	BEGIN();
	*ret_bytes = fake_capacity_bytes();
	END(is_device(device) ? OK : INVALID_DEVICE);
}

API(cuDeviceGetAttribute, int *ret_value, int attribute, int device)
{
	BEGIN();
	*ret_value = attribute == 75 ? 8 : attribute == 76 ? 6 : attribute == 16 ? 28 : 32; // 8.6, 28 units
	END(is_device(device) ? OK : INVALID_DEVICE);
}

API(cuDeviceComputeCapability, int *ret_major, int *ret_minor, int device)
{
	BEGIN();
	*ret_major = 8;
	*ret_minor = 6;
	END(is_device(device) ? OK : INVALID_DEVICE);
}

API(cuDevicePrimaryCtxSetFlags, int device, unsigned flags)
{
	(void)flags;
	BEGIN();
	END(is_device(device) ? OK : INVALID_DEVICE);
}

API(cuGetErrorName, unsigned error, const char **ret_name)
{
	*ret_name = error == OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY" : error ? "CUDA_ERROR" : "CUDA_SUCCESS";
	return OK;
}

API(cuGetErrorString, unsigned error, const char **ret_text)
{
	*ret_text = error ? "the fake driver refused" : "no error";
	return OK;
}

API(cuGetExportTable, const void **ret_table, const void *uuid)
{
	(void)uuid;
	*ret_table = NULL;
	return NOT_SUPPORTED;
}

// ---- Copies -------------------------------------------------------------------

static unsigned touch_device(uint64_t address)
{
	return address ? OK : INVALID_VALUE;
}

API(cuMemcpyHtoD_v2, uint64_t to, const void *from, size_t bytes)
{
	(void)from;
	(void)bytes;
	BEGIN();
	END(touch_device(to));
}

API(cuMemcpyHtoDAsync_v2, uint64_t to, const void *from, size_t bytes, uint64_t stream)
{
	(void)from;
	(void)bytes;
	(void)stream;
	BEGIN();
	END(touch_device(to));
}

API(cuMemcpyDtoH_v2, void *to, uint64_t from, size_t bytes)
{
	BEGIN();
	memset(to, 0, bytes);
	END(touch_device(from));
}

API(cuMemcpyDtoHAsync_v2, void *to, uint64_t from, size_t bytes, uint64_t stream)
{
	(void)stream;
	BEGIN();
	memset(to, 0, bytes);
	END(touch_device(from));
}

API(cuMemcpyDtoD_v2, uint64_t to, uint64_t from, size_t bytes)
{
	(void)bytes;
	BEGIN();
	END(touch_device(to) | touch_device(from));
}

API(cuMemcpyDtoDAsync_v2, uint64_t to, uint64_t from, size_t bytes, uint64_t stream)
{
	(void)bytes;
	(void)stream;
	BEGIN();
	END(touch_device(to) | touch_device(from));
}

API(cuMemcpy, uint64_t to, uint64_t from, size_t bytes)
{
	(void)to;
	(void)from;
	(void)bytes;
	BEGIN();
	END(OK);
}

API(cuMemcpyAsync, uint64_t to, uint64_t from, size_t bytes, uint64_t stream)
{
	(void)to;
	(void)from;
	(void)bytes;
	(void)stream;
	BEGIN();
	END(OK);
}

struct copy_2d {
	size_t from_x, from_y;
	int from_type;
	const void *from_host;
	uint64_t from_device, from_array;
	size_t from_pitch;
	size_t to_x, to_y;
	int to_type;
	char *to_host;
	uint64_t to_device, to_array;
	size_t to_pitch, width, height;
};

static unsigned copy_2d(const struct copy_2d *copy)
{
	if (copy->to_type != 1)
		return OK;
	for (size_t y = 0; y < copy->height; y++)
		memset(copy->to_host + (copy->to_y + y) * copy->to_pitch + copy->to_x, 0, copy->width);
	return OK;
}

API(cuMemcpy2D_v2, const struct copy_2d *copy)
{
	BEGIN();
	END(copy_2d(copy));
}

API(cuMemcpy2DAsync_v2, const struct copy_2d *copy, uint64_t stream)
{
	(void)stream;
	BEGIN();
	END(copy_2d(copy));
}

API(cuMemsetD8_v2, uint64_t address, unsigned char value, size_t n)
{
	(void)value;
	(void)n;
	BEGIN();
	END(touch_device(address));
}

API(cuMemsetD8Async, uint64_t address, unsigned char value, size_t n, uint64_t stream)
{
	(void)value;
	(void)n;
	(void)stream;
	BEGIN();
	END(touch_device(address));
}

API(cuMemsetD32_v2, uint64_t address, unsigned value, size_t n)
{
	(void)value;
	(void)n;
	BEGIN();
	END(touch_device(address));
}

// ---- Events and launches ---------------------------------------------------------

API(cuEventCreate, uint64_t *ret_event, unsigned flags)
{
	unsigned error;
	int device;
	(void)flags;
	BEGIN();
	struct object *context = fake_current_device(&error, &device);
	if (!context)
		END(error);
	*ret_event = fake_make(EVENT, device, 0, context)->handle;
	END(OK);
}

API(cuEventDestroy_v2, uint64_t handle)
{
	BEGIN();
	END(fake_destroy(EVENT, handle, INVALID_HANDLE));
}

API(cuEventRecord, uint64_t handle, uint64_t stream)
{
	struct timespec now;
	(void)stream;
	BEGIN();
	struct object *event = fake_find(EVENT, handle);
	if (!event)
		END(INVALID_HANDLE);
	clock_gettime(CLOCK_MONOTONIC, &now);
	event->used = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	END(OK);
}

API(cuEventSynchronize, uint64_t event)
{
	BEGIN();
	END(fake_find(EVENT, event) ? OK : INVALID_HANDLE);
}

API(cuEventQuery, uint64_t event)
{
	BEGIN();
	END(fake_find(EVENT, event) ? OK : INVALID_HANDLE);
}

static unsigned elapsed(float *ret_ms, uint64_t from_handle, uint64_t to_handle)
{
	struct object *from = fake_find(EVENT, from_handle);
	struct object *to = fake_find(EVENT, to_handle);
	if (!from || !to)
		return INVALID_HANDLE;
	*ret_ms = (float)(to->used - from->used) / 1e6f;
	return OK;
}

API(cuEventElapsedTime, float *ret_ms, uint64_t from, uint64_t to)
{
	BEGIN();
	END(elapsed(ret_ms, from, to));
}

API(cuEventElapsedTime_v2, float *ret_ms, uint64_t from, uint64_t to)
{
	BEGIN();
	END(elapsed(ret_ms, from, to));
}

API(cuLaunchKernel, uint64_t function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
    unsigned bz, unsigned shared, uint64_t stream, void **params, void **extra)
{
	(void)shared;
	(void)stream;
	(void)params;
	(void)extra;
	BEGIN();
	END(function && gx > 0 && gy > 0 && gz > 0 && bx > 0 && by > 0 && bz > 0 ? OK : INVALID_VALUE);
}

// ---- Names only ----------------------------------------------------------------------

#define NAME_ONLY(name)                                                       \
	__attribute__((visibility("default"))) unsigned name(void);           \
	unsigned name(void)                                                   \
	{                                                                     \
		return NOT_SUPPORTED;                                         \
	}

NAME_ONLY(cuDestroyExternalSemaphore)
NAME_ONLY(cuEGLStreamConsumerAcquireFrame)
NAME_ONLY(cuEGLStreamConsumerConnect)
NAME_ONLY(cuEGLStreamConsumerConnectWithFlags)
NAME_ONLY(cuEGLStreamConsumerDisconnect)
NAME_ONLY(cuEGLStreamConsumerReleaseFrame)
NAME_ONLY(cuEGLStreamProducerConnect)
NAME_ONLY(cuEGLStreamProducerDisconnect)
NAME_ONLY(cuEGLStreamProducerPresentFrame)
NAME_ONLY(cuEGLStreamProducerReturnFrame)
NAME_ONLY(cuEventCreateFromEGLSync)
NAME_ONLY(cuGLCtxCreate_v2)
NAME_ONLY(cuGLGetDevices_v2)
NAME_ONLY(cuGraphicsEGLRegisterImage)
NAME_ONLY(cuGraphicsGLRegisterBuffer)
NAME_ONLY(cuGraphicsGLRegisterImage)
NAME_ONLY(cuGraphicsMapResources)
NAME_ONLY(cuGraphicsResourceGetMappedEglFrame)
NAME_ONLY(cuGraphicsResourceGetMappedPointer_v2)
NAME_ONLY(cuGraphicsSubResourceGetMappedArray)
NAME_ONLY(cuGraphicsUnmapResources)
NAME_ONLY(cuGraphicsUnregisterResource)
NAME_ONLY(cuGraphicsVDPAURegisterOutputSurface)
NAME_ONLY(cuGraphicsVDPAURegisterVideoSurface)
NAME_ONLY(cuImportExternalSemaphore)
NAME_ONLY(cuLinkAddData)
NAME_ONLY(cuMipmappedArrayGetLevel)
NAME_ONLY(cuModuleGetGlobal)
NAME_ONLY(cuModuleGetGlobal_v2)
NAME_ONLY(cuSignalExternalSemaphoresAsync)
NAME_ONLY(cuTexObjectCreate)
NAME_ONLY(cuTexObjectDestroy)
NAME_ONLY(cuVDPAUCtxCreate_v2)
NAME_ONLY(cuVDPAUGetDevice)
NAME_ONLY(cuWaitExternalSemaphoresAsync)
