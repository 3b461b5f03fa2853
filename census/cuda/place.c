// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Contexts and devices. A thread remembers the context it last had and what it
// found out about it, until any context ends (a generation). What it finds is a
// context the census saw made, another handle of a primary context, or one that
// nobody had told of: made by a hidden path, or before we came. Such a one is
// added as discovered, as the primary one if the driver says that this is active
// and we had not seen it become so.

#include "place.h"

#include "frame.h"
#include "ledger.h"
#include "objects.h"
#include "report.h"

#include "../driver.h"

#include <pthread.h>
#include <string.h>

#include "../../libtelemetry/rollcall.h"

#include "../../libtelemetry/banned.h"

_Atomic(void *) cuda_helpers[CUDA_HELPERS];

// Defines NAME as the driver's function of that type, or NULL.
#define HELPER(name, which, ...) \
	unsigned (*name)(__VA_ARGS__) = (unsigned (*)(__VA_ARGS__))atomic_load_explicit( \
		&cuda_helpers[which], memory_order_acquire)

struct device {
	_Atomic bool is_seen;
	_Atomic bool is_active; // its primary context
	_Atomic uint64_t references;
	_Atomic uint64_t asked;	 // how often the driver has been asked about it
	uint64_t settled; // the last of these whose answer was taken; under the lock
};

