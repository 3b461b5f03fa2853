// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// One process by its PID or label, for verbs that look at exactly one.

#ifndef CLI_PICK_H
#define CLI_PICK_H

#include "../libtelemetry/attach.h"
#include "../libtelemetry/error.h"

// Attaches to the process that `word` names best: alive before dead, the newest
// first. The caller closes *ret_attach. Returns 0, TELE_ENOTFOUND, or an error
// of the directory.
int cli_pick_process(const char *word, struct tele_attach **ret_attach, struct tele_error *ret_error);

#endif
