// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A trace being played: a cursor with a speed and a transport line. No clock:
// the caller says how much time has passed.

#ifndef MON_PLAYER_H
#define MON_PLAYER_H

#include "cursor.h"
#include "view.h"

struct mon_player {
	struct tele_source *source; // owned
	struct mon_cursor cursor;
	struct mon_transport transport;
	uint64_t position_ns; // where playing stands, which may lie between rows
};

// Opens the trace and reads it to its end, where it stops. The model is the
// caller's and outlives the player.
int mon_player_open(struct mon_player *player, const char *file, struct mon_model *model,
		    struct tele_error *ret_error);
void mon_player_close(struct mon_player *player);

// Starts or stops playing; from the end it starts over.
int mon_player_toggle(struct mon_player *player, struct tele_error *ret_error);

// Lets elapsed_ns of real time pass. Stops at the end.
int mon_player_tick(struct mon_player *player, uint64_t elapsed_ns, struct tele_error *ret_error);

// Twice or half the speed, within 1/16 and 1024.
void mon_player_faster(struct mon_player *player, bool is_faster);

// One row, or one ended candidate, forward or back; stops playing.
int mon_player_step_row(struct mon_player *player, bool is_back, struct tele_error *ret_error);
int mon_player_step_candidate(struct mon_player *player, bool is_back,
			      struct tele_error *ret_error);

// To a point, from wherever it stands. TELE_ENOTFOUND, at the end of the trace,
// when it ends before that candidate.
int mon_player_jump(struct mon_player *player, const struct mon_at *at,
		    struct tele_error *ret_error);

#endif
