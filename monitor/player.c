// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Moving a replay about. The transport line is read off the model after every
// move, so it cannot say something else than the screen below it.

#include "player.h"

#include "../libtelemetry/trace.h"

#include "../libtelemetry/banned.h"

#define SPEED_MIN (1.0 / 16)
#define SPEED_MAX 1024.0

// The most candidates that ended in any process.
static uint64_t ended(const struct mon_model *model)
{
	uint64_t most = TELE_UNKNOWN;
	for (uint32_t i = 0; i < model->n_processes; i++) {
		uint64_t n_ended = mon_process_ended(model->processes[i]);
		if (n_ended != TELE_UNKNOWN && (most == TELE_UNKNOWN || n_ended > most))
			most = n_ended;
	}
	return most;
}

// Brings the transport line up to date after a move.
static void look(struct mon_player *player)
{
	const struct mon_cursor *cursor = &player->cursor;
	struct mon_transport *transport = &player->transport;
	transport->position_ns = 0;
	if (cursor->first_at_ns != TELE_UNKNOWN && cursor->model->now_ns > cursor->first_at_ns)
		transport->position_ns = cursor->model->now_ns - cursor->first_at_ns;
	transport->length_ns = tele_max_u64(transport->length_ns, transport->position_ns);
	transport->candidate = ended(cursor->model);
	if (transport->candidate != TELE_UNKNOWN &&
	    (transport->n_candidates == TELE_UNKNOWN ||
	     transport->candidate > transport->n_candidates))
		transport->n_candidates = transport->candidate;
}

// After a move that was not playing.
static int moved(struct mon_player *player, int status)
{
	player->transport.is_playing = false;
	look(player);
	player->position_ns = player->transport.position_ns;
	return status < 0 ? status : 0;
}

int mon_player_open(struct mon_player *player, const char *file, struct mon_model *model,
		    struct tele_error *ret_error)
{
	*player = (struct mon_player){
		.transport = {.file = file, .speed = 1, .n_candidates = TELE_UNKNOWN}};
	int status = tele_trace_open(file, &player->source, ret_error);
	if (status < 0)
		return status;
	mon_cursor_init(&player->cursor, player->source, model);
	status = moved(player, mon_cursor_to_end(&player->cursor, ret_error));
	if (status < 0)
		mon_player_close(player);
	return status;
}

void mon_player_close(struct mon_player *player)
{
	tele_source_close(player->source);
	player->source = NULL;
}

int mon_player_toggle(struct mon_player *player, struct tele_error *ret_error)
{
	if (!player->transport.is_playing && player->cursor.is_ended) {
		int status = mon_cursor_restart(&player->cursor, ret_error);
		if (status < 0)
			return status;
		status = mon_cursor_to_row(&player->cursor, 1, ret_error);
		moved(player, status);
		if (status < 0)
			return status;
	}
	player->transport.is_playing = !player->transport.is_playing;
	return 0;
}

int mon_player_tick(struct mon_player *player, uint64_t elapsed_ns, struct tele_error *ret_error)
{
	if (!player->transport.is_playing || player->cursor.first_at_ns == TELE_UNKNOWN)
		return 0;
	player->position_ns += (uint64_t)((double)elapsed_ns * player->transport.speed);
	int status = mon_cursor_to_time(
		&player->cursor, player->cursor.first_at_ns + player->position_ns, ret_error);
	look(player);
	if (status < 1)
		player->transport.is_playing = false;
	return status < 0 ? status : 0;
}

void mon_player_faster(struct mon_player *player, bool is_faster)
{
	double speed = player->transport.speed * (is_faster ? 2 : 0.5);
	if (speed >= SPEED_MIN && speed <= SPEED_MAX)
		player->transport.speed = speed;
}

int mon_player_step_row(struct mon_player *player, bool is_back, struct tele_error *ret_error)
{
	uint64_t n_rows = player->cursor.n_rows;
	if (!is_back)
		return moved(player, mon_cursor_to_row(&player->cursor, n_rows + 1, ret_error));
	if (n_rows <= 1)
		return 0;
	int status = mon_cursor_restart(&player->cursor, ret_error);
	if (status == 0)
		status = mon_cursor_to_row(&player->cursor, n_rows - 1, ret_error);
	return moved(player, status);
}

int mon_player_step_candidate(struct mon_player *player, bool is_back, struct tele_error *ret_error)
{
	uint64_t candidate = player->transport.candidate;
	int status = 0;
	if (candidate == TELE_UNKNOWN)
		candidate = 0;
	if (!is_back)
		return moved(player, mon_cursor_to_candidate(&player->cursor, candidate + 1, NULL,
							     ret_error));
	if (candidate == 0)
		return 0;
	status = mon_cursor_restart(&player->cursor, ret_error);
	if (status == 0)
		status = mon_cursor_to_candidate(&player->cursor, candidate - 1, NULL, ret_error);
	return moved(player, status);
}

int mon_player_jump(struct mon_player *player, const struct mon_at *at,
		    struct tele_error *ret_error)
{
	int status = mon_cursor_restart(&player->cursor, ret_error);
	if (status == 0)
		status = mon_cursor_to_point(&player->cursor, at, NULL, ret_error);
	bool is_beyond = status == 0 && at->is_candidate;
	status = moved(player, status);
	return is_beyond ? tele_fail(ret_error, TELE_ENOTFOUND, "the trace ends before candidate %llu",
				     (unsigned long long)at->candidate)
			 : status;
}
