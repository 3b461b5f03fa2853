// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// One attempt of the search, from its proposal to its outcome.

#ifndef TILE_CANDIDATE_H
#define TILE_CANDIDATE_H

#include <sys/types.h>

#include "compiler.h"
#include "examples/common/search.h"
#include "emit.h"
#include "options.h"
#include "problem.h"
#include "resource.h"
#include "schedule.h"

struct tile_candidate {
	struct common_candidate common; // first
	struct tile_schedule schedule;
	struct tile_context *context;
	struct tile_pool pool; // outputs and a panel
	pid_t compiler; // while it works
	uint64_t started_at_ns;
	uint64_t compile_ns;
	void *module;
	tile_kernel_fn *kernel;
};

// The digests of the modules of one phase.
struct tile_digests {
	uint64_t *values;
	unsigned *numbers; // of the candidate that had it first
	size_t n, room;
};

// Opens context and pool, writes the source and starts the compiler. Returns 0
// where the candidate is under way, or its outcome.
enum rollcall_outcome tile_candidate_start(struct tile_candidate *candidate, const struct tile_problem *problem,
		struct tile_compiler *compiler);

// Takes it through compiling, loading, checking and timing. Returns its
// outcome, ROLLCALL_TIMED at best, or 0 when the search was told to stop.
enum rollcall_outcome tile_candidate_measure(struct tile_candidate *candidate, const struct tile_problem *problem,
		struct tile_compiler *compiler, struct tile_digests *digests);

// Gives back what it took, but for what is to leak.
void tile_candidate_drop(struct tile_candidate *candidate, enum rollcall_outcome outcome, enum common_leak leak);

void tile_digests_clear(struct tile_digests *digests);

#endif
