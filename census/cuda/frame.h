// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What surrounds every counted call: whether it counts, and what the thread
// knows about itself meanwhile.

#ifndef CENSUS_CUDA_FRAME_H
#define CENSUS_CUDA_FRAME_H

#include "calls.h"

#include <stdatomic.h>

// State of a thread. Initial-exec: reading it calls nothing.
struct cuda_thread {
	const void *caller;    // return address of the counted call under way
	uint64_t context;      // last one seen current, and
	uint64_t generation;   // when it was looked up, and
	uint64_t owner;	       // what owns things made in it, and
	int device;	       // its device
	unsigned depth;	       // of counted calls
	uint32_t number;       // of the thread + 1, for counters kept apart
	uint32_t serials_left; // of those claimed
	uint64_t next_serial;
};

extern _Thread_local struct cuda_thread cuda_self;

// The driver's function of a row, or NULL when nothing in the process has it.
// *ret_is_counted says whether this call counts; cuda_end must follow then.
void *cuda_begin(enum cuda_row row, const void *caller, bool *ret_is_counted);

// Ends a counted call with its result, which it returns.
unsigned cuda_end(unsigned result);

// What a call answers when there is no driver.
unsigned cuda_absent(enum cuda_row row);

#endif
