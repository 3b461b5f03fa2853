// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Whose address is whose. The driver is adopted at first sight: every row's
// address is asked of it, by name and through cuGetProcAddress, and remembered.
// From then on an address that a look-up gives is exchanged for our wrapper when
// it is one of these, whatever name and version was asked for; any other is
// passed on as it came. Lock-free and idempotent: two threads that adopt at once
// do the same. Nothing here calls malloc.

#ifndef CENSUS_CUDA_LOOKUP_H
#define CENSUS_CUDA_LOOKUP_H

#include "calls.h"

#include <stdatomic.h>

// The wrapper for an address of the driver, or NULL. *ret_is_known (may be
// NULL) says whether the address is of a row, also of one that is left alone.
void *cuda_wrapper_of(const void *address, bool *ret_is_known);

// The driver's function of a row, adopting the driver if one is loaded by now;
// without one, what the caller would have got had we not been here, in which
// case *ret_is_driver is false. NULL when there is nothing.
void *cuda_driver_function(enum cuda_row row, const void *caller, bool *ret_is_driver);

// The driver's function of each row, once it is known, and where the driver is
// mapped.
extern _Atomic(void *) cuda_functions[CUDA_ROWS];
extern _Atomic uintptr_t cuda_driver_from, cuda_driver_to;
extern _Atomic uint8_t cuda_is_handed_out[CUDA_ROWS];

// Whether an address lies in the driver.
static inline bool cuda_is_inside_driver(const void *address)
{
	uintptr_t from = atomic_load_explicit(&cuda_driver_from, memory_order_relaxed);
	uintptr_t to = atomic_load_explicit(&cuda_driver_to, memory_order_relaxed);
	return (uintptr_t)address - from < to - from;
}

// Counts what a look-up handed out.
void cuda_note_handed_out(const void *wrapper, bool by_gpa);
// Counts a row that was called without having been looked up: by linking.
void cuda_note_called(enum cuda_row row);

// Makes every later look-up and call pass through uncounted.
void cuda_lookup_off(void);
bool cuda_is_off(void);

// Finds the dlsym behind ours. Idempotent; any time after relocation.
void cuda_find_dlsym(void);

#endif
