// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A program that is stopped after every instruction.

#ifndef TESTS_PROOF_STEPPED_H
#define TESTS_PROOF_STEPPED_H

#include "libtelemetry/fence.h"
#include "tests/support/skip.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

// Instrumented code takes too many steps, and brings a pread of its own: the
// tests of the proof are skipped then.
#if defined(__SANITIZE_ADDRESS__) || defined(TELE_THREAD_SANITIZER)
#define PROOF_IS_INSTRUMENTED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PROOF_IS_INSTRUMENTED 1
#endif
#endif
#if !defined(PROOF_IS_INSTRUMENTED)
#define PROOF_IS_INSTRUMENTED 0
#endif
#define skip_where_instrumented() \
	do { \
		if (PROOF_IS_INSTRUMENTED) \
			skip_because("code of a sanitizer cannot be stepped through"); \
	} while (0)

struct proof_stepped {
	pid_t pid;
	uint64_t n_steps;
};

// Shared between both: where the stepped one is.
struct proof_stage {
	volatile uint64_t is_watched; // it is stepped from here on
	volatile uint64_t n_calls;    // that it has made
	volatile uint64_t is_inside;  // a call that it went through at full speed
	volatile uint64_t skips_encoding;
};

// Starts this program again with a C library whose memcpy uses no `rep movs`,
// which stops after each byte when it is stepped. Returns in the new one.
void proof_copy_by_stores(char **argv);

// Forks. The child runs body(context) and exits; it stops first, to be stepped.
// Returns whether such a thing is allowed here.
bool proof_stepped_start(struct proof_stepped *stepped, void (*body)(void *), void *context);

// In the child: hands over to whoever watches.
void proof_stepped_pause(void);

// Lets it run up to the next pause. False when it has ended instead, with its
// exit status.
bool proof_stepped_run(struct proof_stepped *stepped, int *ret_status);

// One instruction. False when it has ended.
bool proof_stepped_step(struct proof_stepped *stepped);

// Up to where it enters a system call, or leaves one. False when it has ended.
bool proof_stepped_call(struct proof_stepped *stepped);

void proof_stepped_kill(struct proof_stepped *stepped);

#endif
