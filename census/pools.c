// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The live pools. A pool belongs to the shard that its device and number hash
// to; the shard's lock guards its table and, of every device, the cell that
// counts the shard's pools. Program threads meet each other in these locks and
// nobody else does: readers use the latch in each cell.
//
// Every change is one move of one pool from an old state to a new one, either
// of which may be "not there". A move alters one cell in one latch change, so
// allocated - freed = live in every reading of a cell. Relabelling moves the
// live counts and leaves `allocated` with the label of the first recording:
// cumulative counts never fall.
//
// Pools seen at the driver's calls (driver.h) lie in the same tables, marked as
// such, until the program records a pool of that device itself: they are then
// swept out, counted as freed.

#include "census.h"
#include "driver.h"

#include <errno.h>

#include "../libtelemetry/publish/publisher.h"

#include "../libtelemetry/banned.h"

struct shard {
	_Alignas(64) pthread_mutex_t lock;
	struct census_table table;
};

static struct shard shards[CENSUS_SHARDS] = {
	[0 ... CENSUS_SHARDS - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER},
};
_Alignas(4096) struct census_cell census_cells[CENSUS_SLOTS][CENSUS_SHARDS];
_Alignas(64) struct census_level census_level_all;
static _Atomic(rollcall_driver_find_fn) driver_find;

#define WORD(member) (offsetof(struct census_counts, member) / sizeof(uint64_t))

// ---- Levels ---------------------------------------------------------------------

static void raise_peak(struct census_level *level, uint64_t live)
{
	uint64_t peak = atomic_load_explicit(&level->peak_bytes, memory_order_relaxed);
	while (live > peak && !atomic_compare_exchange_weak_explicit(&level->peak_bytes, &peak, live,
								     memory_order_relaxed,
								     memory_order_relaxed))
		;
}

static void level_raise(struct census_level *level, uint64_t bytes)
{
	raise_peak(level, bytes + atomic_fetch_add_explicit(&level->live_bytes, bytes,
							    memory_order_relaxed));
}

static void level_lower(struct census_level *level, uint64_t bytes)
{
	atomic_fetch_sub_explicit(&level->live_bytes, bytes, memory_order_relaxed);
}

void census_level_reset_peak(struct census_level *level)
{
	uint64_t peak = atomic_load_explicit(&level->peak_bytes, memory_order_relaxed);
	uint64_t live;
	do {
		live = atomic_load_explicit(&level->live_bytes, memory_order_relaxed);
	} while (!atomic_compare_exchange_weak_explicit(&level->peak_bytes, &peak, live,
							memory_order_relaxed, memory_order_relaxed));
	// A pool recorded meanwhile may have found the old peak high enough.
	raise_peak(level, atomic_load_explicit(&level->live_bytes, memory_order_relaxed));
}

// ---- Moves ------------------------------------------------------------------------

static void count_in_copy(_Atomic uint64_t *copy, const struct census_pool *pool, uint64_t sign)
{
	census_word_add(&copy[WORD(live_pools) + pool->label], sign);
	census_word_add(&copy[WORD(live_bytes) + pool->label], sign * pool->bytes);
	if (pool->outlived) {
		census_word_add(&copy[WORD(outlived_pools)], sign);
		census_word_add(&copy[WORD(outlived_bytes)], sign * pool->bytes);
	}
}

static void move_in_cell(struct census_cell *cell, const struct census_pool *old,
			 const struct census_pool *new)
{
	for (unsigned side = 0; side < 2; side++) {
		_Atomic uint64_t *copy = cell->copies[side];
		census_latch_step(&cell->seq);
		if (old)
			count_in_copy(copy, old, UINT64_MAX);
		else
			census_word_add(&copy[WORD(allocated) + new->label], 1);
		if (new)
			count_in_copy(copy, new, 1);
		else
			census_word_add(&copy[WORD(freed)], 1);
	}
}

// Counts that a pool of `shard`, whose lock the caller holds, goes from one
// state to another; NULL is "not live".
static void move_pool(unsigned shard, const struct census_pool *old, const struct census_pool *new)
{
	TELE_ASSERT(old || new);
	unsigned slot = (new ? new : old)->slot;
	uint64_t before = old ? old->bytes : 0;
	uint64_t after = new ? new->bytes : 0;
	if (after > before) {
		level_raise(&census_level_all, after - before);
		level_raise(&census_devices[slot].level, after - before);
	}
	move_in_cell(&census_cells[slot][shard], old, new);
	if (after < before) {
		level_lower(&census_level_all, before - after);
		level_lower(&census_devices[slot].level, before - after);
	}
	// Given before taken: an owner that keeps the pool never looks empty.
	if (new && new->owner)
		census_owner_give(new->owner - 1, shard, new->bytes);
	if (old && old->owner)
		census_owner_take(old->owner - 1, shard, old->bytes);
}

