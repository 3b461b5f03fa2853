// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Numbers by number: handles of candidates and of owners. Pages of its own, no
// thread safety: the lock of what it belongs to guards it.

#ifndef CENSUS_MAP_H
#define CENSUS_MAP_H

#include "../libtelemetry/base.h"

struct census_map_entry {
	uint64_t key; // 0: free
	uint64_t value;
};

struct census_map {
	struct census_map_entry *entries; // `capacity` of them, a power of two, or NULL
	size_t capacity;
	size_t n;
};

// The value of a key (> 0), to be read and changed in place until the next
// insert or remove; NULL when there is none.
uint64_t *census_map_find(const struct census_map *map, uint64_t key);

// Adds a key that is not in the map. Returns 0, or -ENOMEM.
int census_map_insert(struct census_map *map, uint64_t key, uint64_t value);

// Removes a key that is in the map.
void census_map_remove(struct census_map *map, uint64_t key);

// Drops every entry of which keep(key, value, context) says false, and gives
// pages back that are not needed then.
void census_map_sweep(struct census_map *map,
		      bool (*keep)(uint64_t key, uint64_t value, uint64_t context),
		      uint64_t context);

// Empties the map and gives its pages back.
void census_map_clear(struct census_map *map);

#endif
