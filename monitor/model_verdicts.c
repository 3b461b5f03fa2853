// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Verdicts of a process in the words of the screens. The watch judges; this
// only chooses which classes are worth a line and cuts sentences to size.

#include "model.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"

#include "../libtelemetry/banned.h"

#define TEXT_BYTES 96
#define JUDGE_EVERY_NS UINT64_C(1000000000)

// "working_pools" is "working pools", "rss_bytes" is "RSS", "device_used_bytes"
// is "device". The program's own names stay as they are.
const char *mon_class_text(const char *name, char *buffer, size_t size)
{
	size_t len = strlen(name);
	if (strncmp(name, "app.", 4) != 0 && len > 6 && strcmp(name + len - 6, "_bytes") == 0 &&
	    !strstr(name, "working_") && !strstr(name, "constant_") && !strstr(name, "staging_") &&
	    !strstr(name, "unlabelled_"))
		len -= 6;
	snprintf(buffer, size, "%.*s", (int)len, name);
	if (strcmp(buffer, "rss") == 0)
		snprintf(buffer, size, "RSS");
	if (strcmp(buffer, "device_used") == 0)
		snprintf(buffer, size, "device");
	for (char *at = buffer; *at && strncmp(name, "app.", 4) != 0; at++)
		if (*at == '_')
			*at = ' ';
	return buffer;
}

static const char *amount_text(const struct analysis_class *class, double value, char *buffer, size_t size)
{
	char number[MON_NUMBER_BYTES];
	double magnitude = fabs(value);
	const char *sign = value < 0 ? "-" : "";
	if (class->unit == TELE_BYTES) {
		mon_format_size(magnitude, MON_UNITS_IEC, number, sizeof(number));
		char *zero = strstr(number, ".0");
		if (zero && (zero[2] < '0' || zero[2] > '9'))
			memmove(zero, zero + 2, strlen(zero + 2) + 1);
		snprintf(buffer, size, "%s%s", sign, number);
	} else
		snprintf(buffer, size, "%s%.*f", sign, magnitude == floor(magnitude) ? 0 : 2, magnitude);
	return buffer;
}

static const char *extent_text(const struct analysis_verdict *verdict, char *buffer, size_t size)
{
	unsigned long long points = (unsigned long long)verdict->growth.points;
	if (verdict->axis == ANALYSIS_TIME && verdict->growth.window >= 1)
		return mon_format_seconds(verdict->growth.window, buffer, size);
	snprintf(buffer, size, "%llu %s%s", points, verdict->axis == ANALYSIS_TIME ? "reading" : "candidate",
		 points == 1 ? "" : "s");
	return buffer;
}

// ---- Lines of the process screen ------------------------------------------------

// "modules bounded 2..5"
static void quiet_text(const struct analysis_class *class, const struct analysis_verdict *verdict,
		       char *buffer, size_t size)
{
	char name[ANALYSIS_CLASS_NAME_MAX], low[TEXT_BYTES], high[TEXT_BYTES];
	const struct analysis_growth *growth = &verdict->growth;
	mon_class_text(class->name, name, sizeof(name));
	amount_text(class, growth->low, low, sizeof(low));
	amount_text(class, growth->high, high, sizeof(high));
	if (growth->shape == ANALYSIS_DRAINING)
		snprintf(buffer, size, "%s draining", name);
	else if (growth->shape == ANALYSIS_ONE_TIME)
		snprintf(buffer, size, "%s one step, then flat", name);
	else if (growth->shape == ANALYSIS_FLAT || strcmp(low, high) == 0)
		snprintf(buffer, size, "%s flat", name);
	else
		snprintf(buffer, size, "%s bounded %s..%s", name, low, high);
}

static void growing_text(const struct analysis_verdicts *engine, const struct analysis_verdict *verdict,
			 char *buffer, size_t size)
{
	size_t len = analysis_sentence(engine, verdict, buffer, size);
	char duration[MON_NUMBER_BYTES], after[TEXT_BYTES];
	// Candidates are what a search counts in; seconds are what a person has.
	if (verdict->axis == ANALYSIS_TIME || isnan(verdict->forecast_seconds) || verdict->over_by_bytes ||
	    len + sizeof(after) > size)
		return;
	char *end = strstr(buffer, "candidate; ");
	if (!end)
		end = strstr(buffer, "candidates; ");
	size_t at = end ? (size_t)(strchr(end, ';') - buffer) : len;
	snprintf(after, sizeof(after), ", %s",
		 mon_format_seconds(verdict->forecast_seconds, duration, sizeof(duration)));
	size_t n = strlen(after);
	memmove(buffer + at + n, buffer + at, len - at + 1);
	memcpy(buffer + at, after, n);
}

