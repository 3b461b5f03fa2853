// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Rows into histories, and judgements when they are due. Judging at every row
// would be both too dear and too eager: each look is another chance of a false
// alarm. So a track is judged after every eight points or five in a hundred,
// a few tracks a row in turn, and a class counts as growing after the second
// judgement in a row that says so. All of this depends on the rows alone, so
// that a replay turns at the same row.

#include "verdict.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "engine.h"

#include "../libtelemetry/banned.h"

#define POINTS_OF_BASE 8
#define DUE_POINTS 8
#define DUE_POINTS_OTHER 32
// In its first rows every process grows: along time a live reader waits longer.
#define DUE_POINTS_TIME 24
#define IN_A_ROW 2
// A pause this much longer than the mean distance of rows is a gap in time.
#define PAUSE_STEPS 30
#define PAUSE_ROWS_MIN 16

static const char *const axis_names[ANALYSIS_AXIS_COUNT] = {
	[ANALYSIS_TIME] = "time",   [ANALYSIS_ATTEMPTED] = "attempted", [ANALYSIS_LINKED] = "linked",
	[ANALYSIS_TIMED] = "timed", [ANALYSIS_KEPT] = "kept",
};

const char *analysis_axis_name(unsigned axis)
{
	return axis < ANALYSIS_AXIS_COUNT ? axis_names[axis] : "?";
}

int analysis_axis_of(const char *name)
{
	if (strcmp(name, "s") == 0)
		return ANALYSIS_TIME;
	for (int axis = 0; axis < ANALYSIS_AXIS_COUNT; axis++)
		if (strcmp(name, axis_names[axis]) == 0)
			return axis;
	return -1;
}

static void reset_track(struct analysis_track *track, unsigned axis)
{
	track->shown = (struct analysis_growth){.shape = ANALYSIS_NOT_ENOUGH_DATA};
	track->due_at_points = axis == ANALYSIS_TIME ? DUE_POINTS_TIME : DUE_POINTS;
	track->in_a_row = 0;
}

// Without memory the point is left out, as if it had not been read.
static void add_point(struct analysis_class_state *state, unsigned axis, double x, double y, bool is_settled)
{
	if (!analysis_have_tracks(state))
		return;
	struct analysis_track *track = &state->tracks[axis];
	if (!analysis_track_is_started(track)) {
		analysis_history_init(&track->history);
		reset_track(track, axis);
	}
	analysis_history_add(&track->history, x, y, is_settled);
}

void analysis_verdicts_set_capacity(struct analysis_verdicts *engine, size_t class_index, uint64_t bytes)
{
	TELE_ASSERT(class_index < engine->n_classes);
	engine->classes[class_index]->capacity_bytes = bytes;
}

size_t analysis_verdicts_classes(const struct analysis_verdicts *engine)
{
	return engine->n_classes;
}

const struct analysis_class *analysis_verdicts_class(const struct analysis_verdicts *engine, size_t class_index)
{
	TELE_ASSERT(class_index < engine->n_classes);
	return &engine->classes[class_index]->class;
}

const struct analysis_history *analysis_verdicts_history(const struct analysis_verdicts *engine, size_t class_index,
							 enum analysis_axis axis)
{
	TELE_ASSERT(class_index < engine->n_classes && axis < ANALYSIS_AXIS_COUNT);
	return &engine->classes[class_index]->tracks[axis].history;
}

const struct analysis_outcomes *analysis_verdicts_outcomes(const struct analysis_verdicts *engine)
{
	return &engine->outcomes;
}

void analysis_verdicts_gap(struct analysis_verdicts *engine)
{
	engine->has_last_row = false;
	for (size_t i = 0; i < engine->n_classes; i++) {
		struct analysis_class_state *state = engine->classes[i];
		for (unsigned axis = 0; axis < ANALYSIS_AXIS_COUNT; axis++)
			analysis_history_gap(&state->tracks[axis].history);
		if (analysis_has_outcomes(state))
			analysis_class_outcomes_close(state->outcomes, false);
		state->has_value = false;
	}
}

