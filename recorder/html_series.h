// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What charts and the table of candidates need of one process, in bounded
// memory whatever the length of its trace: every class in at most
// REC_BUCKETS_MAX stretches of rows, each with its lowest, highest and last
// value; phases, gaps; the newest candidates and those that left most behind.

#ifndef REC_HTML_SERIES_H
#define REC_HTML_SERIES_H

#include "../analysis/verdict.h"
#include "../libtelemetry/block.h"
#include "../libtelemetry/fields.h"
#include "summary.h"

#define REC_BUCKETS_MAX 480
#define REC_HTML_GAPS_MAX 200
#define REC_HTML_PHASES_MAX 200
#define REC_HTML_CANDIDATES_KEPT 1000 // newest, and as many that left most
#define REC_DELTAS 6

// Rows in a row.
struct rec_bucket {
	uint64_t n_rows;
	uint64_t first_at_ns, last_at_ns;
	uint64_t counts[ANALYSIS_AXIS_COUNT]; // at its last row; TELE_UNKNOWN
	uint32_t outcomes[TELE_OUTCOME_COUNT]; // of candidates that ended in it
	bool has_gap; // records were lost between it and the one before
};

// One class in one bucket.
struct rec_range {
	int64_t low, high, last;
	bool is_known; // in one row of it at least
};

// A place on every axis.
struct rec_place {
	uint64_t at_ns;
	uint64_t counts[ANALYSIS_AXIS_COUNT];
};

struct rec_html_phase {
	char name[TELE_STRING_BYTES_MAX + 1]; // foreign
	struct rec_place begin;
};

struct rec_html_gap {
	struct rec_place from, to;
	uint64_t lost;
};

struct rec_candidate {
	uint64_t number; // in order of its end
	uint64_t handle;
	char *label; // foreign
	uint16_t phase; // number + 1; 0: none
	uint8_t outcome;
	uint8_t known; // a bit for each delta
	uint64_t begin_at_ns, end_at_ns; // begin: TELE_UNKNOWN where no begin was seen
	int64_t deltas[REC_DELTAS]; // of the classes of rec_delta_names
};

// The classes whose change over a candidate the table shows.
extern const char *const rec_delta_names[REC_DELTAS];

// A row that was remembered.
struct rec_kept_row {
	uint64_t *values;
	uint32_t n_fields;
	uint64_t at_ns;
};

enum rec_peak { REC_PEAK_BOOKS, REC_PEAK_POOLS, REC_PEAK_RESIDENT, REC_PEAK_COUNT };

struct rec_series {
	struct rec_bucket *buckets;
	uint32_t n_buckets;
	uint64_t rows_per_bucket;
	struct rec_range **ranges; // one array of REC_BUCKETS_MAX for each class
	size_t n_classes;

	struct rec_html_phase *phases;
	uint32_t n_phases, n_phases_left_out;
	struct rec_html_gap *gaps;
	uint32_t n_gaps, n_gaps_left_out;
	bool has_gap_ahead;

	struct rec_candidate *candidates;
	size_t n_candidates, candidates_capacity;
	uint64_t n_ended;

	struct rec_kept_row last, peaks[REC_PEAK_COUNT]; // of mapped, pools' and resident bytes
	uint64_t peak_bytes[REC_PEAK_COUNT];
	struct rec_place place; // of the last row
	uint64_t first_at_ns;
	struct rec_series_state *state; // private
};

// All zero at first. Takes one record after rec_summaries_take did. 0 or -ENOMEM.
int rec_series_take(struct rec_series *series, const struct rec_summary *summary,
		    const struct tele_record *record);

// After the last record: candidates in order of their ends.
void rec_series_settle(struct rec_series *series);

void rec_series_fini(struct rec_series *series);

// Whether a field is the live bytes of pools of one label.
bool rec_is_pool_bytes(const struct tele_field *field);

#endif
