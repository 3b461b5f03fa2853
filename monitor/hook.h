// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// `top --on growing=CMD`: a command for each class that turns to growing.

#ifndef MON_HOOK_H
#define MON_HOOK_H

#include "model.h"

// Runs `command` (NULL: nothing) by the shell for each class of each process
// that grows and did not at the call before; a class that stops may be told
// again. Parts whose count says it all and totals are not told. With `select`
// (not NULL), only processes that match it. The model must be settled. Never
// waits and never fails: a command that cannot be started is left out.
void mon_hook_run(const char *command, struct mon_model *model, const char *select);

#endif
