// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What the CUDA interposer tells the census, across shared objects: pools,
// contexts and modules that it saw at the driver's calls. They are counted as
// if the program had recorded them, for as long as the program does not itself:
// from its first own pool of a device on, that device's pools are its own and
// what the driver holds is left out of them, so that nothing is counted twice.
// Pools, contexts and modules change hands each by themselves.
//
// Any thread, without a lock of the caller's that a call of the census could
// want. Nothing here calls the driver.

#ifndef CENSUS_DRIVER_H
#define CENSUS_DRIVER_H

#include "../libtelemetry/base.h"

// Starts the publisher, for a process that has begun to use the driver.
TELE_EXPORT void rollcall_driver_started(void);

// Counts a pool under a number that never comes back. The label and owner that
// the thread has pushed go before `label`. Returns the label it has (an enum
// rollcall_label), also when the device's pools are the program's own and
// nothing was counted; negative when there is no memory for it.
// *ret_is_pushed says whether the label was the thread's.
TELE_EXPORT int rollcall_driver_pool_made(int device, uint64_t serial, unsigned label, uint64_t bytes,
					  bool *ret_is_pushed);
TELE_EXPORT void rollcall_driver_pool_gone(int device, uint64_t serial);

TELE_EXPORT void rollcall_driver_context_made(int device);
TELE_EXPORT void rollcall_driver_context_gone(int device);
TELE_EXPORT void rollcall_driver_module_made(int device);
TELE_EXPORT void rollcall_driver_module_gone(int device);

// How many owners the program has closed so far.
TELE_EXPORT uint64_t rollcall_driver_owners_closed(void);

// Tells rollcall_label_ptr how to find what lies at an address: is_labelled
// says what the address is to become; the answer is false for an address that
// does not live.
typedef bool (*rollcall_driver_find_fn)(uint64_t address, bool is_labelled, int *ret_device,
					uint64_t *ret_serial);
TELE_EXPORT void rollcall_driver_finder(rollcall_driver_find_fn find);

#endif
