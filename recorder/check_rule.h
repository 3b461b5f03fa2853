// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The rules of `check`: what a person writes, and what is to be said of it.

#ifndef REC_CHECK_RULE_H
#define REC_CHECK_RULE_H

#include "../analysis/watch.h"
#include "../libtelemetry/error.h"

enum rec_rule_kind {
	REC_RULE_MAX_GROWTH, // CLASS<=NUMBER[UNIT]/AXIS
	REC_RULE_MAX,	     // FIELD-or-CLASS<=NUMBER[UNIT]
	REC_RULE_BALANCED,
	REC_RULE_NO_GROWING,
	REC_RULE_KINDS
};

#define REC_RULE_TEXT_MAX 160

struct rec_rule {
	enum rec_rule_kind kind;
	char text[REC_RULE_TEXT_MAX]; // as it was written, without its option
	char name[REC_RULE_TEXT_MAX]; // class or field
	double limit;	      // MAX_GROWTH: of the class's unit, per candidate or second
	uint64_t limit_value; // MAX: the same, rounded down
	bool has_unit;	      // so it speaks of bytes
	enum analysis_axis axis;
};

// "--max-growth", ...
const char *rec_rule_option(enum rec_rule_kind kind);

// Reads a rule; `text` is NULL for those that have none. Numbers are decimal and
// not below 0; units are B, KiB, MiB, GiB, TiB. Returns 0 or TELE_ESYNTAX with
// an error that shows the form.
int rec_rule_parse(enum rec_rule_kind kind, const char *text, struct rec_rule *ret_rule,
		   struct tele_error *ret_error);

enum rec_rule_status { REC_RULE_OK, REC_RULE_NOT_TOLD, REC_RULE_BROKEN };

// "ok", "not_enough_data", "broken".
const char *rec_rule_status_name(enum rec_rule_status status);

// What was found of a rule in one process.
struct rec_finding {
	enum rec_rule_status status;
	bool is_absent;	 // the process has no reading of it at all
	double value;	 // the slope, or the highest value; NAN: none
	double low, high; // the slope's interval; NAN: none
	char evidence[2 * ANALYSIS_SENTENCE_MAX];
};

// Holds a growth rule, or NO_GROWING, against verdicts (of the look FINAL).
void rec_rule_judge(const struct rec_rule *rule, const struct analysis_watch *watch,
		    struct rec_finding *ret_finding);

#endif
