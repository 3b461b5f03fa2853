// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Events: what happened between two rows. Rows and events share one sequence
// of numbers per instance, so that a lost record is counted whatever it was.

#ifndef TELE_EVENT_H
#define TELE_EVENT_H

#include "base.h"

// Wire numbers: append only. The comment says what subject, value and text are.
#define TELE_EVENT_MAP(X)                                                               \
	X(TELE_EVENT_CANDIDATE_BEGIN, 1, "candidate_begin")   /* handle, -, label */     \
	X(TELE_EVENT_CANDIDATE_END, 2, "candidate_end")	      /* handle, outcome, label */ \
	X(TELE_EVENT_PHASE, 3, "phase")			      /* -, -, name */           \
	X(TELE_EVENT_FORK, 4, "fork")			      /* pid of the child, -, - */ \
	X(TELE_EVENT_OUT_OF_MEMORY, 5, "out_of_memory")	      /* bytes asked for, -, what refused */ \
	X(TELE_EVENT_DISCARD_REFUSED, 6, "discard_refused")   /* bytes, errno, - */      \
	X(TELE_EVENT_OWNER_CLOSED, 7, "owner_closed")	      /* owner, pools left, name */ \
	X(TELE_EVENT_GAP, 8, "gap")			      /* first seq lost, count, - */ \
	X(TELE_EVENT_MARK, 9, "mark")			      /* -, -, text */           \
	X(TELE_EVENT_VERDICT, 10, "verdict")		      /* class, shape, sentence */ \
	X(TELE_EVENT_STATE, 11, "state")		      /* instance id, tele_state, - */ \
	X(TELE_EVENT_CLOCK, 12, "clock")		      /* -, new realtime offset, - */

enum tele_event_type {
#define X(name, value, text) name = (value),
	TELE_EVENT_MAP(X)
#undef X
};

// After a candidate event with number seq comes the row seq + 1 that carries
// the census as it was at that boundary, captured at the same time.
struct tele_event {
	uint64_t seq;
	uint64_t at_ns; // monotonic, a multiple of 1,024
	uint64_t subject;
	uint64_t value;
	uint64_t string_id; // 0: no text
	uint32_t type;
};

// "candidate_begin", ...; "?" for a type of a later version.
const char *tele_event_name(unsigned type);

#endif