static struct device devices[CUDA_DEVICES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // of the primary contexts
static _Atomic uint64_t generation = 1;

static struct device *device_at(int device)
{
	return &devices[cuda_slot_of(device < 0 ? 0 : device)];
}

// ---- Devices ---------------------------------------------------------------------

static void put_hex(char *to, const unsigned char *bytes, size_t n)
{
	static const char digits[] = "0123456789abcdef";
	for (size_t i = 0; i < n; i++) {
		to[2 * i] = digits[bytes[i] >> 4];
		to[2 * i + 1] = digits[bytes[i] & 15];
	}
}

// As the driver's own tools write it: GPU-8-4-4-4-12.
static void write_uuid(const struct cuda_uuid *uuid, char ret_text[41])
{
	static const unsigned char groups[] = {4, 2, 2, 2, 6};
	size_t at = 4, from = 0;
	memcpy(ret_text, "GPU-", 4);
	for (size_t i = 0; i < sizeof(groups); i++) {
		if (i > 0)
			ret_text[at++] = '-';
		put_hex(ret_text + at, uuid->bytes + from, groups[i]);
		at += 2u * groups[i];
		from += groups[i];
	}
	ret_text[at] = '\0';
}

static void introduce(int device)
{
	HELPER(get_uuid, CUDA_DEVICE_GET_UUID, struct cuda_uuid *, int);
	HELPER(get_name, CUDA_DEVICE_GET_NAME, char *, int, int);
	struct cuda_uuid uuid;
	char text[41];
	char name[128] = "";
	bool has_uuid = get_uuid && !get_uuid(&uuid, device);
	bool has_name = get_name && !get_name(name, sizeof(name) - 1, device);
	if (has_uuid)
		write_uuid(&uuid, text);
	cuda_report_device(device);
	(void)rollcall_device_name(device, has_name ? name : NULL, has_uuid ? text : NULL);
}

void cuda_device_seen(int device)
{
	if (device < 0 || TELE_LIKELY(atomic_load_explicit(&device_at(device)->is_seen, memory_order_relaxed)))
		return;
	if (!atomic_exchange_explicit(&device_at(device)->is_seen, true, memory_order_relaxed))
		introduce(device);
}

// ---- Primary contexts ---------------------------------------------------------------

// What the driver says, or what we think where it cannot be asked.
static bool is_active_now(int device, bool otherwise)
{
	HELPER(get_state, CUDA_PRIMARY_CTX_GET_STATE, int, unsigned *, int *);
	unsigned flags;
	int is_active = 0;
	return get_state && !get_state(device, &flags, &is_active) ? is_active != 0 : otherwise;
}

// Threads may retain and release at once, so the answer counts of whoever came
// last to ask: each asks after its own call, so that one saw what is. The driver
// is asked with no lock of ours held: it has its own, which a fork takes first.
bool cuda_primary_settle(int device, bool otherwise)
{
	struct device *of = device_at(device);
	uint64_t turn = atomic_fetch_add_explicit(&of->asked, 1, memory_order_acq_rel) + 1;
	bool is_active = is_active_now(device, otherwise);
	pthread_mutex_lock(&lock);
	bool was_active = atomic_load_explicit(&of->is_active, memory_order_relaxed);
	if (turn > of->settled) {
		of->settled = turn;
		atomic_store_explicit(&of->is_active, is_active, memory_order_relaxed);
	} else {
		is_active = was_active;
	}
	pthread_mutex_unlock(&lock);
	cuda_device_seen(device);
	if (is_active && !was_active)
		rollcall_driver_context_made(device);
	if (!is_active && was_active) {
		rollcall_driver_context_gone(device);
		cuda_context_closed();
	}
	return is_active;
}

static void remember_handle(uint64_t handle, int device)
{
	const struct cuda_object alias = {
		.handle = handle,
		.parent = cuda_primary_key(device),
		.device = device,
		.kind = CUDA_IS_CONTEXT,
		.class = CUDA_UNCOUNTED,
	};
	struct cuda_object old;
	if (!cuda_ledger_find(CUDA_IS_CONTEXT, handle, &old) || old.parent != alias.parent)
		(void)cuda_object_put(&alias);
}

void cuda_primary_retained(int device, uint64_t handle)
{
	if (handle)
		remember_handle(handle, device);
	atomic_fetch_add_explicit(&device_at(device)->references, 1, memory_order_relaxed);
	(void)cuda_primary_settle(device, true);
}

bool cuda_primary_let_go(int device)
{
	_Atomic uint64_t *references = &device_at(device)->references;
	uint64_t n = atomic_load_explicit(references, memory_order_relaxed);
	while (n > 0 && !atomic_compare_exchange_weak_explicit(references, &n, n - 1, memory_order_relaxed,
							       memory_order_relaxed))
		;
	return n <= 1;
}

void cuda_primary_keep(int device)
{
	atomic_fetch_add_explicit(&device_at(device)->references, 1, memory_order_relaxed);
}

uint64_t cuda_primary_references(int device)
{
	return atomic_load_explicit(&device_at(device)->references, memory_order_relaxed);
}

bool cuda_primary_is_active(int device)
{
	return atomic_load_explicit(&device_at(device)->is_active, memory_order_relaxed);
}

// ---- Contexts --------------------------------------------------------------------------

void cuda_context_made(uint64_t handle, int device)
{
	const struct cuda_object context = {
		.handle = handle,
		.device = device,
		.refs = 1,
		.kind = CUDA_IS_CONTEXT,
		.class = CUDA_CONTEXT,
	};
	cuda_device_seen(device);
	cuda_object_made(&context);
}

// A current context that no call we saw had made.
static uint64_t discover(uint64_t handle, int device)
{
	struct cuda_counts counts;
	cuda_ledger_read(cuda_slot_of(device), &counts);
	// Green contexts go by handles of their own for the primary one, which end
	// with them: not remembered beyond this generation.
	bool is_green = counts.live[CUDA_GREEN] > 0;
	if (is_green || (!cuda_primary_is_active(device) && is_active_now(device, false))) {
		if (!is_green) {
			remember_handle(handle, device);
			cuda_tally(CUDA_DISCOVERED);
		}
		(void)cuda_primary_settle(device, true);
		return cuda_primary_key(device);
	}
	cuda_tally(CUDA_DISCOVERED);
	cuda_context_made(handle, device);
	return handle;
}

static bool look_up(uint64_t handle, struct cuda_place *ret_place)
{
	HELPER(get_device, CUDA_CTX_GET_DEVICE, int *);
	struct cuda_object context;
	if (cuda_ledger_find(CUDA_IS_CONTEXT, handle, &context)) {
		ret_place->device = context.device;
		ret_place->owner = context.parent ? context.parent : handle;
		// A reset primary context comes back with its next use.
		if (context.parent && !cuda_primary_is_active(context.device))
			(void)cuda_primary_settle(context.device, true);
		return true;
	}
	if (!get_device || get_device(&ret_place->device))
		return false;
	ret_place->owner = discover(handle, ret_place->device);
	return true;
}

bool cuda_place_now(struct cuda_place *ret_place)
{
	HELPER(get_current, CUDA_CTX_GET_CURRENT, struct CUctx_st **);
	struct CUctx_st *current = NULL;
	struct cuda_thread *self = &cuda_self;
	if (!get_current || get_current(&current) || !current)
		return false;
	uint64_t handle = (uint64_t)(uintptr_t)current;
	uint64_t now = atomic_load_explicit(&generation, memory_order_acquire);
	if (TELE_LIKELY(handle == self->context && now == self->generation)) {
		*ret_place = (struct cuda_place){self->owner, self->device};
		return true;
	}
	if (!look_up(handle, ret_place))
		return false;
	self->context = handle;
	self->generation = now;
	self->owner = ret_place->owner;
	self->device = ret_place->device;
	return true;
}

int cuda_device_or_first(void)
{
	struct cuda_place place;
	return cuda_place_now(&place) ? place.device : 0;
}

int cuda_device_of_memory(uint64_t address)
{
	HELPER(get_attribute, CUDA_POINTER_GET_ATTRIBUTE, void *, int, unsigned long long);
	int device = -1;
	if (!get_attribute || get_attribute(&device, CUDA_POINTER_DEVICE_ORDINAL, address))
		return -1;
	return device;
}

static int count_devices(void)
{
	static _Atomic int n_devices; // 0: not asked; the driver finds them once
	HELPER(get_count, CUDA_DEVICE_GET_COUNT, int *);
	int n = atomic_load_explicit(&n_devices, memory_order_relaxed);
	if (TELE_LIKELY(n > 0) || !get_count || get_count(&n))
		return n;
	atomic_store_explicit(&n_devices, n, memory_order_relaxed);
	return n;
}

int cuda_device_of_stream(struct CUstream_st *stream, uint64_t address)
{
	HELPER(get_device, CUDA_STREAM_GET_DEVICE, struct CUstream_st *, int *);
	struct cuda_place place;
	bool has_place = cuda_place_now(&place);
	// A default stream is the current context's.
	if ((uintptr_t)stream > CUDA_STREAM_PER_THREAD && count_devices() != 1) {
		int device = -1;
		if (get_device && !get_device(stream, &device))
			return device;
		device = address ? cuda_device_of_memory(address) : -1;
		if (device >= 0)
			return device;
	}
	return has_place ? place.device : -1;
}

bool cuda_is_capturing(struct CUstream_st *stream, bool is_per_thread)
{
	int status = CUDA_CAPTURE_NONE;
	HELPER(ask, is_per_thread ? CUDA_STREAM_IS_CAPTURING_PER_THREAD : CUDA_STREAM_IS_CAPTURING,
	       struct CUstream_st *, int *);
	// On the legacy stream it may fail because another one is captured: not this one.
	return ask && !ask(stream, &status) && status != CUDA_CAPTURE_NONE;
}

void cuda_places_change(void)
{
	// Pairs with the load in cuda_place_now.
	atomic_fetch_add_explicit(&generation, 1, memory_order_release);
}

// ---- fork ---------------------------------------------------------------------------------

void cuda_places_reset(void)
{
	for (unsigned i = 0; i < CUDA_DEVICES; i++) {
		atomic_store_explicit(&devices[i].is_seen, false, memory_order_relaxed);
		atomic_store_explicit(&devices[i].is_active, false, memory_order_relaxed);
		atomic_store_explicit(&devices[i].references, 0, memory_order_relaxed);
	}
	cuda_places_change();
}

void cuda_places_renew_lock(void)
{
	lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}
