// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Going back in time: what opening a recording, a step back and a jump cost.
// A recording that is told many times over is a long one, like those of a day.
//
//   player [FILE, bench/recordings/tilesearch-20hz.rct] [times, 60]

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

#include "measure.h"

#include "../libtelemetry/trace.h"
#include "../monitor/player.h"
#include "../monitor/screens.h"

#define STEPS  400
#define FRAMES 20

// The records of a trace again and again, with numbers and times that go on.
struct again {
	struct tele_source source;
	struct tele_source *trace;
	uint64_t *row;
	uint64_t n_left, seq, shift_seq, shift_ns, last_ns, first_ns;
};

static int again_next(struct tele_source *source, struct tele_record *ret_record, struct tele_error *ret_error)
{
	struct again *again = (struct again *)source;
	for (;;) {
		int got = tele_source_next(again->trace, ret_record, ret_error);
		if (got < 0)
			return got;
		if (got == 0) {
			if (--again->n_left == 0)
				return 0;
			again->shift_seq = again->seq;
			again->shift_ns = again->last_ns - again->first_ns;
			tele_trace_seek(again->trace, 0, NULL);
			continue;
		}
		if (ret_record->kind != TELE_RECORD_ROW && ret_record->kind != TELE_RECORD_EVENT) {
			if (again->shift_seq == 0)
				return 1;
			continue;
		}
		ret_record->seq += again->shift_seq;
		again->seq = ret_record->seq;
		if (ret_record->kind == TELE_RECORD_EVENT) {
			ret_record->event.at_ns += again->shift_ns;
			return 1;
		}
		for (uint32_t i = 0; i < ret_record->n_fields; i++)
			again->row[i] = ret_record->row[i];
		again->row[0] += again->shift_ns;
		again->last_ns = again->row[0];
		if (again->first_ns == 0)
			again->first_ns = again->last_ns;
		ret_record->row = again->row;
		return 1;
	}
}

static const struct tele_source_ops again_ops = {.next = again_next};

static void fail(const char *what)
{
	fprintf(stderr, "player: %s\n", what);
	exit(1);
}

static void walk(struct mon_player *player)
{
	double worst_s = 0, began_s = worked_s();
	for (int i = 0; i < STEPS; i++) {
		double step_s = worked_s();
		if (mon_player_step(player, MON_TARGET_ROW, true, NULL))
			fail("no step back");
		mon_model_settle(player->cursor.model);
		step_s = worked_s() - step_s;
		worst_s = step_s > worst_s ? step_s : worst_s;
	}
	printf("a step back, in the mean          %8.2f ms        goal 5 (worst %.1f ms)\n",
	       (worked_s() - began_s) * 1e3 / STEPS, worst_s * 1e3);
	worst_s = 0;
	began_s = worked_s();
	for (uint64_t i = 0; i < 32; i++) {
		double jump_s = worked_s();
		const struct mon_at at = {.offset_ns = player->transport.length_ns / 32 * (i * 13 % 32)};
		if (mon_player_jump(player, &at, NULL))
			fail("no jump");
		jump_s = worked_s() - jump_s;
		worst_s = jump_s > worst_s ? jump_s : worst_s;
	}
	printf("a jump, in the mean               %8.2f ms                 (worst %.1f ms)\n",
	       (worked_s() - began_s) * 1e3 / 32, worst_s * 1e3);
}

// What a frame of each view costs, at the size of a large terminal.
static void draw(const struct mon_player *player)
{
	struct mon_grid grid = {0};
	struct mon_view view;
	mon_view_init(&view);
	view.opened = player->cursor.model->processes[0]->identity.instance_id;
	for (int screen = MON_SCREEN_PROCESS; screen < MON_SCREEN_COUNT; screen++) {
		double began_s = worked_s();
		view.screen = (enum mon_screen)screen;
		for (int i = 0; i < FRAMES; i++) {
			if (mon_grid_reset(&grid, 200, 60, false))
				fail("no memory");
			mon_view_draw(&grid, player->cursor.model, &view);
		}
		printf("a frame of %-12s           %8.2f ms\n", mon_screen_row((enum mon_screen)screen)->name,
		       (worked_s() - began_s) * 1e3 / FRAMES);
	}
	mon_grid_fini(&grid);
}

int main(int argc, char **argv)
{
	struct again again = {.source = {.ops = &again_ops}, .n_left = argc > 2 ? strtoull(argv[2], NULL, 10) : 60};
	struct mon_model model;
	struct mon_player player;
	setlocale(LC_ALL, "C.UTF-8");
	again.row = calloc(TELE_FIELDS_MAX, sizeof(*again.row));
	if (!again.row || tele_trace_open(argc > 1 ? argv[1] : "bench/recordings/tilesearch-20hz.rct", &again.trace, NULL))
		fail("no recording");
	mon_model_init(&model, MON_HISTORY_FULL);
	double began_s = worked_s();
	if (mon_player_open_live(&player, &again.source, &model, NULL))
		fail("cannot be played");
	double open_s = worked_s() - began_s;
	uint64_t n_records = mon_tape_records(player.past.tape);
	printf("records                           %8llu\n", (unsigned long long)n_records);
	printf("bytes a record on the tape        %8.1f\n", (double)mon_tape_bytes(player.past.tape) / (double)n_records);
	printf("opening, a record                 %8.2f us        (%.2f s in all, %u forks)\n",
	       open_s * 1e6 / (double)n_records, open_s, player.past.n_checkpoints);
	walk(&player);
	draw(&player);
	return 0;
}
