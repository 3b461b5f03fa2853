// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The engine of verdicts: rows of a process go in, and out come ranked verdicts
// on its classes along time and candidates. Live and offline are the same code
// on the same rows, so their answers agree to the last digit.
//
//   analysis_verdicts_new -> analysis_verdicts_row for each row, with
//   analysis_verdicts_gap and _restart in between -> analysis_verdicts_list
//
// An engine belongs to one thread. It allocates when made or extended and never
// again: 40 KB a class, however many rows come, of which short runs touch less
// and a class without a known value next to nothing.

#ifndef ANALYSIS_VERDICT_H
#define ANALYSIS_VERDICT_H

#include "../libtelemetry/fields.h"
#include "growth.h"
#include "outcome.h"

enum analysis_axis {
	ANALYSIS_TIME, // seconds
	ANALYSIS_ATTEMPTED,
	ANALYSIS_LINKED,
	ANALYSIS_TIMED,
	ANALYSIS_KEPT,
	ANALYSIS_AXIS_COUNT
};

// "time", "attempted", ... as JSON spells it; "?" beyond the range.
const char *analysis_axis_name(unsigned axis);

// The axis of that name ("s" is time too), or -1.
int analysis_axis_of(const char *name);

#define ANALYSIS_CLASSES_MAX 256
#define ANALYSIS_CLASS_NAME_MAX 64
#define ANALYSIS_NO_CLASS (-1)

// One class, in the fixed order that rows give their values in.
struct analysis_class {
	char name[ANALYSIS_CLASS_NAME_MAX]; // "working_pools", "device[0].working_bytes", "app.queue"
	enum tele_unit unit;                // TELE_BYTES or TELE_COUNT
	int bytes_class; // of a count: the class of its bytes, or ANALYSIS_NO_CLASS
	int total_class; // of bytes: the total they are part of (device used, RSS), or ANALYSIS_NO_CLASS
	bool is_effect; // of what the program holds (heap, residual, RSS): ranked behind what it tells of itself
};

enum analysis_boundary {
	ANALYSIS_NO_BOUNDARY,
	ANALYSIS_CANDIDATE_BEGIN,
	ANALYSIS_CANDIDATE_END
};

struct analysis_row {
	double time_s; // monotonic; NAN where there is no time
	// Cumulative candidates by axis, as of this row ([ANALYSIS_TIME] is not
	// read). TELE_UNKNOWN: the engine goes by the ends it has seen.
	uint64_t counts[ANALYSIS_AXIS_COUNT];
	// One a class; TELE_UNKNOWN is left out. Values are read as two's
	// complement, so that a signed class (a residual) may be below 0.
	const uint64_t *values;
	enum analysis_boundary boundary;
	unsigned outcome; // enum tele_outcome, of an end
	bool is_inside;   // some candidate is open after this row
};

struct analysis_verdicts;

// Makes an engine for these classes (copied). -EINVAL: too many classes, a
// class refers to one that is not there, or a name is empty; -ENOMEM.
int analysis_verdicts_new(const struct analysis_class *classes, size_t n_classes, struct analysis_verdicts **ret);

// Appends classes (copied), which may refer to each other and to those there
// are; their histories begin with the next row. Errors as above, with nothing
// appended.
int analysis_verdicts_extend(struct analysis_verdicts *engine, const struct analysis_class *classes, size_t n_classes);

// An engine of its own with the same content, or NULL without memory.
struct analysis_verdicts *analysis_verdicts_copy(const struct analysis_verdicts *engine);

void analysis_verdicts_free(struct analysis_verdicts *engine); // takes NULL

// The limit of a class (a total: device memory; or its own: a cgroup limit).
// TELE_UNKNOWN: none known. May change at any time.
void analysis_verdicts_set_capacity(struct analysis_verdicts *engine, size_t class_index, uint64_t bytes);

