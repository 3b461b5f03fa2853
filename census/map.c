// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Linear probing, as in table.c, with entries of two words. Keys are serial
// numbers; a multiplication spreads them, so that those that stay behind do
// not crowd.

#include "map.h"

#include <errno.h>
#include <sys/mman.h>

#include "../libtelemetry/banned.h"

#define ENTRIES_MIN 256 // one page

static size_t home_of(uint64_t key, size_t capacity)
{
	return (size_t)((key * UINT64_C(0x9E3779B97F4A7C15)) >> 20) & (capacity - 1);
}

static size_t place_of(const struct census_map *map, uint64_t key)
{
	size_t i = home_of(key, map->capacity);
	while (map->entries[i].key && map->entries[i].key != key)
		i = (i + 1) & (map->capacity - 1);
	return i;
}

uint64_t *census_map_find(const struct census_map *map, uint64_t key)
{
	if (!map->entries || key == 0)
		return NULL;
	struct census_map_entry *entry = &map->entries[place_of(map, key)];
	return entry->key ? &entry->value : NULL;
}

static int resize(struct census_map *map, size_t capacity)
{
	TELE_ASSERT(capacity > map->n && (capacity & (capacity - 1)) == 0);
	struct census_map fresh = {.capacity = capacity, .n = map->n};
	void *pages = mmap(NULL, capacity * sizeof(struct census_map_entry), PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages == MAP_FAILED)
		return -ENOMEM;
	fresh.entries = pages;
	for (size_t i = 0; i < map->capacity; i++) {
		if (map->entries[i].key)
			fresh.entries[place_of(&fresh, map->entries[i].key)] = map->entries[i];
	}
	if (map->entries)
		munmap(map->entries, map->capacity * sizeof(struct census_map_entry));
	*map = fresh;
	return 0;
}

int census_map_insert(struct census_map *map, uint64_t key, uint64_t value)
{
	TELE_ASSERT(key != 0);
	if ((map->n + 1) * 4 > map->capacity * 3) {
		int rc = resize(map, map->capacity ? map->capacity * 2 : ENTRIES_MIN);
		if (rc < 0 && map->n + 1 >= map->capacity)
			return rc;
	}
	map->entries[place_of(map, key)] = (struct census_map_entry){key, value};
	map->n++;
	return 0;
}

static void remove_at(struct census_map *map, size_t hole)
{
	size_t mask = map->capacity - 1;
	for (size_t i = (hole + 1) & mask; map->entries[i].key; i = (i + 1) & mask) {
		size_t home = home_of(map->entries[i].key, map->capacity);
		if (((i - home) & mask) >= ((i - hole) & mask)) {
			map->entries[hole] = map->entries[i];
			hole = i;
		}
	}
	map->entries[hole] = (struct census_map_entry){0};
	map->n--;
}

void census_map_remove(struct census_map *map, uint64_t key)
{
	TELE_ASSERT(census_map_find(map, key) != NULL);
	remove_at(map, place_of(map, key));
}

void census_map_sweep(struct census_map *map,
		      bool (*keep)(uint64_t key, uint64_t value, uint64_t context),
		      uint64_t context)
{
	for (size_t i = 0; i < map->capacity;) {
		struct census_map_entry *entry = &map->entries[i];
		// What a removal shifts to this place is looked at in its turn.
		if (entry->key && !keep(entry->key, entry->value, context))
			remove_at(map, i);
		else
			i++;
	}
	size_t capacity = ENTRIES_MIN;
	while (capacity < map->n * 2)
		capacity *= 2;
	if (capacity < map->capacity)
		(void)resize(map, capacity);
}

void census_map_clear(struct census_map *map)
{
	if (map->entries)
		munmap(map->entries, map->capacity * sizeof(struct census_map_entry));
	*map = (struct census_map){0};
}
