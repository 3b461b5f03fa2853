// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The page as a whole: head, verdicts, facts. All text that comes from a trace
// goes through rec_html_text; nothing of it is ever inside the script or the
// style sheet, so there is one way of escaping and one place for it.

#include "html.h"

#include "report_text.h"

#include "../libtelemetry/rollcall.h"
#include "../libtelemetry/trace.h"
#include "../monitor/format.h"
#include "../monitor/monitor.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "../libtelemetry/banned.h"

enum { POINTS_MAX = 240, POINTS_MIN = 40, POINTS_IN_ALL = 24000, PHASES_TOLD = 24 };

struct page {
	struct mon_out *out;
	const struct rec_report_options *options;
	struct tele_trace_info info;
	struct rec_summaries summaries;
	struct rec_series *series; // one for each summary
	size_t series_capacity;
};

// ---- Text -----------------------------------------------------------------------------

void rec_html_text(struct mon_out *out, const char *text)
{
	char clean[1024];
	mon_text_clean(text, false, clean, sizeof(clean));
	for (const char *at = clean; *at;) {
		size_t plain = strcspn(at, "&<>\"'`");
		mon_out_bytes(out, at, plain);
		at += plain;
		if (*at)
			mon_out_format(out, "&#%d;", *at++);
	}
}

static char *bytes_text(double bytes, char *buffer)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	unsigned unit = 0;
	for (; fabs(bytes) >= 1023.5 && unit + 1 < TELE_ARRAY_LEN(units); unit++)
		bytes /= 1024;
	double size = fabs(bytes);
	snprintf(buffer, REC_FIGURE_BYTES, "%.*f %s", unit == 0 || size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2, bytes, units[unit]);
	return buffer;
}

char *rec_html_seconds(double seconds, char *buffer)
{
	if (seconds < 60)
		snprintf(buffer, REC_FIGURE_BYTES, seconds < 10 ? "%.2f s" : "%.1f s", seconds);
	else
		mon_format_seconds(seconds, buffer, REC_FIGURE_BYTES);
	return buffer;
}

char *rec_html_figure(unsigned unit, int64_t value, bool with_sign, char *buffer)
{
	char number[REC_FIGURE_BYTES];
	if (unit == TELE_BYTES)
		bytes_text((double)value, number);
	else if (unit == TELE_NS)
		rec_html_seconds((double)value / 1e9, number);
	else
		snprintf(number, sizeof(number), "%" PRId64, value);
	snprintf(buffer, REC_FIGURE_BYTES, "%s%.40s", with_sign && value >= 0 ? "+" : "", number);
	return buffer;
}

bool rec_html_has_class(const struct rec_html_process *process, size_t index)
{
	const struct rec_class *class = &process->summary->classes[index];
	return class->is_known && (class->peak || class->first || class->last) &&
	       !analysis_classes_is_echo(analysis_watch_classes(process->summary->watch), index);
}

const struct analysis_verdict *rec_html_verdict(const struct rec_html_process *process, size_t index, unsigned axis)
{
	for (size_t i = 0; i < process->n_verdicts; i++) {
		const struct analysis_verdict *verdict = &process->verdicts[i];
		if (verdict->class_index == index &&
		    (axis == ANALYSIS_AXIS_COUNT ? verdict->is_headline : (unsigned)verdict->axis == axis))
			return verdict;
	}
	return NULL;
}

const char *rec_html_shape_style(const struct analysis_verdict *verdict)
{
	if (!verdict || verdict->growth.shape == ANALYSIS_NOT_ENOUGH_DATA)
		return "none";
	return analysis_shape_grows(verdict->growth.shape) ? "grows" : "calm";
}

const char *rec_html_shape_word(const struct analysis_verdict *verdict)
{
	static const char *const words[ANALYSIS_SHAPE_COUNT] = {
		[ANALYSIS_NOT_ENOUGH_DATA] = "too little data", [ANALYSIS_FLAT] = "flat",
		[ANALYSIS_ONE_TIME] = "one step",		[ANALYSIS_BOUNDED] = "bounded",
		[ANALYSIS_GROWING] = "growing",			[ANALYSIS_STEPPING] = "stepping",
		[ANALYSIS_DRAINING] = "draining",
	};
	return verdict && verdict->growth.shape < ANALYSIS_SHAPE_COUNT ? words[verdict->growth.shape] : "no verdict";
}

// ---- Sections ---------------------------------------------------------------------------

