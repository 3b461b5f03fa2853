// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Removal of what dead processes left. Evidence (candidates, a census) goes
// only when the user says `gc`; the rest by itself, oldest first, once it is
// more than CLI_DEAD_BYTES_MAX or older than CLI_DEAD_AGE_NS_MAX.

#ifndef CLI_CLEAN_H
#define CLI_CLEAN_H

#include "../libtelemetry/base.h"
#include "../libtelemetry/discover.h"

#define CLI_DEAD_BYTES_MAX (UINT64_C(64) << 20)
#define CLI_DEAD_AGE_NS_MAX (UINT64_C(24) * 3600 * 1000000000)

// Applies the rule. Quiet, and harmless where nothing can be removed.
void cli_clean_automatically(void);

#endif