// Sets the owner of a pool from a tag, if the tag has one that is still open.
static void apply_owner(struct census_pool *pool, const struct census_tag *tag)
{
	if (tag->owner_id && census_owner_is_open(tag->owner_index, tag->owner_id)) {
		pool->owner = tag->owner_index + 1;
		pool->outlived = 0;
	}
}

// ---- The calls ----------------------------------------------------------------------

static int refuse(int code)
{
	tele_count_refused();
	return code;
}

// Records a pool, or records a live one again. The driver's pools are left out
// where the program records its own.
static int record(const struct census_pool *pool, const struct census_tag *tag)
{
	uint64_t hash = census_pool_hash(pool->device, pool->pool);
	unsigned at = (unsigned)(hash >> 60);
	struct shard *shard = &shards[at];
	struct census_pool new = *pool;
	int rc = 0;

	pthread_mutex_lock(&shard->lock);
	// Under the lock: the sweep of whoever sets it comes by afterwards.
	bool is_left_out = new.by_driver && census_device_is_own(new.slot, CENSUS_OWN_POOLS);
	struct census_pool *entry =
		is_left_out ? NULL
			    : census_table_find(&shard->table, hash, new.device, new.pool, new.by_driver);
	if (entry) {
		struct census_pool old = *entry;
		new.owner = old.owner;
		new.outlived = old.outlived;
		new.slot = old.slot;
		apply_owner(&new, tag);
		*entry = new;
		move_pool(at, &old, &new);
	} else if (!is_left_out) {
		apply_owner(&new, tag);
		rc = census_table_insert(&shard->table, hash, &new);
		if (rc == 0)
			move_pool(at, NULL, &new);
	}
	pthread_mutex_unlock(&shard->lock);
	return rc;
}

// Takes out of the census what the driver was seen to hold on a device.
static void sweep_driver(unsigned slot)
{
	for (unsigned at = 0; at < CENSUS_SHARDS; at++) {
		struct shard *shard = &shards[at];
		pthread_mutex_lock(&shard->lock);
		for (size_t i = 0; i < shard->table.capacity;) {
			struct census_pool *entry = &shard->table.entries[i];
			if (!entry->used || !entry->by_driver || entry->slot != slot) {
				i++;
				continue;
			}
			struct census_pool old = *entry;
			size_t capacity = shard->table.capacity;
			census_table_remove(&shard->table, entry); // may bring another here
			move_pool(at, &old, NULL);
			if (shard->table.capacity != capacity)
				i = 0; // it shrank: the rest has new places
		}
		pthread_mutex_unlock(&shard->lock);
	}
}

int rollcall_record_pool(int device, uint64_t pool, enum rollcall_label label, uint64_t bytes)
{
	tele_publisher_touch();
	if (device < 0 || (unsigned)label >= CENSUS_LABELS || bytes >= CENSUS_POOL_BYTES_MAX)
		return refuse(-EINVAL);
	census_use();
	struct census_tag tag = census_tag_pushed();
	struct census_pool new = {
		.pool = pool,
		.bytes = bytes,
		.device = device,
		.used = 1,
		.label = (uint8_t)(label == ROLLCALL_UNLABELLED ? tag.label : (unsigned)label),
		.slot = (uint8_t)census_device_slot(device),
	};
	if (census_device_make_own(new.slot, CENSUS_OWN_POOLS))
		sweep_driver(new.slot);
	int rc = record(&new, &tag);
	return rc < 0 ? refuse(rc) : 0;
}

int rollcall_driver_pool_made(int device, uint64_t serial, unsigned label, uint64_t bytes,
			      bool *ret_is_pushed)
{
	TELE_ASSERT(label < CENSUS_LABELS);
	*ret_is_pushed = false;
	if (device < 0 || bytes >= CENSUS_POOL_BYTES_MAX)
		return refuse(-EINVAL);
	census_use();
	struct census_tag tag = census_tag_pushed();
	struct census_pool new = {
		.pool = serial,
		.bytes = bytes,
		.device = device,
		.used = 1,
		.label = (uint8_t)(tag.label != ROLLCALL_UNLABELLED ? tag.label : label),
		.slot = (uint8_t)census_device_slot(device),
		.by_driver = 1,
	};
	*ret_is_pushed = tag.label != ROLLCALL_UNLABELLED;
	int rc = record(&new, &tag);
	return rc < 0 ? refuse(rc) : new.label;
}

