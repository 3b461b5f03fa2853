// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The candidates of a series: what each left behind, from the row of its begin
// to the row of its end.

#ifndef REC_HTML_CANDIDATES_H
#define REC_HTML_CANDIDATES_H

#include "html_series.h"

#define REC_OPEN_CANDIDATES 64
#define REC_POOL_FIELDS 16

// Values of the classes of rec_delta_names at a moment.
struct rec_levels {
	int64_t values[REC_DELTAS];
	uint8_t known;
};

struct rec_series_state {
	uint64_t boundary_seq; // of the row that carries the census of the event below
	struct tele_event boundary;
	char label[TELE_STRING_BYTES_MAX + 1];
	struct {
		bool is_open;
		uint64_t handle, begin_at_ns;
		struct rec_levels levels;
	} open[REC_OPEN_CANDIDATES];
	uint32_t next_open;
	bool has_levels; // of the last boundary, for tables of ends alone
	struct rec_levels levels;
	int positions[REC_DELTAS]; // classes, + 1; 0: not looked for
	size_t n_classes_looked_at;
	uint64_t lost; // since the last row
	// Fields that hold live bytes of pools, of the schema so far.
	uint32_t pools[REC_POOL_FIELDS];
	uint32_t n_pools, n_fields_looked_at;
};

int rec_candidates_event(struct rec_series *series, const struct rec_summary *summary,
			 const struct tele_record *record);
int rec_candidates_row(struct rec_series *series, const struct rec_summary *summary,
		       const struct tele_record *record);
void rec_candidates_gap(struct rec_series *series);
void rec_candidates_fini(struct rec_series *series);

#endif
