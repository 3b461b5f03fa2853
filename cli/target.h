// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What a command will run, found out before it runs: the file behind the name,
// through PATH and #! lines, and what about it a preloaded library cannot see.

#ifndef CLI_TARGET_H
#define CLI_TARGET_H

#include "../libtelemetry/base.h"
#include "../libtelemetry/error.h"

#include <limits.h>

struct cli_target {
	char command[PATH_MAX]; // the file behind argv[0]
	char path[PATH_MAX];	// what the kernel loads in the end
	char interpreter[256]; // PT_INTERP: the dynamic loader; "" without one
	bool is_elf;
	bool is_text; // neither ELF nor #!, and its beginning is text: for a shell
	bool is_static;	     // no dynamic loader: preloads are ignored
	bool is_musl;	     // its loader ends the process on our library
	bool is_foreign;     // another word size or machine than ours
	bool is_privileged;  // set-user-id, set-group-id or file capabilities
	bool has_own_malloc; // defines malloc itself
	bool has_asan;	     // needs the address sanitizer's shared runtime
	bool is_unread;	     // executable, but not readable: nothing is known
};

// Finds and examines what argv would run. Returns 0, or -ENOENT, -EACCES, ...
// when it cannot be started, with the reason. Whatever an odd file holds, it is
// only looked at.
int cli_examine(char *const argv[], struct cli_target *ret_target, struct tele_error *ret_error);

// Why the target will not be seen, or not whole: one clause without its
// subject, or NULL when all is well. *ret_is_blind (may be NULL) says whether
// nothing at all will be seen.
const char *cli_target_blindness(const struct cli_target *target, bool *ret_is_blind);

#endif
