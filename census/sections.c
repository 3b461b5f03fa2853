// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// How the census reaches the publisher: collectors for the ticks, and the same
// readings put into a boundary slot by the thread that is at the boundary. A
// field that nobody told us of is unknown, and so is the time of a section that
// holds nothing: a segment whose census has a time is kept as evidence. A
// reading that could not be taken leaves the last one, with its own time.

#include "census.h"

#include <string.h>

#include "../libtelemetry/publish/publisher.h"

#include "../libtelemetry/banned.h"

#define SLOT_DEVICES 18 // more than fit into a boundary slot
#define N_VALUES(section) ((uint32_t)(sizeof(struct tele_##section##_values) / sizeof(uint64_t)))

_Atomic bool census_is_used;

// `device` begins with the fields of `census`, up to the outlived pools.
#define COMMON_BYTES (offsetof(struct tele_census_values, outlived_bytes) + sizeof(uint64_t))
_Static_assert(offsetof(struct tele_device_values, outlived_bytes) + sizeof(uint64_t) == COMMON_BYTES,
	       "both sections begin alike");
_Static_assert(offsetof(struct tele_device_values, peak_pool_bytes) ==
		       offsetof(struct tele_census_values, peak_pool_bytes),
	       "both sections begin alike");

// ---- Records ------------------------------------------------------------------------

static void set_counts(struct tele_census_values *values, const struct census_reading *reading)
{
	const struct census_counts *counts = &reading->counts;
	values->live_working_pools = counts->live_pools[ROLLCALL_WORKING];
	values->live_working_bytes = counts->live_bytes[ROLLCALL_WORKING];
	values->working_pools_allocated = counts->allocated[ROLLCALL_WORKING];
	values->live_constant_pools = counts->live_pools[ROLLCALL_CONSTANT];
	values->live_constant_bytes = counts->live_bytes[ROLLCALL_CONSTANT];
	values->constant_pools_allocated = counts->allocated[ROLLCALL_CONSTANT];
	values->live_staging_pools = counts->live_pools[ROLLCALL_STAGING];
	values->live_staging_bytes = counts->live_bytes[ROLLCALL_STAGING];
	values->staging_pools_allocated = counts->allocated[ROLLCALL_STAGING];
	values->live_unlabelled_pools = counts->live_pools[ROLLCALL_UNLABELLED];
	values->live_unlabelled_bytes = counts->live_bytes[ROLLCALL_UNLABELLED];
	values->unlabelled_pools_allocated = counts->allocated[ROLLCALL_UNLABELLED];
	values->pools_freed = counts->freed;
	values->contexts_created = reading->contexts_created;
	values->contexts_released = reading->contexts_released;
	values->modules_loaded = reading->modules_loaded;
	values->modules_unloaded = reading->modules_unloaded;
	values->peak_pool_bytes = reading->peak_pool_bytes;
	values->outlived_pools = counts->outlived_pools;
	values->outlived_bytes = counts->outlived_bytes;
}

// NULL for a census that is not in use.
static void set_census(struct tele_census_values *values, const struct census_reading *reading,
		       uint64_t at_ns)
{
	memset(values, 0xff, sizeof(*values));
	if (!reading)
		return;
	values->captured_at_ns = at_ns;
	set_counts(values, reading);
	values->owners_open = census_owners_open();
	values->devices_uncounted = census_devices_uncounted();
}

static uint64_t string_or_unknown(const _Atomic uint64_t *id)
{
	uint64_t value = atomic_load_explicit(id, memory_order_relaxed);
	return value ? value : TELE_UNKNOWN;
}

static void set_device(struct tele_device_values *values, unsigned slot,
		       const struct census_reading *reading, uint64_t at_ns)
{
	const struct census_device *device = &census_devices[slot];
	struct tele_census_values common;
	uint64_t memory[3];
	uint64_t seq;
	memset(values, 0xff, sizeof(*values));
	set_census(&common, reading, at_ns);
	memcpy(values, &common, COMMON_BYTES);
	values->captured_at_ns = at_ns;
	values->name = string_or_unknown(&device->name_id);
	values->uuid = string_or_unknown(&device->uuid_id);
	if (census_latch_read(&device->memory_seq, device->memory[0], TELE_ARRAY_LEN(memory), memory,
			      &seq) && seq > 0) {
		values->used_bytes = memory[0];
		values->total_bytes = memory[1];
		values->memory_captured_at_ns = memory[2];
	}
}

// ---- Ticks ------------------------------------------------------------------------------

// Gives as many of a record's fields as were registered.
static void give(uint64_t *values, uint32_t n_values, const void *record, uint32_t n_fields)
{
	memcpy(values, record, (n_values < n_fields ? n_values : n_fields) * sizeof(uint64_t));
}

