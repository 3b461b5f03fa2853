// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The command line of cudasearch.

#ifndef SEARCH_OPTIONS_H
#define SEARCH_OPTIONS_H

#include "examples/common/options.h"

struct search_options {
	struct common_options common;
	unsigned rows;
};

// Exits for --help, and with 2 for a command line that makes no sense.
void search_options_parse(int n_arguments, char **arguments, struct search_options *ret_options);

#endif
