// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The wrappers, one a row. Each is an ordinary function of the driver's name and
// prototype: it asks whether this call counts, and hands it to its counting
// function or straight on. Without a driver it answers as a driver would that is
// not there.

#include "calls.h"
#include "frame.h"

#include "../../libtelemetry/banned.h"

#define WRAPPER(symbol, params, args, counted)                                                  \
	TELE_EXPORT unsigned symbol params;                                                     \
	unsigned symbol params                                                                  \
	{                                                                                       \
		bool is_counted;                                                                \
		unsigned(*real) params = (unsigned(*) params)cuda_begin(                        \
			CUDA_ROW_##symbol, __builtin_return_address(0),                         \
			__builtin_dwarf_cfa(), &is_counted);                                    \
		if (TELE_UNLIKELY(!real))                                                       \
			return cuda_absent(CUDA_ROW_##symbol);                                  \
		if (!is_counted)                                                                \
			return real args;                                                       \
		return cuda_end(counted);                                                       \
	}

#define CUDA_CALL(symbol, base, version, variant, body, params, args) \
	WRAPPER(symbol, params, args, cuda_on_##body(CUDA_ROW_##symbol, real, CUDA_UNWRAP args))
#define CUDA_PASS(symbol, base, version, variant, params, args) WRAPPER(symbol, params, args, real args)
#define CUDA_OLD(symbol, base, version)
#include "../cuda_calls.def"

#define IS_legacy false
#define IS_ptsz true

const struct cuda_entry cuda_entries[CUDA_ROWS] = {
#define CUDA_CALL(symbol, base, version, variant, body, params, args) \
	[CUDA_ROW_##symbol] = {#symbol, #base, version, IS_##variant, (void *)symbol},
#define CUDA_PASS(symbol, base, version, variant, params, args) \
	[CUDA_ROW_##symbol] = {#symbol, #base, version, IS_##variant, (void *)symbol},
#define CUDA_OLD(symbol, base, version) [CUDA_ROW_##symbol] = {#symbol, #base, version, false, NULL},
#include "../cuda_calls.def"
};
