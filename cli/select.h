// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Which process a word on the command line means.

#ifndef CLI_SELECT_H
#define CLI_SELECT_H

#include "../libtelemetry/base.h"
#include "../libtelemetry/source.h"

#include <sys/types.h>

// A PID, or a label: the whole of it, or the program's name, or a part of the
// label when the word has at least three characters.
bool cli_is_selected(const struct tele_identity *identity, const char *word);

// Whether `pid` is `root` or was started by it or by what it started, as far as
// /proc still tells.
bool cli_is_descendant(pid_t pid, pid_t root);

#endif