// Takes in one row and makes a few of the judgements that are due, at most
// ANALYSIS_JUDGEMENTS_A_ROW that cost anything. Returns how many classes turned
// (to growing, or back) with it.
#define ANALYSIS_JUDGEMENTS_A_ROW 4
unsigned analysis_verdicts_row(struct analysis_verdicts *engine, const struct analysis_row *row);

// The same without judging, for a whole run that is looked at once
// (ANALYSIS_FINAL). A live look at such an engine knows nothing.
void analysis_verdicts_add(struct analysis_verdicts *engine, const struct analysis_row *row);

// Records were lost before the next row, or the clock jumped.
void analysis_verdicts_gap(struct analysis_verdicts *engine);

// The next row is of another process: everything so far is forgotten but its
// number of points (n_left_out).
void analysis_verdicts_restart(struct analysis_verdicts *engine);

struct analysis_verdict {
	unsigned class_index;
	enum analysis_axis axis;
	bool is_headline;     // the axis that tells best of this class, and alone says whether it grows
	bool is_so_far;       // live: growing, and may be taken back
	bool is_covered;      // bytes whose count says it all in its own sentence
	bool is_total;        // a total of other classes
	struct analysis_growth growth;
	double turned_at_s;   // time and row of turning to growing; NAN and 0 if not
	uint64_t turned_at_row;

	double share;       // of the total's growth that this class explains; NAN: not known
	double unexplained; // of a total that grows: 1 - the shares of its parts; else NAN
	struct analysis_by_outcome by_outcome; // of growing classes; else unknown

	// Only of growing and stepping; NAN where there is none. In units of the
	// axis (candidates or seconds), and in seconds.
	double forecast, forecast_low, forecast_high;
	double forecast_seconds;
	bool forecast_is_bound; // "more than": the limit is too far to say
	uint64_t capacity_bytes; // that the forecast or over_by speaks of; TELE_UNKNOWN: none
	uint64_t over_by_bytes;  // already past the capacity; else 0

	// Of a count whose bytes grow on this axis too: bytes of one; else NAN.
	double each_bytes, each_low_bytes, each_high_bytes;
	double each_window; // that it rests on
};

enum analysis_look {
	// As the rows so far were judged when each was due: growing only after two
	// judgements in a row. For screens, `top --json`, `list`, and their replay.
	ANALYSIS_LIVE,
	// All judged now, once. For reports and checks of a whole run.
	ANALYSIS_FINAL
};

// Fills one verdict for each class and axis that has points, ranked: growing
// classes first, causes before effects, parts before totals, by bytes grown and
// then by count. The
// class's headline axis comes before its other axes. Returns how many there
// are; at most n_classes * ANALYSIS_AXIS_COUNT. Changes nothing.
size_t analysis_verdicts_list(const struct analysis_verdicts *engine, enum analysis_look look,
			      struct analysis_verdict *ret, size_t max);

size_t analysis_verdicts_classes(const struct analysis_verdicts *engine);
const struct analysis_class *analysis_verdicts_class(const struct analysis_verdicts *engine, size_t class_index);

// The history behind a verdict, for comparisons and charts.
const struct analysis_history *analysis_verdicts_history(const struct analysis_verdicts *engine, size_t class_index,
							 enum analysis_axis axis);

// Outcomes of the candidates that ended.
const struct analysis_outcomes *analysis_verdicts_outcomes(const struct analysis_verdicts *engine);

#define ANALYSIS_SENTENCE_MAX 512

// The sentence the user reads, without a final full stop, e.g.
//   working pools grow: +1.00 per linked candidate, +102 MiB each (95 %: 101
//   to 103, 64 candidates), 99.9 % of device growth; 11.9 GiB reached in about
//   56 linked candidates
// Writes at most size_bytes including the NUL; returns the length it has.
size_t analysis_sentence(const struct analysis_verdicts *engine, const struct analysis_verdict *verdict, char *buf,
			 size_t size_bytes);

#endif
