// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What is the same on the command line of every example search. A search names
// common_options_child in its own parser's children, hands struct
// common_options on at ARGP_KEY_INIT, and adds what only it has.

#ifndef COMMON_OPTIONS_H
#define COMMON_OPTIONS_H

#include <argp.h>
#include <stdint.h>

enum common_leak { LEAK_NONE, LEAK_POOLS, LEAK_CONTEXTS, LEAK_MODULES, LEAK_FAILED };

enum { BEAM_MAX = 256 };

struct common_options {
	unsigned candidates;
	unsigned beam;
	unsigned pause_ms;
	uint64_t seed;
	enum common_leak leak;
	int quiet;
};

// Of a search that says nothing else.
#define COMMON_OPTIONS_DEFAULT { .candidates = 120, .beam = 4, .seed = 1 }

extern const struct argp common_options_argp;

// A number within its limits, or one of the words, whose last is NULL. Ends the
// program with its usage and status 2 for anything else.
uint64_t common_number(struct argp_state *state, const char *name, const char *text, uint64_t least, uint64_t most);
unsigned common_word(struct argp_state *state, const char *name, const char *text, const char *const *words);

#endif
