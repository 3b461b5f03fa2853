// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Skipping a test aloud: tests/run shows the line. Include after cmocka.h.

#ifndef TESTS_SUPPORT_SKIP_H
#define TESTS_SUPPORT_SKIP_H

#define skip_because(why) \
	do { \
		print_message("NOT TESTED: %s\n", why); \
		skip(); \
	} while (0)

#endif
