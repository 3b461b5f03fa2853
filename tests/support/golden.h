// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Screens as text fixtures: tests/golden/NAME_WxH.screen holds the characters and
// then the style letters of a screen. UPDATE=1 in the environment rewrites them.

#ifndef TESTS_GOLDEN_H
#define TESTS_GOLDEN_H

#include "../../monitor/cells.h"
#include "../../monitor/out.h"

// Characters, "---- styles", letters.
void golden_write(const struct mon_grid *grid, struct mon_out *out);

// Fails the test unless the screen is the one in the file.
void golden_check(const struct mon_grid *grid, const char *name);

#endif
