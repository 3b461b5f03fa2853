// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The report of a trace as one page of HTML that needs nothing but itself: no
// network, no file beside it. Charts are SVG, drawn here; the script sorts and
// filters tables, and says the value of a chart under the pointer. However long the trace, the page is of
// bounded size.

#ifndef REC_HTML_H
#define REC_HTML_H

#include "html_series.h"
#include "report.h"

// Appends the page. 0 or an error.
int rec_html(const struct rec_report_options *options, struct mon_out *out, struct tele_error *ret_error);

// ---- The parts, for the files that make them ------------------------------------------

struct rec_html_process {
	const struct rec_summary *summary;
	const struct rec_series *series;
	struct analysis_verdict *verdicts; // ranked
	size_t n_verdicts;
	unsigned number; // on the page, from 1
	uint32_t n_points; // of a line at most
};

#define REC_HTML_CHARTS_MAX 60 // of one process
#define REC_HTML_PROCESSES_MAX 64

// Foreign text, cleaned for people and escaped for element and attribute.
void rec_html_text(struct mon_out *out, const char *text);

// "12.3 MiB", "1,234", "1.5 s" by the unit of a class; with_sign: "+12.3 MiB".
#define REC_FIGURE_BYTES 48
char *rec_html_figure(unsigned unit, int64_t value, bool with_sign, char *buffer);

// A time as "1h02m" or "3.42 s".
char *rec_html_seconds(double seconds, char *buffer);

// Whether the report speaks of a class: known, not 0 all along, and no echo of
// the process's own on its only device.
bool rec_html_has_class(const struct rec_html_process *process, size_t index);

// The verdict of a class on an axis (ANALYSIS_AXIS_COUNT: its headline), or NULL.
const struct analysis_verdict *rec_html_verdict(const struct rec_html_process *process, size_t index, unsigned axis);

// Words for style sheet and reader.
const char *rec_html_shape_style(const struct analysis_verdict *verdict);
const char *rec_html_shape_word(const struct analysis_verdict *verdict);

void rec_html_charts(struct mon_out *out, const struct rec_html_process *process);
void rec_html_bars(struct mon_out *out, const struct rec_html_process *process);
void rec_html_classes(struct mon_out *out, const struct rec_html_process *process);
void rec_html_candidates(struct mon_out *out, const struct rec_html_process *process);

extern const char rec_html_style[], rec_html_script[];

#endif
