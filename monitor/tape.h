// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Records kept in memory, to be told again from any place: what makes a pipe
// and a live ring as easy to go back in as a file. A row costs what changed
// since the row before, 20 to 100 bytes for a search.
//
// A tape belongs to one thread. Instances are its source's, which has to stay.

#ifndef MON_TAPE_H
#define MON_TAPE_H

#include "../libtelemetry/source.h"
#include "model.h"

struct mon_tape;

struct mon_tape *mon_tape_new(void); // NULL: no memory
void mon_tape_free(struct mon_tape *tape); // takes NULL

// Appends a record. Returns 0 or -ENOMEM.
int mon_tape_add(struct mon_tape *tape, const struct tele_record *record);

uint64_t mon_tape_records(const struct mon_tape *tape); // ever added
size_t mon_tape_bytes(const struct mon_tape *tape);

// The first and the latest time of a row or event; TELE_UNKNOWN and 0 before one.
uint64_t mon_tape_first_at_ns(const struct mon_tape *tape);
uint64_t mon_tape_last_at_ns(const struct mon_tape *tape);

// Where a reader stands: behind `n_records`. Owns memory; all zero is the start.
struct mon_place {
	uint64_t n_records;
	size_t chunk, offset;
	struct mon_tape_head *heads; // of each instance, as far as it was told
	uint32_t n_heads;
};

void mon_place_fini(struct mon_place *place);

// Makes *ret_copy (not initialised) the same place. Returns 0 or -ENOMEM.
int mon_place_copy(const struct mon_place *place, struct mon_place *ret_copy);
size_t mon_place_bytes(const struct mon_place *place);

// The next record, and what it said beside itself; both are valid until the
// next call with this place. Returns 1, 0 at the end, or -ENOMEM.
int mon_tape_next(const struct mon_tape *tape, struct mon_place *place, struct tele_record *ret_record,
		  struct mon_told *ret_told);

// Forgets whole chunks that lie before a place; nobody may stand there any more.
void mon_tape_forget(struct mon_tape *tape, const struct mon_place *place);

#endif
