// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What the user chose for the views of a process: the axis and stretch of what is
// drawn, the selected row and the order of each view, and a mark to compare with.

#ifndef MON_LENS_H
#define MON_LENS_H

#include "model.h"

#define MON_LENS_VIEWS 8 // room for the views of a process, by their enum
#define MON_ZOOM_MAX   10

// A moment to hold the present one against.
struct mon_mark_point {
	uint64_t instance_id; // 0: none
	uint64_t at_ns;
	uint64_t candidate; // attempted by then; TELE_UNKNOWN
	uint64_t *values;   // of its row, shared with the model; NULL: none
	uint32_t n_fields;
};

struct mon_lens {
	bool has_axis; // else the one that tells best
	enum analysis_axis axis;
	unsigned zoom; // what is drawn is the last 1 / 2^zoom of it all
	int at[MON_LENS_VIEWS]; // the selected row; drawing corrects it
	uint64_t chosen[MON_LENS_VIEWS]; // what stands there, which the selection follows; 0: the row itself
	int sort[MON_LENS_VIEWS];
	bool is_inverted[MON_LENS_VIEWS];
	struct mon_mark_point mark;
	bool is_difference; // figures are shown against the mark
};

// Sets the mark at the latest row of a process, or takes it away (NULL).
void mon_lens_set_mark(struct mon_lens *lens, const struct mon_process *process);

// Whether differences are shown for this process.
bool mon_lens_has_difference(const struct mon_lens *lens, const struct mon_process *process);

// The axis to draw along: what the user chose, else candidates where there are
// enough, else time.
enum analysis_axis mon_lens_axis(const struct mon_lens *lens, const struct mon_process *process);

#endif
