// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Who is to be recorded, now and later.

#ifndef CLI_CHOICE_H
#define CLI_CHOICE_H

#include "../libtelemetry/source.h"
#include "commands.h"

#include <sys/types.h>

// A choice of processes. `root` chooses that process, started after since_ns,
// and what descends from it; words choose by PID, label or pattern, now and
// later; none of both chooses every process. All zero and chosen = NULL at first.
struct cli_choice {
	pid_t root;
	char *const *words;
	unsigned *scores; // how well the processes chosen by a word match it
	int n_words;
	uint64_t since_ns; // older dead processes were not meant
	struct cli_chosen *chosen; // so far
	size_t n_chosen, capacity;
};

// Looks once for what the words name: a live process, else the newest dead one.
// A pattern may name nothing yet. Returns CLI_OK, or CLI_FAILED after having
// said which word names nothing.
int cli_choose(const struct cli_call *call, struct cli_choice *choice);

// Whether an instance is chosen; then what comes from it is, too: its forks, its
// next program, its children. For rec_settings, with the choice as context.
bool cli_choice_wants(void *context, const struct tele_instance *instance);

// The instance has ended and its segment is gone. What it left behind may still
// turn up for a minute.
void cli_choice_forget(void *context, uint64_t instance_id);

void cli_choice_fini(struct cli_choice *choice);

#endif
