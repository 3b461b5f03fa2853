// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The fake driver's state: objects, addresses and handles that come back last
// given first, and ordered failures.

#include "driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PLACES 65536
#define DEVICES_MAX 8
#define SIZES 64 // of address ranges, powers of two

uint64_t fake_context_bytes = 64 << 20, fake_module_bytes = 1 << 20;
int fake_version = 13000, fake_n_devices = 2;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int state; // 0, 1 initialised, 2 deinitialised
static struct object *places[PLACES];
static struct object *newest;
static uint64_t serials;
static uint64_t capacity_bytes = UINT64_C(12288) << 20;
static unsigned delay_us, fail_nth, fail_result = OUT_OF_MEMORY;
static _Atomic unsigned n_calls;
static _Thread_local unsigned fail_next;
static _Thread_local void (*call_out)(void *);
static _Thread_local void *call_out_context;

struct given_back {
	uint64_t handle;
	struct given_back *next;
};
static struct given_back *free_ranges[SIZES], *free_handles;
static uint64_t next_range = UINT64_C(0x100000000000), next_handle = UINT64_C(0x560000001000);

// ---- The beginning --------------------------------------------------------------

static uint64_t number(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);
	return text && *text ? strtoull(text, NULL, 0) : otherwise;
}

// A driver of an earlier version lies in a folder that says which.
static int version_of_folder(void)
{
	Dl_info object;
	char path[4096];
	if (!dladdr(&state, &object) || !realpath(object.dli_fname, path))
		return 13000;
	char *slash = strrchr(path, '/');
	*slash = '\0';
	slash = strrchr(path, '/');
	int version = slash ? atoi(slash + 1) : 0;
	return version > 0 ? version : 13000;
}

__attribute__((constructor)) static void start(void)
{
	// A driver that looks itself up while it is being loaded.
	if (getenv("FAKE_CONSTRUCTOR") && (!dlsym(RTLD_DEFAULT, "dlopen") || dlsym(RTLD_NEXT, "cuInit")))
		abort();
	if (getenv("FAKE_CONSTRUCTOR"))
		(void)dlsym(RTLD_DEFAULT, "cuGetExportTable");
	fake_version = version_of_folder();
	fake_n_devices = (int)number("FAKE_DEVICES", 2);
	if (fake_n_devices > DEVICES_MAX)
		fake_n_devices = DEVICES_MAX;
	capacity_bytes = number("FAKE_CAPACITY_MIB", 12288) << 20;
	fake_context_bytes = number("FAKE_CONTEXT_BYTES", fake_context_bytes);
	fake_module_bytes = number("FAKE_MODULE_BYTES", fake_module_bytes);
	delay_us = (unsigned)number("FAKE_FREE_DELAY_US", 0);
	fail_nth = (unsigned)number("FAKE_FAIL_NTH", 0);
	fail_result = (unsigned)number("FAKE_FAIL_RESULT", OUT_OF_MEMORY);
	fake_open_ledger();
}

API(cuInit, unsigned flags)
{
	if (getenv("FAKE_WSL")) {
		// Asks for itself through dlsym; whoever hands it a hook sends it round for ever.
		void *self = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
		if (self && dlsym(self, "cuInit") != (void *)cuInit) {
			fprintf(stderr, "fake driver: it was given a hook of itself\n");
			abort();
		}
	}
	if (flags)
		return INVALID_VALUE;
	if (fake_n_devices == 0)
		return NO_DEVICE;
	int uninitialised = 0;
	atomic_compare_exchange_strong(&state, &uninitialised, 1);
	return atomic_load(&state) == 2 ? DEINITIALIZED : OK;
}

__attribute__((visibility("default"))) fake_fail_next_fn fake_fail_next;
void fake_fail_next(unsigned result)
{
	fail_next = result;
}

__attribute__((visibility("default"))) fake_call_out_fn fake_call_out;
void fake_call_out(void (*function)(void *), void *context)
{
	call_out = function;
	call_out_context = context;
}

__attribute__((visibility("default"))) fake_deinitialize_fn fake_deinitialize;
void fake_deinitialize(void)
{
	atomic_store(&state, 2);
}

void fake_lock(void)
{
	pthread_mutex_lock(&lock);
}

void fake_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

unsigned fake_begin(const char *name, bool needs_init)
{
	(void)name;
	int now = atomic_load_explicit(&state, memory_order_relaxed);
	if (needs_init && now != 1)
		return now == 0 ? NOT_INITIALIZED : DEINITIALIZED;
	if (fail_next) {
		unsigned result = fail_next;
		fail_next = 0;
		return result;
	}
	if (call_out) {
		void (*function)(void *) = call_out;
		call_out = NULL;
		function(call_out_context);
	}
	if (fail_nth && (atomic_fetch_add(&n_calls, 1) + 1) % fail_nth == 0)
		return fail_result;
	fake_lock();
	return OK;
}

void fake_delay(void)
{
	if (delay_us) {
		fake_unlock();
		usleep(delay_us);
		fake_lock();
	}
}

// ---- Objects -----------------------------------------------------------------------

static bool has_address(enum kind kind)
{
	return kind == LINEAR || kind == MANAGED || kind == ASYNC || kind == IMPORTED_POINTER ||
	       kind == GRAPH_POINTER || kind == RESERVATION;
}