void analysis_verdicts_restart(struct analysis_verdicts *engine)
{
	engine->has_last_row = engine->was_inside = engine->has_time = engine->has_candidates = false;
	engine->n_timed_rows = 0;
	memset(engine->pace, 0, sizeof(engine->pace));
	analysis_outcomes_fini(&engine->outcomes);
	analysis_outcomes_init(&engine->outcomes);
	for (size_t i = 0; i < engine->n_classes; i++) {
		struct analysis_class_state *state = engine->classes[i];
		for (unsigned axis = 0; axis < ANALYSIS_AXIS_COUNT; axis++) {
			if (!analysis_track_is_started(&state->tracks[axis]))
				continue;
			analysis_history_restart(&state->tracks[axis].history);
			reset_track(&state->tracks[axis], axis);
		}
		if (analysis_has_outcomes(state))
			analysis_class_outcomes_fini(state->outcomes);
		state->is_growing = false;
		state->turned_at_row = 0;
		state->turned_at_s = NAN;
		state->has_value = false;
	}
}

enum analysis_axis analysis_base_axis(const struct analysis_class_state *state)
{
	const struct analysis_history *attempted = &state->tracks[ANALYSIS_ATTEMPTED].history;
	const struct analysis_history *time = &state->tracks[ANALYSIS_TIME].history;

	if (analysis_history_points(time) == 0)
		return ANALYSIS_ATTEMPTED;
	return analysis_history_points(attempted) < POINTS_OF_BASE ? ANALYSIS_TIME : ANALYSIS_ATTEMPTED;
}

bool analysis_class_grows(const struct analysis_verdicts *engine, const struct analysis_class_state *state,
			  const bool grows[ANALYSIS_AXIS_COUNT])
{
	const struct analysis_pace *pace = &engine->pace[ANALYSIS_ATTEMPTED];
	// A search that has long ended does not explain what grows since.
	bool is_over = pace->has_first && engine->last_s - pace->moved_s > pace->moved_s - pace->first_s;

	return grows[analysis_base_axis(state)] || (is_over && grows[ANALYSIS_TIME]);
}

void analysis_judge_track(const struct analysis_verdicts *engine, const struct analysis_class_state *state,
			  enum analysis_axis axis, struct analysis_growth *ret)
{
	const struct analysis_history *history = &state->tracks[axis].history;
	struct analysis_growth base;
	double left, n;

	analysis_judge(history, ret);
	if (axis == ANALYSIS_TIME || analysis_shape_grows(ret->shape) ||
	    !analysis_one_outcome_leaks(&engine->outcomes, state->outcomes, &left, &n))
		return;
	// Where the axis that decides sees the growth, the others need no help.
	analysis_judge(&state->tracks[ANALYSIS_ATTEMPTED].history, &base);
	if (!analysis_shape_grows(base.shape))
		analysis_grow_by_leak(history, left, n, ret);
}

static void judge_track(const struct analysis_verdicts *engine, struct analysis_class_state *state,
			enum analysis_axis axis)
{
	struct analysis_track *track = &state->tracks[axis];
	uint64_t points = analysis_history_points(&track->history);
	bool was_growing = analysis_shape_grows(track->shown.shape);
	bool is_base = axis == analysis_base_axis(state);
	struct analysis_growth growth;

	analysis_judge_track(engine, state, axis, &growth);
	bool is_growing = analysis_shape_grows(growth.shape);
	track->in_a_row = is_growing ? track->in_a_row + 1 : 0;
	// A first growing judgement is kept back; what was shown stays.
	if (!is_growing || track->in_a_row >= IN_A_ROW || was_growing)
		track->shown = growth;
	// Other axes matter once the class is suspected; until then they wait.
	if (is_base && track->in_a_row == 1)
		for (unsigned other = 0; other < ANALYSIS_AXIS_COUNT; other++)
			if (other != axis && state->tracks[other].due_at_points > DUE_POINTS_TIME)
				state->tracks[other].due_at_points = DUE_POINTS_TIME;
	bool is_close = is_base || track->in_a_row > 0 || state->tracks[analysis_base_axis(state)].in_a_row > 0;
	uint64_t least = !is_close ? DUE_POINTS_OTHER : axis == ANALYSIS_TIME ? DUE_POINTS_TIME : DUE_POINTS;
	uint64_t share = points / (is_close ? 20 : 5);
	track->due_at_points = points + (share > least ? share : least);
}

