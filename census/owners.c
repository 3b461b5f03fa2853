// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Owners of pools. A record lives from the owner's opening until it is closed
// and its last pool is gone; 32 of them at a time have a section. Ids are
// serial numbers and never come back, records and sections do.
//
// What an owner holds is kept for each shard apart, under that shard's lock, so
// that pools of one owner do not meet in one word. A closing owner first says
// that it is closing and then visits each shard under its lock; whoever saw it
// open in that shard is done by then, and from there on it can only lose pools.
// So exactly one finds it closed and empty: the closer, or the forget of its
// last pool (census_owner_take and finish_close look both ways, in one order of
// sequentially consistent accesses). The record is then freed.

#include "census.h"
#include "driver.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "../libtelemetry/publish/publisher.h"

#include "../libtelemetry/banned.h"

#define SECTIONS 32
#define CHUNK 256
#define CHUNKS 4096
#define OWNERS_MAX (CHUNK * CHUNKS)
#define NAME_BYTES 64

enum state { FREE, OPEN, CLOSING, CLOSED };

struct owner {
	_Atomic uint64_t id; // 0 while the record is free
	_Atomic uint64_t name_id;
	_Atomic uint32_t state;
	uint32_t next_free; // index + 1
	_Atomic uint32_t pools[CENSUS_SHARDS];
	_Atomic uint64_t bytes[CENSUS_SHARDS];
	char name[NAME_BYTES]; // written before it opens, read by the closer
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
// Under the lock, but for reading what was stored with release.
static _Atomic(struct owner *) chunks[CHUNKS];
static uint32_t n_records;  // ever used
static uint32_t first_free; // index + 1
static struct census_map index_of_id; // of open owners
static uint64_t last_id;
static _Atomic uint64_t n_open;
static _Atomic uint64_t n_closed;
static _Atomic uint32_t sections[SECTIONS]; // record index + 1; 0 unused
static bool section_is_known[SECTIONS];	    // to the publisher
static _Atomic bool names_are_full;

static struct owner *record_at(uint32_t index)
{
	TELE_ASSERT(index < OWNERS_MAX);
	// Pairs with the store in new_record.
	struct owner *chunk = atomic_load_explicit(&chunks[index / CHUNK], memory_order_acquire);
	TELE_ASSERT(chunk != NULL);
	return &chunk[index % CHUNK];
}

// ---- Records, under the lock ------------------------------------------------------

static bool new_record(uint32_t *ret_index)
{
	if (first_free) {
		*ret_index = first_free - 1;
		first_free = record_at(*ret_index)->next_free;
		return true;
	}
	if (n_records == OWNERS_MAX)
		return false;
	if (n_records % CHUNK == 0) {
		void *pages = mmap(NULL, CHUNK * sizeof(struct owner), PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (pages == MAP_FAILED)
			return false;
		atomic_store_explicit(&chunks[n_records / CHUNK], pages, memory_order_release);
	}
	*ret_index = n_records++;
	return true;
}

static void free_record(uint32_t index)
{
	struct owner *owner = record_at(index);
	for (unsigned n = 0; n < SECTIONS; n++) {
		if (atomic_load_explicit(&sections[n], memory_order_relaxed) == index + 1)
			atomic_store_explicit(&sections[n], 0, memory_order_release);
	}
	atomic_store_explicit(&owner->id, 0, memory_order_release);
	atomic_store_explicit(&owner->state, FREE, memory_order_release);
	owner->next_free = first_free;
	first_free = index + 1;
}

// Gives the record a section if one is unused. Returns its number, or SECTIONS.
static unsigned take_section(uint32_t index, bool *ret_is_known)
{
	for (unsigned n = 0; n < SECTIONS; n++) {
		if (atomic_load_explicit(&sections[n], memory_order_relaxed) != 0)
			continue;
		// Pairs with the load in census_owner_read.
		atomic_store_explicit(&sections[n], index + 1, memory_order_release);
		*ret_is_known = section_is_known[n];
		section_is_known[n] = true;
		return n;
	}
	return SECTIONS;
}

static uint64_t pools_of(const struct owner *owner)
{
	uint64_t pools = 0;
	for (unsigned shard = 0; shard < CENSUS_SHARDS; shard++)
		pools += atomic_load_explicit(&owner->pools[shard], memory_order_seq_cst);
	return pools;
}

// ---- Opening and closing -----------------------------------------------------------

static void publish_name(struct owner *owner)
{
	if (owner->name[0] == '\0' || atomic_load_explicit(&names_are_full, memory_order_relaxed))
		return;
	uint64_t id = tele_intern(owner->name);
	if (id == TELE_UNKNOWN) // owners must not knock in vain for every name to come
		atomic_store_explicit(&names_are_full, true, memory_order_relaxed);
	atomic_store_explicit(&owner->name_id, id, memory_order_relaxed);
}

uint64_t rollcall_owner_open(const char *name)
{
	tele_publisher_touch();
	uint32_t index;
	uint64_t id = 0;
	unsigned section = SECTIONS;
	bool is_known = true;
	struct owner *owner = NULL;

	pthread_mutex_lock(&lock);
	if (new_record(&index)) {
		owner = record_at(index);
		id = ++last_id;
		census_copy_text(owner->name, sizeof(owner->name), name);
		atomic_store_explicit(&owner->name_id, TELE_UNKNOWN, memory_order_relaxed);
		atomic_store_explicit(&owner->state, OPEN, memory_order_relaxed);
		// Pairs with the loads in census_owner_is_open and census_owner_read.
		atomic_store_explicit(&owner->id, id, memory_order_release);
		if (census_map_insert(&index_of_id, id, index) == 0) {
			section = take_section(index, &is_known);
			atomic_fetch_add_explicit(&n_open, 1, memory_order_relaxed);
		} else {
			free_record(index);
			id = 0;
		}
	}
	pthread_mutex_unlock(&lock);

	if (id == 0) {
		tele_count_refused();
		return 0;
	}
	if (section < SECTIONS)
		publish_name(owner);
	if (!is_known)
		census_section_owner(section);
	return id;
}

// Ends the closing of an owner that no shard can give a pool any more. Returns
// how many pools it left, and frees its record if there are none.
static uint64_t finish_close(uint32_t index, char *ret_name)
{
	struct owner *owner = record_at(index);
	pthread_mutex_lock(&lock);
	census_copy_text(ret_name, NAME_BYTES, owner->name);
	// Before the pools are counted: pairs with the load in census_owner_take.
	atomic_store_explicit(&owner->state, CLOSED, memory_order_seq_cst);
	uint64_t left = pools_of(owner);
	if (left == 0)
		free_record(index);
	pthread_mutex_unlock(&lock);
	return left;
}

int rollcall_owner_close(uint64_t id)
{
	tele_publisher_touch();
	pthread_mutex_lock(&lock);
	uint64_t *value = census_map_find(&index_of_id, id);
	uint32_t index = 0;
	bool found = value != NULL;
	if (found) {
		index = (uint32_t)*value;
		census_map_remove(&index_of_id, id);
		// Pairs with the load in census_owner_is_open, by way of the shards' locks.
		atomic_store_explicit(&record_at(index)->state, CLOSING, memory_order_relaxed);
		atomic_fetch_sub_explicit(&n_open, 1, memory_order_relaxed);
		atomic_fetch_add_explicit(&n_closed, 1, memory_order_relaxed);
	}
	pthread_mutex_unlock(&lock);
	if (!found)
		return -ENOENT;

	char name[NAME_BYTES];
	census_pools_outlive(index);
	uint64_t left = finish_close(index, name);
	if (left > 0)
		(void)rollcall_event(TELE_EVENT_OWNER_CLOSED, id, left, name[0] ? name : NULL);
	return 0;
}

// ---- For the pools ---------------------------------------------------------------------

bool census_owner_find(uint64_t id, uint32_t *ret_index)
{
	pthread_mutex_lock(&lock);
	uint64_t *value = census_map_find(&index_of_id, id);
	if (value)
		*ret_index = (uint32_t)*value;
	bool found = value != NULL;
	pthread_mutex_unlock(&lock);
	return found;
}

bool census_owner_is_open(uint32_t index, uint64_t id)
{
	// A forked child starts without records, but with the labels of its thread.
	if (!atomic_load_explicit(&chunks[index / CHUNK], memory_order_acquire))
		return false;
	const struct owner *owner = record_at(index);
	return atomic_load_explicit(&owner->id, memory_order_acquire) == id &&
	       atomic_load_explicit(&owner->state, memory_order_relaxed) == OPEN;
}

uint32_t census_owner_pools(uint32_t index, unsigned shard)
{
	return atomic_load_explicit(&record_at(index)->pools[shard], memory_order_relaxed);
}

void census_owner_give(uint32_t index, unsigned shard, uint64_t bytes)
{
	struct owner *owner = record_at(index);
	uint32_t pools = atomic_load_explicit(&owner->pools[shard], memory_order_relaxed);
	census_word_add(&owner->bytes[shard], bytes);
	atomic_store_explicit(&owner->pools[shard], pools + 1, memory_order_relaxed);
}

void census_owner_take(uint32_t index, unsigned shard, uint64_t bytes)
{
	struct owner *owner = record_at(index);
	uint64_t id = atomic_load_explicit(&owner->id, memory_order_relaxed);
	uint32_t pools = atomic_load_explicit(&owner->pools[shard], memory_order_relaxed);
	TELE_ASSERT(pools > 0);
	census_word_add(&owner->bytes[shard], UINT64_MAX * bytes);
	// Before the state is read: pairs with the store in finish_close.
	atomic_store_explicit(&owner->pools[shard], pools - 1, memory_order_seq_cst);
	if (pools > 1 || atomic_load_explicit(&owner->state, memory_order_seq_cst) != CLOSED)
		return;
	pthread_mutex_lock(&lock);
	if (atomic_load_explicit(&owner->id, memory_order_relaxed) == id &&
	    atomic_load_explicit(&owner->state, memory_order_relaxed) == CLOSED &&
	    pools_of(owner) == 0)
		free_record(index);
	pthread_mutex_unlock(&lock);
}

// ---- Reading ------------------------------------------------------------------------------

uint64_t rollcall_driver_owners_closed(void)
{
	return atomic_load_explicit(&n_closed, memory_order_relaxed);
}

uint64_t census_owners_open(void)
{
	return atomic_load_explicit(&n_open, memory_order_relaxed);
}

static void set_unknown(struct tele_owner_values *values)
{
	*values = (struct tele_owner_values){
		.captured_at_ns = TELE_UNKNOWN,
		.id = TELE_UNKNOWN,
		.name = TELE_UNKNOWN,
		.open = TELE_UNKNOWN,
		.live_pools = TELE_UNKNOWN,
		.live_bytes = TELE_UNKNOWN,
	};
}

void census_owner_read(unsigned n, struct tele_owner_values *ret_values)
{
	uint64_t at_ns = rollcall_clock_ns();
	set_unknown(ret_values);
	uint32_t index = atomic_load_explicit(&sections[n], memory_order_acquire);
	if (index == 0)
		return;
	const struct owner *owner = record_at(index - 1);
	uint64_t id = atomic_load_explicit(&owner->id, memory_order_acquire);
	uint64_t pools = 0, bytes = 0;
	for (unsigned shard = 0; shard < CENSUS_SHARDS; shard++) {
		pools += atomic_load_explicit(&owner->pools[shard], memory_order_acquire);
		bytes += atomic_load_explicit(&owner->bytes[shard], memory_order_acquire);
	}
	uint64_t name_id = atomic_load_explicit(&owner->name_id, memory_order_acquire);
	uint32_t state = atomic_load_explicit(&owner->state, memory_order_acquire);
	// The record may have become another owner's, or nobody's.
	if (id == 0 || state == FREE || atomic_load_explicit(&owner->id, memory_order_relaxed) != id)
		return;
	ret_values->captured_at_ns = at_ns;
	ret_values->id = id;
	ret_values->name = name_id;
	ret_values->open = state == OPEN;
	ret_values->live_pools = pools;
	ret_values->live_bytes = bytes;
}

// ---- fork -------------------------------------------------------------------------------------

void census_owners_lock(void)
{
	pthread_mutex_lock(&lock);
}

void census_owners_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

void census_owners_reset(void)
{
	for (unsigned n = 0; n < SECTIONS; n++) {
		atomic_store_explicit(&sections[n], 0, memory_order_relaxed);
		section_is_known[n] = false;
	}
	for (uint32_t i = 0; i < n_records; i += CHUNK) {
		struct owner *chunk = atomic_load_explicit(&chunks[i / CHUNK], memory_order_relaxed);
		munmap(chunk, CHUNK * sizeof(struct owner));
		atomic_store_explicit(&chunks[i / CHUNK], NULL, memory_order_relaxed);
	}
	census_map_clear(&index_of_id);
	n_records = 0;
	first_free = 0;
	atomic_store_explicit(&n_open, 0, memory_order_relaxed);
	atomic_store_explicit(&names_are_full, false, memory_order_relaxed);
}
