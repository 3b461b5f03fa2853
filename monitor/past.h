// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A source that was taped, and forks of the model kept along the way: going back
// is going forward from the fork before, over few rows when the place is near,
// so that what is shown is what was shown when the row was new.

#ifndef MON_PAST_H
#define MON_PAST_H

#include "../libtelemetry/error.h"
#include "cursor.h"
#include "tape.h"

struct mon_checkpoint;

struct mon_past {
	struct mon_tape *tape;
	struct mon_place place; // of the cursor
	struct mon_checkpoint *checkpoints; // in order; the first is the oldest place there is
	uint32_t n_checkpoints, n_max;
	uint64_t n_since, step; // records since the last checkpoint, and between two
	size_t fork_bytes_max;	// for all checkpoints together
	size_t tape_bytes_max;	// beyond it the oldest is forgotten
};

// What forks may take: of a trace that is looked at for itself, and of a live
// process beside everything else.
#define MON_PAST_FORKS_TRACE (UINT64_C(96) << 20)
#define MON_PAST_FORKS_LIVE  (UINT64_C(12) << 20)
#define MON_PAST_TAPE_TRACE  (UINT64_C(1) << 30)
#define MON_PAST_TAPE_LIVE   (UINT64_C(32) << 20)

// All zero is closed. The cursor reads from the tape from now on, and its model
// has to be empty. Returns 0 or -ENOMEM.
int mon_past_open(struct mon_past *past, struct mon_cursor *cursor, size_t fork_bytes_max,
		  size_t tape_bytes_max);
void mon_past_close(struct mon_past *past);

// Tapes what the source has now, at most n_max records; the cursor stays where
// it is. Returns how many came, or an error.
int mon_past_fill(struct mon_past *past, struct tele_source *source, int n_max,
		  struct tele_error *ret_error);

// The latest model that is kept: of a trace that was read to its end, that end.
// NULL for none but the empty one.
const struct mon_model *mon_past_latest(const struct mon_past *past);

// Keeps a fork of where the cursor is. Returns 0 or -ENOMEM.
int mon_past_keep(struct mon_past *past, const struct mon_cursor *cursor);

// For cursor.c: the next record; one that was applied (a fork may be due, where
// nothing is pending); and to the latest fork that `target` is not passed in,
// which may be the first: back where the cursor has passed it, else forward if
// that saves something. Each 0 (the first: 1 or 0), or -ENOMEM.
int mon_past_next(struct mon_past *past, struct tele_record *ret_record, struct mon_told *ret_told);
int mon_past_applied(struct mon_past *past, struct mon_cursor *cursor);
int mon_past_leap(struct mon_past *past, struct mon_cursor *cursor, const struct mon_target *target,
		  bool is_passed);

#endif
