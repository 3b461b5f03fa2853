// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The counted entry points: their rows, and the functions that count them. A
// counting function gets the row it was called by, the driver's function and the
// caller's arguments; it makes the call and returns its result. It runs with the
// thread's depth raised, so what the driver calls inside is not counted again.

#ifndef CENSUS_CUDA_CALLS_H
#define CENSUS_CUDA_CALLS_H

#include "../../libtelemetry/base.h"
#include "abi.h"

enum cuda_row {
#define CUDA_CALL(symbol, base, version, variant, body, params, args) CUDA_ROW_##symbol,
#define CUDA_PASS(symbol, base, version, variant, params, args) CUDA_ROW_##symbol,
#define CUDA_OLD(symbol, base, version) CUDA_ROW_##symbol,
#include "../cuda_calls.def"
	CUDA_ROWS
};

#define CUDA_UNWRAP(...) __VA_ARGS__

#define CUDA_CALL(symbol, base, version, variant, body, params, args) \
	unsigned cuda_on_##body(enum cuda_row row, unsigned (*real) params, CUDA_UNWRAP params);
#define CUDA_PASS(symbol, base, version, variant, params, args)
#define CUDA_OLD(symbol, base, version)
#include "../cuda_calls.def"

// What is known of a row before any driver is there.
struct cuda_entry {
	const char *symbol, *base;
	int version;
	bool is_per_thread; // the caller's default stream is per thread
	void *wrapper;	    // NULL: left alone
};

extern const struct cuda_entry cuda_entries[CUDA_ROWS];

#endif
