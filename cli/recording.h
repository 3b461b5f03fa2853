// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What the verbs `run` and `record` share: a recorder with a choice of
// processes and a line of progress.

#ifndef CLI_RECORDING_H
#define CLI_RECORDING_H

#include "../recorder/record.h"
#include "choice.h"
#include "commands.h"

#define CLI_STEP_MS 500

struct cli_record_options {
	const char *path; // of the trace; NULL: none is made
	bool replace;
	bool has_progress;
	uint64_t for_ns; // stop after so long; 0: not
	uint64_t max_bytes, n_keep, every_ns; // rec_settings
};

struct cli_recording {
	const struct cli_call *call;
	const char *path;
	struct rec_recorder *recorder;
	struct cli_choice choice;
	bool has_progress;
	bool has_rows; // something is recorded
	uint64_t started_at_ns;
	uint64_t said_at_ns, said_bytes, bytes_per_s;
	bool has_line; // the progress line stands on the terminal
};

// Creates the trace. CLI_OK, or CLI_FAILED after having said why not.
int cli_recording_open(struct cli_recording *recording, const struct cli_call *call,
		       const struct cli_record_options *options);

// One step; *ret_is_over (may be NULL): everything chosen has ended. CLI_OK, or
// CLI_FAILED after having said what is wrong.
int cli_recording_step(struct cli_recording *recording, bool *ret_is_over);

// How long to wait until the next step.
int cli_recording_wait_ms(const struct cli_recording *recording);

// Ends the trace and says what it holds. `status` is what went wrong before.
int cli_recording_close(struct cli_recording *recording, int status);

#endif
