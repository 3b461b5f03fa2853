// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The table of views: a view is one row in screens.c, and nothing else knows
// how many there are. Tab walks through those of a process in the order of the
// enum in view.h.

#ifndef MON_SCREENS_H
#define MON_SCREENS_H

#include "keys.h"
#include "view.h"

struct mon_app;
struct mon_roll;

#define MON_FOOT_KEYS_MAX 12

struct mon_screen_row {
	const char *name; // as the frame shows it; NULL in the overview
	// The area between head and foot: pure. `process` is NULL in the overview.
	void (*draw)(struct mon_grid *grid, const struct mon_model *model,
		     const struct mon_process *process, struct mon_view *view, int y, int height);
	// What a key does in this view alone, before the common meaning is looked
	// for. Returns 1 when it took the key, 0 when not, or an error that ends
	// the monitor. NULL: the common keys are enough.
	int (*key)(struct mon_app *app, struct mon_input input, struct tele_error *ret_error);
	// What the foot names besides help and quit, most important first;
	// MON_KEY_NONE ends the list.
	enum mon_key foot[MON_FOOT_KEYS_MAX];
	const struct mon_roll *roll; // the list that it shows (view_roll.h), or NULL
};

// The view of that name; MON_SCREEN_COUNT for none.
enum mon_screen mon_screen_find(const char *name);

// The row of what this view shows now.
const struct mon_screen_row *mon_screen(const struct mon_view *view);
const struct mon_screen_row *mon_screen_row(enum mon_screen screen);

#endif
