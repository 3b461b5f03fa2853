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

// After a call that was to end `object`, which was taken out: puts it back when
// the driver refused, else counts its end.
void cuda_object_end(const struct cuda_object *object, bool is_ended);
void cuda_object_gone(const struct cuda_object *object);
void cuda_object_back(const struct cuda_object *object);

// Takes out what a call is about to end; false when it is not known. Then, with
// the result of the call: ends it, or counts an unknown free if the call went
// well all the same.
bool cuda_object_take(unsigned kind, uint64_t handle, struct cuda_object *ret_object);
void cuda_object_after(const struct cuda_object *object, bool is_known, unsigned result);

// Counts that an allocation of a memory pool is gone; the last one ends a pool
// that was destroyed before.
void cuda_pool_let_go(uint64_t pool);

// Finds what lives at an address, for rollcall_label_ptr.
bool cuda_object_find_pool(uint64_t address, bool is_labelled, int *ret_device, uint64_t *ret_serial);

#endif
