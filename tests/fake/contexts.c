// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Contexts of the fake driver: a stack of them for each thread, created ones,
// a primary one for each device with its references, green ones. What ends with
// a context is the documented list; memory of pools and of handles survives.

#include "driver.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEPTH 64

struct primary {
	struct object *context; // once it was active; its handle stays
	unsigned references;
	bool is_active;
};

static struct primary primaries[8];

static _Thread_local struct {
	uint64_t handle, serial;
} stack[DEPTH];
static _Thread_local unsigned depth;

// ---- The thread's context -----------------------------------------------------

struct object *fake_current(unsigned *ret_error)
{
	struct object *context = NULL;
	*ret_error = INVALID_CONTEXT;
	if (depth == 0 || stack[depth - 1].handle == 0)
		return NULL;
	context = fake_find(CONTEXT, stack[depth - 1].handle);
	if (!context || context->serial != stack[depth - 1].serial) {
		*ret_error = CONTEXT_IS_DESTROYED;
		return NULL;
	}
	*ret_error = OK;
	return context;
}

static void activate(struct primary *primary, int device)
{
	if (!primary->context) {
		primary->context = fake_make(CONTEXT, device, 0, NULL);
		primary->context->is_primary = true;
	}
	if (!primary->is_active) {
		primary->is_active = true;
		(void)fake_take_memory(device, fake_context_bytes);
	}
}

// What a thread makes in a green context's alias is the primary one's.
struct object *fake_current_device(unsigned *ret_error, int *ret_device)
{
	struct object *context = fake_current(ret_error);
	if (!context)
		return NULL;
	*ret_device = context->device;
	if (context->is_alias)
		context = primaries[context->device].context;
	if (context->is_primary) {
		// Released for good: its handle stands for nothing.
		if (primaries[context->device].references == 0) {
			*ret_error = CONTEXT_IS_DESTROYED;
			return NULL;
		}
		activate(&primaries[context->device], context->device);
	}
	return context;
}

static bool is_device(int device)
{
	return device >= 0 && device < fake_n_devices;
}

static void push(const struct object *context)
{
	if (depth < DEPTH) {
		stack[depth].handle = context->handle;
		stack[depth].serial = context->serial;
		depth++;
	}
}

// ---- What ends with a context ----------------------------------------------------

struct ending {
	struct object *context;
	struct object *found;
};

static void find_child(struct object *object, void *context)
{
	struct ending *ending = context;
	if (object->context == ending->context)
		ending->found = object;
}

// One at a time: ending one may end others in the walk.
static void end_children(struct object *context)
{
	struct ending ending = {.context = context};
	for (;;) {
		ending.found = NULL;
		fake_each(find_child, &ending);
		if (!ending.found)
			return;
		if (ending.found->kind == HOST_POINTER)
			free((void *)(uintptr_t)ending.found->handle);
		fake_end_object(ending.found);
	}
}

static void reset_primary(int device)
{
	struct primary *primary = &primaries[device];
	if (!primary->is_active)
		return;
	end_children(primary->context);
	primary->is_active = false;
	(void)fake_take_memory(device, -fake_context_bytes);
}

struct object *fake_primary(int device)
{
	return primaries[device].context;
}

uint64_t fake_primary_references(int device)
{
	return primaries[device].references;
}

bool fake_primary_is_active(int device)
{
	return primaries[device].is_active;
}

// ---- Created ones --------------------------------------------------------------------

static unsigned create(uint64_t *ret_context, int device)
{
	if (!is_device(device))
		return INVALID_DEVICE;
	if (!ret_context)
		return INVALID_VALUE;
	unsigned failed = fake_take_memory(device, fake_context_bytes);
	if (failed)
		return failed;
	struct object *context = fake_make(CONTEXT, device, 0, NULL);
	*ret_context = context->handle;
	push(context);
	return OK;
}

API(cuCtxCreate, uint64_t *ret_context, unsigned flags, int device)
{
	(void)flags;
	BEGIN();
	END(create(ret_context, device));
}

