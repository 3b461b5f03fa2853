// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Readings of the census, without a lock. Each cell is read in one piece by its
// latch. Then everything that only rises is looked at again: if the sum of it
// stands where it stood, nothing changed in between and the reading as a whole
// is of one moment. A program that never holds still that long gets a reading
// in which each cell is of one moment, and so are the sums' invariants.

#include "census.h"

#include <errno.h>
#include <string.h>

#include "../libtelemetry/publish/publisher.h"

#include "../libtelemetry/banned.h"

#define WHOLE_TRIES 4

static void add_counts(struct census_counts *sum, const uint64_t *words)
{
	uint64_t all[CENSUS_COUNTS_WORDS];
	memcpy(all, sum, sizeof(all));
	for (size_t i = 0; i < CENSUS_COUNTS_WORDS; i++)
		all[i] += words[i];
	memcpy(sum, all, sizeof(all));
}

static void add_reading(struct census_reading *sum, const struct census_reading *reading)
{
	uint64_t words[CENSUS_COUNTS_WORDS];
	memcpy(words, &reading->counts, sizeof(words));
	add_counts(&sum->counts, words);
	sum->contexts_created += reading->contexts_created;
	sum->contexts_released += reading->contexts_released;
	sum->modules_loaded += reading->modules_loaded;
	sum->modules_unloaded += reading->modules_unloaded;
}

static uint64_t live_bytes_of(const struct census_reading *reading)
{
	uint64_t bytes = 0;
	for (unsigned label = 0; label < CENSUS_LABELS; label++)
		bytes += reading->counts.live_bytes[label];
	return bytes;
}

// After the cells: their peak is never below them, but for one that is being
// reset at this moment.
static uint64_t read_peak(struct census_level *level, const struct census_reading *reading)
{
	uint64_t peak = atomic_load_explicit(&level->peak_bytes, memory_order_acquire);
	return tele_max_u64(peak, live_bytes_of(reading));
}

// Reads one slot and adds to *stamp what only rises.
static bool read_once(unsigned slot, struct census_reading *ret_reading, uint64_t *stamp)
{
	struct census_device *device = &census_devices[slot];
	*ret_reading = (struct census_reading){0};
	for (unsigned shard = 0; shard < CENSUS_SHARDS; shard++) {
		struct census_cell *cell = &census_cells[slot][shard];
		uint64_t words[CENSUS_COUNTS_WORDS];
		uint64_t seq;
		if (!census_latch_read(&cell->seq, cell->copies[0], CENSUS_COUNTS_WORDS, words, &seq))
			return false;
		add_counts(&ret_reading->counts, words);
		*stamp += seq;
	}
	// Releases first; pairs with the counting in devices.c.
	ret_reading->contexts_released =
		atomic_load_explicit(&device->contexts_released, memory_order_acquire);
	ret_reading->contexts_created =
		atomic_load_explicit(&device->contexts_created, memory_order_acquire);
	ret_reading->modules_unloaded =
		atomic_load_explicit(&device->modules_unloaded, memory_order_acquire);
	ret_reading->modules_loaded =
		atomic_load_explicit(&device->modules_loaded, memory_order_acquire);
	*stamp += ret_reading->contexts_created + ret_reading->contexts_released +
		  ret_reading->modules_loaded + ret_reading->modules_unloaded;
	ret_reading->peak_pool_bytes = read_peak(&device->level, ret_reading);
	return true;
}

static uint64_t stamp_of(unsigned slot)
{
	const struct census_device *device = &census_devices[slot];
	uint64_t stamp = 0;
	for (unsigned shard = 0; shard < CENSUS_SHARDS; shard++)
		stamp += atomic_load_explicit(&census_cells[slot][shard].seq, memory_order_acquire);
	stamp += atomic_load_explicit(&device->contexts_released, memory_order_acquire);
	stamp += atomic_load_explicit(&device->contexts_created, memory_order_acquire);
	stamp += atomic_load_explicit(&device->modules_unloaded, memory_order_acquire);
	stamp += atomic_load_explicit(&device->modules_loaded, memory_order_acquire);
	return stamp;
}

int census_read_slot(unsigned slot, struct census_reading *ret_reading)
{
	bool is_read = false;
	for (unsigned tries = 0; tries < WHOLE_TRIES; tries++) {
		struct census_reading reading;
		uint64_t stamp = 0;
		if (!read_once(slot, &reading, &stamp))
			continue;
		*ret_reading = reading;
		is_read = true;
		if (stamp_of(slot) == stamp)
			break;
	}
	return is_read ? 0 : -EAGAIN;
}

// One pass over all slots in use. Returns their number, or -EAGAIN.
static int read_all_once(struct census_reading *ret_total, struct census_reading *ret_devices,
			 unsigned n_max, bool *ret_is_whole)
{
	unsigned n = census_device_slots();
	uint64_t uncounted = census_devices_uncounted();
	uint64_t stamp = 0;
	*ret_total = (struct census_reading){0};
	for (unsigned i = 0; i < n + (uncounted > 0); i++) {
		struct census_reading reading;
		if (!read_once(i < n ? i : CENSUS_SLOT_OTHERS, &reading, &stamp))
			return -EAGAIN;
		add_reading(ret_total, &reading);
		if (i < n && i < n_max)
			ret_devices[i] = reading;
	}
	uint64_t again = 0;
	for (unsigned i = 0; i < n + (uncounted > 0); i++)
		again += stamp_of(i < n ? i : CENSUS_SLOT_OTHERS);
	*ret_is_whole = again == stamp && census_devices_named() == n + uncounted;
	ret_total->peak_pool_bytes = read_peak(&census_level_all, ret_total);
	return (int)n;
}

