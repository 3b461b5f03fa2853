// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The state of the interactive monitor, and what keys do to it. Private to
// loop.c and app.c.

#ifndef MON_APP_H
#define MON_APP_H

#include "feed.h"
#include "keys.h"
#include "player.h"
#include "view.h"

enum mon_entry { MON_ENTRY_NONE, MON_ENTRY_FIND, MON_ENTRY_JUMP };

struct mon_app {
	const struct mon_options *options;
	struct mon_model model;	 // what records go into
	struct mon_model frozen; // what is shown while a live monitor is paused
	bool is_frozen;
	struct mon_view view;
	struct mon_live *live;	   // live, or
	struct mon_player *player; // a replay
	enum mon_entry entry;
	char find[64];
	int height; // of the screen
	bool is_quit, is_redraw;
};

// What the screen shows.
const struct mon_model *mon_app_shown(const struct mon_app *app);

// Opens what the options select; at the start.
void mon_app_open_first(struct mon_app *app);

// After records were taken in: keeps selection and the opened process valid,
// and follows a program that was started again under the selected label.
void mon_app_settle(struct mon_app *app);

// Acts on a key. Returns 0 or an error that ends the monitor.
int mon_app_key(struct mon_app *app, struct mon_input input, struct tele_error *ret_error);

#endif
