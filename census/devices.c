// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Which devices the program named, and what is counted of one without pools:
// contexts, modules, its memory as last observed, its name. The first 64 have
// a slot and a section each; the later ones share the last slot, and are in
// the totals only.
//
// A device is found by one load from a table that only grows, under a lock of
// its own. 1,024 devices are remembered; what lies beyond is counted in the
// last slot all the same, and devices_uncounted stands still.
//
// `released` is loaded before `created`: every release that a reader sees, it
// sees the creation of.

#include "census.h"
#include "driver.h"

#include <errno.h>

#include "../libtelemetry/publish/publisher.h"

#include "../libtelemetry/banned.h"

#define NAMED_MAX 1024
#define PLACES 2048 // of the look-up table, a power of two

struct census_device census_devices[CENSUS_SLOTS];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
// A place holds (device + 1) << 32 | slot, or 0. Written under `lock` with
// release, once.
static _Atomic uint64_t places[PLACES];
static _Atomic int32_t named[NAMED_MAX];
static _Atomic uint32_t n_named;

// Finds a device, or the place where it would go.
static bool look_up(int device, size_t *ret_place, unsigned *ret_slot)
{
	uint64_t key = (uint64_t)(uint32_t)device + 1;
	size_t i = (size_t)(unsigned)device & (PLACES - 1);
	for (;; i = (i + 1) & (PLACES - 1)) {
		// Pairs with the store in add.
		uint64_t place = atomic_load_explicit(&places[i], memory_order_acquire);
		if (place >> 32 == key) {
			*ret_slot = (unsigned)(place & UINT32_MAX);
			return true;
		}
		if (place == 0) {
			*ret_place = i;
			return false;
		}
	}
}

int census_device_find(int device)
{
	size_t place;
	unsigned slot;
	return device >= 0 && look_up(device, &place, &slot) ? (int)slot : -1;
}

static unsigned add(int device)
{
	size_t place = 0;
	unsigned slot = CENSUS_SLOT_OTHERS;
	bool is_new = false;
	pthread_mutex_lock(&lock);
	uint32_t n = atomic_load_explicit(&n_named, memory_order_relaxed);
	if (!look_up(device, &place, &slot) && n < NAMED_MAX) {
		slot = n < CENSUS_DEVICES_MAX ? n : CENSUS_SLOT_OTHERS;
		atomic_store_explicit(&named[n], device, memory_order_relaxed);
		// Pairs with the loads in census_device_slots and census_devices_named.
		atomic_store_explicit(&n_named, n + 1, memory_order_release);
		uint64_t key = (uint64_t)(uint32_t)device + 1;
		atomic_store_explicit(&places[place], key << 32 | slot, memory_order_release);
		is_new = true;
	}
	pthread_mutex_unlock(&lock);
	if (is_new && slot < CENSUS_DEVICES_MAX)
		census_section_device(device);
	return slot;
}

unsigned census_device_slot(int device)
{
	TELE_ASSERT(device >= 0);
	size_t place;
	unsigned slot;
	return TELE_LIKELY(look_up(device, &place, &slot)) ? slot : add(device);
}

unsigned census_devices_named(void)
{
	return atomic_load_explicit(&n_named, memory_order_acquire);
}

int census_device_named(unsigned n)
{
	return atomic_load_explicit(&named[n], memory_order_relaxed);
}

unsigned census_device_slots(void)
{
	unsigned n = census_devices_named();
	return n < CENSUS_DEVICES_MAX ? n : CENSUS_DEVICES_MAX;
}

uint64_t census_devices_uncounted(void)
{
	return census_devices_named() - census_device_slots();
}

// ---- Contexts and modules -------------------------------------------------------------

// Offsets in struct census_device of what is counted alike.
struct kind {
	size_t made, gone, of_driver;
	uint32_t own;
};
static const struct kind contexts = {
	offsetof(struct census_device, contexts_created),
	offsetof(struct census_device, contexts_released),
	offsetof(struct census_device, driver_contexts),
	CENSUS_OWN_CONTEXTS,
};
static const struct kind modules = {
	offsetof(struct census_device, modules_loaded),
	offsetof(struct census_device, modules_unloaded),
	offsetof(struct census_device, driver_modules),
	CENSUS_OWN_MODULES,
};

static _Atomic uint64_t *count_at(unsigned slot, size_t offset)
{
	return (_Atomic uint64_t *)(void *)((char *)&census_devices[slot] + offset);
}

// Release, for read_slot's acquire: see the head of the file.
static void add_to(unsigned slot, size_t offset, uint64_t n)
{
	atomic_fetch_add_explicit(count_at(slot, offset), n, memory_order_release);
}

static int count(int device, const struct kind *kind, bool is_made)
{
	tele_publisher_touch();
	if (device < 0) {
		tele_count_refused();
		return -EINVAL;
	}
	census_use();
	unsigned slot = census_device_slot(device);
	if (!census_device_is_own(slot, kind->own)) {
		pthread_mutex_lock(&lock);
		// What the driver was seen to hold goes: the program counts from here on.
		if (census_device_make_own(slot, kind->own))
			add_to(slot, kind->gone,
			       atomic_exchange_explicit(count_at(slot, kind->of_driver), 0,
							memory_order_relaxed));
		pthread_mutex_unlock(&lock);
	}
	add_to(slot, is_made ? kind->made : kind->gone, 1);
	return 0;
}

