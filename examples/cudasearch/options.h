// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The command line of cudasearch.

#ifndef SEARCH_OPTIONS_H
#define SEARCH_OPTIONS_H

#include <stdint.h>

enum search_leak { LEAK_NONE, LEAK_POOLS, LEAK_CONTEXTS, LEAK_MODULES, LEAK_FAILED };

enum { BEAM_MAX = 256 };

struct search_options {
	unsigned candidates;
	unsigned beam;
	unsigned rows;
	unsigned pause_ms;
	uint64_t seed;
	enum search_leak leak;
	int quiet;
};

// Exits for --help, and with 2 for a command line that makes no sense.
void search_options_parse(int n_arguments, char **arguments, struct search_options *ret_options);

#endif
