// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What `report` and `info` print alike, of a trace that was read to its end.

#ifndef REC_REPORT_TEXT_H
#define REC_REPORT_TEXT_H

#include "../libtelemetry/trace.h"
#include "report.h"
#include "summary.h"

#define REC_TEXT_BYTES 400

struct rec_printer {
	struct mon_out *out;
	const struct rec_report_options *options;
};

// "s" but for one.
const char *rec_plural(uint64_t n);

// 0 where `to` is not behind `from`.
double rec_seconds_between(uint64_t from_ns, uint64_t to_ns);

// The local time behind `what`.
void rec_print_time(const struct rec_printer *printer, const char *what, uint64_t realtime_ns);

// Candidates by outcome and the last one; phases; PID, label and state. Nothing
// where there is nothing.
void rec_print_candidates(const struct rec_printer *printer, const struct rec_summary *summary);
void rec_print_phases(const struct rec_printer *printer, const struct rec_summary *summary);
void rec_print_name(const struct rec_printer *printer, const struct rec_summary *summary);

// The line on the trace as a whole.
void rec_print_head(const struct rec_printer *printer, const struct tele_trace_info *info,
		    const struct rec_summaries *summaries);

// Reads the trace to its end and prints it by `print`. 0 or an error.
typedef void (*rec_print_fn)(const struct rec_printer *printer, const struct tele_source *source,
			     const struct rec_summaries *summaries);
int rec_print_trace(const struct rec_report_options *options, struct mon_out *out, rec_print_fn print,
		    struct tele_error *ret_error);

#endif
