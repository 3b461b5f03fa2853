// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What the verbs `run` and `record` share: a recorder with a choice of
// processes and a line of progress.

#ifndef CLI_RECORDING_H
#define CLI_RECORDING_H

#include "../recorder/record.h"
#include "commands.h"

#include <sys/types.h>

#define CLI_STEP_MS 500

// A choice of processes. `root` chooses that process, started after since_ns,
// and what descends from it; words choose by PID or label, now and later; none
// of both chooses every process. All zero and chosen = NULL at first.
struct cli_choice {
	pid_t root;
	char *const *words;
	unsigned *scores; // how well the processes chosen by a word match it
	int n_words;
	uint64_t since_ns; // older dead processes were not meant
	struct cli_chosen {
		uint64_t instance_id;
		uint64_t pid;
	} * chosen; // so far
	size_t n_chosen, capacity;
};

// Looks once for what the words name: a live process, else the newest dead one.
// Returns CLI_OK, or CLI_FAILED after having said which word names nothing.
int cli_choose(const struct cli_call *call, struct cli_choice *choice);

void cli_choice_fini(struct cli_choice *choice);

struct cli_recording {
	const struct cli_call *call;
	const char *path;
	struct rec_recorder *recorder;
	struct cli_choice choice;
	bool has_progress;
	uint64_t started_at_ns;
	uint64_t said_at_ns, said_bytes, bytes_per_s;
	bool has_line; // the progress line stands on the terminal
};

// Creates the trace. CLI_OK, or CLI_FAILED after having said why not.
int cli_recording_open(struct cli_recording *recording, const struct cli_call *call,
		       const char *path, bool replace, bool has_progress);

// One step; *ret_is_over (may be NULL): everything chosen has ended. CLI_OK, or
// CLI_FAILED after having said what is wrong.
int cli_recording_step(struct cli_recording *recording, bool *ret_is_over);

// Ends the trace and says what it holds. `status` is what went wrong before.
int cli_recording_close(struct cli_recording *recording, int status);

#endif
