// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What the writer of the proof does, call by call, and what any reader of its
// segment must find after each of them. The script runs twice: once here, at
// full speed, to know what follows from it; and once where it is watched.

#ifndef TESTS_PROOF_SCRIPT_H
#define TESTS_PROOF_SCRIPT_H

#include "tests/support/ring_fixture.h"

#define PROOF_CALLS_MAX 4096

// After so many calls of the writer.
struct proof_facts {
	uint64_t n_records;   // committed
	uint64_t n_claimed;   // boundaries whose slots are filled
	uint64_t n_drained;   // of them, committed
};

struct proof_script {
	struct test_ring *ring;
	uint32_t n_calls;
	struct proof_facts after[PROOF_CALLS_MAX + 1]; // after[0]: before the first
	uint32_t ticket_of[TEST_RING_RECORDS_MAX];     // + 1, of records that a boundary made
	void (*around)(struct proof_script *script, bool is_after);
};

// A segment as the script starts with it: with some turns of the ring behind it
// where n_before is not 0.
struct proof_script *proof_script_new(uint64_t n_before, bool is_noisy);
void proof_script_free(struct proof_script *script);

// Publishes, with boundaries, growth and, beside what seals itself, a seal every
// so many publishes (0: none) between. Calls around() before
// and after each call of the writer and of slots.c.
void proof_script_run(struct proof_script *script, uint64_t n_publishes, uint64_t seal_every);

// Takes over what follows from the script of another that has run it.
void proof_script_learn(struct proof_script *script, const struct proof_script *from);

// What one reader found.
struct proof_found {
	uint64_t n_sure;      // set by the caller: records up to this one are committed
	uint64_t first_seq, next_seq; // 0: nothing
	uint64_t n_records, n_lost;
	uint64_t gap_end; // of the last gap
	uint64_t last_row_seq;
	uint64_t next_ticket; // after the last boundary; 0: none
	bool at_boundary;     // its event was the last record
	uint64_t n_schemas;
	uint64_t n_fields;
	uint64_t row[TELE_FIELDS_MAX]; // the last
};

// Takes one record. Returns NULL, or what is wrong with it.
const char *proof_take(const struct proof_script *script, struct proof_found *found,
		       const struct tele_record *record);

// Reads what a source has. Returns NULL, or what is wrong with it.
const char *proof_listen(const struct proof_script *script, struct tele_source *source,
			 struct proof_found *found);

#endif
