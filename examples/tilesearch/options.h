// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The command line of tilesearch.

#ifndef TILE_OPTIONS_H
#define TILE_OPTIONS_H

#include "examples/common/options.h"

enum tile_rank { TILE_RANK_TIME, TILE_RANK_MODEL };

enum { TILE_JOBS_MAX = 64 };

struct tile_options {
	struct common_options common;
	unsigned rows; // of a matrix in phase A
	unsigned jobs;
	enum tile_rank rank;
};

// Exits for --help, and with 2 for a command line that makes no sense.
void tile_options_parse(int n_arguments, char **arguments, struct tile_options *ret_options);

#endif
