// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The gate: rules held against a trace, or against what a process has published
// so far.

#ifndef REC_CHECK_H
#define REC_CHECK_H

#include "../libtelemetry/source.h"
#include "../monitor/out.h"
#include "check_rule.h"

struct rec_check_options {
	const struct rec_rule *rules;
	size_t n_rules;
	const struct analysis_limits *limits;
	const char *select; // PID or label of the process to check; NULL: all
	bool is_trace;	    // the source is one, and may have lost its tail
	bool is_json;
	bool is_quiet; // text: without the rules that are kept
	bool is_ascii;
};

// Reads the source to its end and holds the rules against every process in it.
// Writes a line for each rule and process, or the JSON of the processes with
// `rules` added. *ret_status is the worst of all; what an incomplete trace does
// not show is not ok, but not told. Returns 0, TELE_ESYNTAX for a rule whose
// class or field the source does not have, TELE_ENOTFOUND when `select` means
// no process, or an error of reading.
int rec_check(struct tele_source *source, const struct rec_check_options *options, struct mon_out *out,
	      enum rec_rule_status *ret_status, struct tele_error *ret_error);

#endif
