// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The option --capacity of several verbs.

#ifndef CLI_LIMITS_H
#define CLI_LIMITS_H

#include "../analysis/watch.h"
#include "commands.h"

// What this machine tells, and then what the option (may be absent) says.
// CLI_OK, or CLI_USAGE after having said what is wrong.
int cli_limits(const struct cli_call *call, enum cli_option_id option, struct analysis_limits *ret_limits);

#endif