// A label that nothing ever had, or bytes that are as quiet as their count.
static bool is_dull(const struct mon_process *process, const struct analysis_verdicts *engine,
		    const struct analysis_verdict *verdict)
{
	const struct analysis_growth *growth = &verdict->growth;
	if (analysis_shape_grows(growth->shape))
		return verdict->is_covered;
	if (growth->first == 0 && growth->low == 0 && growth->high == 0 && growth->last == 0 &&
	    growth->shape != ANALYSIS_NOT_ENOUGH_DATA)
		return true;
	for (uint32_t i = 0; i < process->n_judged; i++) {
		const struct analysis_verdict *count = &process->judged[i];
		if (count->is_headline && !analysis_shape_grows(count->growth.shape) &&
		    analysis_verdicts_class(engine, count->class_index)->bytes_class == (int)verdict->class_index)
			return true;
	}
	return false;
}

static enum mon_mark mark_of(const struct analysis_verdict *verdict)
{
	if (analysis_shape_grows(verdict->growth.shape))
		return MON_MARK_GROWING;
	return verdict->growth.shape == ANALYSIS_NOT_ENOUGH_DATA ? MON_MARK_UNKNOWN : MON_MARK_QUIET;
}

static bool is_zero_so_far(const struct analysis_verdicts *engine, const struct analysis_verdict *verdict)
{
	const struct analysis_history *history =
		analysis_verdicts_history(engine, verdict->class_index, verdict->axis);
	return history->low_y == 0 && history->high_y == 0 && history->first_y == 0 &&
	       (!history->has_pending || history->pending_y == 0);
}

// All that cannot be told yet, in one line.
static void add_unknown(struct mon_process *process, const struct analysis_verdicts *engine)
{
	struct mon_verdict *line = &process->verdicts[process->n_verdicts];
	size_t len = 0, size = sizeof(line->text);
	for (uint32_t i = 0; i < process->n_judged; i++) {
		const struct analysis_verdict *verdict = &process->judged[i];
		char name[ANALYSIS_CLASS_NAME_MAX], extent[TEXT_BYTES];
		if (!verdict->is_headline || mark_of(verdict) != MON_MARK_UNKNOWN ||
		    is_dull(process, engine, verdict) || is_zero_so_far(engine, verdict) || len >= size)
			continue;
		if (len == 0)
			len = (size_t)snprintf(line->text, size, "not enough data (%s): ",
					       extent_text(verdict, extent, sizeof(extent)));
		else
			len += (size_t)snprintf(line->text + len, size - len, ", ");
		if (len < size)
			len += (size_t)snprintf(
				line->text + len, size - len, "%s",
				mon_class_text(analysis_verdicts_class(engine, verdict->class_index)->name, name,
					   sizeof(name)));
	}
	if (len == 0)
		return;
	line->mark = MON_MARK_UNKNOWN;
	process->n_verdicts++;
}

static void add_lines(struct mon_process *process, const struct analysis_verdicts *engine)
{
	for (uint32_t i = 0; i < process->n_judged; i++) {
		const struct analysis_verdict *verdict = &process->judged[i];
		struct mon_verdict *line = &process->verdicts[process->n_verdicts];
		if (!verdict->is_headline || mark_of(verdict) == MON_MARK_UNKNOWN ||
		    is_dull(process, engine, verdict))
			continue;
		line->mark = mark_of(verdict);
		line->shape = verdict->growth.shape;
		line->is_effect = analysis_verdicts_class(engine, verdict->class_index)->is_effect;
		if (line->mark == MON_MARK_GROWING)
			growing_text(engine, verdict, line->text, sizeof(line->text));
		else
			quiet_text(analysis_verdicts_class(engine, verdict->class_index), verdict, line->text,
				   sizeof(line->text));
		process->n_verdicts++;
	}
	add_unknown(process, engine);
}

// ---- The phrase of the overview -------------------------------------------------

static void forecast_phrase(const struct analysis_verdict *verdict, char *buffer, size_t size)
{
	char text[MON_NUMBER_BYTES];
	buffer[0] = '\0';
	if (verdict->over_by_bytes)
		snprintf(buffer, size, ", over by %s",
			 mon_format_bytes(verdict->over_by_bytes, MON_UNITS_IEC, text, sizeof(text)));
	else if (isnan(verdict->forecast))
		return;
	else if (verdict->axis == ANALYSIS_TIME)
		snprintf(buffer, size, ", full in %s%s", verdict->forecast_is_bound ? ">" : "~",
			 mon_format_seconds(verdict->forecast, text, sizeof(text)));
	else
		snprintf(buffer, size, ", full in %s%.0f", verdict->forecast_is_bound ? ">" : "~",
			 verdict->forecast);
}

