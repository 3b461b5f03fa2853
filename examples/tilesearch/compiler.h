// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The system's C compiler, working in a private folder.

#ifndef TILE_COMPILER_H
#define TILE_COMPILER_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "schedule.h"

enum { TILE_PATH_BYTES = 512, TILE_COMPILER_WORDS_MAX = 8 };

struct tile_compiler {
	char command[256]; // its words, NUL after each
	const char *words[TILE_COMPILER_WORDS_MAX + 1];
	char folder[TILE_PATH_BYTES - 64];
	char **environment;
	char temporary_variable[TILE_PATH_BYTES];
	const volatile sig_atomic_t *stop_signal;
};

// Takes the compiler that $CC names (words, no shell), or cc, and makes the
// folder under $TMPDIR. Waits end early once *stop_signal is not 0. On failure
// returns a negative errno value and says why in one sentence.
int tile_compiler_open(struct tile_compiler *compiler, const volatile sig_atomic_t *stop_signal, char *ret_why,
		size_t why_bytes);

// Removes the folder and what is in it. Idempotent.
void tile_compiler_close(struct tile_compiler *compiler);

// Starts compiling `source` into the module of that number. Returns the process
// or a negative errno value.
pid_t tile_compiler_start(struct tile_compiler *compiler, unsigned number, const char *source,
		const struct tile_schedule *schedule);

// Waits for it and removes its source. Returns 1 when there is a module, 0 when
// the compiler refused (its first complaint is in ret_log), -EINTR on stop.
int tile_compiler_finish(struct tile_compiler *compiler, unsigned number, pid_t process, char *ret_log,
		size_t log_bytes);

// Ends a compiler that was started and not finished; 0 is none.
void tile_compiler_cancel(pid_t process);

// Writes the path of that module.
void tile_compiler_module(const struct tile_compiler *compiler, unsigned number, char ret_path[TILE_PATH_BYTES]);

// Waits for a child; when the stop signal comes, kills its group, reaps it and
// returns -EINTR. Else 0 and its status.
int tile_wait(pid_t process, const volatile sig_atomic_t *stop_signal, int *ret_status);

#endif
