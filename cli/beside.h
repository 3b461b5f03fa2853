// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A recorder in a process of its own, for while the monitor has this one.

#ifndef CLI_BESIDE_H
#define CLI_BESIDE_H

#include "recording.h"

#include <sys/types.h>

struct cli_beside {
	pid_t pid; // 0: none
	int orders; // where it waits for the PID to record
};

// Starts it and waits until its trace is made. CLI_OK; CLI_FAILED after it has
// said why not.
int cli_beside_start(const struct cli_call *call, const struct cli_record_options *options,
		     struct cli_beside *ret_beside);

// Says which process, and what descends from it, is to be recorded.
void cli_beside_record(struct cli_beside *beside, pid_t root);

// Ends it and waits until its trace is whole. Nothing for one never started.
void cli_beside_end(struct cli_beside *beside);

#endif
