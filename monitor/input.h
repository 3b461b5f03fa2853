// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Keys from the terminal that the painter holds.

#ifndef MON_INPUT_H
#define MON_INPUT_H

#include <signal.h>

#include "keys.h"

// The next key, waiting for it at most timeout_ms on descriptor `fd`.
// MON_KEY_NONE after that time or a signal. `mask` is the set of blocked
// signals while waiting, so that none is missed between the caller's check and
// the wait.
struct mon_input mon_input_wait(int fd, int64_t timeout_ms, const sigset_t *mask);

#endif
