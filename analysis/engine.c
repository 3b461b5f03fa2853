// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The memory of an engine: classes, of which most never have a value and then
// cost no more than their name, and copies that go on by themselves. What was
// not written stays unwritten: pages are paid as they fill.

#include "engine.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../libtelemetry/banned.h"

// Of classes without a value yet. Read only.
static const struct analysis_track no_tracks[ANALYSIS_AXIS_COUNT];
static const struct analysis_class_outcomes no_outcomes;

#define TRACKS_BYTES (ANALYSIS_AXIS_COUNT * sizeof(struct analysis_track))

bool analysis_have_tracks(struct analysis_class_state *state)
{
	if (state->tracks != no_tracks)
		return true;
	// Pages of their own, so that those which no point reaches stay unpaid: a
	// malloc would give used ones, and clear them all.
	struct analysis_track *tracks =
		mmap(NULL, TRACKS_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (tracks == MAP_FAILED)
		return false;
	madvise(tracks, TRACKS_BYTES, MADV_NOHUGEPAGE);
	state->tracks = tracks;
	return true;
}

bool analysis_have_outcomes(struct analysis_class_state *state)
{
	if (state->outcomes != &no_outcomes)
		return true;
	struct analysis_class_outcomes *outcomes = calloc(1, sizeof(*outcomes));
	if (outcomes)
		state->outcomes = outcomes;
	return outcomes;
}

bool analysis_has_outcomes(const struct analysis_class_state *state)
{
	return state->outcomes != &no_outcomes;
}

static void free_class(struct analysis_class_state *state)
{
	if (state->outcomes != &no_outcomes) {
		analysis_class_outcomes_fini(state->outcomes);
		free(state->outcomes);
	}
	if (state->tracks != no_tracks)
		munmap(state->tracks, TRACKS_BYTES);
	free(state);
}

static bool is_class(int index, size_t n_classes, size_t self)
{
	return index == ANALYSIS_NO_CLASS || (index >= 0 && (size_t)index < n_classes && (size_t)index != self);
}

static int new_class(const struct analysis_class *class, struct analysis_class_state **ret)
{
	struct analysis_class_state *state = calloc(1, sizeof(*state));
	if (!state)
		return -ENOMEM;
	state->class = *class;
	state->capacity_bytes = TELE_UNKNOWN;
	state->turned_at_s = NAN;
	// Never written to: who writes asks for them first.
	state->tracks = (struct analysis_track *)(uintptr_t)no_tracks;
	state->outcomes = (struct analysis_class_outcomes *)(uintptr_t)&no_outcomes;
	*ret = state;
	return 0;
}

int analysis_verdicts_extend(struct analysis_verdicts *engine, const struct analysis_class *classes, size_t n_classes)
{
	size_t n_before = engine->n_classes, n_after = n_before + n_classes;

	if (n_classes > ANALYSIS_CLASSES_MAX - n_before)
		return -EINVAL;
	for (size_t i = 0; i < n_classes; i++) {
		if (!classes[i].name[0] || !memchr(classes[i].name, '\0', sizeof(classes[i].name)) ||
		    !is_class(classes[i].bytes_class, n_after, n_before + i) ||
		    !is_class(classes[i].total_class, n_after, n_before + i))
			return -EINVAL;
	}
	for (size_t i = 0; i < n_classes; i++) {
		int result = new_class(&classes[i], &engine->classes[n_before + i]);
		if (result < 0) {
			while (i-- > 0)
				free_class(engine->classes[n_before + i]);
			return result;
		}
	}
	engine->n_classes = n_after;
	return 0;
}

int analysis_verdicts_new(const struct analysis_class *classes, size_t n_classes, struct analysis_verdicts **ret)
{
	struct analysis_verdicts *engine = calloc(1, sizeof(*engine));
	if (!engine)
		return -ENOMEM;
	engine->outcomes.ends_per_cell = 1;
	int result = analysis_verdicts_extend(engine, classes, n_classes);
	if (result < 0) {
		free(engine);
		return result;
	}
	*ret = engine;
	return 0;
}

// What no point reached stays unwritten in the copy, too.
static bool copy_class(const struct analysis_class_state *from, struct analysis_class_state *to)
{
	struct analysis_track *tracks = to->tracks;
	struct analysis_class_outcomes *outcomes = to->outcomes;
	*to = *from;
	to->tracks = tracks;
	to->outcomes = outcomes;
	if (from->outcomes != &no_outcomes &&
	    (!analysis_have_outcomes(to) || !analysis_class_outcomes_copy(from->outcomes, to->outcomes)))
		return false;
	if (from->tracks == no_tracks)
		return true;
	if (!analysis_have_tracks(to))
		return false;
	for (unsigned axis = 0; axis < ANALYSIS_AXIS_COUNT; axis++) {
		const struct analysis_track *track = &from->tracks[axis];
		if (analysis_track_is_started(track))
			memcpy(&to->tracks[axis], track,
			       offsetof(struct analysis_track, history.cells) +
				       track->history.n_cells * sizeof(track->history.cells[0]));
	}
	return true;
}

struct analysis_verdicts *analysis_verdicts_copy(const struct analysis_verdicts *engine)
{
	struct analysis_verdicts *copy = malloc(sizeof(*copy));
	if (!copy)
		return NULL;
	*copy = *engine;
	copy->n_classes = 0;
	if (!analysis_outcomes_copy(&engine->outcomes, &copy->outcomes)) {
		free(copy);
		return NULL;
	}
	for (size_t i = 0; i < engine->n_classes; i++) {
		bool is_made = new_class(&engine->classes[i]->class, &copy->classes[i]) == 0;
		copy->n_classes = i + is_made;
		if (!is_made || !copy_class(engine->classes[i], copy->classes[i])) {
			analysis_verdicts_free(copy);
			return NULL;
		}
	}
	return copy;
}

void analysis_verdicts_free(struct analysis_verdicts *engine)
{
	if (!engine)
		return;
	for (size_t i = 0; i < engine->n_classes; i++)
		free_class(engine->classes[i]);
	analysis_outcomes_fini(&engine->outcomes);
	free(engine);
}
