// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What surrounds every counted call: whether it counts, and what the thread
// knows about itself meanwhile.

#ifndef CENSUS_CUDA_FRAME_H
#define CENSUS_CUDA_FRAME_H

#include "calls.h"
#include "objects.h"

#include <stdatomic.h>

// State of a thread. Initial-exec: reading it calls nothing.
struct cuda_thread {
	const void *caller;    // return address of the counted call under way
	uint64_t context;      // last one seen current, and
	uint64_t generation;   // when it was looked up, and
	uint64_t owner;	       // what owns things made in it, and
	int device;	       // its device
	unsigned depth;	       // of counted calls
	const char *frame;     // the stack as that call was entered with it, NULL without one
	uint32_t number;       // of the thread + 1, for counters kept apart
	uint32_t serials_left; // of those claimed
	uint64_t next_serial;
	struct cuda_taken taken; // by the call under way
};

extern _Thread_local struct cuda_thread cuda_self;

// A call that the thread never comes back from (it jumped out of the driver, or
// threw, or ended there) is noticed and given up: by the next call that can only
// be made with the stack unwound, or by the thread's end.

// The driver's function of a row, or NULL when nothing in the process has it.
// *ret_is_counted says whether this call counts; cuda_end must follow then.
// `frame` is the stack as the wrapper was entered with it.
void *cuda_begin(enum cuda_row row, const void *caller, const char *frame, bool *ret_is_counted);

// Ends a counted call with its result, which it returns.
unsigned cuda_end(unsigned result);

// What a call answers when there is no driver.
unsigned cuda_absent(enum cuda_row row);

#endif
