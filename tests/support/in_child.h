// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Tests of what lives as long as its process: each runs in a forked child. A
// check that does not hold names itself on stderr and ends the child.

#ifndef TESTS_IN_CHILD_H
#define TESTS_IN_CHILD_H

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(expression)                                                                      \
	do {                                                                                   \
		if (!(expression)) {                                                           \
			fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__,      \
				#expression);                                                  \
			_exit(1);                                                              \
		}                                                                              \
	} while (0)

// Exits 0 when the child did.
static inline int in_child_status(void (*body)(void))
{
	fflush(NULL);
	pid_t pid = fork();
	if (pid == 0) {
		body();
		_exit(0);
	}
	int status = -1;
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return status;
}

// Defines a cmocka test whose body runs in a child.
#define IN_CHILD(name)                                                                         \
	static void name##_body(void);                                                         \
	static void name(void **state)                                                         \
	{                                                                                      \
		(void)state;                                                                   \
		assert_int_equal(in_child_status(name##_body), 0);                             \
	}                                                                                      \
	static void name##_body(void)

#endif