API(cuCtxCreate_v2, uint64_t *ret_context, unsigned flags, int device)
{
	(void)flags;
	BEGIN();
	END(create(ret_context, device));
}

API(cuCtxCreate_v3, uint64_t *ret_context, void *affinity, int n, unsigned flags, int device)
{
	(void)affinity;
	(void)n;
	(void)flags;
	BEGIN();
	END(create(ret_context, device));
}

API(cuCtxCreate_v4, uint64_t *ret_context, void *params, unsigned flags, int device)
{
	(void)params;
	(void)flags;
	BEGIN();
	END(create(ret_context, device));
}

static unsigned destroy(uint64_t handle)
{
	struct object *context = fake_find(CONTEXT, handle);
	if (!context || context->is_primary || context->is_alias)
		return INVALID_CONTEXT;
	if (depth > 0 && stack[depth - 1].handle == handle)
		depth--;
	end_children(context);
	(void)fake_take_memory(context->device, -fake_context_bytes);
	fake_end_object(context);
	fake_delay();
	return OK;
}

API(cuCtxDestroy, uint64_t context)
{
	BEGIN();
	END(destroy(context));
}

API(cuCtxDestroy_v2, uint64_t context)
{
	BEGIN();
	END(destroy(context));
}

API(cuCtxAttach, uint64_t *ret_context, unsigned flags)
{
	unsigned error;
	(void)flags;
	BEGIN();
	struct object *context = fake_current(&error);
	if (!context)
		END(error);
	if (context->is_primary || context->is_alias)
		END(INVALID_CONTEXT);
	context->refs++;
	*ret_context = context->handle;
	END(OK);
}

API(cuCtxDetach, uint64_t handle)
{
	BEGIN();
	struct object *context = fake_find(CONTEXT, handle);
	if (!context || context->is_primary || context->is_alias)
		END(INVALID_CONTEXT);
	if (--context->refs > 0)
		END(OK);
	END(destroy(handle));
}

// ---- The stack ---------------------------------------------------------------------------

API(cuCtxGetCurrent, uint64_t *ret_context)
{
	// Asked at every counted call, so it takes no lock: the stack is the thread's.
	*ret_context = depth > 0 ? stack[depth - 1].handle : 0;
	return OK;
}

API(cuCtxSetCurrent, uint64_t handle)
{
	BEGIN();
	struct object *context = handle ? fake_find(CONTEXT, handle) : NULL;
	if (handle && !context)
		END(INVALID_CONTEXT);
	if (depth > 0)
		depth--;
	if (context)
		push(context);
	END(OK);
}

API(cuCtxPushCurrent_v2, uint64_t handle)
{
	BEGIN();
	struct object *context = fake_find(CONTEXT, handle);
	if (!context)
		END(INVALID_CONTEXT);
	push(context);
	END(OK);
}

API(cuCtxPopCurrent_v2, uint64_t *ret_context)
{
	BEGIN();
	if (depth == 0)
		END(INVALID_CONTEXT);
	depth--;
	if (ret_context)
		*ret_context = stack[depth].handle;
	END(OK);
}

API(cuCtxGetDevice, int *ret_device)
{
	// Asked by the census, so no ordered failure is spent on it.
	unsigned error;
	fake_lock();
	struct object *context = fake_current(&error);
	if (context)
		*ret_device = context->device;
	fake_unlock();
	return error;
}

API(cuCtxSetLimit, int limit, size_t value)
{
	(void)limit;
	(void)value;
	BEGIN();
	END(OK);
}

API(cuCtxGetLimit, size_t *ret_value, int limit)
{
	(void)limit;
	BEGIN();
	*ret_value = 1 << 20;
	END(OK);
}

API(cuCtxGetApiVersion, uint64_t context, unsigned *ret_version)
{
	(void)context;
	BEGIN();
	*ret_version = 3020;
	END(OK);
}

