// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Moving about in what was taped. The transport line is read off the model after
// every move, so it cannot say something else than the screen below it.

#include "player.h"

#include <errno.h>
#include <stdio.h>

#include "../libtelemetry/trace.h"

#include "../libtelemetry/banned.h"

#define SPEED_MIN (1.0 / 16)
#define SPEED_MAX 1024.0

#define ROUND_RECORDS 4096

static struct mon_target target_of(const struct mon_player *player, enum mon_target_kind kind)
{
	return (struct mon_target){.kind = kind, .instance_id = player->instance_id};
}

static uint64_t count_of(const struct mon_player *player, enum mon_target_kind kind)
{
	const struct mon_target target = target_of(player, kind);
	return mon_target_count(&target, player->cursor.model, &player->cursor.position);
}

// The process whose phases the line shows: the one steps go by, else the first
// with any.
static const struct mon_process *phases_of(const struct mon_player *player, const struct mon_model *model)
{
	for (uint32_t i = 0; i < model->n_processes; i++) {
		const struct mon_process *process = model->processes[i];
		if (process->n_phases > 0 &&
		    (!player->instance_id || process->identity.instance_id == player->instance_id))
			return process;
	}
	return NULL;
}

static void look_at_phases(struct mon_player *player, uint64_t first_at_ns)
{
	struct mon_transport *transport = &player->transport;
	const struct mon_model *latest = mon_past_latest(&player->past);
	const struct mon_process *now = phases_of(player, player->cursor.model);
	const struct mon_process *known = latest ? phases_of(player, latest) : NULL;
	if (!known || (now && now->n_phases > known->n_phases))
		known = now;
	transport->n_phases = 0;
	for (uint64_t n = 1; known && n <= known->n_phases; n++) {
		const struct mon_phase *phase = mon_process_phase_at(known, n);
		if (phase && phase->at_ns >= first_at_ns && transport->n_phases < MON_TRANSPORT_PHASES)
			transport->phase_at_ns[transport->n_phases++] = phase->at_ns - first_at_ns;
	}
}

// Brings the transport line up to date after a move.
static void look(struct mon_player *player)
{
	const struct mon_position *position = &player->cursor.position;
	const struct mon_model *model = player->cursor.model;
	struct mon_transport *transport = &player->transport;
	uint64_t first_at_ns = mon_tape_first_at_ns(player->past.tape);
	transport->position_ns = transport->length_ns = 0;
	transport->is_following = player->is_following;
	if (first_at_ns != TELE_UNKNOWN) {
		transport->position_ns = tele_max_u64(position->last_at_ns, first_at_ns) - first_at_ns;
		transport->length_ns = mon_tape_last_at_ns(player->past.tape) - first_at_ns;
		look_at_phases(player, first_at_ns);
	}
	transport->candidate = count_of(player, MON_TARGET_CANDIDATE);
	if (transport->candidate != TELE_UNKNOWN &&
	    (transport->n_candidates == TELE_UNKNOWN ||
	     transport->candidate > transport->n_candidates))
		transport->n_candidates = transport->candidate;
	transport->n_gaps = 0;
	for (uint32_t i = 0; i < model->n_processes; i++)
		transport->n_gaps += model->processes[i]->n_gaps;
}

// After a move that was not playing.
static int moved(struct mon_player *player, int status)
{
	player->transport.is_playing = false;
	mon_progress_end(player->cursor.progress);
	look(player);
	player->position_ns = player->transport.position_ns;
	return status < 0 ? status : 0;
}

static int to_end(struct mon_player *player, struct tele_error *ret_error)
{
	const struct mon_target end = {.kind = MON_TARGET_END};
	return mon_cursor_go(&player->cursor, &end, ret_error);
}

static int open_past(struct mon_player *player, struct mon_model *model, struct tele_error *ret_error)
{
	bool is_live = player->is_live;
	mon_cursor_init(&player->cursor, NULL, model);
	int failed = mon_past_open(&player->past, &player->cursor,
				   is_live ? MON_PAST_FORKS_LIVE : MON_PAST_FORKS_TRACE,
				   is_live ? MON_PAST_TAPE_LIVE : MON_PAST_TAPE_TRACE);
	return failed ? tele_fail(ret_error, failed, "out of memory") : 0;
}

// Tapes and shows what the source has, by turns, so that the oldest can be
// forgotten in time.
static int take_in(struct mon_player *player, struct tele_error *ret_error)
{
	for (;;) {
		int status = mon_past_fill(&player->past, player->source, ROUND_RECORDS, ret_error);
		bool is_more = status == ROUND_RECORDS;
		if (status >= 0 && (player->is_following || !player->is_live))
			status = to_end(player, ret_error);
		if (status < 0 || !is_more)
			return status < 0 ? status : 0;
	}
}

int mon_player_open(struct mon_player *player, const char *file, struct mon_model *model,
		    struct mon_progress *progress, struct tele_error *ret_error)
{
	*player = (struct mon_player){
		.transport = {.file = file, .speed = 1, .n_candidates = TELE_UNKNOWN}};
	int status = tele_trace_open(file, &player->source, ret_error);
	if (status < 0)
		return status;
	status = open_past(player, model, ret_error);
	if (progress)
		progress->source = player->source;
	player->cursor.progress = progress;
	if (status == 0)
		status = take_in(player, ret_error);
	mon_progress_end(progress);
	if (status >= 0 && mon_past_keep(&player->past, &player->cursor))
		status = tele_fail(ret_error, -ENOMEM, "out of memory");
	if (status < 0) {
		mon_player_close(player);
		return status;
	}
	return moved(player, status);
}

