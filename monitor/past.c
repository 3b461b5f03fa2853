// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Forks of the model along a tape. They lie close together near the cursor and
// far apart elsewhere: when there are too many, the one goes whose neighbours
// are nearest to each other for the distance at which it stands. So a step back
// costs a few rows, a jump a part of the tape, and the memory stays the same.

#include "past.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../libtelemetry/banned.h"

#define STEP_MAX     512 // records between forks, on the way forward
#define STEP_MIN     64
#define STEPS_BACK   8 // forks made on the way from one fork to a target
#define FORKS_MIN    6
#define FORKS_MAX    64
#define FAR_PARTS    24 // far away, the tape is parted into so many pieces
#define CLASS_BYTES  41000
#define PROCESS_BYTES 400000

struct mon_checkpoint {
	struct mon_place place;
	struct mon_position position;
	struct mon_model model;
};

static void fini_checkpoint(struct mon_checkpoint *checkpoint)
{
	mon_place_fini(&checkpoint->place);
	mon_model_fini(&checkpoint->model);
}

static int make_checkpoint(const struct mon_past *past, const struct mon_cursor *cursor,
			   struct mon_checkpoint *ret)
{
	struct mon_checkpoint checkpoint = {.position = cursor->position};
	int failed = mon_model_fork(cursor->model, &checkpoint.model);
	if (failed)
		return failed;
	failed = mon_place_copy(&past->place, &checkpoint.place);
	if (failed) {
		mon_model_fini(&checkpoint.model);
		return failed;
	}
	*ret = checkpoint;
	return 0;
}

// About the bytes of one fork: rows are shared, watches are what costs.
static size_t fork_bytes(const struct mon_past *past, const struct mon_model *model)
{
	size_t n_bytes = mon_place_bytes(&past->place);
	for (uint32_t i = 0; i < model->n_processes; i++) {
		const struct mon_process *process = model->processes[i];
		const struct analysis_verdicts *engine =
			process->watch ? analysis_watch_engine(process->watch) : NULL;
		n_bytes += process->n_candidates ? PROCESS_BYTES : PROCESS_BYTES / 8;
		n_bytes += process->n_history * sizeof(struct mon_row);
		n_bytes += engine ? analysis_verdicts_classes(engine) * CLASS_BYTES : 0;
	}
	return n_bytes;
}

int mon_past_open(struct mon_past *past, struct mon_cursor *cursor, size_t fork_bytes_max,
		  size_t tape_bytes_max)
{
	*past = (struct mon_past){.tape = mon_tape_new(),
				  .checkpoints = calloc(FORKS_MAX + 1, sizeof(*past->checkpoints)),
				  .n_max = FORKS_MIN,
				  .step = STEP_MAX,
				  .fork_bytes_max = fork_bytes_max,
				  .tape_bytes_max = tape_bytes_max};
	cursor->past = past;
	if (!past->tape || !past->checkpoints ||
	    make_checkpoint(past, cursor, &past->checkpoints[0])) {
		mon_past_close(past);
		return -ENOMEM;
	}
	past->n_checkpoints = 1;
	return 0;
}

void mon_past_close(struct mon_past *past)
{
	for (uint32_t i = 0; i < past->n_checkpoints; i++)
		fini_checkpoint(&past->checkpoints[i]);
	free(past->checkpoints);
	mon_place_fini(&past->place);
	mon_tape_free(past->tape);
	*past = (struct mon_past){0};
}

// Forgets the oldest fork, and the tape up to the next.
static void forget_oldest(struct mon_past *past)
{
	fini_checkpoint(&past->checkpoints[0]);
	past->n_checkpoints--;
	memmove(past->checkpoints, past->checkpoints + 1,
		past->n_checkpoints * sizeof(*past->checkpoints));
	mon_tape_forget(past->tape, &past->checkpoints[0].place);
}

int mon_past_fill(struct mon_past *past, struct tele_source *source, int n_max,
		  struct tele_error *ret_error)
{
	struct tele_record record;
	int n_records = 0;
	while (n_records < n_max) {
		int got = tele_source_next(source, &record, ret_error);
		if (got != 1)
			return got < 0 ? got : n_records;
		int failed = mon_tape_add(past->tape, &record);
		if (failed)
			return tele_fail(ret_error, failed, "out of memory");
		n_records++;
	}
	return n_records;
}

int mon_past_next(struct mon_past *past, struct tele_record *ret_record, struct mon_told *ret_told)
{
	return mon_tape_next(past->tape, &past->place, ret_record, ret_told);
}

// ---- Forks ------------------------------------------------------------------------