static void collect_census(void *context, uint64_t *values, uint32_t n_values)
{
	(void)context;
	struct census_reading reading;
	struct tele_census_values record;
	bool is_used = atomic_load_explicit(&census_is_used, memory_order_relaxed);
	uint64_t at_ns = rollcall_clock_ns();
	if (is_used && census_read_all(&reading, NULL, 0) < 0)
		return;
	set_census(&record, is_used ? &reading : NULL, at_ns);
	give(values, n_values, &record, N_VALUES(census));
}

static void collect_search(void *context, uint64_t *values, uint32_t n_values)
{
	(void)context;
	struct tele_search_values record;
	if (census_search_read(&record))
		give(values, n_values, &record, N_VALUES(search));
}

// The context is the device's number: in a forked child its slot may be
// another's.
static void collect_device(void *context, uint64_t *values, uint32_t n_values)
{
	struct census_reading reading;
	struct tele_device_values record;
	bool is_used = atomic_load_explicit(&census_is_used, memory_order_relaxed);
	uint64_t at_ns = rollcall_clock_ns();
	int slot = census_device_find((int)(intptr_t)context);
	if (slot < 0 || slot >= CENSUS_DEVICES_MAX) {
		memset(&record, 0xff, sizeof(record));
	} else {
		if (is_used && census_read_slot((unsigned)slot, &reading) < 0)
			return;
		set_device(&record, (unsigned)slot, is_used ? &reading : NULL, at_ns);
	}
	give(values, n_values, &record, N_VALUES(device));
}

static void collect_owner(void *context, uint64_t *values, uint32_t n_values)
{
	struct tele_owner_values record;
	census_owner_read((unsigned)(uintptr_t)context, &record);
	give(values, n_values, &record, N_VALUES(owner));
}

// ---- Registration ---------------------------------------------------------------------------

// Refusals are counted by the publisher; a section that a forked child inherits
// is there already.
static void add(const char *section, uint32_t instance, uint32_t n_values,
		void (*collect)(void *, uint64_t *, uint32_t), void *context)
{
	struct rollcall_collector collector = {
		.size = sizeof(collector),
		.version = ROLLCALL_COLLECTOR_VERSION,
		.section = section,
		.instance = instance,
		.n_values = n_values,
		.collect = collect,
		.context = context,
	};
	(void)rollcall_collector_register(&collector);
}

void census_use_slow(void)
{
	if (!atomic_exchange_explicit(&census_is_used, true, memory_order_relaxed))
		add("census", ROLLCALL_NO_INSTANCE, N_VALUES(census), collect_census, NULL);
}

void census_section_search(void)
{
	add("search", ROLLCALL_NO_INSTANCE, N_VALUES(search), collect_search, NULL);
}

void census_section_device(int device)
{
	add("device", (uint32_t)device, N_VALUES(device), collect_device, (void *)(intptr_t)device);
}

void census_section_owner(unsigned n)
{
	add("owner", n, N_VALUES(owner), collect_owner, (void *)(uintptr_t)n);
}

// ---- Boundaries -----------------------------------------------------------------------------

static bool put(struct tele_slot *slot, unsigned section, uint32_t instance, const void *record,
		uint32_t n_fields)
{
	uint64_t *words = tele_slot_section(slot, section, instance, n_fields);
	if (words)
		memcpy(words, record, n_fields * sizeof(uint64_t));
	return words != NULL;
}

void census_fill_slot(struct tele_slot *slot)
{
	struct tele_search_values search;
	if (census_search_read(&search))
		put(slot, TELE_SECTION_SEARCH, ROLLCALL_NO_INSTANCE, &search, N_VALUES(search));
	if (!atomic_load_explicit(&census_is_used, memory_order_relaxed))
		return;

	struct census_reading total;
	struct census_reading devices[SLOT_DEVICES];
	struct tele_census_values census;
	uint64_t at_ns = rollcall_clock_ns();
	int n = census_read_all(&total, devices, SLOT_DEVICES);
	if (n < 0)
		return;
	set_census(&census, &total, at_ns);
	put(slot, TELE_SECTION_CENSUS, ROLLCALL_NO_INSTANCE, &census, N_VALUES(census));
	for (int i = 0; i < n && i < SLOT_DEVICES; i++) {
		struct tele_device_values device;
		set_device(&device, (unsigned)i, &devices[i], at_ns);
		if (!put(slot, TELE_SECTION_DEVICE, (uint32_t)census_device_named((unsigned)i), &device,
			 N_VALUES(device)))
			return;
	}
}