static unsigned size_of(uint64_t bytes)
{
	unsigned size = 9;
	while (size < SIZES - 1 && (UINT64_C(1) << size) < bytes)
		size++;
	return size;
}

static uint64_t take(struct given_back **list, uint64_t *next, uint64_t step)
{
	struct given_back *last = *list;
	uint64_t handle;
	if (!last) {
		handle = *next;
		*next += step;
		return handle;
	}
	*list = last->next;
	handle = last->handle;
	free(last);
	return handle;
}

static void give_back(struct given_back **list, uint64_t handle)
{
	struct given_back *last = malloc(sizeof(*last));
	*last = (struct given_back){handle, *list};
	*list = last;
}

static struct object **place_of(enum kind kind, uint64_t handle)
{
	uint64_t hash = (handle >> 6 ^ handle >> 20 ^ (uint64_t)kind * 977) * UINT64_C(0x9E3779B97F4A7C15);
	return &places[hash >> 48];
}

struct object *fake_make_at(enum kind kind, uint64_t handle, int device, uint64_t bytes,
			    struct object *context)
{
	struct object *object = calloc(1, sizeof(*object));
	struct object **place = place_of(kind, handle);
	*object = (struct object){
		.handle = handle,
		.bytes = bytes,
		.serial = ++serials,
		.next = *place,
		.context = context,
		.kind = kind,
		.device = device,
		.refs = 1,
	};
	*place = object;
	if (kind == GRAPH_POINTER || kind == GRAPH) // many, and of no account in a walk
		return object;
	object->older = newest;
	if (newest)
		newest->newer = object;
	newest = object;
	return object;
}

struct object *fake_make(enum kind kind, int device, uint64_t bytes, struct object *context)
{
	uint64_t handle;
	if (has_address(kind)) {
		unsigned size = size_of(bytes);
		handle = take(&free_ranges[size], &next_range, UINT64_C(1) << size);
	} else {
		handle = take(&free_handles, &next_handle, 64);
	}
	return fake_make_at(kind, handle, device, bytes, context);
}

struct object *fake_find(enum kind kind, uint64_t handle)
{
	for (struct object *object = *place_of(kind, handle); object; object = object->next)
		if (object->handle == handle && object->kind == kind)
			return object;
	return NULL;
}

struct object *fake_find_pointer(uint64_t address)
{
	static const enum kind kinds[] = {LINEAR, MANAGED, ASYNC, IMPORTED_POINTER, GRAPH_POINTER};
	struct object *object = NULL;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && !object; i++)
		object = fake_find(kinds[i], address);
	return object;
}

// Device memory that an object holds by itself; pools hold that of theirs.
static uint64_t device_bytes(const struct object *object)
{
	switch (object->kind) {
	case LINEAR:
		return object->bytes;
	case ARRAY:
	case MIPMAP:
	case HANDLE:
		return object->is_imported || object->is_host ? 0 : object->bytes;
	case MODULE:
		return object->of ? 0 : fake_module_bytes;
	default:
		return 0;
	}
}

void fake_end_object(struct object *object)
{
	uint64_t bytes = device_bytes(object);
	if (bytes)
		(void)fake_take_memory(object->device, -bytes);
	struct object **link = place_of(object->kind, object->handle);
	while (*link != object)
		link = &(*link)->next;
	*link = object->next;
	if (object->newer)
		object->newer->older = object->older;
	else if (newest == object)
		newest = object->older;
	if (object->older)
		object->older->newer = object->newer;
	if (object->handle >> 40 == 0x70)
		; // of another process
	else if (has_address(object->kind))
		give_back(&free_ranges[size_of(object->bytes)], object->handle);
	else if (object->kind != REGISTERED && object->kind != MAPPING && object->kind != HOST_POINTER)
		give_back(&free_handles, object->handle);
	free(object);
}

unsigned fake_destroy(enum kind kind, uint64_t handle, unsigned otherwise)
{
	struct object *object = fake_find(kind, handle);
	if (!object)
		return otherwise;
	fake_end_object(object);
	return OK;
}

void fake_each(void (*each)(struct object *, void *), void *context)
{
	struct object *next;
	for (struct object *object = newest; object; object = next) {
		next = object->older;
		each(object, context);
	}
}

void *fake_pointer(const struct object *object)
{
	return (void *)(uintptr_t)object->handle;
}

// ---- Memory ---------------------------------------------------------------------

// What is in use, kept along, so that every allocation need not walk.
static uint64_t in_use[DEVICES_MAX];

unsigned fake_take_memory(int device, uint64_t bytes)
{
	if (device < 0 || device >= fake_n_devices)
		return INVALID_DEVICE;
	if ((int64_t)bytes > 0 && in_use[device] + bytes > capacity_bytes)
		return OUT_OF_MEMORY;
	in_use[device] += bytes;
	return OK;
}

uint64_t fake_used_bytes(int device)
{
	return in_use[device];
}

uint64_t fake_capacity_bytes(void)
{
	return capacity_bytes;
}

unsigned fake_end(const char *name, unsigned result)
{
	fake_note_call(name, result);
	fake_unlock();
	return result;
}
