// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Starting a command with Rollcall preloaded, and passing on signals and its
// end. One child at a time; one thread.

#ifndef CLI_SPAWN_H
#define CLI_SPAWN_H

#include "../libtelemetry/base.h"
#include "../libtelemetry/error.h"

#include <limits.h>
#include <sys/types.h>

// Where the libraries are: beside the command, or in ../lib of it.
struct cli_libraries {
	char core[PATH_MAX];
	char alloc[PATH_MAX]; // "" when it is not there
	char cuda[PATH_MAX];  // the same
};

// Returns 0, or an error that says where they were looked for.
int cli_find_libraries(struct cli_libraries *ret_libraries, struct tele_error *ret_error);

// How a command is to be started. NULL and false: as it is.
struct cli_spawn {
	char *const *argv;
	const char *path;    // of the file to execute
	bool is_shell_text;  // which /bin/sh reads, as there is no #! in it
	const char *preload; // what goes before the user's own LD_PRELOAD
	const char *interval_ms, *label, *children;
	bool without_cmdline;
	bool has_asan;	     // tell its runtime that it need not come first
	const char *output_path; // its standard output and error; input is /dev/null
};

// Tries the preload on `true`. Returns 0, or an error with the loader's words.
int cli_probe_preload(const char *preload, struct tele_error *ret_error);

// Whether /etc/ld.so.preload loads a library into every program that has a dlsym
// of its own, as ours has: it may keep look-ups of the driver from us, or ours
// from it. *ret_text is a sentence about the first of them then.
bool cli_has_global_hook(char *ret_text, size_t size);

struct cli_child {
	pid_t pid;
	bool has_own_group; // the terminal's keys do not reach it
	bool is_done;
	int wait_status; // once it is done
	int signals;	 // a signalfd to poll
};

// Starts the command. From here on the signals that the caller would pass on
// are blocked and arrive at child->signals. Returns 0; -ENOENT, -EACCES, ...
// when it could not be executed.
int cli_spawn(const struct cli_spawn *spawn, struct cli_child *ret_child,
	      struct tele_error *ret_error);

// Passes a signal on: to the child, or to all of its own group.
void cli_child_signal(const struct cli_child *child, int number);

// Waits at most timeout_ms (-1: no limit) for a signal, passes it on to the
// child where the terminal has not sent it to both, and notes the child's end.
void cli_child_wait(struct cli_child *child, int timeout_ms);

// Notes the child's end without waiting. Async-signal-safe.
void cli_child_reap(struct cli_child *child);

// 0..255: its exit status, or 128 + N.
int cli_child_status(const struct cli_child *child);

// Lets the signals through again, as they were before cli_spawn, and back.
void cli_signals_release(void);
void cli_signals_hold(void);

#endif
