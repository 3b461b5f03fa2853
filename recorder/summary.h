// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A trace boiled down, record by record: for each instance its span, its
// candidates, its phases, and first, peak and last figure of each class.

#ifndef REC_SUMMARY_H
#define REC_SUMMARY_H

#include "../analysis/outside.h"
#include "../analysis/watch.h"
#include "../libtelemetry/base.h"
#include "../libtelemetry/block.h"
#include "../libtelemetry/error.h"
#include "../libtelemetry/fields.h"
#include "../libtelemetry/source.h"

// A class of things that may grow. Figures are signed (a residual may be
// negative).
struct rec_class {
	const char *name; // of the watch's classes
	unsigned unit; // enum tele_unit
	bool is_known; // in one row at least
	int64_t first, peak, last;
	bool is_last_known; // in the last row
};

struct rec_phase {
	char name[TELE_STRING_BYTES_MAX + 1]; // foreign; "" when its text is lost
	uint64_t begin_at_ns, end_at_ns;
	uint64_t n_candidates; // begun in it; ended, where no candidate of the summary begins
	uint64_t n_ended;
};

struct rec_summary {
	struct tele_instance *instance; // of the source
	uint64_t first_at_ns, last_at_ns;
	uint64_t n_rows, n_events, n_gaps;
	uint64_t outcomes[TELE_OUTCOME_COUNT]; // by final outcome; TELE_UNKNOWN without a search
	uint64_t n_attempted, n_linked;	       // likewise
	bool has_begins; // of candidates: some imports have ends only
	struct rec_phase *phases;
	size_t n_phases, phases_capacity;
	char last_candidate[TELE_STRING_BYTES_MAX + 1]; // last label begun or ended; foreign
	unsigned last_candidate_event;			// its event type; 0: none
	struct rec_class *classes; // one for each class of the watch
	size_t n_classes;
	struct rec_class residuals[2]; // of devices' memory, as observers told it: overhead, foreign
	struct analysis_watch *watch; // for ANALYSIS_FINAL
};

struct rec_summaries {
	struct rec_summary *items; // observers left out, in order of appearance
	size_t n_items, capacity;
	size_t latest; // that a record was of
	const struct analysis_limits *limits; // the caller's; NULL: none
	struct analysis_outside outside;
};

// Reads the source to its end (a live one: to what there is now) and fills
// *summaries, all zero but the limits
// at first. The source must stay open while they are used.
int rec_summarise(struct tele_source *source, struct rec_summaries *summaries,
		  struct tele_error *ret_error);

// The same record by record, for whoever reads along: *ret_summary is that of
// its instance, NULL for an observer's, and valid until the next record. 0 or
// -ENOMEM. _settle after the last.
int rec_summaries_take(struct rec_summaries *summaries, const struct tele_record *record,
		       struct rec_summary **ret_summary);
void rec_summaries_settle(struct rec_summaries *summaries);

void rec_summaries_fini(struct rec_summaries *summaries);

#endif
