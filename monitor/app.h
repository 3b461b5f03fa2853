// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The state of the interactive monitor, and what keys do to it. Private to
// loop.c, app*.c and the keys of views.

#ifndef MON_APP_H
#define MON_APP_H

#include "feed.h"
#include "keys.h"
#include "player.h"
#include "settings.h"
#include "view.h"

// Text that is being typed at the foot.
enum mon_entry {
	MON_ENTRY_NONE,
	MON_ENTRY_FIND,
	MON_ENTRY_FILTER,
	MON_ENTRY_USER,
	MON_ENTRY_INTERVAL,
	MON_ENTRY_JUMP
};

struct mon_app {
	const struct mon_options *options;
	struct mon_model model;	 // what records go into
	struct mon_model frozen; // what is shown while a live monitor is paused
	bool is_frozen;
	struct mon_view view;
	struct mon_live *live;	   // live, or
	struct mon_player *player; // a replay
	struct mon_player focus;   // live: the opened process; without a source: none
	struct mon_model focused;  // and what it shows
	uint64_t focus_told;	   // rows of the observer before this one were told to it, too
	enum mon_entry entry;
	uint64_t clicked; // the process that the last input clicked on; 0
	char find[64]; // of / in any view; n and N look for it
	int height;    // of the screen
	struct mon_settings settings; // colours, mouse and interval_ms are kept here alone
	bool is_quit, is_redraw, is_suspend;
};

// What the screen shows.
const struct mon_model *mon_app_shown(const struct mon_app *app);

// Opens what the options select; at the start.
void mon_app_open_first(struct mon_app *app);

// After records were taken in: keeps selection and the opened process valid,
// and follows a program that was started again under the selected label.
void mon_app_settle(struct mon_app *app);

// Acts on a key, in this order: text entry, the view's own keys (screens.h),
// the common keys, time. A key that nothing takes is answered at the foot.
// Returns 0 or an error that ends the monitor.
int mon_app_key(struct mon_app *app, struct mon_input input, struct tele_error *ret_error);

// ---- For the keys of views ----------------------------------------------------

// One sentence at the foot until the next key; cleaned and cut.
void mon_app_note(struct mon_app *app, const char *text);

// Text entry at the foot, which starts with `text`. Enter finishes it: FIND is
// kept in `find` and comes as FIND_NEXT to the view, FILTER is put in its place,
// JUMP goes to mon_time_jump. Esc, a click on something and a screen that goes
// away leave it, and nothing comes of it.
void mon_app_start_entry(struct mon_app *app, enum mon_entry entry, const char *prompt,
			 const char *text);

// Opens a process and follows its history; 0 is ignored.
void mon_app_open(struct mon_app *app, uint64_t instance_id);

// The keys of the overview (app_overview.c), as in struct mon_screen_row.
int mon_overview_key(struct mon_app *app, struct mon_input input, struct tele_error *ret_error);

// Moves the overview's selection by `by` rows, as far as there are any; 0 makes
// it valid.
void mon_overview_select(struct mon_app *app, int64_t by);

// Shows the processes of one user alone, as the user typed it; "" shows all.
void mon_overview_user(struct mon_app *app, const char *text);

// Keys that stop and move time (app_time.c): 1 when it took the key, 0 when it
// has no meaning here, or an error that ends the monitor.
int mon_time_key(struct mon_app *app, struct mon_input input, struct tele_error *ret_error);

// To the point that the user typed.
void mon_time_jump(struct mon_app *app, const char *text);

// The keys of the views of a process (app_views.c), as in struct mon_screen_row.
int mon_views_key(struct mon_app *app, struct mon_input input, struct tele_error *ret_error);

// Shows what was there at this monotonic time. 1, or an error that ends the
// monitor.
int mon_time_show(struct mon_app *app, uint64_t at_ns, struct tele_error *ret_error);

// What the keys of time move: a replay, or the opened live process; else NULL.
struct mon_player *mon_app_player(struct mon_app *app);

// Live: tapes the process that was opened from its oldest record on, or lets go
// of it.
void mon_time_focus(struct mon_app *app, uint64_t instance_id);
void mon_time_blur(struct mon_app *app);

// After records were taken in: the opened process goes on.
void mon_time_refresh(struct mon_app *app);

#endif
