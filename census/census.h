// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The census inside a program: what its parts share. rollcall.h says what each
// public call promises.
//
// Locks, in the order in which they may be taken: search, a shard, owners. The
// devices' lock is taken alone. None is held while the publisher is called,
// but for boundary slots, which take none themselves. Readers (the publisher's
// thread, snapshots, boundaries) take no lock at all. Nothing here calls malloc
// or stdio.

#ifndef CENSUS_CENSUS_H
#define CENSUS_CENSUS_H

#include "../libtelemetry/base.h"
#include "../libtelemetry/fields.h"
#include "../libtelemetry/rollcall.h"
#include "latch.h"
#include "map.h"
#include "table.h"

#include <pthread.h>
#include <stdatomic.h>

#define CENSUS_SHARDS 16
#define CENSUS_LABELS 4
#define CENSUS_DEVICES_MAX 64		    // with a section of their own
#define CENSUS_SLOT_OTHERS CENSUS_DEVICES_MAX // all devices beyond them together
#define CENSUS_SLOTS (CENSUS_DEVICES_MAX + 1)
#define CENSUS_POOL_BYTES_MAX (UINT64_C(1) << 56) // sums of such cannot wrap soon
#define CENSUS_STACK_DEEP 16
#define CENSUS_TIMED_WINDOW 65536 // a timed candidate may be kept that long

// ---- Pools: shards and cells ------------------------------------------------------

// What one cell counts. In a cell, and so in every sum over cells: the sum of
// allocated minus freed is the sum of live_pools.
struct census_counts {
	uint64_t live_pools[CENSUS_LABELS];
	uint64_t live_bytes[CENSUS_LABELS];
	uint64_t allocated[CENSUS_LABELS];
	uint64_t freed;
	uint64_t outlived_pools;
	uint64_t outlived_bytes;
};

#define CENSUS_COUNTS_WORDS (sizeof(struct census_counts) / sizeof(uint64_t))

// The counts of one device in one shard. Written under the shard's lock.
struct census_cell {
	_Atomic uint64_t seq;
	_Atomic uint64_t copies[2][CENSUS_COUNTS_WORDS];
	_Atomic uint64_t unused;
};
_Static_assert(sizeof(struct census_cell) == 256, "a cell is four cache lines");

extern struct census_cell census_cells[CENSUS_SLOTS][CENSUS_SHARDS];

// Bytes that are live now and their highest sum. A recorded pool raises both
// before its cell shows it and a dropped one lowers the first after its cell
// does, so the peak is never below what the cells show.
struct census_level {
	_Atomic uint64_t live_bytes;
	_Atomic uint64_t peak_bytes;
};

extern struct census_level census_level_all;

// Rebases a peak to what is live now.
void census_level_reset_peak(struct census_level *level);

// Marks the pools of a closing owner as outlived, shard by shard. Any thread,
// without a lock held.
void census_pools_outlive(uint32_t owner_index);

void census_pools_lock(void);
void census_pools_unlock(void);
// Empties the tables and cells. The caller is alone (a forked child).
void census_pools_reset(void);

// ---- Devices ------------------------------------------------------------------------

struct census_device {
	_Atomic uint64_t contexts_created;
	_Atomic uint64_t contexts_released;
	_Atomic uint64_t modules_loaded;
	_Atomic uint64_t modules_unloaded;
	struct census_level level;
	_Atomic uint64_t name_id; // 0: never given
	_Atomic uint64_t uuid_id;
	_Atomic uint32_t own;	// CENSUS_OWN_*: what the program counts itself
	_Atomic uint64_t driver_contexts, driver_modules; // of the driver, in the counts above
	_Atomic uint64_t memory_seq; // of memory[2][3]: used, total, observed at
	_Atomic uint64_t memory[2][3];
};

extern struct census_device census_devices[CENSUS_SLOTS];

enum { CENSUS_OWN_POOLS = 1, CENSUS_OWN_CONTEXTS = 2, CENSUS_OWN_MODULES = 4 };

static inline bool census_device_is_own(unsigned slot, uint32_t what)
{
	return atomic_load_explicit(&census_devices[slot].own, memory_order_relaxed) & what;
}

