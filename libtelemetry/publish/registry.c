// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The registry. Whoever registers writes the entry's schema records into a
// rehearsal schema first, under the lock: so it learns at once whether there
// is room, and where its fields will stand in every row. The publisher repeats
// the same steps in the same order in the segment and comes to the same places.

#include "registry.h"

#include "publisher.h"
#include "ring.h"

#include "../segment.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "../banned.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint32_t n_entries; // pairs with the loads in tele_registry_count
static struct tele_registered entries[TELE_REGISTRY_MAX];

static struct tele_plan rehearsal_plan;
static uint8_t rehearsal_bytes[TELE_SCHEMA_BYTES_DEFAULT];
static struct tele_schema_writer rehearsal;

uint32_t tele_registry_count(void)
{
	return atomic_load_explicit(&n_entries, memory_order_acquire);
}

struct tele_registered *tele_registry_at(uint32_t index)
{
	TELE_ASSERT(index < tele_registry_count());
	return &entries[index];
}

static void start_rehearsal(void)
{
	if (rehearsal.bytes)
		return;
	int failed = tele_schema_write_start(&rehearsal, rehearsal_bytes, sizeof(rehearsal_bytes),
					     &rehearsal_plan);
	TELE_ASSERT(!failed);
}

// Position of the first field of an earlier instance of the section.
static uint32_t like_of(unsigned section, uint32_t n_before)
{
	for (uint32_t i = 0; i < n_before; i++)
		if (!entries[i].is_app && entries[i].section == section)
			return entries[i].position;
	return UINT32_MAX;
}

static int64_t write_entry(struct tele_schema_writer *writer, uint32_t index)
{
	const struct tele_registered *entry = &entries[index];
	if (entry->is_app)
		return tele_schema_write_app(writer, entry->app.name, entry->app.kind, entry->app.unit);
	const struct tele_builtin_section *section = &tele_builtin_sections[entry->section];
	if (section->scope == TELE_SCOPE_PROCESS)
		return section->first_id; // PROCESS sections stand in the order of their ids
	return tele_schema_write_instance(writer, entry->section, entry->instance,
					  like_of(entry->section, index));
}

// Completes entry n_entries, which the caller has filled. Returns its index.
static int64_t add_entry(void)
{
	uint32_t index = atomic_load_explicit(&n_entries, memory_order_relaxed);
	start_rehearsal();
	uint32_t n_new = entries[index].is_app ? 1 : tele_builtin_sections[entries[index].section].n_fields;
	if (rehearsal_plan.n_fields + n_new > TELE_SEGMENT_FIELDS_MAX)
		return -ENOSPC;
	int64_t position = write_entry(&rehearsal, index);
	if (position < 0)
		return -ENOSPC;
	entries[index].position = (uint32_t)position;
	atomic_store_explicit(&n_entries, index + 1, memory_order_release);
	return index;
}

static int section_of(const char *name)
{
	for (int i = 0; i < TELE_SECTION_COUNT; i++)
		if (strcmp(tele_builtin_sections[i].name, name) == 0)
			return i;
	return -1;
}

TELE_EXPORT int rollcall_collector_register(const struct rollcall_collector *collector)
{
	if (!collector || collector->version != ROLLCALL_COLLECTOR_VERSION ||
	    collector->size < offsetof(struct rollcall_collector, read_now) || !collector->section)
		return -EINVAL;
	int section = section_of(collector->section);
	if (section < 0 || section == TELE_SECTION_SELF || collector->n_values == 0)
		return -EINVAL;
	bool is_process = tele_builtin_sections[section].scope == TELE_SCOPE_PROCESS;
	if (is_process != (collector->instance == ROLLCALL_NO_INSTANCE))
		return -EINVAL;
	pthread_mutex_lock(&lock);
	int64_t result = -EEXIST;
	uint32_t index = atomic_load_explicit(&n_entries, memory_order_relaxed);
	for (uint32_t i = 0; i < index; i++)
		if (!entries[i].is_app && entries[i].section == (unsigned)section &&
		    entries[i].instance == collector->instance)
			goto out;
	result = -ENOSPC;
	if (index == TELE_REGISTRY_MAX)
		goto out;
	struct tele_registered *entry = &entries[index];
	entry->is_app = false;
	entry->section = (unsigned)section;
	entry->instance = collector->instance;
	memset(&entry->collector, 0, sizeof(entry->collector));
	memcpy(&entry->collector, collector,
	       collector->size < sizeof(*collector) ? collector->size : sizeof(*collector));
	uint32_t n_known = tele_builtin_sections[section].n_fields;
	if (entry->collector.n_values > n_known)
		entry->collector.n_values = n_known;
	result = add_entry();
out:
	pthread_mutex_unlock(&lock);
	if (result == -ENOSPC)
		tele_count_refused();
	return result < 0 ? (int)result : 0;
}

