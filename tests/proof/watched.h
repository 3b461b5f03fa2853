// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The proof itself: a writer stopped after every instruction, with readers on
// what it left; and a reader stopped at every word that it reads, while the
// writer goes on.

#ifndef TESTS_PROOF_WATCHED_H
#define TESTS_PROOF_WATCHED_H

#include "script.h"

struct proof_plan {
	uint64_t n_before;    // publishes that are not watched; several turns of the ring, or none
	uint64_t n_publishes; // that are
	uint64_t seal_every;
	uint64_t stride;      // 1: every state, word and instruction; else every so-manieth
	bool is_noisy;
	bool is_whole; // encoding is stepped, too
	bool stops_at_words; // proof_kill: readers that began earlier, at hand-overs
	bool by_call;  // proof_lap: k counts system calls, not instructions
};

struct proof_sum {
	uint64_t n_steps;  // instructions that were stepped
	uint64_t n_states; // of the segment, that differ from the one before
	uint64_t n_reads;  // by readers from attach to end
	uint64_t n_torn;   // of them, that saw the segment change under them
	const char *wrong; // NULL, or the first failure; then nothing more is tried
	uint64_t at_call, at_state;
};

// The writer is stopped after each instruction. On each state: a reader of the
// segment as if the writer had been killed there, one that follows a living
// writer, and such as began some calls earlier and go on here.
void proof_kill(const struct proof_plan *plan, struct proof_sum *sum);

// A reader is stopped at each word that it reads, the writer goes n_publishes
// on, the reader goes on.
void proof_overtake(const struct proof_plan *plan, struct proof_sum *sum);

// The writer exits, with a last row and a boundary that it did not drain, between
// the reader's look at the control page and its look for the process.
void proof_exit_between(struct proof_sum *sum);

// The same with a reader that is stopped after k instructions, or system calls,
// by ptrace, for k = 0, stride, ... while the writer laps it.
void proof_lap(const struct proof_plan *plan, struct proof_sum *sum);

#endif
