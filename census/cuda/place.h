// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Where a call of the driver takes place: the calling thread's current context,
// the device under it, and what owns things made there. The primary context of
// a device owns under a key of its own, whatever handles it goes by.

#ifndef CENSUS_CUDA_PLACE_H
#define CENSUS_CUDA_PLACE_H

#include "../../libtelemetry/base.h"

#include <stdatomic.h>

struct CUctx_st;
struct CUstream_st;

// The driver's functions that the census itself calls; NULL where this driver
// lacks one. None of them can spoil a stream's capture. In place before any row
// of the driver is.
enum cuda_helper {
	CUDA_CTX_GET_CURRENT,
	CUDA_CTX_GET_DEVICE,
	CUDA_PRIMARY_CTX_GET_STATE,
	CUDA_STREAM_IS_CAPTURING,
	CUDA_STREAM_IS_CAPTURING_PER_THREAD,
	CUDA_DEVICE_GET_UUID,
	CUDA_DEVICE_GET_NAME,
	CUDA_POINTER_GET_ATTRIBUTE,
	CUDA_DEVICE_GET_COUNT,
	CUDA_STREAM_GET_DEVICE,
	CUDA_HELPERS
};
extern _Atomic(void *) cuda_helpers[CUDA_HELPERS];

struct cuda_place {
	uint64_t owner;
	int device;
};

// The place of the calling thread. False when it has no context, or the driver
// does not tell.
bool cuda_place_now(struct cuda_place *ret_place);

// The device of the calling thread, or of device 0 where there is none.
int cuda_device_or_first(void);

// The device that the memory at `address` is on; -1 where the driver does not tell.
int cuda_device_of_memory(uint64_t address);

// The device that a stream runs on, or -1: what is allocated on it comes from
// there. Where the driver is too old to tell, the memory at `address` does, unless
// that is 0. Asks nothing more where the process has one device.
int cuda_device_of_stream(struct CUstream_st *stream, uint64_t address);

// Whether the stream is being captured into a graph.
bool cuda_is_capturing(struct CUstream_st *stream, bool is_per_thread);

// Makes a device known: its sections, its name and its UUID. Costs one load
// from the second time on.
void cuda_device_seen(int device);

// ---- Contexts ---------------------------------------------------------------

// What owns things made in the primary context of a device.
static inline uint64_t cuda_primary_key(int device)
{
	return UINT64_MAX - (uint64_t)(unsigned)device;
}

// A context that cuCtxCreate made, under its handle.
void cuda_context_made(uint64_t handle, int device);

// Counts one more reference of the primary context, which is active now.
// `handle` is what it goes by, 0 when that is not known.
void cuda_primary_retained(int device, uint64_t handle);

// Takes one reference back before a call that gives it up; true when it is the
// last that the census knows of. And gives it again where the call failed.
bool cuda_primary_let_go(int device);
void cuda_primary_keep(int device);

// Asks the driver whether the primary context is active, or takes `otherwise`
// where it does not say, and counts it as made or ended if that is news. Returns
// the answer.
bool cuda_primary_settle(int device, bool otherwise);

uint64_t cuda_primary_references(int device);
bool cuda_primary_is_active(int device);

// Forgets what threads remember of contexts. Before one ends.
void cuda_places_change(void);

// ---- fork --------------------------------------------------------------------

void cuda_places_reset(void);
// Makes the lock an open one, whoever has it. The caller is alone.
void cuda_places_renew_lock(void);

#endif
