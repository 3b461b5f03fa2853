// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What a trace holds, as text.

#ifndef REC_REPORT_H
#define REC_REPORT_H

#include "../analysis/watch.h"
#include "../libtelemetry/base.h"
#include "../libtelemetry/error.h"
#include "../monitor/out.h"

struct rec_report_options {
	const char *path; // "-": standard input
	bool is_ascii;
	const struct analysis_limits *limits; // for forecasts; NULL: none
};

// The whole summary: processes, candidates, phases, figures by class.
int rec_report(const struct rec_report_options *options, struct mon_out *out,
	       struct tele_error *ret_error);

// The trace itself: size, blocks, span, processes, and whether it is whole; with
// the schema, every field as the trace describes it. As JSON, one object with
// all of it.
int rec_info(const struct rec_report_options *options, bool with_schema, struct mon_out *out,
	     struct tele_error *ret_error);
int rec_info_json(const struct rec_report_options *options, struct mon_out *out,
		  struct tele_error *ret_error);

#endif
