// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// One side of a comparison: a process of a trace, or a part of its run, with
// its verdicts, exact peaks, outcomes and candidates.

#ifndef REC_DIFF_SIDE_H
#define REC_DIFF_SIDE_H

#include "../analysis/watch.h"
#include "../libtelemetry/source.h"
#include "../monitor/monitor.h"
#include "diff_labels.h"

// Which part of a run. All zero: the whole of it.
struct rec_part {
	bool has_end, has_begin;
	struct mon_at end;   // rows up to it
	struct mon_at begin; // rows from it on
};

struct rec_diff_class {
	bool is_known; // in one row at least
	int64_t peak, last;
};

struct rec_changed {
	char label[256]; // foreign
	unsigned before, after;
};
#define REC_CHANGED_MAX 20

struct rec_side {
	struct tele_identity identity;
	struct analysis_watch *watch; // NULL before its first record
	struct analysis_verdict *list;
	size_t n_list;
	struct rec_diff_class *classes; // by index in the watch
	size_t n_classes;
	uint64_t n_rows, first_at_ns, last_at_ns, lost;
	uint64_t outcomes[TELE_OUTCOME_COUNT]; // ended in this part
	uint64_t n_ended;
	struct rec_labels labels;
	// Against the other side, where one was given.
	uint64_t n_matched, n_changed;
	struct rec_changed changed[REC_CHANGED_MAX];
	bool is_complete; // its trace
	char damage[160];
};

// Reads the trace at `path` and keeps the process that `select` means, else the
// one with the most candidates, then rows. Candidates are matched with those of
// `other` (or NULL). 0, or an error as rec_diff.
int rec_side_read(struct rec_side *side, const char *path, const struct rec_part *part, const char *select,
		  const struct rec_side *other, struct tele_error *ret_error);
void rec_side_fini(struct rec_side *side);

#endif