int census_read_all(struct census_reading *ret_total, struct census_reading *ret_devices,
		    unsigned n_max)
{
	int n = -EAGAIN;
	for (unsigned tries = 0; tries < WHOLE_TRIES; tries++) {
		bool is_whole = false;
		n = read_all_once(ret_total, ret_devices, ret_devices ? n_max : 0, &is_whole);
		if (n >= 0 && is_whole)
			break;
	}
	return n;
}

// ---- The public readings --------------------------------------------------------------

static struct rollcall_census census_of(const struct census_reading *reading)
{
	const struct census_counts *counts = &reading->counts;
	return (struct rollcall_census){
		.live_working_pools = counts->live_pools[ROLLCALL_WORKING],
		.live_working_bytes = counts->live_bytes[ROLLCALL_WORKING],
		.live_constant_pools = counts->live_pools[ROLLCALL_CONSTANT],
		.live_constant_bytes = counts->live_bytes[ROLLCALL_CONSTANT],
		.live_staging_pools = counts->live_pools[ROLLCALL_STAGING],
		.live_staging_bytes = counts->live_bytes[ROLLCALL_STAGING],
		.live_unlabelled_pools = counts->live_pools[ROLLCALL_UNLABELLED],
		.live_unlabelled_bytes = counts->live_bytes[ROLLCALL_UNLABELLED],
		.working_pools_allocated = counts->allocated[ROLLCALL_WORKING],
		.constant_pools_allocated = counts->allocated[ROLLCALL_CONSTANT],
		.staging_pools_allocated = counts->allocated[ROLLCALL_STAGING],
		.unlabelled_pools_allocated = counts->allocated[ROLLCALL_UNLABELLED],
		.pools_freed = counts->freed,
		.contexts_created = reading->contexts_created,
		.contexts_released = reading->contexts_released,
		.modules_loaded = reading->modules_loaded,
		.modules_unloaded = reading->modules_unloaded,
		.peak_pool_bytes = reading->peak_pool_bytes,
		.outlived_pools = counts->outlived_pools,
		.outlived_bytes = counts->outlived_bytes,
	};
}

// A caller of a later version gets what we do not know as unknown.
static void give(struct rollcall_census *ret_census, size_t size, const struct rollcall_census *census)
{
	memset(ret_census, 0xff, size);
	memcpy(ret_census, census, size < sizeof(*census) ? size : sizeof(*census));
}

// The slots behind a device argument, or -ENOENT; -1 is all.
static int slot_of(int device)
{
	if (device == -1)
		return CENSUS_SLOTS;
	int slot = census_device_find(device);
	return slot >= 0 && slot < CENSUS_DEVICES_MAX ? slot : -ENOENT;
}

int rollcall_census_snapshot(int device, struct rollcall_census *ret_census, size_t size)
{
	tele_publisher_touch();
	int slot = slot_of(device);
	if (slot < 0) {
		memset(ret_census, 0, size);
		return slot;
	}
	struct census_reading reading;
	int rc;
	// Only a program that makes progress can make this go round again.
	do {
		rc = slot == CENSUS_SLOTS ? census_read_all(&reading, NULL, 0)
					  : census_read_slot((unsigned)slot, &reading);
	} while (rc < 0);
	struct rollcall_census census = census_of(&reading);
	give(ret_census, size, &census);
	return 0;
}

int rollcall_census_reset_peak(int device)
{
	tele_publisher_touch();
	int slot = slot_of(device);
	if (slot < 0)
		return slot;
	if (slot < CENSUS_SLOTS) {
		census_level_reset_peak(&census_devices[slot].level);
		return 0;
	}
	census_level_reset_peak(&census_level_all);
	for (unsigned i = 0; i < census_device_slots(); i++)
		census_level_reset_peak(&census_devices[i].level);
	return 0;
}

int rollcall_census_equal(const struct rollcall_census *a, const struct rollcall_census *b,
			  size_t size)
{
	return memcmp(a, b, size) == 0;
}

uint64_t rollcall_census_live_pools(const struct rollcall_census *c)
{
	return c->live_working_pools + c->live_constant_pools + c->live_staging_pools +
	       c->live_unlabelled_pools;
}

uint64_t rollcall_census_live_pool_bytes(const struct rollcall_census *c)
{
	return c->live_working_bytes + c->live_constant_bytes + c->live_staging_bytes +
	       c->live_unlabelled_bytes;
}

// A program that releases more than it created has none unreleased.
uint64_t rollcall_census_unreleased_contexts(const struct rollcall_census *c)
{
	return c->contexts_created > c->contexts_released ? c->contexts_created - c->contexts_released
							  : 0;
}

uint64_t rollcall_census_live_modules(const struct rollcall_census *c)
{
	return c->modules_loaded > c->modules_unloaded ? c->modules_loaded - c->modules_unloaded : 0;
}
