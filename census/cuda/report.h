// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What the census says of itself, and the sections it publishes: driver[N] and
// cuda[0]. Collectors only read words; they call no driver and take no lock.

#ifndef CENSUS_CUDA_REPORT_H
#define CENSUS_CUDA_REPORT_H

#include "../../libtelemetry/base.h"

#include <stdatomic.h>

enum cuda_tally {
	CUDA_BY_SYMBOL,
	CUDA_BY_GPA,
	CUDA_MISMATCHES,
	CUDA_FOREIGN,
	CUDA_DISCOVERED,
	CUDA_UNKNOWN_FREES,
	CUDA_UNTRACKED,
	CUDA_UNPLACED,
	CUDA_UNESTIMATED,
	CUDA_FAILURES,
	CUDA_LABELLED_BY_PROGRAM,
	CUDA_LABELLED_BY_RULE,
	CUDA_TALLIES
};

extern _Atomic uint64_t cuda_tallies[CUDA_TALLIES];
extern _Atomic uint64_t cuda_last_failure;   // a CUresult; 0 none
extern _Atomic uint64_t cuda_entry_points; // found in the driver

static inline void cuda_tally(enum cuda_tally tally)
{
	atomic_fetch_add_explicit(&cuda_tallies[tally], 1, memory_order_relaxed);
}

// Counts a call by the thread of that number.
void cuda_count_call(uint32_t thread);

// Counts a refusal for want of memory; `bytes` may be 0 for unknown.
void cuda_count_refusal(int device, uint64_t bytes);

// Registers the sections, of the process and of a device; again is nothing.
// Any thread, without a lock held.
void cuda_report_process(void);
void cuda_report_device(int device);

// In a forked child.
void cuda_report_reset(void);

#endif
