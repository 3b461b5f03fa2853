// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The searches G1 to G8 whose verdict is known, row by row: real reports of
// growth over candidates, brought down to what the right answer rests on.

#ifndef SUPPORT_TRACES_H
#define SUPPORT_TRACES_H

#include <stdbool.h>
#include <stdint.h>

#define TRACE_UNKNOWN UINT64_MAX

enum trace_column {
	TRACE_WORKING_POOLS,
	TRACE_WORKING_BYTES,
	TRACE_WORKING_ALLOCATED,
	TRACE_CONSTANT_POOLS,
	TRACE_CONSTANT_BYTES,
	TRACE_CONSTANT_ALLOCATED,
	TRACE_POOLS_FREED,
	TRACE_CONTEXTS_CREATED,
	TRACE_CONTEXTS_RELEASED,
	TRACE_MODULES_LOADED,
	TRACE_MODULES_UNLOADED,
	TRACE_DEVICE_USED,
	TRACE_DEVICE_TOTAL,
	TRACE_COLUMNS
};

// As the schema names them: "census.live_working_pools".
extern const char *const trace_columns[TRACE_COLUMNS];

struct trace_row {
	double time_s;
	unsigned candidate;  // 0: the row lies between candidates
	const char *phase;   // NULL: none
	const char *outcome; // NULL unless the row is the candidate's end
	bool is_begin;
	uint64_t values[TRACE_COLUMNS];
};

typedef void trace_emit_fn(void *context, const struct trace_row *row);

// Emits the rows of "g1", "g2", "g3", "g4", "g5a", "g5b", "g6", "g7" or "g8".
// The seed moves what the report leaves open. False for another name.
bool trace_make(const char *name, uint64_t seed, trace_emit_fn *emit, void *context);

#endif
