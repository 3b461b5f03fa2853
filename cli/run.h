// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Running a command under Rollcall, for the verbs `run` and `record`.

#ifndef CLI_RUN_H
#define CLI_RUN_H

#include "commands.h"
#include "recording.h"
#include "spawn.h"

struct cli_run_options {
	struct cli_record_options record;
	bool has_top;
	bool must_alloc, without_alloc, must_cuda, without_cuda, is_strict;
	bool is_for_trace; // the trace is what it is run for: a recording that fails is a failure
};

// Runs call->command as the options and `wanted` (whose file, words and preload
// are found here) say, and returns the exit status of the verb: the command's, 128 + N,
// 126, 127, or 1 when Rollcall itself failed.
int cli_run_command(const struct cli_call *call, const struct cli_run_options *options,
		    const struct cli_spawn *wanted);

#endif