// The fork that is missed least; the first and the last stay.
static uint32_t least_missed(const struct mon_past *past)
{
	uint64_t here = past->place.n_records, least = UINT64_MAX;
	uint64_t far = mon_tape_records(past->tape) / FAR_PARTS + STEP_MIN;
	uint32_t index = 1;
	for (uint32_t i = 1; i + 1 < past->n_checkpoints; i++) {
		uint64_t at = past->checkpoints[i].place.n_records;
		uint64_t gap = past->checkpoints[i + 1].place.n_records -
			       past->checkpoints[i - 1].place.n_records;
		uint64_t distance = at > here ? at - here : here - at;
		uint64_t score = gap * 1024 / (tele_min_u64(distance, far) + STEP_MIN);
		if (score >= least)
			continue;
		least = score;
		index = i;
	}
	return index;
}

static void drop_checkpoint(struct mon_past *past, uint32_t index)
{
	fini_checkpoint(&past->checkpoints[index]);
	past->n_checkpoints--;
	memmove(past->checkpoints + index, past->checkpoints + index + 1,
		(past->n_checkpoints - index) * sizeof(*past->checkpoints));
}

int mon_past_keep(struct mon_past *past, const struct mon_cursor *cursor)
{
	uint64_t here = past->place.n_records;
	uint32_t at = past->n_checkpoints;
	struct mon_checkpoint checkpoint;
	while (at > 0 && past->checkpoints[at - 1].place.n_records > here)
		at--;
	// With a record pending the place lies behind it.
	if (cursor->has_pending || (at > 0 && past->checkpoints[at - 1].place.n_records == here))
		return 0;
	int failed = make_checkpoint(past, cursor, &checkpoint);
	if (failed)
		return failed;
	size_t n_max = past->fork_bytes_max / tele_max_u64(fork_bytes(past, cursor->model), 1);
	past->n_max = (uint32_t)tele_min_u64(tele_max_u64(n_max, FORKS_MIN), FORKS_MAX);
	memmove(past->checkpoints + at + 1, past->checkpoints + at,
		(past->n_checkpoints - at) * sizeof(checkpoint));
	past->checkpoints[at] = checkpoint;
	past->n_checkpoints++;
	while (past->n_checkpoints > past->n_max)
		drop_checkpoint(past, least_missed(past));
	while (mon_tape_bytes(past->tape) > past->tape_bytes_max && past->n_checkpoints > 1 &&
	       past->checkpoints[1].place.n_records <= here)
		forget_oldest(past);
	return 0;
}

int mon_past_applied(struct mon_past *past, struct mon_cursor *cursor)
{
	if (++past->n_since < past->step)
		return 0;
	past->n_since = 0;
	if (past->place.n_records == mon_tape_records(past->tape))
		past->step = STEP_MAX;
	return mon_past_keep(past, cursor);
}

const struct mon_model *mon_past_latest(const struct mon_past *past)
{
	return past->n_checkpoints > 1 ? &past->checkpoints[past->n_checkpoints - 1].model : NULL;
}

// Steps that follow a leap are likely to be short ones: a few forks on the way.
static uint64_t step_from(const struct mon_past *past, uint32_t at)
{
	uint64_t here = past->checkpoints[at].place.n_records;
	uint64_t beyond = at + 1 < past->n_checkpoints ? past->checkpoints[at + 1].place.n_records
						       : mon_tape_records(past->tape);
	uint64_t step = (tele_max_u64(beyond, here) - here) / STEPS_BACK;
	return tele_min_u64(tele_max_u64(step, STEP_MIN), STEP_MAX * 8);
}

int mon_past_leap(struct mon_past *past, struct mon_cursor *cursor, const struct mon_target *target,
		  bool is_passed)
{
	uint32_t at = past->n_checkpoints - 1;
	uint64_t n_changes = cursor->model->n_changes;
	struct mon_model model;
	struct mon_place place;
	while (at > 0 && mon_target_is_passed(target, &past->checkpoints[at].model,
					      &past->checkpoints[at].position))
		at--;
	const struct mon_checkpoint *checkpoint = &past->checkpoints[at];
	if (!is_passed && checkpoint->place.n_records <= past->place.n_records + STEP_MIN)
		return 0;
	int failed = mon_model_fork(&checkpoint->model, &model);
	if (failed)
		return failed;
	failed = mon_place_copy(&checkpoint->place, &place);
	if (failed) {
		mon_model_fini(&model);
		return failed;
	}
	mon_model_fini(cursor->model);
	mon_place_fini(&past->place);
	*cursor->model = model;
	cursor->model->n_changes = n_changes + 1;
	cursor->position = checkpoint->position;
	cursor->has_pending = cursor->is_ended = false;
	past->place = place;
	past->n_since = 0;
	past->step = step_from(past, at);
	return 0;
}
