// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Open addressing with linear probing. Removal shifts the entries behind it
// back, so there are no graves and the table's speed does not depend on its
// past. At most three quarters full; a quarter of the size once it is an eighth
// full, so a search that leaks and then lets go gives the pages back.
//
// Invariant: no free entry lies between an entry's home and its place.

#include "table.h"

#include <errno.h>
#include <sys/mman.h>

#include "../libtelemetry/banned.h"

#define ENTRIES_MIN 128 // one page
#define ENTRIES_KEPT 1024 // not worth giving back and asking for again

_Static_assert(sizeof(struct census_pool) == 32, "two entries a cache line");

static uint64_t hash_of(const struct census_pool *entry)
{
	return census_pool_hash(entry->device, entry->pool);
}

struct census_pool *census_table_find(const struct census_table *table, uint64_t hash, int device,
				      uint64_t pool, bool by_driver)
{
	if (!table->entries)
		return NULL;
	size_t mask = table->capacity - 1;
	for (size_t i = hash & mask;; i = (i + 1) & mask) {
		struct census_pool *entry = &table->entries[i];
		if (!entry->used)
			return NULL;
		if (entry->pool == pool && entry->device == device && entry->by_driver == by_driver)
			return entry;
	}
}

static void place(struct census_table *table, uint64_t hash, const struct census_pool *pool)
{
	size_t mask = table->capacity - 1;
	size_t i = hash & mask;
	while (table->entries[i].used)
		i = (i + 1) & mask;
	table->entries[i] = *pool;
	table->entries[i].used = 1;
}

static int resize(struct census_table *table, size_t capacity)
{
	TELE_ASSERT(capacity > table->n && (capacity & (capacity - 1)) == 0);
	if (capacity > SIZE_MAX / sizeof(struct census_pool))
		return -ENOMEM;
	struct census_table fresh = {.capacity = capacity, .n = table->n};
	// Populated: hashing touches every page at once, and 4 KiB at a time is dear.
	void *pages = mmap(NULL, capacity * sizeof(struct census_pool), PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (pages == MAP_FAILED)
		return -ENOMEM;
	fresh.entries = pages;
	for (size_t i = 0; i < table->capacity; i++) {
		if (table->entries[i].used)
			place(&fresh, hash_of(&table->entries[i]), &table->entries[i]);
	}
	if (table->entries)
		munmap(table->entries, table->capacity * sizeof(struct census_pool));
	*table = fresh;
	return 0;
}

int census_table_insert(struct census_table *table, uint64_t hash, const struct census_pool *pool)
{
	if ((table->n + 1) * 4 > table->capacity * 3) {
		size_t capacity = table->capacity ? table->capacity * 2 : ENTRIES_MIN;
		int rc = resize(table, capacity);
		// Fuller than it likes to be is still right: probing needs one free entry.
		if (rc < 0 && table->n + 1 >= table->capacity)
			return rc;
	}
	place(table, hash, pool);
	table->n++;
	return 0;
}

void census_table_remove(struct census_table *table, struct census_pool *entry)
{
	TELE_ASSERT(table->n > 0 && entry->used);
	size_t mask = table->capacity - 1;
	size_t hole = (size_t)(entry - table->entries);
	for (size_t i = (hole + 1) & mask; table->entries[i].used; i = (i + 1) & mask) {
		size_t home = hash_of(&table->entries[i]) & mask;
		// It may move back to the hole unless its home lies behind the hole.
		if (((i - home) & mask) >= ((i - hole) & mask)) {
			table->entries[hole] = table->entries[i];
			hole = i;
		}
	}
	table->entries[hole] = (struct census_pool){0};
	table->n--;
	// Without memory for a smaller table the larger one stays.
	if (table->capacity > ENTRIES_KEPT && table->n * 8 < table->capacity)
		(void)resize(table, table->capacity / 4 > ENTRIES_KEPT ? table->capacity / 4 : ENTRIES_KEPT);
}

void census_table_clear(struct census_table *table)
{
	if (table->entries)
		munmap(table->entries, table->capacity * sizeof(struct census_pool));
	*table = (struct census_table){0};
}
