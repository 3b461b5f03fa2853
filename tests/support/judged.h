// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A search of traces.h run through an engine of verdicts, with the classes
// that a census has.

#ifndef SUPPORT_JUDGED_H
#define SUPPORT_JUDGED_H

#include "../../analysis/verdict.h"
#include "traces.h"

enum judged_class {
	JUDGED_WORKING_POOLS,
	JUDGED_WORKING_BYTES,
	JUDGED_CONSTANT_POOLS,
	JUDGED_CONSTANT_BYTES,
	JUDGED_CONTEXTS,
	JUDGED_MODULES,
	JUDGED_DEVICE_USED,
	JUDGED_CLASSES
};

#define JUDGED_LIST_MAX (JUDGED_CLASSES * ANALYSIS_AXIS_COUNT)

struct judged {
	struct analysis_verdicts *engine;
	struct analysis_verdict list[JUDGED_LIST_MAX];
	size_t n;
	// Live: the first candidate at which a class turned to growing, 0: never.
	unsigned turned_at_candidate[JUDGED_CLASSES];
};

// Runs the search through candidate `last` (0: all of it) and lists it.
void judged_make(struct judged *ret, const char *name, uint64_t seed, unsigned last, enum analysis_look look);
void judged_free(struct judged *judged);

// The headline of a class; NULL if it has no verdict.
const struct analysis_verdict *judged_headline(const struct judged *judged, enum judged_class class);
const struct analysis_verdict *judged_on(const struct judged *judged, enum judged_class class, enum analysis_axis axis);

#endif
