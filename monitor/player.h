// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A trace being played, or the past of a live process being walked through: a
// taped source, a cursor on it and a transport line. No clock: the caller says
// how much time has passed.

#ifndef MON_PLAYER_H
#define MON_PLAYER_H

#include "past.h"
#include "progress.h"
#include "view.h"

struct mon_player {
	struct tele_source *source; // owned
	struct mon_past past;
	struct mon_cursor cursor;
	struct mon_transport transport;
	uint64_t position_ns; // where playing stands, which may lie between rows
	uint64_t instance_id; // whose rows, candidates, phases and events steps go by; 0: all
	bool is_live;
	bool is_following; // live: the newest row is shown, always
};

// Opens the trace and reads it to its end, where it stops. The model and the
// progress (NULL: none is shown) are the caller's and outlive the player.
int mon_player_open(struct mon_player *player, const char *file, struct mon_model *model,
		    struct mon_progress *progress, struct tele_error *ret_error);

// Takes over a live source, even on failure, and follows it.
int mon_player_open_live(struct mon_player *player, struct tele_source *source,
			 struct mon_model *model, struct tele_error *ret_error);
void mon_player_close(struct mon_player *player);

// Live: tapes what is new, and shows it when following.
int mon_player_refresh(struct mon_player *player, struct tele_error *ret_error);

// Replay: starts or stops playing; from the end it starts over. Live: stops
// following, or goes to the newest row and follows.
int mon_player_toggle(struct mon_player *player, struct tele_error *ret_error);

// Lets elapsed_ns of real time pass. Stops at the end. Nothing when live.
int mon_player_tick(struct mon_player *player, uint64_t elapsed_ns, struct tele_error *ret_error);

// Twice or half the speed, within 1/16 and 1024.
void mon_player_faster(struct mon_player *player, bool is_faster);

// One row, ended candidate, phase or line of the log, forward or back; stops
// playing and following. TELE_ENOTFOUND where there is no other: nothing moved.
int mon_player_step(struct mon_player *player, enum mon_target_kind kind, bool is_back,
		    struct tele_error *ret_error);

// Live or not: what was there at this monotonic time.
int mon_player_show(struct mon_player *player, uint64_t at_ns, struct tele_error *ret_error);

// To a share of what there is, 0 to 1.
int mon_player_show_share(struct mon_player *player, double share, struct tele_error *ret_error);

// To a point, from wherever it stands. TELE_ENOTFOUND, at the end of the trace,
// when it ends before that candidate.
int mon_player_jump(struct mon_player *player, const struct mon_at *at,
		    struct tele_error *ret_error);

#endif
