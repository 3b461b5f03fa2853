// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The inside of an engine of verdicts, shared by the files that make it
// (engine.c), fill it (verdict.c), read it (rank.c) and speak of it (sentence.c).

#ifndef ANALYSIS_ENGINE_H
#define ANALYSIS_ENGINE_H

#include "verdict.h"

// One class along one axis. All zero until its first point: a track that no
// point reaches is never written, so that its pages are not paid.
struct analysis_track {
	struct analysis_growth shown; // what a live reader is told
	uint64_t due_at_points;       // next judgement
	uint32_t in_a_row;            // judgements that said growing
	struct analysis_history history; // last: see there
};

struct analysis_class_state {
	struct analysis_class class;
	uint64_t capacity_bytes;
	bool has_value; // the row before had one
	double value;
	bool is_growing; // to a live reader, since:
	uint64_t turned_at_row;
	double turned_at_s;
	// Before the first value, or candidate, those of all classes are the same
	// that nobody writes to. ANALYSIS_AXIS_COUNT tracks, in pages of their own.
	struct analysis_class_outcomes *outcomes;
	struct analysis_track *tracks;
};

// How time goes along an axis, to turn candidates into seconds.
struct analysis_pace {
	bool has_first;
	double first_x, last_x;
	double first_s, last_s;
	double moved_s; // when it last went on
};

struct analysis_verdicts {
	size_t n_classes;
	uint64_t n_rows;
	bool has_time;
	double first_s, last_s;
	uint64_t n_timed_rows;
	bool has_candidates; // a boundary was seen
	bool was_inside;   // a candidate was open after the last row
	bool has_last_row; // since the start, a gap or a restart
	struct analysis_pace pace[ANALYSIS_AXIS_COUNT];
	size_t cursor; // of the next class to look at for due judgements
	struct analysis_outcomes outcomes;
	struct analysis_class_state *classes[ANALYSIS_CLASSES_MAX];
};

// Tracks and outcomes of its own, before they are written to. False: no memory.
bool analysis_have_tracks(struct analysis_class_state *state);
bool analysis_have_outcomes(struct analysis_class_state *state);

// Whether the outcomes are its own.
bool analysis_has_outcomes(const struct analysis_class_state *state);

static inline bool analysis_track_is_started(const struct analysis_track *track)
{
	return track->history.points_per_cell > 0;
}

// The axis that decides whether a class grows: attempted candidates, or time
// where there are none or too few. Five axes would be five chances of a false
// alarm; the others only say how it grows.
enum analysis_axis analysis_base_axis(const struct analysis_class_state *state);

// Judges one track: by its series, and where that is silent by what candidates
// of one outcome leave.
void analysis_judge_track(const struct analysis_verdicts *engine, const struct analysis_class_state *state,
			  enum analysis_axis axis, struct analysis_growth *ret);

// Whether the class grows, given which of its axes say so: the base axis, or
// time once the search is long over.
bool analysis_class_grows(const struct analysis_verdicts *engine, const struct analysis_class_state *state,
			  const bool grows[ANALYSIS_AXIS_COUNT]);

#endif