// Notes whether a live reader sees the class turn.
static bool note_turn(const struct analysis_verdicts *engine, struct analysis_class_state *state)
{
	bool grows[ANALYSIS_AXIS_COUNT];

	for (unsigned axis = 0; axis < ANALYSIS_AXIS_COUNT; axis++)
		grows[axis] = analysis_shape_grows(state->tracks[axis].shown.shape);
	bool is_growing = analysis_class_grows(engine, state, grows);
	if (is_growing == state->is_growing)
		return false;
	state->is_growing = is_growing;
	state->turned_at_row = is_growing ? engine->n_rows : 0;
	state->turned_at_s = is_growing && engine->has_time ? engine->last_s : NAN;
	return true;
}

static bool is_constant(const struct analysis_history *history)
{
	return history->low_y == history->high_y &&
	       (!history->has_pending || history->n_points == 0 || history->pending_y == history->first_y);
}

// One round over the classes: base axes first, then the others.
static unsigned judge_due(struct analysis_verdicts *engine)
{
	unsigned budget = ANALYSIS_JUDGEMENTS_A_ROW, n_turned = 0;
	size_t n = engine->n_classes, next = engine->cursor;

	for (unsigned round = 0; round < 2 && budget > 0; round++) {
		for (size_t k = 0; k < n && budget > 0; k++) {
			size_t i = (engine->cursor + k) % n;
			struct analysis_class_state *state = engine->classes[i];
			enum analysis_axis base = analysis_base_axis(state);
			bool was_judged = false;

			for (unsigned axis = 0; axis < ANALYSIS_AXIS_COUNT && budget > 0; axis++) {
				struct analysis_track *track = &state->tracks[axis];
				if ((axis == base) != (round == 0) || !analysis_track_is_started(track) ||
				    analysis_history_points(&track->history) < track->due_at_points)
					continue;
				budget -= !is_constant(&track->history);
				judge_track(engine, state, (enum analysis_axis)axis);
				was_judged = true;
				next = (i + 1) % n;
			}
			n_turned += was_judged && note_turn(engine, state);
		}
	}
	engine->cursor = next;
	return n_turned;
}

static uint64_t count_of(const struct analysis_verdicts *engine, const struct analysis_row *row, unsigned axis)
{
	const uint64_t *ended = engine->outcomes.counts;
	uint64_t count = 0;

	if (row->counts[axis] != TELE_UNKNOWN)
		return row->counts[axis];
	if (!engine->has_candidates)
		return TELE_UNKNOWN;
	for (unsigned outcome = 1; outcome < TELE_OUTCOME_COUNT; outcome++) {
		bool counts = axis == ANALYSIS_ATTEMPTED ||
			      (axis == ANALYSIS_LINKED && tele_outcome_is_linked(outcome)) ||
			      (axis == ANALYSIS_TIMED && tele_outcome_is_timed(outcome)) ||
			      (axis == ANALYSIS_KEPT && outcome == TELE_OUTCOME_KEPT);
		count += counts ? ended[outcome] : 0;
	}
	return count;
}