int mon_player_open_live(struct mon_player *player, struct tele_source *source,
			 struct mon_model *model, struct tele_error *ret_error)
{
	*player = (struct mon_player){
		.source = source,
		.is_live = true,
		.is_following = true,
		.transport = {.speed = 1, .is_live = true, .n_candidates = TELE_UNKNOWN}};
	int status = open_past(player, model, ret_error);
	if (status == 0)
		status = mon_player_refresh(player, ret_error);
	if (status < 0)
		mon_player_close(player);
	return status;
}

void mon_player_close(struct mon_player *player)
{
	mon_past_close(&player->past);
	tele_source_close(player->source);
	player->source = NULL;
}

int mon_player_refresh(struct mon_player *player, struct tele_error *ret_error)
{
	if (!player->is_live)
		return 0;
	int status = take_in(player, ret_error);
	look(player);
	player->position_ns = player->transport.position_ns;
	return status;
}

// Stops following. The transport line says so.
static void stand_still(struct mon_player *player)
{
	player->is_following = false;
}

int mon_player_toggle(struct mon_player *player, struct tele_error *ret_error)
{
	if (player->is_live) {
		player->is_following = !player->is_following;
		return moved(player, player->is_following ? to_end(player, ret_error) : 0);
	}
	if (!player->transport.is_playing && player->cursor.is_ended) {
		struct mon_target first = {.kind = MON_TARGET_ROW, .value = 1};
		int status = moved(player, mon_cursor_go(&player->cursor, &first, ret_error));
		if (status < 0)
			return status;
	}
	player->transport.is_playing = !player->transport.is_playing;
	return 0;
}

int mon_player_tick(struct mon_player *player, uint64_t elapsed_ns, struct tele_error *ret_error)
{
	uint64_t first_at_ns = mon_tape_first_at_ns(player->past.tape);
	if (!player->transport.is_playing || first_at_ns == TELE_UNKNOWN)
		return 0;
	player->position_ns += (uint64_t)((double)elapsed_ns * player->transport.speed);
	const struct mon_target target = {.kind = MON_TARGET_TIME,
					  .value = first_at_ns + player->position_ns};
	int status = mon_cursor_go(&player->cursor, &target, ret_error);
	mon_progress_end(player->cursor.progress);
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

static int no_other(enum mon_target_kind kind, bool is_back, struct tele_error *ret_error)
{
	const char *name = kind == MON_TARGET_ROW	  ? "row"
			   : kind == MON_TARGET_CANDIDATE ? "candidate"
			   : kind == MON_TARGET_PHASE	  ? "phase"
							  : "event";
	return tele_fail(ret_error, TELE_ENOTFOUND, "no %s %s this one", name, is_back ? "before" : "after");
}

// Back to where the present phase began, or the newest line came: from there, to
// the one before.
static int step_back_to_begin(struct mon_player *player, struct mon_target *target, struct tele_error *ret_error)
{
	uint64_t here = player->cursor.position.n_records;
	int status = mon_cursor_go(&player->cursor, target, ret_error);
	if (status < 0 || player->cursor.position.n_records != here)
		return status;
	if (target->value <= 1)
		return no_other(target->kind, true, ret_error);
	target->value--;
	return mon_cursor_go(&player->cursor, target, ret_error);
}

// A row or a candidate back.
static int step_back(struct mon_player *player, struct mon_target *target, struct tele_error *ret_error)
{
	bool is_first = target->value == 0 || (target->kind == MON_TARGET_ROW && target->value == 1);
	if (is_first)
		return no_other(target->kind, true, ret_error);
	if (target->kind == MON_TARGET_PHASE || target->kind == MON_TARGET_LOG)
		return step_back_to_begin(player, target, ret_error);
	target->value--;
	return mon_cursor_go(&player->cursor, target, ret_error);
}

int mon_player_step(struct mon_player *player, enum mon_target_kind kind, bool is_back,
		    struct tele_error *ret_error)
{
	struct mon_target target = target_of(player, kind);
	const struct mon_model *latest = mon_past_latest(&player->past);
	target.value = count_of(player, kind);
	if (target.value == TELE_UNKNOWN)
		target.value = 0;
	stand_still(player);
	if (is_back)
		return moved(player, step_back(player, &target, ret_error));
	target.value++;
	if (!player->is_live && latest && kind != MON_TARGET_ROW) {
		uint64_t n = mon_target_count(&target, latest, &player->cursor.position);
		if (n == TELE_UNKNOWN || n < target.value) {
			moved(player, 0);
			return no_other(kind, is_back, ret_error);
		}
	}
	return moved(player, mon_cursor_go(&player->cursor, &target, ret_error));
}

int mon_player_show(struct mon_player *player, uint64_t at_ns, struct tele_error *ret_error)
{
	const struct mon_target target = {.kind = MON_TARGET_TIME, .value = at_ns};
	stand_still(player);
	return moved(player, mon_cursor_go(&player->cursor, &target, ret_error));
}

int mon_player_show_share(struct mon_player *player, double share, struct tele_error *ret_error)
{
	uint64_t first_at_ns = mon_tape_first_at_ns(player->past.tape);
	if (first_at_ns == TELE_UNKNOWN)
		return 0;
	return mon_player_show(player, first_at_ns + (uint64_t)(share * (double)player->transport.length_ns), ret_error);
}

int mon_player_jump(struct mon_player *player, const struct mon_at *at,
		    struct tele_error *ret_error)
{
	stand_still(player);
	int status = mon_cursor_to_point(&player->cursor, at, target_of(player, MON_TARGET_END), ret_error);
	bool is_beyond = status == 0 && at->is_candidate;
	status = moved(player, status);
	return is_beyond ? tele_fail(ret_error, TELE_ENOTFOUND, "the trace ends before candidate %llu",
				     (unsigned long long)at->candidate)
			 : status;
}
