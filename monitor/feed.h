// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// From live processes into models, and what a monitor opens first. Private to
// the interactive loop and its text twin, which must agree.

#ifndef MON_FEED_H
#define MON_FEED_H

#include "live.h"
#include "model.h"
#include "monitor.h"

// A verdict needs a process's history, not its latest row. Those whose latest
// row shows something to judge are followed from their oldest record on.
enum mon_follow {
	MON_FOLLOW_SEARCHES, // with candidates, a census or gauges; of other heaps
			     // only the rows of each refresh are judged
	MON_FOLLOW_HEAPS     // with our malloc's books, too
};

// An empty model, as the options want it.
void mon_feed_init(struct mon_model *model, uint32_t history_max, const struct mon_options *options);

// Refreshes `live` and applies everything new to `model`. `frozen` (may be
// NULL) is a copy that stands still: it only forgets what has gone.
int mon_feed_live(struct mon_live *live, struct mon_model *model, struct mon_model *frozen,
		  enum mon_follow follow, struct tele_error *ret_error);

// Applies what is there without looking at the directory again.
int mon_feed_more(struct mon_live *live, struct mon_model *model, struct tele_error *ret_error);

// The process to open: the one that `select` means, else the only one there is;
// NULL for the overview. The model must be settled.
const struct mon_process *mon_feed_first_opened(const struct mon_model *model, const char *select);

#endif
