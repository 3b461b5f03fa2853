// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A screen as text: the other end of the split beside the painter.

#ifndef MON_TEXT_H
#define MON_TEXT_H

#include "cells.h"
#include "out.h"

// One line a row as UTF-8, without blanks at ends of lines and without empty
// lines at the end.
void mon_text_write(const struct mon_grid *grid, struct mon_out *out);

// The style letters of the same lines, '.' for normal; lines end where the text
// of the line ends.
void mon_text_write_styles(const struct mon_grid *grid, struct mon_out *out);

#endif
