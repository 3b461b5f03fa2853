// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Folders of a test's own.

#ifndef TESTS_SUPPORT_FOLDER_H
#define TESTS_SUPPORT_FOLDER_H

#include <stdbool.h>

#define TEST_FOLDER_BYTES 128
#define TEST_PATH_BYTES (TEST_FOLDER_BYTES + 128) // of a file in one

// Where segments belong: /dev/shm; where there is none, the folder for files.
const char *test_folder_of_segments(void);

// Makes an empty folder in `parent`, which only this user can enter; without a
// parent where TMPDIR says, else in /tmp. False, with the reason on stderr, when
// it cannot or the name has no room.
bool test_folder_make(const char *parent, char ret_folder[TEST_FOLDER_BYTES]);

// Removes all that is in it, which a program may have left as it was killed.
void test_folder_clear(const char *folder);

// Removes it, as a cmocka teardown does: returns 0. What is still in it goes
// too, but is named on stderr, and the answer is -1: a test removes the files
// that it knows, so that one which was left behind is seen.
int test_folder_remove(const char *folder);

#endif
