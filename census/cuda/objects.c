// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The census knows a pool by a serial number and not by its address: addresses
// come back, from another thread's allocation while this one's free is still
// being counted. So the census needs no word of what was taken out and put back.
//
// A pool is told to the census before it enters the ledger: whoever takes it
// out there finds it here.

#include "objects.h"

#include "frame.h"
#include "labels.h"
#include "place.h"
#include "report.h"

#include "abi.h"
#include "../driver.h"

#include "../../libtelemetry/banned.h"

#define SERIALS_CLAIMED 256

static _Atomic uint64_t serials = 1;

static uint64_t next_serial(void)
{
	struct cuda_thread *self = &cuda_self;
	if (TELE_UNLIKELY(self->serials_left == 0)) {
		self->next_serial = atomic_fetch_add_explicit(&serials, SERIALS_CLAIMED, memory_order_relaxed);
		self->serials_left = SERIALS_CLAIMED;
	}
	self->serials_left--;
	return self->next_serial++;
}

static bool is_pool(const struct cuda_object *object)
{
	return object->class < CUDA_CLASSES_OF_POOLS;
}

static void tell_census(struct cuda_object *object)
{
	bool is_pushed = false;
	unsigned ruled = cuda_label_of(object->bytes, cuda_self.caller);
	uint64_t serial = next_serial();
	int label = rollcall_driver_pool_made(object->device, serial, ruled, object->bytes, &is_pushed);
	if (label < 0) {
		cuda_tally(CUDA_UNTRACKED);
		return;
	}
	object->serial = serial;
	object->label = (uint8_t)label;
	if (is_pushed)
		cuda_tally(CUDA_LABELLED_BY_PROGRAM);
	else if (ruled)
		cuda_tally(CUDA_LABELLED_BY_RULE);
}

void cuda_object_made(const struct cuda_object *object)
{
	struct cuda_object made = *object, old;
	bool failed;
	made.epoch = cuda_epoch();
	cuda_device_seen(made.device);
	if (is_pool(&made))
		tell_census(&made);
	else if (made.class == CUDA_MODULE)
		rollcall_driver_module_made(made.device);
	else if (made.class == CUDA_CONTEXT || made.class == CUDA_GREEN)
		rollcall_driver_context_made(made.device);
	if (cuda_ledger_put(&made, true, &old, &failed))
		cuda_object_gone(&old);
	if (failed) {
		cuda_object_gone(&made);
		cuda_tally(CUDA_UNTRACKED);
	}
}

void cuda_object_made_here(unsigned kind, unsigned class, uint64_t handle, uint64_t bytes, unsigned flags)
{
	struct cuda_place place;
	if (!cuda_place_now(&place)) {
		cuda_tally(CUDA_UNPLACED);
		return;
	}
	cuda_object_made(&(struct cuda_object){
		.handle = handle,
		.bytes = bytes,
		.parent = flags & CUDA_ENDS_WITH_PARENT ? place.owner : 0,
		.device = place.device,
		.refs = 1,
		.kind = (uint8_t)kind,
		.class = (uint8_t)class,
		.flags = (uint8_t)flags,
	});
}

bool cuda_object_put(const struct cuda_object *object)
{
	struct cuda_object old;
	bool failed;
	if (cuda_ledger_put(object, true, &old, &failed))
		cuda_object_gone(&old);
	if (failed)
		cuda_tally(CUDA_UNTRACKED);
	return !failed;
}

void cuda_pool_let_go(uint64_t pool)
{
	struct cuda_object left;
	// A pool in use lives on after its destruction; without that it holds a reference itself.
	if (cuda_ledger_change(CUDA_IS_POOL, pool, 0, -1, 0, 0, 0, true, &left) == CUDA_CHANGE_ENDED)
		cuda_object_gone(&left);
}