// Says that the program counts something of a device itself. True the first time.
static inline bool census_device_make_own(unsigned slot, uint32_t what)
{
	return TELE_UNLIKELY(!census_device_is_own(slot, what)) &&
	       !(atomic_fetch_or_explicit(&census_devices[slot].own, what, memory_order_relaxed) & what);
}

// The slot of a device (>= 0), which this call may name for the first time; it
// then registers the device's section. Any thread, without a lock held.
unsigned census_device_slot(int device);

// The slot of a device, or -1 when it was never named. Takes no lock.
int census_device_find(int device);

// How many slots, from 0 on, are in use; and whether CENSUS_SLOT_OTHERS is.
unsigned census_device_slots(void);
uint64_t census_devices_uncounted(void);

// How many devices were named and remembered, and the number of the one named
// as n-th. Takes no lock.
unsigned census_devices_named(void);
int census_device_named(unsigned n);

void census_devices_lock(void);
void census_devices_unlock(void);
void census_devices_reset(void);

// ---- Owners ---------------------------------------------------------------------------

// Whether record `index` is still the open owner `id`. Meant for holders of a
// shard's lock: an owner that was open then has not yet visited that shard.
bool census_owner_is_open(uint32_t index, uint64_t id);

// The record of an open owner, or false.
bool census_owner_find(uint64_t id, uint32_t *ret_index);

// Adds a pool to an owner, or takes one away; the caller holds the lock of
// `shard`. An owner is only added to while it is open or already holds a pool
// that stays. Taking the last pool of a closed owner frees its record.
void census_owner_give(uint32_t index, unsigned shard, uint64_t bytes);
void census_owner_take(uint32_t index, unsigned shard, uint64_t bytes);

// How many pools of a shard an owner holds; the caller holds that shard's lock.
uint32_t census_owner_pools(uint32_t index, unsigned shard);

uint64_t census_owners_open(void);

void census_owners_lock(void);
void census_owners_unlock(void);
void census_owners_reset(void);

// ---- Labels of a thread ------------------------------------------------------------------

// What the calling thread has pushed; owner_id is 0 for none.
struct census_tag {
	uint64_t owner_id;
	uint32_t owner_index;
	uint32_t label;
};

struct census_tag census_tag_pushed(void);

// ---- Search ----------------------------------------------------------------------------------

// Fills a record of section `search`, all unknown before the first candidate
// or phase. Takes no lock. False when it could not be read; *ret_values is then
// as it was.
bool census_search_read(struct tele_search_values *ret_values);

void census_search_lock(void);
void census_search_unlock(void);
void census_search_reset(void);

// ---- Readings ---------------------------------------------------------------------------------

struct census_reading {
	struct census_counts counts;
	uint64_t contexts_created, contexts_released;
	uint64_t modules_loaded, modules_unloaded;
	uint64_t peak_pool_bytes;
};

// Reads all devices; ret_devices (may be NULL) takes those of the first n_max
// slots, as they were in the same reading. Takes no lock. Returns how many
// devices were given, or -EAGAIN when the program was too fast for even one
// shard to be read in one piece.
int census_read_all(struct census_reading *ret_total, struct census_reading *ret_devices,
		    unsigned n_max);

// The same for one slot. Returns 0 or -EAGAIN.
int census_read_slot(unsigned slot, struct census_reading *ret_reading);

// ---- Sections -------------------------------------------------------------------------------------

struct tele_slot;

// To be called by every pool, context and module call: from the first one on
// the census fields are known.
void census_use_slow(void);
extern _Atomic bool census_is_used;
static inline void census_use(void)
{
	if (TELE_UNLIKELY(!atomic_load_explicit(&census_is_used, memory_order_relaxed)))
		census_use_slow();
}

// Register a section with the publisher. Any thread, without a lock held.
void census_section_search(void);
void census_section_device(int device);
void census_section_owner(unsigned n);

// Fills a record of section `owner` for its n-th instance. Takes no lock.
void census_owner_read(unsigned n, struct tele_owner_values *ret_values);

// Adds search, census and as many devices as fit to a boundary slot, as they
// are now. The caller holds the search's lock, so that cumulative counts rise
// in the order of the slots.
void census_fill_slot(struct tele_slot *slot);

// Copies text, cut at size - 1 bytes and not inside a UTF-8 character. NULL is
// the empty text.
void census_copy_text(char *to, size_t size, const char *from);

#endif
