// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What the driver holds for this process: one object an entry, in sharded hash
// tables, with counts of every class and device beside them. Any thread; each
// call takes one shard's lock for its length and calls nothing outside. Readers
// of the counts take no lock. Nothing here calls malloc, stdio or the driver.
//
// The same handle in two kinds is two objects. An object that a call is about to
// end is taken out before the driver is asked, since another thread may be given
// its address as soon as the driver has let go of it, and is put back when the
// driver refuses.

#ifndef CENSUS_CUDA_LEDGER_H
#define CENSUS_CUDA_LEDGER_H

#include "../../libtelemetry/base.h"

#include <stdatomic.h>

// What an object counts as. Pools first: they are device memory, one each.
enum cuda_class {
	CUDA_LINEAR,
	CUDA_ASYNC,
	CUDA_VMM,
	CUDA_ARRAY,
	CUDA_CLASSES_OF_POOLS,
	CUDA_MANAGED = CUDA_CLASSES_OF_POOLS,
	CUDA_PINNED,
	CUDA_REGISTERED,
	CUDA_IMPORTED,
	CUDA_GRAPH, // made by graphs: cumulative, and never ends here
	CUDA_RESERVED,
	CUDA_MEMORY_POOL,
	CUDA_CONTEXT,
	CUDA_GREEN,
	CUDA_MODULE,
	CUDA_LINK,
	CUDA_LIBRARY,
	CUDA_MULTICAST,
	CUDA_UNCOUNTED, // known, and nothing by itself
	CUDA_CLASSES
};

// What a handle is a handle of.
enum cuda_kind {
	CUDA_IS_POINTER = 1,
	CUDA_IS_HOST,
	CUDA_IS_REGISTERED,
	CUDA_IS_HANDLE,
	CUDA_IS_MAPPING,
	CUDA_IS_RESERVATION,
	CUDA_IS_POOL,
	CUDA_IS_ARRAY,
	CUDA_IS_MIPMAP,
	CUDA_IS_CONTEXT,
	CUDA_IS_GREEN,
	CUDA_IS_MODULE,
	CUDA_IS_LINK,
	CUDA_IS_LIBRARY,
	CUDA_IS_EXTERNAL
};

enum {
	CUDA_ENDS_WITH_PARENT = 1, // its context, by the driver's list
	CUDA_IS_OF_HOST = 2,	   // a pool of host memory
	CUDA_IS_IPC = 4		   // opened, not allocated
};

struct cuda_object {
	uint64_t handle;
	uint64_t bytes;
	uint64_t parent; // the context that owns it, the pool or handle it is of; 0 none
	uint64_t serial; // in the census; 0: not there
	int32_t device;	 // < 0: of none
	uint32_t refs;
	uint32_t mappings;
	uint32_t epoch; // when it was made, on the clock of cuda_epoch
	uint8_t kind;
	uint8_t class;
	uint8_t label;
	uint8_t flags;
};

#define CUDA_DEVICES 64
#define CUDA_NO_DEVICE_SLOT CUDA_DEVICES
#define CUDA_SLOTS (CUDA_DEVICES + 1)

// Adds an object. One of that key that was still there, its end unseen, comes
// out in *ret_old with true. *ret_failed says that there was no memory.
bool cuda_ledger_put(const struct cuda_object *object, bool is_new, struct cuda_object *ret_old,
		     bool *ret_failed);

// Takes an object out. False when there is none, or it is of class CUDA_GRAPH.
bool cuda_ledger_take(unsigned kind, uint64_t handle, struct cuda_object *ret_object);

// Copies an object. False when there is none.
bool cuda_ledger_find(unsigned kind, uint64_t handle, struct cuda_object *ret_object);

enum cuda_change { CUDA_CHANGE_NONE, CUDA_CHANGE_MADE, CUDA_CHANGE_ENDED };

// Adds to an object's references, mappings and bytes, and to its flags what
// `flags_on` says. An object left without references and mappings is taken out
// where `may_end` says so. *ret_object is the object afterwards.
enum cuda_change cuda_ledger_change(unsigned kind, uint64_t handle, int refs, int mappings,
				    int64_t bytes, unsigned flags_on, unsigned flags_off, bool may_end,
				    struct cuda_object *ret_object);

// Labels an object, for the counts of what is unlabelled.
bool cuda_ledger_label(unsigned kind, uint64_t handle, unsigned label, struct cuda_object *ret_object);

// Objects that were taken out together, in pages of their own.
struct cuda_batch {
	struct cuda_page *first;
	size_t n;
};

// Takes out everything that ends with `parent`. Where there is no memory for
// the batch, the rest stays. Returns false then.
bool cuda_ledger_take_children(uint64_t parent, struct cuda_batch *batch);

// Adds a copy of an object. False when there is no memory.
bool cuda_batch_add(struct cuda_batch *batch, const struct cuda_object *object);

// Calls `each` for every object of the batch and gives its pages back.
void cuda_batch_end(struct cuda_batch *batch, void (*each)(const struct cuda_object *));

// ---- Counts -----------------------------------------------------------------

struct cuda_counts {
	uint64_t live[CUDA_CLASSES];
	uint64_t bytes[CUDA_CLASSES];
	uint64_t total[CUDA_CLASSES];
	uint64_t settled, settled_bytes;
};

// The counts of one device, or of what belongs to none (CUDA_NO_DEVICE_SLOT).
// Takes no lock; exact when no call is under way.
void cuda_ledger_read(unsigned slot, struct cuda_counts *ret_counts);

// The clock that settling goes by: a step for every eight seconds or closed
// owner or context, whichever there were.
#define CUDA_EPOCHS_TO_SETTLE 8
uint32_t cuda_epoch(void);
void cuda_context_closed(void);

static inline unsigned cuda_slot_of(int device)
{
	if (device < 0)
		return CUDA_NO_DEVICE_SLOT;
	return device < CUDA_DEVICES ? (unsigned)device : CUDA_DEVICES - 1;
}

// ---- fork ---------------------------------------------------------------------

void cuda_ledger_lock(void);
void cuda_ledger_unlock(void);
// Empties everything. The caller is alone.
void cuda_ledger_reset(void);
// Makes locks that nobody can let go any more open ones. The caller is alone.
void cuda_ledger_renew_locks(void);

#endif