void cuda_object_gone(const struct cuda_object *object)
{
	if (object->kind == CUDA_IS_POINTER && object->parent && !(object->flags & CUDA_ENDS_WITH_PARENT))
		cuda_pool_let_go(object->parent);
	if (is_pool(object)) {
		if (object->serial)
			rollcall_driver_pool_gone(object->device, object->serial);
	} else if (object->class == CUDA_MODULE) {
		rollcall_driver_module_gone(object->device);
	} else if (object->class == CUDA_CONTEXT || object->class == CUDA_GREEN) {
		rollcall_driver_context_gone(object->device);
		cuda_context_closed();
	}
}

void cuda_object_back(const struct cuda_object *object)
{
	struct cuda_object old;
	bool failed;
	if (cuda_ledger_put(object, false, &old, &failed))
		cuda_object_gone(&old);
	if (failed) {
		cuda_object_gone(object);
		cuda_tally(CUDA_UNTRACKED);
	}
	// A mapping holds its handle, which lost it when the mapping was taken.
	if (object->kind == CUDA_IS_MAPPING)
		(void)cuda_ledger_change(CUDA_IS_HANDLE, object->parent, 0, 1, 0, 0, 0, false, &old);
}

// ---- What a call is about to end -----------------------------------------------------

bool cuda_object_take(unsigned kind, uint64_t handle)
{
	struct cuda_taken *taken = &cuda_self.taken;
	taken->object = (struct cuda_object){0};
	bool is_known = cuda_ledger_take(kind, handle, &taken->object);
	taken->change = is_known ? CUDA_CHANGE_ENDED : CUDA_CHANGE_NONE;
	return is_known;
}

void cuda_object_release(unsigned kind, uint64_t handle)
{
	struct cuda_taken *taken = &cuda_self.taken;
	taken->object = (struct cuda_object){0};
	taken->change = cuda_ledger_change(kind, handle, -1, 0, 0, 0, 0, true, &taken->object);
	if (taken->change == CUDA_CHANGE_ENDED)
		taken->object.refs = 1; // as it was, should it go back
}

void cuda_object_take_others(uint64_t parent)
{
	(void)cuda_ledger_take_children(parent, &cuda_self.taken.others);
}

void cuda_object_others_after(bool is_ended)
{
	struct cuda_taken *taken = &cuda_self.taken;
	// Handles first, for their mappings to find them.
	cuda_batch_end(&taken->handles, is_ended ? cuda_object_gone : cuda_object_back);
	cuda_batch_end(&taken->others, is_ended ? cuda_object_gone : cuda_object_back);
}

static void undo(enum cuda_change change, const struct cuda_object *object)
{
	struct cuda_object left;
	if (change == CUDA_CHANGE_ENDED)
		cuda_object_back(object);
	else if (change == CUDA_CHANGE_MADE)
		(void)cuda_ledger_change(object->kind, object->handle, 1, 0, 0, 0, 0, false, &left);
}

unsigned cuda_object_after(unsigned result)
{
	struct cuda_taken *taken = &cuda_self.taken;
	enum cuda_change change = taken->change;
	taken->change = CUDA_CHANGE_NONE;
	if (result != CUDA_OK)
		undo(change, &taken->object);
	else if (change == CUDA_CHANGE_ENDED)
		cuda_object_gone(&taken->object);
	else if (change == CUDA_CHANGE_NONE && taken->object.kind == 0)
		cuda_tally(CUDA_UNKNOWN_FREES);
	return result;
}

void cuda_object_put_back(void)
{
	struct cuda_taken *taken = &cuda_self.taken;
	enum cuda_change change = taken->change;
	taken->change = CUDA_CHANGE_NONE;
	undo(change, &taken->object);
	cuda_object_others_after(false);
}

bool cuda_object_find_pool(uint64_t address, bool is_labelled, int *ret_device, uint64_t *ret_serial)
{
	struct cuda_object object;
	if (!cuda_ledger_label(CUDA_IS_POINTER, address, is_labelled, &object) || !is_pool(&object))
		return false;
	*ret_device = object.device;
	*ret_serial = object.serial;
	return object.serial != 0;
}
