// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What every example search does alike: it tells Rollcall of a candidate when it
// begins and how it ended, keeps the best in a beam, and drops a candidate as
// soon as the beam has no place for it. So what is live is the beam, what is
// under way, and what leaks.

#ifndef COMMON_SEARCH_H
#define COMMON_SEARCH_H

#include <stdint.h>

#include "examples/common/options.h"
#include "libtelemetry/rollcall.h"

enum { OUTCOMES = ROLLCALL_KEPT + 1, LABEL_BYTES = 64, WHY_BYTES = 160 };

// What a search's own struct of a candidate begins with.
struct common_candidate {
	unsigned number; // from 1
	uint64_t handle; // Rollcall's
	char label[LABEL_BYTES];
	char why[WHY_BYTES]; // it was not timed
	double gflops;
	double score; // by which the beam is ordered
};

struct common_search {
	const char *program; // before each line
	const struct common_options *options;
	// Gives back what the candidate took, but for what is to leak, and frees it.
	void (*drop)(struct common_candidate *candidate, enum rollcall_outcome outcome, enum common_leak leak);
	struct common_candidate *beam[BEAM_MAX]; // best first
	unsigned n_beam;
	unsigned n_begun;
	unsigned outcomes[OUTCOMES]; // final ones
};

// Numbers the candidate, which has its label.
void common_begin(struct common_search *search, struct common_candidate *candidate);

// It ended so: is counted, and printed unless the search is to be quiet. One
// that was timed gets its place in the beam, by its score, or is dropped like
// all others.
void common_end(struct common_search *search, struct common_candidate *candidate, enum rollcall_outcome outcome);

// What is in the beam now was kept.
void common_keep_beam(struct common_search *search);

void common_drop_beam(struct common_search *search);

void common_print_outcomes(const struct common_search *search);

// Waits as long as --pause-ms says; a signal cuts it short.
void common_pause(const struct common_options *options);

#endif
