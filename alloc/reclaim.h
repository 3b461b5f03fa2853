// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Giving pages back. A page that no live slot overlaps at two passes in a row,
// and that no refill took from in between, goes; passes are half a decay time
// apart.

#ifndef ALLOC_RECLAIM_H
#define ALLOC_RECLAIM_H

#include "../libtelemetry/base.h"

// Runs a pass when one is due and none is running. Called by the publisher's
// tick, and by the slow path, which leaves it to the publisher while that lives.
// Holds no lock when called.
void alloc_reclaim_tick(bool from_publisher);
void alloc_reclaim_poll(void);

// A pass before its time, over the classes with many holes only. By the
// publisher's thread, as often as a heap asks for it, but not in close sequence.
void alloc_reclaim_tend(void);

// Gives back all that can be: malloc_trim. Returns the bytes given back.
size_t alloc_reclaim_all(void);

// Held by a pass; a fork waits for it.
struct alloc_lock;
extern struct alloc_lock alloc_reclaim_lock;

// Bytes whose discard the kernel refused, and the last refusal's errno.
extern _Atomic uint64_t alloc_reclaim_refused_bytes;
extern _Atomic int alloc_reclaim_refused_errno;

// Discards since the start, in bytes.
extern _Atomic uint64_t alloc_reclaim_discarded_bytes;

#endif