// x of the row along every axis; NAN where it has none.
static void place(struct analysis_verdicts *engine, const struct analysis_row *row, double ret_x[ANALYSIS_AXIS_COUNT],
		  bool *ret_pause)
{
	double step_s = 0;

	*ret_pause = false;
	ret_x[ANALYSIS_TIME] = isfinite(row->time_s) ? row->time_s : NAN;
	if (isfinite(row->time_s)) {
		if (engine->has_time && engine->n_timed_rows >= PAUSE_ROWS_MIN) {
			step_s = (engine->last_s - engine->first_s) / (double)(engine->n_timed_rows - 1);
			double pause_s = row->time_s - engine->last_s;
			*ret_pause = pause_s < 0 || (step_s > 0 && pause_s > PAUSE_STEPS * step_s);
		}
		if (!engine->has_time || row->time_s < engine->last_s || *ret_pause) {
			engine->first_s = row->time_s - step_s * (double)engine->n_timed_rows;
			engine->has_time = true;
		}
		engine->last_s = row->time_s;
		engine->n_timed_rows++;
	}
	for (unsigned axis = ANALYSIS_ATTEMPTED; axis < ANALYSIS_AXIS_COUNT; axis++) {
		uint64_t count = count_of(engine, row, axis);
		struct analysis_pace *pace = &engine->pace[axis];

		ret_x[axis] = count == TELE_UNKNOWN ? NAN : (double)count;
		if (count == TELE_UNKNOWN || !isfinite(row->time_s))
			continue;
		if (!pace->has_first || (double)count < pace->last_x || row->time_s < pace->last_s)
			*pace = (struct analysis_pace){true, (double)count, (double)count, row->time_s, row->time_s, row->time_s};
		if ((double)count != pace->last_x)
			pace->moved_s = row->time_s;
		pace->last_x = (double)count;
		pace->last_s = row->time_s;
	}
}

static void add_outcomes(struct analysis_verdicts *engine, struct analysis_class_state *state,
			 const struct analysis_row *row, bool is_between, bool merged, bool is_known, double y)
{
	if ((!is_known && row->boundary == ANALYSIS_NO_BOUNDARY) || !analysis_have_outcomes(state))
		return;
	if (is_between && is_known && state->has_value)
		analysis_class_outcomes_between(state->outcomes, y - state->value);
	if (row->boundary != ANALYSIS_NO_BOUNDARY)
		analysis_class_outcomes_close(state->outcomes, true);
	if (row->boundary == ANALYSIS_CANDIDATE_END)
		analysis_class_outcomes_end(&engine->outcomes, state->outcomes, row->outcome, merged,
					    is_known, y);
}

void analysis_verdicts_add(struct analysis_verdicts *engine, const struct analysis_row *row)
{
	double x[ANALYSIS_AXIS_COUNT];
	bool merged = false, is_pause;
	bool is_end = row->boundary == ANALYSIS_CANDIDATE_END;
	bool is_settled = !row->is_inside || is_end;
	bool is_between = engine->has_last_row && !engine->was_inside && !is_end &&
			  (row->boundary == ANALYSIS_CANDIDATE_BEGIN || !row->is_inside);

	if (is_end)
		analysis_outcomes_end(&engine->outcomes, row->outcome, &merged);
	engine->has_candidates |= row->boundary != ANALYSIS_NO_BOUNDARY;
	place(engine, row, x, &is_pause);
	engine->n_rows++;
	for (size_t i = 0; i < engine->n_classes; i++) {
		struct analysis_class_state *state = engine->classes[i];
		bool is_known = row->values[i] != TELE_UNKNOWN;
		double y = (double)(int64_t)row->values[i];

		if (is_pause)
			analysis_history_gap(&state->tracks[ANALYSIS_TIME].history);
		add_outcomes(engine, state, row, is_between, merged, is_known, y);
		for (unsigned axis = 0; is_known && axis < ANALYSIS_AXIS_COUNT; axis++)
			if (!isnan(x[axis]))
				add_point(state, axis, x[axis], y, is_settled);
		state->has_value = is_known;
		state->value = y;
	}
	engine->was_inside = row->is_inside;
	engine->has_last_row = true;
}

unsigned analysis_verdicts_row(struct analysis_verdicts *engine, const struct analysis_row *row)
{
	analysis_verdicts_add(engine, row);
	return engine->n_classes ? judge_due(engine) : 0;
}
