// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// How the parts of a process hand their numbers to its one publisher: the
// malloc, the census, the CUDA interposer and the host collector all register
// through this versioned interface, across shared objects.

#ifndef TELE_COLLECTOR_H
#define TELE_COLLECTOR_H

#include "base.h"

#define ROLLCALL_COLLECTOR_VERSION 1
#define ROLLCALL_NO_INSTANCE UINT32_MAX

// What a collector can tell of itself when it registers. `size` is
// sizeof(struct rollcall_collector) as the caller knows it, so that either side
// may be the newer one.
struct rollcall_collector {
	uint32_t size;
	uint32_t version;      // ROLLCALL_COLLECTOR_VERSION
	const char *section;   // a section of sections.def; kept, not copied
	uint32_t instance;     // N of device[N]; ROLLCALL_NO_INSTANCE for a PROCESS section
	uint32_t n_values;     // how many of the section's fields it fills, from the first on

	// Called by the publisher thread on every tick. values[0..n_values) hold
	// what was last filled in (TELE_UNKNOWN at first), in table order. The
	// function takes no lock that a thread of the program holds, allocates
	// nothing, makes no driver call, and stamps values[0] (captured_at_ns)
	// with rollcall_clock_ns() of its own reading. It leaves the fields
	// unknown that it does not know. May be NULL.
	void (*collect)(void *context, uint64_t *values, uint32_t n_values);

	// The same for what is too slow for every tick (smaps_rollup, mincore):
	// called as often as keeps all slow collectors together under 1 % of one
	// core. May be NULL.
	void (*collect_slow)(void *context, uint64_t *values, uint32_t n_values);

	void *context;

	// For `heap` only: answers rollcall_heap_books() by filling values as
	// collect does. Called on any thread. May be NULL.
	int (*read_now)(void *context, uint64_t *values, uint32_t n_values);

	// Called by the publisher thread soon after rollcall_tend(), between two
	// ticks, under the same rules as collect. May be NULL.
	void (*tend)(void *context);
};

// Registers a collector for the life of the process; *collector is copied. May
// be called from a constructor and on any thread. A PROCESS section takes one
// collector, an instance one too. Returns >= 0; -EEXIST, -EINVAL for an unknown
// section or version, -ENOSPC when the schema has no room (counted as refused).
int rollcall_collector_register(const struct rollcall_collector *collector);

// Asks the publisher thread to call every collector's `tend` before its next
// tick. From any thread; takes no lock and does not wait: one futex call. Does
// nothing where no publisher runs.
void rollcall_tend(void);

// CLOCK_MONOTONIC in ns, rounded down to the 1,024 ns that timestamps carry.
uint64_t rollcall_clock_ns(void);

// An event of the process, from any thread, never blocking: lost and counted
// when no slot is free. `type` is an enum tele_event_type (event.h), `text` may
// be NULL. Returns 0, or -EAGAIN when it was lost, or -ENODATA when the process
// does not publish.
int rollcall_event(uint32_t type, uint64_t subject, uint64_t value, const char *text);

#endif
