// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The search: two phases, a beam of the best, everything else given back.

#ifndef TILE_SEARCH_H
#define TILE_SEARCH_H

#include "candidate.h"

struct tile_search {
	struct common_search common;
	const struct tile_options *options;
	struct tile_compiler *compiler;
	struct common_random random;
	struct tile_problem problems[2]; // constants stay to the end
	int n_problems;
	struct tile_candidate *under_way[TILE_JOBS_MAX]; // oldest first
	unsigned n_under_way;
	struct tile_schedule *tried; // in this phase
	size_t n_tried;
	struct tile_digests digests;
	char best_label[LABEL_BYTES]; // of the phase, by measurement
	double best_gflops;
	uint32_t best_gauge, compile_counter, runs_counter;
};

// Searches. Returns 0 at the end, -EINTR when told to stop, or another negative
// errno value. tile_search_close is due in any case.
int tile_search_run(struct tile_search *search, const struct tile_options *options, struct tile_compiler *compiler);

// Prints the best schedule, the outcomes and the ledger.
void tile_search_report(const struct tile_search *search);

// Drops beam and constants, but for what is to leak.
void tile_search_close(struct tile_search *search);

#endif
