// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Running a command under Rollcall, for the verbs `run` and `record`.

#ifndef CLI_RUN_H
#define CLI_RUN_H

#include "commands.h"
#include "spawn.h"

struct cli_run_options {
	const char *record; // trace to make, or NULL
	bool replace;
	bool has_top;
	bool has_progress;
	bool must_alloc, without_alloc, is_strict;
	uint64_t seconds; // stop recording after so many; 0: not
};

// Runs call->command as the options and `wanted` (whose file, words and preload
// are found here) say, and returns the exit status of the verb: the command's, 128 + N,
// 126, 127, or 1 when Rollcall itself failed.
int cli_run_command(const struct cli_call *call, const struct cli_run_options *options,
		    const struct cli_spawn *wanted);

#endif
