// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Which candidates leave something behind: growth of a class split over the
// outcomes of candidates, and what comes between them.

#ifndef ANALYSIS_OUTCOME_H
#define ANALYSIS_OUTCOME_H

#include "../libtelemetry/fields.h"
#include "history.h"

// Cumulative outcomes at candidate ends, averaged over cells; one for a whole
// engine. Cells of the classes below are the same cells.
struct analysis_outcomes {
	struct analysis_outcome_cell {
		double n;
		double sum_counts[TELE_OUTCOME_COUNT];
	} *cells; // owned; room for ANALYSIS_CELLS; NULL before the first end
	uint32_t n_cells;
	uint32_t ends_per_cell;
	uint64_t n_ends;
	uint64_t counts[TELE_OUTCOME_COUNT];
};

// One class at the same ends, and its growth between candidates.
struct analysis_class_outcomes {
	struct analysis_class_cell {
		double n;
		double sum_y; // relative to first_y
	} *cells; // owned; ANALYSIS_CELLS of them; NULL before the first known end
	double first_y, last_y;
	bool has_y, has_fallen;
	// What each candidate left behind since the end before, for classes that
	// never fall.
	bool has_last;
	double since_last; // grown between candidates
	// The same, less what was given back right behind the candidate's end: some
	// programs end a candidate first and clear up then. Of the last end it is
	// open until the stretch behind it is over.
	bool is_open;
	unsigned open_outcome;
	double open_left;
	double net[TELE_OUTCOME_COUNT], net_squared[TELE_OUTCOME_COUNT];
	uint64_t n_net[TELE_OUTCOME_COUNT];
	double sum_back;  // given back so, as a negative number
	double sum_falls; // what candidates took away
	double sum_up;    // what stretches between added
	uint64_t last_end[TELE_OUTCOME_COUNT]; // number of its last end
	uint8_t recent[TELE_OUTCOME_COUNT];    // a bit for each of the last, set if it left something
	double left[TELE_OUTCOME_COUNT], left_squared[TELE_OUTCOME_COUNT];
	uint64_t n_left[TELE_OUTCOME_COUNT];
	// Stretches between a candidate's end and the next begin.
	double stretch;
	bool has_stretch;
	double n_stretches, sum_between, sum_between_squared;
};

// Who is to blame for the growth. Not an outcome:
#define ANALYSIS_BLAME_UNKNOWN (-1)
#define ANALYSIS_BLAME_MIXED (-2)   // several outcomes, or all
#define ANALYSIS_BLAME_BETWEEN (-3) // none: it grows between candidates

struct analysis_by_outcome {
	double growth[TELE_OUTCOME_COUNT]; // in the class's unit; NAN: too few candidates, or not to be told
	double between;                    // NAN: no row lies between candidates
	int blame;                         // an outcome, or ANALYSIS_BLAME_*
};

void analysis_outcomes_init(struct analysis_outcomes *outcomes);
void analysis_outcomes_fini(struct analysis_outcomes *outcomes);

// Makes *ret_copy (not initialised) the same, with cells of its own. False: no
// memory, and nothing to fini. Likewise those of a class.
bool analysis_outcomes_copy(const struct analysis_outcomes *outcomes, struct analysis_outcomes *ret_copy);
bool analysis_class_outcomes_copy(const struct analysis_class_outcomes *class,
				  struct analysis_class_outcomes *ret_copy);

// Those of a class start all zero, and are all zero again after this.
void analysis_class_outcomes_fini(struct analysis_class_outcomes *class);

// A candidate ended. Call analysis_class_outcomes_end for every class right
// after it; `merged` tells them that cells were merged to make room.
void analysis_outcomes_end(struct analysis_outcomes *outcomes, unsigned outcome, bool *ret_merged);

// The class's value at that end, if known.
void analysis_class_outcomes_end(const struct analysis_outcomes *outcomes, struct analysis_class_outcomes *class,
				 unsigned outcome, bool merged, bool is_known, double y);

// The class changed by `change` between two rows that lie between candidates.
void analysis_class_outcomes_between(struct analysis_class_outcomes *class, double change);

// A stretch between candidates is over; `is_complete` is false after a gap.
void analysis_class_outcomes_close(struct analysis_class_outcomes *class, bool is_complete);

// Whether candidates of one outcome leave something behind beyond doubt, to the
// last and without giving it back: growth that the series of all candidates may
// hide under what else comes and goes. Fills what they left in all and how many
// they were.
bool analysis_one_outcome_leaks(const struct analysis_outcomes *outcomes, const struct analysis_class_outcomes *class,
				double *ret_left, double *ret_n);

// Splits the growth seen so far. Pure; about 20 us.
void analysis_split_by_outcome(const struct analysis_outcomes *outcomes, const struct analysis_class_outcomes *class,
			       struct analysis_by_outcome *ret);

#endif