// The same for what was seen at the driver's calls; seldom enough for a lock.
static void count_driver(int device, const struct kind *kind, bool is_made)
{
	if (device < 0)
		return;
	census_use();
	unsigned slot = census_device_slot(device);
	pthread_mutex_lock(&lock);
	if (!census_device_is_own(slot, kind->own)) {
		add_to(slot, is_made ? kind->made : kind->gone, 1);
		add_to(slot, kind->of_driver, is_made ? 1 : UINT64_MAX);
	}
	pthread_mutex_unlock(&lock);
}

void rollcall_driver_context_made(int device)
{
	count_driver(device, &contexts, true);
}

void rollcall_driver_context_gone(int device)
{
	count_driver(device, &contexts, false);
}

void rollcall_driver_module_made(int device)
{
	count_driver(device, &modules, true);
}

void rollcall_driver_module_gone(int device)
{
	count_driver(device, &modules, false);
}

void rollcall_driver_started(void)
{
	tele_publisher_touch();
}

int rollcall_context_created(int device)
{
	return count(device, &contexts, true);
}

int rollcall_context_released(int device)
{
	return count(device, &contexts, false);
}

int rollcall_module_loaded(int device)
{
	return count(device, &modules, true);
}

int rollcall_module_unloaded(int device)
{
	return count(device, &modules, false);
}

// ---- What is told of a device ------------------------------------------------------------

// The slot of a device that has a section, or a negative errno value.
static int described_slot(int device)
{
	unsigned slot = device < 0 ? 0 : census_device_slot(device);
	if (device >= 0 && slot < CENSUS_DEVICES_MAX)
		return (int)slot;
	tele_count_refused();
	return device < 0 ? -EINVAL : -ENOSPC;
}

int rollcall_device_memory(int device, uint64_t used_bytes, uint64_t total_bytes)
{
	tele_publisher_touch();
	int slot = described_slot(device);
	if (slot < 0)
		return slot;
	struct census_device *record = &census_devices[slot];
	pthread_mutex_lock(&lock);
	uint64_t at_ns = rollcall_clock_ns();
	for (unsigned side = 0; side < 2; side++) {
		census_latch_step(&record->memory_seq);
		census_word_set(&record->memory[side][0], used_bytes);
		census_word_set(&record->memory[side][1], total_bytes);
		census_word_set(&record->memory[side][2], at_ns);
	}
	pthread_mutex_unlock(&lock);
	return 0;
}

int rollcall_device_name(int device, const char *name, const char *uuid)
{
	tele_publisher_touch();
	int slot = described_slot(device);
	if (slot < 0)
		return slot;
	struct census_device *record = &census_devices[slot];
	uint64_t name_id = name ? tele_intern(name) : 0;
	uint64_t uuid_id = uuid ? tele_intern(uuid) : 0;
	if (name_id)
		atomic_store_explicit(&record->name_id, name_id, memory_order_relaxed);
	if (uuid_id)
		atomic_store_explicit(&record->uuid_id, uuid_id, memory_order_relaxed);
	return 0;
}

// ---- fork -----------------------------------------------------------------------------------

void census_devices_lock(void)
{
	pthread_mutex_lock(&lock);
}

void census_devices_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

static void reset_device(struct census_device *record)
{
	atomic_store_explicit(&record->contexts_created, 0, memory_order_relaxed);
	atomic_store_explicit(&record->contexts_released, 0, memory_order_relaxed);
	atomic_store_explicit(&record->modules_loaded, 0, memory_order_relaxed);
	atomic_store_explicit(&record->modules_unloaded, 0, memory_order_relaxed);
	atomic_store_explicit(&record->level.live_bytes, 0, memory_order_relaxed);
	atomic_store_explicit(&record->level.peak_bytes, 0, memory_order_relaxed);
	atomic_store_explicit(&record->name_id, 0, memory_order_relaxed);
	atomic_store_explicit(&record->uuid_id, 0, memory_order_relaxed);
	atomic_store_explicit(&record->memory_seq, 0, memory_order_relaxed);
	atomic_store_explicit(&record->own, 0, memory_order_relaxed);
	atomic_store_explicit(&record->driver_contexts, 0, memory_order_relaxed);
	atomic_store_explicit(&record->driver_modules, 0, memory_order_relaxed);
}

void census_devices_reset(void)
{
	if (census_devices_named() == 0)
		return;
	for (unsigned slot = 0; slot < CENSUS_SLOTS; slot++)
		reset_device(&census_devices[slot]);
	for (unsigned i = 0; i < PLACES; i++)
		atomic_store_explicit(&places[i], 0, memory_order_relaxed);
	atomic_store_explicit(&n_named, 0, memory_order_relaxed);
}
