// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A sign of life while a trace is read or gone through for more than half a
// second: "reading trace.rct  43 %".

#ifndef MON_PROGRESS_H
#define MON_PROGRESS_H

#include "../libtelemetry/source.h"

struct mon_cursor;

// Shows the line; NULL: it is over, and to be taken away.
typedef void (*mon_progress_fn)(void *context, const char *text);

struct mon_progress {
	mon_progress_fn show; // NULL: nothing is shown
	void *context;
	const char *file;		  // "-" is standard input
	const struct tele_source *source; // the trace
	uint64_t after_ns;		  // how long nothing is shown
	// Kept by mon_progress_step:
	uint64_t began_at_ns, shown_at_ns; // 0: not yet
	uint32_t n_steps;
};

// A line on standard error, where that is a terminal. `file` stays the caller's.
void mon_progress_init(struct mon_progress *progress, const char *file);

// A record was applied. The first after an end begins anew. Takes NULL.
void mon_progress_step(struct mon_progress *progress, const struct mon_cursor *cursor);

// What was waited for is there. Takes NULL.
void mon_progress_end(struct mon_progress *progress);

#endif
