// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Objects of the driver in both books: the ledger, and for pools, contexts and
// modules the census. Made after the driver made them; taken before it ends
// them, and then either gone or put back.

#ifndef CENSUS_CUDA_OBJECTS_H
#define CENSUS_CUDA_OBJECTS_H

#include "ledger.h"

// Enters what the driver has made: gives it a serial, a label and its epoch.
void cuda_object_made(const struct cuda_object *object);

// The same for what is made in the calling thread's context; with
// CUDA_ENDS_WITH_PARENT among the flags the context owns it. Where there is none
// it is counted as unplaced.
void cuda_object_made_here(unsigned kind, unsigned class, uint64_t handle, uint64_t bytes,
			   unsigned flags);

// Enters an object in the ledger only. False when there is no memory for it.
bool cuda_object_put(const struct cuda_object *object);

void cuda_object_gone(const struct cuda_object *object);
void cuda_object_back(const struct cuda_object *object);

// ---- What a call is about to end -----------------------------------------------

// Out of the ledger while the driver is asked, and kept by the thread, which may
// never come back from there.
struct cuda_taken {
	struct cuda_object object; // of kind 0: not known
	enum cuda_change change;   // what was done with it before the call
	struct cuda_batch others;  // that end with it, or mappings
	struct cuda_batch handles; // that end with these
};

// Takes an object out; false when it is not known.
bool cuda_object_take(unsigned kind, uint64_t handle);
// Takes a reference of it, and it out when that was the last thing to hold it.
void cuda_object_release(unsigned kind, uint64_t handle);
// Takes out all that ends with `parent`, as far as there is memory to note it.
void cuda_object_take_others(uint64_t parent);

// With the result of the call, which it returns: ends what cuda_object_take or
// _release took, or puts it back; counts an unknown free if the call went well
// and it was not known.
unsigned cuda_object_after(unsigned result);
// The same for what cuda_object_take_others took.
void cuda_object_others_after(bool is_ended);

// Puts back whatever is out: the call that took it has been abandoned, so what
// it was to end is not known to have ended.
void cuda_object_put_back(void);

// Counts that an allocation of a memory pool is gone; the last one ends a pool
// that was destroyed before.
void cuda_pool_let_go(uint64_t pool);

// Finds what lives at an address, for rollcall_label_ptr.
bool cuda_object_find_pool(uint64_t address, bool is_labelled, int *ret_device, uint64_t *ret_serial);

#endif