static void put_verdicts(struct mon_out *out, const struct rec_html_process *process)
{
	const struct analysis_verdicts *engine = analysis_watch_engine(process->summary->watch);
	size_t n = 0;
	mon_out_text(out, "<ul class=\"verdicts\">\n");
	for (size_t i = 0; i < process->n_verdicts; i++) {
		const struct analysis_verdict *verdict = &process->verdicts[i];
		char sentence[ANALYSIS_SENTENCE_MAX];
		if (!verdict->is_headline || verdict->is_covered || !rec_html_has_class(process, verdict->class_index))
			continue;
		analysis_sentence(engine, verdict, sentence, sizeof(sentence));
		mon_out_format(out, "<li class=\"%s\"><span class=\"badge %s\">%s</span> <span>", rec_html_shape_style(verdict),
			       rec_html_shape_style(verdict), rec_html_shape_word(verdict));
		rec_html_text(out, sentence);
		mon_out_text(out, "</span></li>\n");
		n++;
	}
	mon_out_text(out, n ? "</ul>\n" : "</ul>\n<p class=\"quiet\">No figure of it is known, so there is no verdict.</p>\n");
}

static void put_fact(struct mon_out *out, const char *name, const char *value)
{
	mon_out_format(out, "<div><dt>%s</dt><dd>%s</dd></div>", name, value);
}

static void put_outcomes(struct mon_out *out, const struct rec_summary *summary)
{
	if (summary->n_attempted == TELE_UNKNOWN)
		return;
	mon_out_text(out, "<p class=\"legend\">");
	for (unsigned i = 0; i < TELE_OUTCOME_COUNT; i++)
		if (summary->outcomes[i] && summary->outcomes[i] != TELE_UNKNOWN)
			mon_out_format(out, "<span><i class=\"key o%u\"></i>%" PRIu64 " %s</span> ", i, summary->outcomes[i],
				       i == TELE_OUTCOME_OPEN ? "still open" : tele_outcome_name(i));
	mon_out_text(out, "</p>\n");
}

static void put_phases(struct mon_out *out, const struct rec_summary *summary)
{
	char span[REC_FIGURE_BYTES];
	if (summary->n_phases == 0)
		return;
	mon_out_text(out, "<ol class=\"phases\">");
	for (size_t i = 0; i < summary->n_phases && i < PHASES_TOLD; i++) {
		const struct rec_phase *phase = &summary->phases[i];
		mon_out_text(out, "<li><b>");
		rec_html_text(out, phase->name[0] ? phase->name : "?");
		mon_out_format(out, "</b> %" PRIu64 " candidate%s", phase->n_candidates, rec_plural(phase->n_candidates));
		if (!summary->instance->identity.is_untimed)
			mon_out_format(out, " in %s",
				       rec_html_seconds(rec_seconds_between(phase->begin_at_ns, phase->end_at_ns), span));
		mon_out_text(out, "</li>");
	}
	if (summary->n_phases > PHASES_TOLD)
		mon_out_format(out, "<li>and %zu more</li>", summary->n_phases - PHASES_TOLD);
	mon_out_text(out, "</ol>\n");
}

static void put_facts(struct mon_out *out, const struct rec_html_process *process)
{
	const struct rec_summary *summary = process->summary;
	char text[96];
	mon_out_text(out, "<dl class=\"facts\">");
	if (!summary->instance->identity.is_untimed && summary->first_at_ns != TELE_UNKNOWN)
		put_fact(out, "seen for", rec_html_seconds(rec_seconds_between(summary->first_at_ns, summary->last_at_ns), text));
	snprintf(text, sizeof(text), "%" PRIu64, summary->n_rows);
	put_fact(out, "rows", text);
	snprintf(text, sizeof(text), "%" PRIu64, summary->n_events);
	put_fact(out, "events", text);
	snprintf(text, sizeof(text), summary->n_gaps ? "%" PRIu64 " in %" PRIu64 " gap%s" : "%" PRIu64, summary->instance->lost,
		 summary->n_gaps, rec_plural(summary->n_gaps));
	put_fact(out, "records lost", text);
	if (summary->n_attempted != TELE_UNKNOWN) {
		snprintf(text, sizeof(text), "%" PRIu64, summary->n_attempted);
		put_fact(out, "candidates", text);
	}
	if (summary->n_linked != TELE_UNKNOWN) {
		snprintf(text, sizeof(text), "%" PRIu64, summary->n_linked);
		put_fact(out, "linked", text);
	}
	mon_out_text(out, "</dl>\n");
	put_outcomes(out, summary);
	put_phases(out, summary);
}

