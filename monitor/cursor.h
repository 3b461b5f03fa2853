// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A source on its way into a model: forward record by record, back by starting
// over. What replay moves.

#ifndef MON_CURSOR_H
#define MON_CURSOR_H

#include "../libtelemetry/error.h"
#include "../libtelemetry/source.h"
#include "model.h"
#include "monitor.h"

struct mon_cursor {
	struct tele_source *source;
	struct mon_model *model;
	struct tele_record pending; // fetched and not applied
	bool has_pending, is_ended;
	uint64_t n_rows;      // applied since the start
	uint64_t first_at_ns; // of the first row or event; TELE_UNKNOWN
};

// Neither is owned.
void mon_cursor_init(struct mon_cursor *cursor, struct tele_source *source,
		     struct mon_model *model);

// Each applies records up to a point and returns 1 when the point was reached,
// 0 when the source ended first (or, live, has nothing more now), or an error.
int mon_cursor_to_end(struct mon_cursor *cursor, struct tele_error *ret_error);

// Every record up to this monotonic time.
int mon_cursor_to_time(struct mon_cursor *cursor, uint64_t at_ns, struct tele_error *ret_error);

// Until n_rows rows were applied since the start.
int mon_cursor_to_row(struct mon_cursor *cursor, uint64_t n_rows, struct tele_error *ret_error);

// Until `candidate` candidates have ended in the process that `select` means;
// NULL: in any.
int mon_cursor_to_candidate(struct mon_cursor *cursor, uint64_t candidate, const char *select,
			    struct tele_error *ret_error);

// A point as the user wrote it; to_candidate or to_time since the first record.
int mon_cursor_to_point(struct mon_cursor *cursor, const struct mon_at *at, const char *select,
			struct tele_error *ret_error);

// Back to before the first record, with an empty model. -ESPIPE for a pipe.
int mon_cursor_restart(struct mon_cursor *cursor, struct tele_error *ret_error);

// Candidates that have ended; TELE_UNKNOWN without a search.
uint64_t mon_process_ended(const struct mon_process *process);

#endif
