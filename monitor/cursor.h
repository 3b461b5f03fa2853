// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A source on its way into a model: forward record by record, back by starting
// over, or from a fork of the model where the source was taped. What replay moves.

#ifndef MON_CURSOR_H
#define MON_CURSOR_H

#include "../libtelemetry/error.h"
#include "../libtelemetry/source.h"
#include "model.h"
#include "monitor.h"

struct mon_past;
struct mon_progress;

// Where a cursor is to stop.
enum mon_target_kind {
	MON_TARGET_END,
	MON_TARGET_TIME,      // every record up to `value`, monotonic
	MON_TARGET_ROW,	      // right behind row number `value`, from 1
	MON_TARGET_CANDIDATE, // the row after which `value` candidates have ended
	MON_TARGET_PHASE,     // the row after which phase number `value` has begun
	MON_TARGET_LOG	      // the row after which line number `value` is in the log
};

// All but time are of one process: `instance_id`, or the one that `select` means;
// 0 and NULL: of any, rows of all.
struct mon_target {
	enum mon_target_kind kind;
	uint64_t value;
	uint64_t instance_id;
	const char *select;
};

// How far a cursor has come.
struct mon_position {
	uint64_t n_records, n_rows; // applied since the start
	uint64_t first_at_ns; // of the first row or event; TELE_UNKNOWN
	uint64_t last_at_ns;  // the latest time applied; 0
	bool is_on_row;	      // the last record was a row
};

struct mon_cursor {
	struct tele_source *source; // or
	struct mon_past *past;	    // its tape
	struct mon_model *model;
	struct tele_record pending; // fetched and not applied
	struct mon_told told;	    // what goes with it
	bool has_pending, is_ended;
	struct mon_position position;
	struct mon_progress *progress; // told of each record; NULL: nobody
};

// None is owned.
void mon_cursor_init(struct mon_cursor *cursor, struct tele_source *source,
		     struct mon_model *model);

// Applies records until the target is reached, and goes back first when it was
// passed. Returns 1 when it was reached, 0 when the source ended first (or,
// live, has nothing more now), or an error: -ESPIPE where there is no way back.
int mon_cursor_go(struct mon_cursor *cursor, const struct mon_target *target,
		  struct tele_error *ret_error);

// A point as the user wrote it; `target` says of which process.
int mon_cursor_to_point(struct mon_cursor *cursor, const struct mon_at *at, struct mon_target target,
			struct tele_error *ret_error);

// Whether a model that stands there lies beyond the target.
bool mon_target_is_passed(const struct mon_target *target, const struct mon_model *model,
			  const struct mon_position *position);

// How many of its kind the model has, of the process that the target means: rows,
// candidates that ended, phases or lines; TELE_UNKNOWN where it has no such thing.
uint64_t mon_target_count(const struct mon_target *target, const struct mon_model *model,
			  const struct mon_position *position);

// Candidates that have ended; TELE_UNKNOWN without a search.
uint64_t mon_process_ended(const struct mon_process *process);

#endif
