// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A candidate, what it takes from the driver, and the inputs all of them share.

#ifndef SEARCH_CANDIDATE_H
#define SEARCH_CANDIDATE_H

#include "examples/common/search.h"
#include "kernel.h"
#include "libtelemetry/rollcall.h"

// What the program itself counted, to hold the census against.
struct search_ledger {
	uint64_t live_working_pools, live_constant_pools;
	uint64_t contexts_created, contexts_released;
	uint64_t modules_loaded, modules_unloaded;
};

extern struct search_ledger ledger;

struct search_inputs {
	unsigned n; // rows of each matrix
	float *a, *b;	   // of the host
	uint64_t on_device[2]; // the same there: constant pools
	void *events[2];
};

// Returns 0 or a CUresult.
unsigned search_inputs_open(struct search_inputs *inputs, unsigned n, uint64_t seed);
void search_inputs_close(struct search_inputs *inputs);

struct search_candidate {
	struct common_candidate common; // first
	uint64_t owner; // Rollcall's
	struct search_kernel kernel;
	void *context, *module, *function;
	uint64_t pool; // 0: none
	uint64_t digest;
};

// Takes what the candidate needs, and has it compiled, loaded, checked and
// timed. Returns how it ended so far.
enum rollcall_outcome search_candidate_try(struct search_candidate *candidate, const struct search_inputs *inputs);

// Gives back what it took, but for what is to leak.
void search_candidate_drop(struct search_candidate *candidate, enum rollcall_outcome outcome, enum common_leak leak);

#endif
