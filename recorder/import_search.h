// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The candidates of an import: which are open, and how many there were of each
// outcome.

#ifndef REC_IMPORT_SEARCH_H
#define REC_IMPORT_SEARCH_H

#include "../libtelemetry/fields.h"

#define REC_OPEN_MAX 1024

struct rec_search {
	struct tele_search_values values; // captured_at_ns is not used
	bool has_begun; // a candidate or phase was seen
	// Open ones, a ring: where there are too many, the oldest is forgotten.
	struct rec_open {
		uint64_t hash, handle; // of its label; 0: free
	} *open;
	uint32_t next_open;
	uint64_t next_handle;
	uint64_t last_ended_hash; // of the label that ended last and did not begin again
	unsigned last_outcome;
};

// What a row with a candidate is.
struct rec_boundary {
	bool is_none; // inside it, or its end once more
	uint64_t handle;
};

int rec_search_init(struct rec_search *search); // 0 or -ENOMEM
void rec_search_fini(struct rec_search *search);

// Takes a row of candidate `label`: its end when `outcome` is one (also where it
// never began), else its begin when it is not open. The same end once more, with
// no begin between, is none, unless the caller knows that it `is_new`.
void rec_search_take(struct rec_search *search, const char *label, unsigned outcome, bool is_new,
		     struct rec_boundary *ret_boundary);

#endif