static void put_name(struct mon_out *out, const struct rec_summary *summary)
{
	const struct tele_identity *identity = &summary->instance->identity;
	rec_html_text(out, identity->label[0] ? identity->label : identity->comm);
}

static void put_process(struct mon_out *out, const struct rec_html_process *process)
{
	const struct tele_identity *identity = &process->summary->instance->identity;
	mon_out_format(out, "<section class=\"process\" id=\"p%u\">\n<h2>", process->number);
	put_name(out, process->summary);
	if (identity->pid)
		mon_out_format(out, " <small>process %" PRIu64 ", %s", identity->pid,
			       tele_state_name(process->summary->instance->state));
	else
		mon_out_text(out, " <small>imported");
	if (identity->created_realtime_ns) {
		const struct rec_printer printer = {.out = out};
		rec_print_time(&printer, ", started ", identity->created_realtime_ns);
	}
	mon_out_text(out, "</small></h2>\n");
	put_verdicts(out, process);
	put_facts(out, process);
	rec_html_bars(out, process);
	rec_html_charts(out, process);
	rec_html_classes(out, process);
	rec_html_candidates(out, process);
	mon_out_text(out, "</section>\n");
}

// ---- The whole ---------------------------------------------------------------------------

static void put_head(const struct page *page)
{
	char size[REC_FIGURE_BYTES], span[REC_FIGURE_BYTES];
	struct mon_out *out = page->out;
	bool is_pipe = strcmp(page->options->path, "-") == 0;
	const char *slash = strrchr(page->options->path, '/');
	const char *name = is_pipe ? "standard input" : slash && slash[1] ? slash + 1 : page->options->path;
	mon_out_text(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
			  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
			  "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
			  "<meta name=\"color-scheme\" content=\"light dark\">\n<title>");
	rec_html_text(out, name);
	mon_out_format(out, " - Rollcall report</title>\n<style>\n%s</style>\n</head>\n<body>\n<header>\n<h1>", rec_html_style);
	rec_html_text(out, name);
	mon_out_format(out, "</h1>\n<p>%zu process%s", page->summaries.n_items, page->summaries.n_items == 1 ? "" : "es");
	if (page->info.n_records && page->info.last_at_ns > page->info.first_at_ns)
		mon_out_format(out, " &middot; %s", rec_html_seconds(rec_seconds_between(page->info.first_at_ns, page->info.last_at_ns), span));
	if (page->info.file_bytes)
		mon_out_format(out, " &middot; %s", bytes_text((double)page->info.file_bytes, size));
	mon_out_text(out, page->info.is_complete ? " &middot; complete</p>\n" : "</p>\n<p class=\"warning\">Incomplete: ");
	if (!page->info.is_complete) {
		rec_html_text(out, page->info.damage[0] ? page->info.damage : "the recording was cut off");
		mon_out_text(out, ". What follows is of what is whole.</p>\n");
	}
	mon_out_text(out, "</header>\n<main>\n");
}

static void put_contents(const struct page *page, const struct rec_html_process *processes)
{
	struct mon_out *out = page->out;
	if (page->summaries.n_items < 2)
		return;
	mon_out_text(out, "<div class=\"scroll\"><table class=\"sortable contents\">\n<thead><tr><th>process</th><th class=\"n\">pid</th><th>state</th>"
			  "<th class=\"n\">rows</th><th class=\"n\">growing</th></tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < page->summaries.n_items; i++) {
		const struct rec_summary *summary = &page->summaries.items[i];
		size_t n_growing = 0;
		for (size_t k = 0; k < processes[i].n_verdicts; k++)
			n_growing += processes[i].verdicts[k].is_headline && !processes[i].verdicts[k].is_covered &&
				     analysis_shape_grows(processes[i].verdicts[k].growth.shape);
		mon_out_text(out, "<tr><td>");
		if (i < REC_HTML_PROCESSES_MAX)
			mon_out_format(out, "<a href=\"#p%u\">", processes[i].number);
		put_name(out, summary);
		mon_out_format(out, "%s</td><td class=\"n\">%" PRIu64 "</td><td>%s</td><td class=\"n\">%" PRIu64 "</td><td class=\"n%s\">%zu</td></tr>\n",
			       i < REC_HTML_PROCESSES_MAX ? "</a>" : "", summary->instance->identity.pid,
			       tele_state_name(summary->instance->state), summary->n_rows, n_growing ? " grows" : "", n_growing);
	}
	mon_out_text(out, "</tbody></table></div>\n");
	if (page->summaries.n_items > REC_HTML_PROCESSES_MAX)
		mon_out_format(out, "<p class=\"quiet\">The first %d are told in full.</p>\n", REC_HTML_PROCESSES_MAX);
}