// "working pools +102M/cand", and ", full in ~6"
static void growing_phrase(struct mon_process *process, const struct analysis_class *class,
			   const struct analysis_verdict *verdict)
{
	static const struct analysis_class bytes = {.unit = TELE_BYTES};
	char name[ANALYSIS_CLASS_NAME_MAX], slope[TEXT_BYTES];
	bool has_bytes = !isnan(verdict->each_bytes);
	const char *axis = verdict->axis == ANALYSIS_TIME ? "s" : "cand";
	forecast_phrase(verdict, process->phrase_more, sizeof(process->phrase_more));
	snprintf(process->phrase, sizeof(process->phrase), "%s +%s/%s",
		 mon_class_text(class->name, name, sizeof(name)),
		 amount_text(has_bytes ? &bytes : class,
			     verdict->growth.slope * (has_bytes ? verdict->each_bytes : 1), slope, sizeof(slope)),
		 axis);
	process->mark = MON_MARK_GROWING;
	process->growth = verdict->growth.slope * verdict->growth.window * (has_bytes ? verdict->each_bytes : 1);
}

static void set_phrase(struct mon_process *process, const struct analysis_verdicts *engine)
{
	const struct analysis_verdict *unknown = NULL;
	bool is_bounded = false, is_judged = false;
	for (uint32_t i = 0; i < process->n_judged; i++) {
		const struct analysis_verdict *verdict = &process->judged[i];
		if (!verdict->is_headline)
			continue;
		if (mark_of(verdict) == MON_MARK_GROWING) {
			growing_phrase(process, analysis_verdicts_class(engine, verdict->class_index), verdict);
			return;
		}
		if (mark_of(verdict) == MON_MARK_UNKNOWN)
			unknown = unknown ? unknown : verdict;
		else
			is_judged = true;
		is_bounded |= verdict->growth.shape == ANALYSIS_BOUNDED;
	}
	process->mark = is_judged ? MON_MARK_QUIET : MON_MARK_UNKNOWN;
	if (is_judged) {
		snprintf(process->phrase, sizeof(process->phrase), "%s", is_bounded ? "bounded" : "flat");
	} else if (unknown) {
		char extent[TEXT_BYTES];
		snprintf(process->phrase, sizeof(process->phrase), "not enough data");
		snprintf(process->phrase_more, sizeof(process->phrase_more), " (%.40s)",
			 extent_text(unknown, extent, sizeof(extent)));
	}
}

void mon_process_forget_verdicts(struct mon_process *process)
{
	free(process->judged);
	free(process->verdicts);
	process->judged = NULL;
	process->verdicts = NULL;
	process->n_judged = process->n_verdicts = 0;
	process->phrase[0] = process->phrase_more[0] = '\0';
	process->mark = MON_MARK_NONE;
	process->growth = 0;
}

// The lines of its screen.
static void write_lines(struct mon_process *process, const struct analysis_verdicts *engine)
{
	// One line a class at most, and one for what is unknown.
	process->verdicts = calloc(analysis_verdicts_classes(engine) + 1, sizeof(*process->verdicts));
	if (!process->verdicts)
		return;
	add_lines(process, engine);
	void *fit = realloc(process->verdicts, (process->n_verdicts + 1u) * sizeof(*process->verdicts));
	process->verdicts = fit ? fit : process->verdicts;
}

void mon_process_judge(struct mon_process *process)
{
	const struct mon_row *row = mon_process_latest(process);
	bool is_wanted_whole = process->history_max >= MON_HISTORY_FULL;
	if (!process->watch || !row)
		return;
	// What is only listed needs no new words for every row.
	if (!is_wanted_whole && process->judged && row->at_ns >= process->judged_at_ns &&
	    row->at_ns - process->judged_at_ns < JUDGE_EVERY_NS)
		return;
	const struct analysis_verdicts *engine = analysis_watch_engine(process->watch);
	mon_process_forget_verdicts(process);
	int n = analysis_watch_list(process->watch, &process->judged);
	if (n <= 0)
		return;
	process->n_judged = (uint32_t)n;
	process->judged_at_ns = row->at_ns;
	if (is_wanted_whole)
		write_lines(process, engine);
	set_phrase(process, engine);
}
