// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What is asked about recorded processes from outside of them (monitor/outside.h),
// as blocks of an observer's instance in the trace.

#ifndef REC_OUTSIDE_H
#define REC_OUTSIDE_H

#include "../libtelemetry/discover.h"
#include "follower.h"
#include "sink.h"

struct rec_outside;

// NULL when there is no memory. rec_outside_free takes NULL.
struct rec_outside *rec_outside_new(void);
void rec_outside_free(struct rec_outside *outside);

// Asks about those that are being recorded, at most once a second. 0, or an
// error of the flush that a full buffer forces.
int rec_outside_ask(struct rec_outside *outside, const struct tele_found_list *list,
		    const struct rec_followers *followers, struct rec_sink *sink,
		    struct tele_error *ret_error);

// Bytes that the next flush writes, at most. It never begins a new piece.
size_t rec_outside_bytes(const struct rec_outside *outside);

// Appends the rows since the last flush.
int rec_outside_flush(struct rec_outside *outside, struct rec_sink *sink, struct tele_error *ret_error);

#endif
