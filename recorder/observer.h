// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What the recorder itself sees: an instance of its own in the trace, with
// events for changes of state and for gaps, so that a replay knows what the
// live monitor knew.

#ifndef REC_OBSERVER_H
#define REC_OBSERVER_H

#include "../libtelemetry/source.h"
#include "sink.h"

struct rec_observer;

// NULL when there is no memory. rec_observer_free takes NULL.
struct rec_observer *rec_observer_new(void);
void rec_observer_free(struct rec_observer *observer);

// Notes that the instance is in its state now, or that its records
// [gap_from, gap_to) were overwritten before they could be read. Written with
// the next flush; 0, or an error of the flush that a full buffer forces.
int rec_observer_state(struct rec_observer *observer, const struct tele_instance *instance,
		       struct rec_sink *sink, struct tele_error *ret_error);
int rec_observer_gap(struct rec_observer *observer, const struct tele_instance *instance,
		     uint64_t gap_from, uint64_t gap_to, struct rec_sink *sink,
		     struct tele_error *ret_error);

// Bytes that the next flush writes, at most. It never begins a new piece, which
// would be one of the observer alone.
size_t rec_observer_bytes(const struct rec_observer *observer);

// Appends what was noted since the last flush.
int rec_observer_flush(struct rec_observer *observer, struct rec_sink *sink,
		       struct tele_error *ret_error);

#endif
