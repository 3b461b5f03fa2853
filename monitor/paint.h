// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The painter: cells onto a terminal. One at a time in a process (curses).

#ifndef MON_PAINT_H
#define MON_PAINT_H

#include <stdio.h>

#include "../libtelemetry/error.h"
#include "cells.h"

struct mon_paint;

// Takes over the terminal behind `out` and `in`. `term` NULL is $TERM, which
// must name a terminal that can move its cursor. Colours only where the
// terminal has them and NO_COLOR is unset. Returns 0, or an error that says
// what to do.
int mon_paint_open(const char *term, FILE *out, FILE *in, struct mon_paint **ret_paint,
		   struct tele_error *ret_error);

// Gives the terminal back as it was. Takes NULL.
void mon_paint_close(struct mon_paint *paint);

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
