// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Candidates by label, with their outcomes. The same label again is the same
// label's second candidate.

#ifndef REC_DIFF_LABELS_H
#define REC_DIFF_LABELS_H

#include "../libtelemetry/base.h"

// 32 MiB of memory; later candidates are left out.
#define REC_LABELS_MAX (1u << 20)

struct rec_labels {
	struct rec_label {
		uint64_t key; // 0: free
		uint32_t n;	  // of a label: how often it came
		uint32_t outcome; // of a candidate
	} *slots;
	size_t n_slots, n_used;
	bool is_full;
};

void rec_labels_fini(struct rec_labels *labels);

// Adds a candidate; *ret_key names it. Returns 1, 0 when there is no room for
// more, or -ENOMEM.
int rec_labels_add(struct rec_labels *labels, const char *label, unsigned outcome, uint64_t *ret_key);

// The outcome of the candidate of that key, or TELE_OUTCOME_OPEN.
unsigned rec_labels_find(const struct rec_labels *labels, uint64_t key);

#endif
