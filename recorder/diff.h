// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Two runs, or two parts of one, side by side.

#ifndef REC_DIFF_H
#define REC_DIFF_H

#include "../analysis/watch.h"
#include "../libtelemetry/error.h"
#include "../monitor/monitor.h"

struct rec_diff_options {
	const char *a, *b; // traces; "-" is standard input, for one of them
	// Where a ends and b begins, as mon_at_parse; NULL: all of it. Both may be
	// the same trace.
	const char *before, *after;
	const char *select; // PID or label in both; NULL: the process that tells most
	bool is_json;
	bool is_ascii;
};

// Reads both and writes what changed, by class, outcome and candidate. Returns
// 0, TELE_ESYNTAX for a bad place, TELE_ENOTFOUND where a side has no such
// process or the place is beyond its end, or an error of reading.
int rec_diff(const struct rec_diff_options *options, struct mon_out *out, struct tele_error *ret_error);

#endif