// Points for each line, so that all lines together stay in their bounds.
static uint32_t points_of(const struct page *page)
{
	size_t n_charts = 0;
	for (size_t i = 0; i < page->summaries.n_items && i < REC_HTML_PROCESSES_MAX; i++)
		n_charts += 3 * tele_min_u64(page->summaries.items[i].n_classes, REC_HTML_CHARTS_MAX) + 1;
	size_t n = n_charts ? POINTS_IN_ALL / n_charts : POINTS_MAX;
	return n < POINTS_MIN ? POINTS_MIN : n > POINTS_MAX ? POINTS_MAX : (uint32_t)n;
}

static int put_page(const struct page *page)
{
	size_t n = page->summaries.n_items;
	struct rec_html_process *processes = calloc(n + 1, sizeof(*processes));
	int result = processes ? 0 : -ENOMEM;
	for (size_t i = 0; i < n && result >= 0; i++) {
		processes[i].summary = &page->summaries.items[i];
		processes[i].series = &page->series[i];
		processes[i].number = (unsigned)i + 1;
		processes[i].n_points = points_of(page);
		result = analysis_watch_list(processes[i].summary->watch, &processes[i].verdicts);
		processes[i].n_verdicts = result > 0 ? (size_t)result : 0;
	}
	if (result >= 0) {
		put_head(page);
		put_contents(page, processes);
		for (size_t i = 0; i < n && i < REC_HTML_PROCESSES_MAX; i++)
			put_process(page->out, &processes[i]);
		if (n == 0)
			mon_out_text(page->out, "<p>The trace holds no process.</p>\n");
		mon_out_format(page->out, "</main>\n<footer>Rollcall %s, from a trace of format %u.%u. Lines join the last value of each stretch of rows, bands reach "
					  "from its lowest to its highest.</footer>\n<script>\n%s</script>\n</body>\n</html>\n",
			       ROLLCALL_VERSION, page->info.major, page->info.minor, rec_html_script);
	}
	for (size_t i = 0; processes && i < n; i++)
		free(processes[i].verdicts);
	free(processes);
	return result < 0 ? result : 0;
}

static int have_series(struct page *page)
{
	size_t n = page->summaries.capacity;
	if (n <= page->series_capacity)
		return 0;
	struct rec_series *grown = realloc(page->series, n * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	memset(grown + page->series_capacity, 0, (n - page->series_capacity) * sizeof(*grown));
	page->series = grown;
	page->series_capacity = n;
	return 0;
}

static int read_records(struct page *page, struct tele_source *source, struct tele_error *ret_error)
{
	struct tele_record record;
	struct rec_summary *summary;
	int got;
	while ((got = tele_source_next(source, &record, ret_error)) > 0) {
		int failed = rec_summaries_take(&page->summaries, &record, &summary);
		if (!failed && summary)
			failed = have_series(page);
		size_t number = summary ? (size_t)(summary - page->summaries.items) : 0;
		if (!failed && summary && number < REC_HTML_PROCESSES_MAX)
			failed = rec_series_take(&page->series[number], summary, &record);
		if (failed < 0)
			return tele_fail(ret_error, failed, "out of memory for %zu processes", page->summaries.n_items);
	}
	rec_summaries_settle(&page->summaries);
	for (size_t i = 0; i < page->summaries.n_items && i < page->series_capacity; i++)
		rec_series_settle(&page->series[i]);
	return got;
}

int rec_html(const struct rec_report_options *options, struct mon_out *out, struct tele_error *ret_error)
{
	struct page page = {.out = out, .options = options, .summaries = {.limits = options->limits}};
	struct tele_source *source;
	int result = tele_trace_open_once(options->path, &source, ret_error);
	if (result < 0)
		return result;
	result = read_records(&page, source, ret_error);
	if (result >= 0) {
		tele_trace_get_info(source, &page.info);
		result = put_page(&page);
		if (result == 0)
			result = mon_out_status(out);
		if (result < 0)
			tele_fail(ret_error, result, "out of memory");
	}
	for (size_t i = 0; i < page.series_capacity; i++)
		rec_series_fini(&page.series[i]);
	free(page.series);
	rec_summaries_fini(&page.summaries);
	tele_source_close(source);
	return result;
}
