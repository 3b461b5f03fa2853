// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A schedule: one way of computing C = A * B for square matrices of floats.

#ifndef TILE_SCHEDULE_H
#define TILE_SCHEDULE_H

#include <stddef.h>
#include <stdint.h>

#include "examples/common/random.h"
#include "examples/common/search.h"

enum tile_axis { TILE_I, TILE_J, TILE_K, TILE_AXES };

// Where the kernel reads its tile of B from.
enum tile_pack {
	TILE_PACK_NONE,   // from B itself
	TILE_PACK_POOL,   // from a copy in the candidate's pool
	TILE_PACK_STACK,  // from a copy in the kernel's frame
	TILE_PACK_BF16,   // from a copy in the pool, rounded to 16 bits
	TILE_PACKS
};

enum {
	TILE_FLAGS_MAX = 8,
	// The three tiles of a schedule must fit into this much cache.
	TILE_CACHE_BUDGET_BYTES = 128 * 1024,
};

// No padding: schedules are compared as bytes.
struct tile_schedule {
	uint16_t tile[TILE_AXES];
	uint8_t order;   // row of tile_order()
	uint8_t unroll;  // copies of the innermost statement, along the outermost inner loop
	uint8_t level;   // optimisation level: row of the table of levels
	uint8_t isa;     // instruction set: row of the table of instruction sets
	uint8_t pack;    // enum tile_pack
	uint8_t relaxed; // sums may be reassociated
};

_Static_assert(sizeof(struct tile_schedule) == 12, "schedules are compared as bytes");

// Draws a schedule for matrices of n rows. Not every one drawn is sensible.
void tile_schedule_draw(struct common_random *random, unsigned n, struct tile_schedule *ret_schedule);

// Takes `parent` with other flags for the compiler.
void tile_schedule_reflag(struct common_random *random, const struct tile_schedule *parent,
		struct tile_schedule *ret_schedule);

// Changes one or two choices of `parent`.
void tile_schedule_vary(struct common_random *random, const struct tile_schedule *parent, unsigned n,
		struct tile_schedule *ret_schedule);

// Writes the name that logs show, as `ikj_t32x64x16_u4_O3_v3`.
void tile_schedule_label(const struct tile_schedule *schedule, char ret_label[LABEL_BYTES]);

// Returns 1 and says why, where the schedule is turned down for matrices of n
// rows without being compiled; else 0.
int tile_schedule_refuse(const struct tile_schedule *schedule, unsigned n, char *ret_why, size_t why_bytes);

// What the schedule ought to be worth, higher is better: a crude model, for
// searches that must not depend on a clock.
double tile_schedule_model(const struct tile_schedule *schedule);

// The letters of its loop order, outermost first: "ikj".
const char *tile_schedule_order(const struct tile_schedule *schedule);

// The compiler's flags for it; returns how many.
size_t tile_schedule_flags(const struct tile_schedule *schedule, const char *ret_flags[TILE_FLAGS_MAX]);

// The instruction set that this processor lacks for the schedule, or NULL.
const char *tile_schedule_missing_isa(const struct tile_schedule *schedule);

#endif