// ---- Primary ones -----------------------------------------------------------------------

API(cuDevicePrimaryCtxRetain, uint64_t *ret_context, int device)
{
	BEGIN();
	if (!is_device(device))
		END(INVALID_DEVICE);
	if (!primaries[device].is_active &&
	    fake_used_bytes(device) + fake_context_bytes > fake_capacity_bytes())
		END(OUT_OF_MEMORY);
	activate(&primaries[device], device);
	primaries[device].references++;
	*ret_context = primaries[device].context->handle;
	END(OK);
}

static unsigned release(int device)
{
	if (!is_device(device))
		return INVALID_DEVICE;
	if (primaries[device].references == 0)
		return INVALID_CONTEXT;
	if (--primaries[device].references == 0)
		reset_primary(device);
	fake_delay();
	return OK;
}

API(cuDevicePrimaryCtxRelease, int device)
{
	BEGIN();
	END(release(device));
}

API(cuDevicePrimaryCtxRelease_v2, int device)
{
	BEGIN();
	END(release(device));
}

API(cuDevicePrimaryCtxReset, int device)
{
	BEGIN();
	if (!is_device(device))
		END(INVALID_DEVICE);
	reset_primary(device);
	END(OK);
}

API(cuDevicePrimaryCtxReset_v2, int device)
{
	BEGIN();
	if (!is_device(device))
		END(INVALID_DEVICE);
	reset_primary(device);
	END(OK);
}

API(cuDevicePrimaryCtxGetState, int device, unsigned *ret_flags, int *ret_is_active)
{
	if (!is_device(device))
		return INVALID_DEVICE;
	fake_lock();
	if (getenv("FAKE_FORK")) {
		// As a driver that runs a helper of its own, here under a lock of its own.
		pid_t pid = fork();
		if (pid == 0)
			_exit(0);
		waitpid(pid, NULL, 0);
	}
	*ret_flags = 0;
	*ret_is_active = primaries[device].is_active;
	fake_unlock();
	return OK;
}

API(cuDevicePrimaryCtxSetFlags_v2, int device, unsigned flags)
{
	(void)flags;
	BEGIN();
	END(is_device(device) ? OK : INVALID_DEVICE);
}

// A reference by a path that no entry point shows, as the runtime has one.
__attribute__((visibility("default"))) uint64_t fake_retain_hidden(int device);
uint64_t fake_retain_hidden(int device)
{
	fake_lock();
	activate(&primaries[device], device);
	primaries[device].references++;
	uint64_t handle = primaries[device].context->handle;
	fake_unlock();
	return handle;
}

// ---- Green ones ------------------------------------------------------------------------------

API(cuGreenCtxCreate, uint64_t *ret_context, void *resources, int device, unsigned flags)
{
	(void)resources;
	(void)flags;
	BEGIN();
	if (!is_device(device))
		END(INVALID_DEVICE);
	activate(&primaries[device], device);
	primaries[device].references++;
	(void)fake_take_memory(device, fake_context_bytes);
	*ret_context = fake_make(GREEN, device, 0, NULL)->handle;
	END(OK);
}

API(cuGreenCtxDestroy, uint64_t handle)
{
	BEGIN();
	struct object *green = fake_find(GREEN, handle);
	if (!green)
		END(INVALID_CONTEXT);
	int device = green->device;
	if (green->of)
		fake_end_object(green->of);
	fake_end_object(green);
	(void)fake_take_memory(device, -fake_context_bytes);
	END(release(device));
}

API(cuCtxFromGreenCtx, uint64_t *ret_context, uint64_t handle)
{
	BEGIN();
	struct object *green = fake_find(GREEN, handle);
	if (!green)
		END(INVALID_CONTEXT);
	if (!green->of) {
		green->of = fake_make(CONTEXT, green->device, 0, NULL);
		green->of->is_alias = true;
	}
	*ret_context = green->of->handle;
	END(OK);
}
