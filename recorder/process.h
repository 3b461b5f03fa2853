// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What /proc says of a process.

#ifndef REC_PROCESS_H
#define REC_PROCESS_H

#include "../libtelemetry/base.h"

// Parent and start time (field 22, in ticks) of a process. false when it is
// gone or a zombie. Either pointer may be NULL.
bool rec_process_stat(uint64_t pid, uint64_t *ret_parent_pid, uint64_t *ret_start_ticks);

// Whether that very process still runs.
bool rec_process_is(uint64_t pid, uint64_t start_ticks);

// Whether `pid` is `root`, or was started by it or by what it started, as far as
// /proc still tells.
bool rec_process_descends(uint64_t pid, uint64_t root);

#endif
