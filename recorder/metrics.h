// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Fields and derived figures as metrics of Prometheus: names in base units,
// types, labels. What `serve` shows and `export --format openmetrics` writes,
// so that both are the same series.

#ifndef REC_METRICS_H
#define REC_METRICS_H

#include "../libtelemetry/source.h"
#include "../monitor/out.h"

enum rec_metric_type {
	REC_METRIC_GAUGE,
	REC_METRIC_COUNTER,
	REC_METRIC_INFO, // a text: its value is a label, the sample 1
};

#define REC_METRIC_NAME_MAX 160

struct rec_metric {
	char name[REC_METRIC_NAME_MAX]; // of the family: without _total or _info
	enum rec_metric_type type;
	const char *unit; // "bytes", "seconds" or ""; the name ends in it
	const char *help; // foreign
	bool is_time;	  // monotonic ns: shown as a Unix time
	bool is_ns;	  // shown in seconds
	bool is_signed;
};

enum rec_metric_syntax {
	REC_METRICS_OPENMETRICS, // 1.0.0
	REC_METRICS_PROMETHEUS,	 // text 0.0.4
};

// The metric of a field. False for a field that is not filled any more.
bool rec_metric_of_field(const struct tele_field *field, struct rec_metric *ret_metric);

// The metric of number `index` of what follows from a row (analysis_derived_at),
// false past the last; balanced comes after them, named here too.
bool rec_metric_of_derived(size_t index, struct rec_metric *ret_metric);

// Whether `wanted` belongs to the family of `known`. Where only the name is the
// same (two gauges of a program that differ in spelling), `wanted` is renamed,
// and to be held against the families behind `known`.
bool rec_metric_is_of(const struct rec_metric *known, struct rec_metric *wanted);

// HELP, TYPE and, of OpenMetrics, UNIT.
void rec_metric_write_head(struct mon_out *out, const struct rec_metric *metric, enum rec_metric_syntax syntax);

// `pid="4711",start_id="...",label="..."`: who a process is.
void rec_metric_write_identity(struct mon_out *out, const struct tele_identity *identity);

// `,NAME="VALUE"`; VALUE is foreign.
void rec_metric_write_label(struct mon_out *out, const char *name, const char *value);

// The name of a sample, with its suffix, and its labels: identity and what tells
// a field from others of its family. `text`: of an INFO.
void rec_metric_write_series(struct mon_out *out, const struct rec_metric *metric, const char *identity,
			     const struct tele_field *field, const char *text);

// A value in the metric's unit; of a time, a Unix time in ns.
void rec_metric_write_value(struct mon_out *out, const struct rec_metric *metric, bool is_negative,
			    uint64_t magnitude);

#endif
