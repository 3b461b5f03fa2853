// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The command line of tilesearch.

#ifndef TILE_OPTIONS_H
#define TILE_OPTIONS_H

#include <stdint.h>

enum tile_leak { TILE_LEAK_NONE, TILE_LEAK_POOLS, TILE_LEAK_CONTEXTS, TILE_LEAK_MODULES, TILE_LEAK_FAILED };

enum tile_rank { TILE_RANK_TIME, TILE_RANK_MODEL };

enum { TILE_BEAM_MAX = 256, TILE_JOBS_MAX = 64 };

struct tile_options {
	unsigned candidates;
	unsigned beam;
	unsigned rows; // of a matrix in phase A
	unsigned jobs;
	unsigned pause_ms;
	uint64_t seed;
	enum tile_leak leak;
	enum tile_rank rank;
	int quiet;
};

// Exits for --help, and with 2 for a command line that makes no sense.
void tile_options_parse(int n_arguments, char **arguments, struct tile_options *ret_options);

#endif
