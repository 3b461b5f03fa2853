// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The painter: cells onto a terminal. One at a time in a process (curses).

#ifndef MON_PAINT_H
#define MON_PAINT_H

#include <stdio.h>

#include "../libtelemetry/error.h"
#include "cells.h"
#include "monitor.h"

struct mon_paint;

// Takes over the terminal behind `out` and `in`. `term` NULL is $TERM, which
// must name a terminal that can move its cursor. Colours where the terminal has
// them and mon_paint_set_colours allows them. Returns 0, or an error that says
// what to do.
int mon_paint_open(const char *term, FILE *out, FILE *in, struct mon_paint **ret_paint,
		   struct tele_error *ret_error);

// Gives the terminal back as it was. Takes NULL.
void mon_paint_close(struct mon_paint *paint);

// Another choice than the last makes the next drawing draw all. AUTO is what
// NO_COLOR (none) and COLORFGBG (light) say, else dark.
void mon_paint_set_colours(struct mon_paint *paint, enum mon_colours colours);

// Whether clicks and the wheel come to us. Without, the terminal selects text.
void mon_paint_set_mouse(struct mon_paint *paint, bool is_on);

// The terminal's size now.
void mon_paint_size(const struct mon_paint *paint, int *ret_width, int *ret_height);

// Shows the grid; writes only what changed since the last one.
int mon_paint_draw(struct mon_paint *paint, const struct mon_grid *grid);

// Takes the terminal again, in our modes, after the process was stopped. In the
// background that stops it once more, until it is in the foreground.
void mon_paint_resume(const struct mon_paint *paint);

// Draws everything anew the next time.
void mon_paint_forget(struct mon_paint *paint);

#endif