static int forget(int device, uint64_t pool, bool by_driver)
{
	uint64_t hash = census_pool_hash(device, pool);
	unsigned at = (unsigned)(hash >> 60);
	struct shard *shard = &shards[at];

	pthread_mutex_lock(&shard->lock);
	struct census_pool *entry = census_table_find(&shard->table, hash, device, pool, by_driver);
	int found = entry != NULL;
	if (entry) {
		struct census_pool old = *entry;
		census_table_remove(&shard->table, entry);
		move_pool(at, &old, NULL);
	}
	pthread_mutex_unlock(&shard->lock);
	return found;
}

int rollcall_forget_pool(int device, uint64_t pool)
{
	tele_publisher_touch();
	census_use();
	return forget(device, pool, false);
}

void rollcall_driver_pool_gone(int device, uint64_t serial)
{
	(void)forget(device, serial, true);
}

static bool label_on_device(int device, uint64_t pool, bool by_driver,
			    const struct census_tag *tag)
{
	uint64_t hash = census_pool_hash(device, pool);
	unsigned at = (unsigned)(hash >> 60);
	struct shard *shard = &shards[at];

	pthread_mutex_lock(&shard->lock);
	struct census_pool *entry = census_table_find(&shard->table, hash, device, pool, by_driver);
	bool found = entry != NULL;
	if (entry) {
		struct census_pool old = *entry;
		entry->label = (uint8_t)tag->label;
		entry->owner = 0;
		entry->outlived = 0;
		apply_owner(entry, tag);
		struct census_pool new = *entry;
		move_pool(at, &old, &new);
	}
	pthread_mutex_unlock(&shard->lock);
	return found;
}

int rollcall_label_ptr(const void *ptr, enum rollcall_label label, uint64_t owner)
{
	tele_publisher_touch();
	struct census_tag tag = {.owner_id = owner, .label = (uint32_t)label};
	if ((unsigned)label >= CENSUS_LABELS)
		return refuse(-EINVAL);
	if (owner && !census_owner_find(owner, &tag.owner_index))
		return -ENOENT;
	unsigned n = census_devices_named();
	for (unsigned i = 0; i < n; i++) {
		if (label_on_device(census_device_named(i), (uint64_t)(uintptr_t)ptr, false, &tag))
			return 1;
	}
	rollcall_driver_find_fn find = atomic_load_explicit(&driver_find, memory_order_acquire);
	int device;
	uint64_t serial;
	return find && find((uint64_t)(uintptr_t)ptr, label != ROLLCALL_UNLABELLED, &device, &serial) &&
	       label_on_device(device, serial, true, &tag);
}

void rollcall_driver_finder(rollcall_driver_find_fn find)
{
	// Pairs with the load in rollcall_label_ptr.
	atomic_store_explicit(&driver_find, find, memory_order_release);
}

void census_pools_outlive(uint32_t owner_index)
{
	for (unsigned at = 0; at < CENSUS_SHARDS; at++) {
		struct shard *shard = &shards[at];
		// Taken also where the owner holds nothing: whoever saw it open is out then.
		pthread_mutex_lock(&shard->lock);
		uint32_t left = census_owner_pools(owner_index, at);
		for (size_t i = 0; left > 0 && i < shard->table.capacity; i++) {
			struct census_pool *entry = &shard->table.entries[i];
			if (!entry->used || entry->owner != owner_index + 1)
				continue;
			struct census_pool old = *entry;
			entry->outlived = 1;
			move_in_cell(&census_cells[old.slot][at], &old, entry);
			left--;
		}
		pthread_mutex_unlock(&shard->lock);
	}
}

// ---- fork -----------------------------------------------------------------------------

void census_pools_lock(void)
{
	for (unsigned at = 0; at < CENSUS_SHARDS; at++)
		pthread_mutex_lock(&shards[at].lock);
}

void census_pools_unlock(void)
{
	for (unsigned at = CENSUS_SHARDS; at > 0; at--)
		pthread_mutex_unlock(&shards[at - 1].lock);
}

static void reset_cell(struct census_cell *cell)
{
	atomic_store_explicit(&cell->seq, 0, memory_order_relaxed);
	for (size_t i = 0; i < CENSUS_COUNTS_WORDS; i++) {
		atomic_store_explicit(&cell->copies[0][i], 0, memory_order_relaxed);
		atomic_store_explicit(&cell->copies[1][i], 0, memory_order_relaxed);
	}
}

void census_pools_reset(void)
{
	for (unsigned at = 0; at < CENSUS_SHARDS; at++) {
		census_table_clear(&shards[at].table);
		for (unsigned slot = 0; slot < census_device_slots(); slot++)
			reset_cell(&census_cells[slot][at]);
		if (census_devices_uncounted())
			reset_cell(&census_cells[CENSUS_SLOT_OTHERS][at]);
	}
	atomic_store_explicit(&census_level_all.live_bytes, 0, memory_order_relaxed);
	atomic_store_explicit(&census_level_all.peak_bytes, 0, memory_order_relaxed);
}
