// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The live pools of one shard: a hash table in pages of its own. It grows and
// shrinks with what is live, and knows nothing of threads: the shard's lock
// guards it.

#ifndef CENSUS_TABLE_H
#define CENSUS_TABLE_H

#include "../libtelemetry/base.h"

struct census_pool {
	uint64_t pool;
	uint64_t bytes;
	int32_t device;
	uint32_t owner; // record index + 1; 0 none
	uint8_t used;	// of the table
	uint8_t label;
	uint8_t slot;	  // of the device
	uint8_t outlived; // its owner closed before it was freed
	uint8_t by_driver; // seen at the driver's calls; numbers are apart from the program's
	uint8_t unused[3];
};

struct census_table {
	struct census_pool *entries; // `capacity` of them, a power of two, or NULL
	size_t capacity;
	size_t n;
};

// Spreads (device, pool) over 64 bits: the top bits choose the shard, the low
// ones the place in its table.
static inline uint64_t census_pool_hash(int device, uint64_t pool)
{
	uint64_t factor = (uint64_t)(uint32_t)device * UINT64_C(0x9E3779B97F4A7C16) +
			  UINT64_C(0xD6E8FEB86659FD93);
	unsigned __int128 product =
		(unsigned __int128)(pool ^ UINT64_C(0xA0761D6478BD642F)) * factor;
	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

// The entry of a live pool, or NULL. Valid until the next insert or remove.
struct census_pool *census_table_find(const struct census_table *table, uint64_t hash, int device,
				      uint64_t pool, bool by_driver);

// Adds a pool that is not in the table. Returns 0, or -ENOMEM with the table
// as it was.
int census_table_insert(struct census_table *table, uint64_t hash, const struct census_pool *pool);

// Removes an entry that census_table_find gave.
void census_table_remove(struct census_table *table, struct census_pool *entry);

// Empties the table and gives its pages back.
void census_table_clear(struct census_table *table);

#endif