static bool is_good_name(const char *name)
{
	size_t len = strlen(name);
	if (len == 0 || len >= TELE_APP_NAME_BYTES)
		return false;
	return strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.") == len;
}

uint32_t tele_registry_app(const char *name, unsigned kind, unsigned unit)
{
	if (!name || !is_good_name(name) || strcmp(name, "captured_at_ns") == 0)
		return 0;
	pthread_mutex_lock(&lock);
	int64_t result = -ENOSPC;
	uint32_t index = atomic_load_explicit(&n_entries, memory_order_relaxed);
	for (uint32_t i = 0; i < index; i++)
		if (entries[i].is_app && strcmp(entries[i].app.name, name) == 0) {
			result = entries[i].app.kind == kind ? (int64_t)i : -EINVAL;
			goto out;
		}
	if (index == TELE_REGISTRY_MAX)
		goto out;
	struct tele_registered *entry = &entries[index];
	entry->is_app = true;
	entry->section = TELE_SECTION_APP;
	entry->instance = TELE_NO_INSTANCE;
	memcpy(entry->app.name, name, strlen(name) + 1);
	entry->app.kind = kind;
	entry->app.unit = unit;
	atomic_store_explicit(&entry->app.value, kind == TELE_COUNTER ? 0 : TELE_UNKNOWN,
			      memory_order_relaxed);
	result = add_entry();
out:
	pthread_mutex_unlock(&lock);
	if (result < 0)
		tele_count_refused();
	return result < 0 ? 0 : (uint32_t)result + 1;
}

void tele_registry_tend(void)
{
	uint32_t count = tele_registry_count();
	for (uint32_t i = 0; i < count; i++)
		if (!entries[i].is_app && entries[i].collector.tend)
			entries[i].collector.tend(entries[i].collector.context);
}

const struct rollcall_collector *tele_registry_find(unsigned section)
{
	uint32_t count = tele_registry_count();
	for (uint32_t i = 0; i < count; i++)
		if (!entries[i].is_app && entries[i].section == section)
			return &entries[i].collector;
	return NULL;
}

void tele_registry_write(struct tele_schema_writer *writer, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++) {
		int64_t position = write_entry(writer, i);
		TELE_ASSERT(position == (int64_t)entries[i].position);
	}
}

uint64_t tele_registry_resident_bytes(void)
{
	uint64_t fields = tele_resident_bytes_of(entries, sizeof(entries));
	uint64_t plan = tele_resident_bytes_of(&rehearsal_plan, sizeof(rehearsal_plan));
	uint64_t bytes = tele_resident_bytes_of(rehearsal_bytes, sizeof(rehearsal_bytes));
	bool is_known = fields != TELE_UNKNOWN && plan != TELE_UNKNOWN && bytes != TELE_UNKNOWN;
	return is_known ? fields + plan + bytes : TELE_UNKNOWN;
}

void tele_registry_lock(void)
{
	pthread_mutex_lock(&lock);
}

void tele_registry_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

void tele_registry_reset_values(void)
{
	uint32_t count = tele_registry_count();
	for (uint32_t i = 0; i < count; i++)
		if (entries[i].is_app)
			atomic_store_explicit(&entries[i].app.value,
					      entries[i].app.kind == TELE_COUNTER ? 0 : TELE_UNKNOWN,
					      memory_order_relaxed);
}
