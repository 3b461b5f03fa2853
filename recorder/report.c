// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The text of `report` and `info`. Every name in a trace is foreign and cleaned
// before it is printed; unknown figures say n/a, classes that were never known
// are left out.

#include "report.h"

#include "summary.h"

#include "../libtelemetry/trace.h"
#include "../monitor/monitor.h"

#include <inttypes.h>

#include "../libtelemetry/banned.h"

enum { TEXT_BYTES = 400 };

struct printer {
	struct mon_out *out;
	const struct rec_report_options *options;
};

static void print_time(const struct printer *printer, const char *what, uint64_t realtime_ns)
{
	time_t seconds = (time_t)(realtime_ns / 1000000000u);
	struct tm local;
	char text[64];
	if (!localtime_r(&seconds, &local) || strftime(text, sizeof(text), "%F %T %z", &local) == 0)
		snprintf(text, sizeof(text), "n/a");
	mon_out_format(printer->out, "%s%s", what, text);
}

static double seconds_between(uint64_t from_ns, uint64_t to_ns)
{
	return from_ns < to_ns ? (double)(to_ns - from_ns) / 1e9 : 0;
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static void print_count(const struct printer *printer, const char *before, uint64_t count,
			const char *what)
{
	if (count == TELE_UNKNOWN)
		mon_out_format(printer->out, "%sn/a %s", before, what);
	else
		mon_out_format(printer->out, "%s%" PRIu64 " %s", before, count, what);
}

static void print_candidates(const struct printer *printer, const struct rec_summary *summary)
{
	if (summary->n_attempted == TELE_UNKNOWN)
		return;
	mon_out_text(printer->out, "  candidates  ");
	print_count(printer, "", summary->n_attempted, "attempted, ");
	print_count(printer, "", summary->n_linked, "linked");
	const char *separator = ": ";
	for (unsigned i = TELE_OUTCOME_OPEN + 1; i < TELE_OUTCOME_COUNT; i++)
		if (summary->outcomes[i]) {
			print_count(printer, separator, summary->outcomes[i], tele_outcome_name(i));
			separator = ", ";
		}
	if (summary->outcomes[TELE_OUTCOME_OPEN])
		print_count(printer, "; ", summary->outcomes[TELE_OUTCOME_OPEN], "still open");
	mon_out_text(printer->out, "\n");
	char text[TEXT_BYTES];
	if (summary->last_candidate_event)
		mon_out_format(printer->out, "  last        %s: %s\n",
			       summary->last_candidate_event == TELE_EVENT_CANDIDATE_BEGIN ? "begun" : "ended",
			       mon_text_clean(summary->last_candidate, printer->options->is_ascii, text,
					      sizeof(text)));
}

static void print_phases(const struct printer *printer, const struct rec_summary *summary)
{
	for (size_t i = 0; i < summary->n_phases; i++) {
		const struct rec_phase *phase = &summary->phases[i];
		char text[TEXT_BYTES];
		mon_out_format(printer->out, "  %-10s  %s: %" PRIu64 " candidate%s", i ? "" : "phases",
			       phase->name[0] ? mon_text_clean(phase->name, printer->options->is_ascii, text,
							       sizeof(text))
					      : "?",
			       phase->n_candidates, plural(phase->n_candidates));
		if (!summary->instance->identity.is_untimed)
			mon_out_format(printer->out, " in %.1f s", seconds_between(phase->begin_at_ns, phase->end_at_ns));
		mon_out_text(printer->out, "\n");
	}
}

static char *figure_text(const struct rec_class *class, int64_t value, bool with_sign, char *buffer,
			 size_t size)
{
	uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
	const char *sign = value < 0 ? "-" : with_sign ? "+" : "";
	char number[32];
	if (class->unit == TELE_BYTES)
		mon_format_bytes(magnitude, MON_UNITS_IEC, number, sizeof(number));
	else if (class->unit == TELE_NS)
		snprintf(number, sizeof(number), "%.3f s", (double)magnitude / 1e9);
	else
		snprintf(number, sizeof(number), "%" PRIu64, magnitude);
	snprintf(buffer, size, "%s%s", sign, number);
	return buffer;
}

// A label that no pool ever had says nothing, and a single device says of its
// pools what the process says.
static bool is_printed(const struct rec_class *class, unsigned n_devices)
{
	if (!class->is_known || (class->peak == 0 && class->first == 0 && class->last == 0))
		return false;
	return n_devices > 1 || strncmp(class->name, "device[", 7) != 0 ||
	       strstr(class->name, "].device_used_bytes");
}

static void print_classes(const struct printer *printer, const struct rec_summary *summary)
{
	bool has_head = false;
	unsigned n_devices = 0;
	for (size_t i = 0; i < summary->n_classes; i++)
		n_devices += strstr(summary->classes[i].name, "].device_used_bytes") != NULL;
	for (size_t i = 0; i < summary->n_classes; i++) {
		const struct rec_class *class = &summary->classes[i];
		char first[48];
		char peak[48];
		char last[48];
		char change[48];
		char name[ANALYSIS_CLASS_NAME_MAX];
		if (!is_printed(class, n_devices))
			continue;
		if (!has_head)
			mon_out_format(printer->out, "\n  %-26s %12s %12s %12s %12s\n", "class", "first", "peak",
				       "last", "change");
		has_head = true;
		mon_out_format(printer->out, "  %-26s %12s %12s %12s %12s\n",
			       mon_text_clean(class->name, printer->options->is_ascii, name, sizeof(name)),
			       figure_text(class, class->first, false, first, sizeof(first)),
			       figure_text(class, class->peak, false, peak, sizeof(peak)),
			       class->is_last_known ? figure_text(class, class->last, false, last, sizeof(last))
						    : "n/a",
			       figure_text(class, (int64_t)((uint64_t)class->last - (uint64_t)class->first), true, change, sizeof(change)));
	}
	if (!has_head)
		mon_out_text(printer->out, "\n  no figure of it is known\n");
}

static void print_name(const struct printer *printer, const struct rec_summary *summary)
{
	const struct tele_identity *identity = &summary->instance->identity;
	char label[TEXT_BYTES];
	mon_text_clean(identity->label[0] ? identity->label : identity->comm, printer->options->is_ascii, label,
		       sizeof(label));
	if (identity->pid)
		mon_out_format(printer->out, "%" PRIu64 "  ", identity->pid);
	mon_out_format(printer->out, "%s  (%s)\n", label,
		       identity->pid ? tele_state_name(summary->instance->state) : "imported");
}

static const char *mark(const struct printer *printer, const struct analysis_verdict *verdict)
{
	if (analysis_shape_grows(verdict->growth.shape))
		return printer->options->is_ascii ? "^" : "▲";
	if (verdict->growth.shape == ANALYSIS_NOT_ENOUGH_DATA)
		return printer->options->is_ascii ? "-" : "·";
	return printer->options->is_ascii ? "*" : "●";
}

// Ranked: what grows first. Bytes whose count says it all, and labels that
// nothing ever had, are left out.
static void print_verdicts(const struct printer *printer, const struct rec_summary *summary)
{
	struct analysis_verdict *list;
	int n = analysis_watch_list(summary->watch, &list);
	for (int i = 0; i < n; i++) {
		const struct analysis_verdicts *engine = analysis_watch_engine(summary->watch);
		const struct rec_class *class = &summary->classes[list[i].class_index];
		char sentence[ANALYSIS_SENTENCE_MAX], text[ANALYSIS_SENTENCE_MAX];
		if (!list[i].is_headline || list[i].is_covered ||
		    (class->first == 0 && class->peak == 0 && class->last == 0))
			continue;
		analysis_sentence(engine, &list[i], sentence, sizeof(sentence));
		mon_out_format(printer->out, "  %s %s\n", mark(printer, &list[i]),
			       mon_text_clean(sentence, printer->options->is_ascii, text, sizeof(text)));
	}
	free(list);
}

static void print_summary(const struct printer *printer, const struct rec_summary *summary)
{
	mon_out_text(printer->out, "\n");
	print_name(printer, summary);
	print_verdicts(printer, summary);
	if (summary->instance->identity.created_realtime_ns) {
		print_time(printer, "  started     ", summary->instance->identity.created_realtime_ns);
		mon_out_text(printer->out, "\n");
	}
	mon_out_text(printer->out, "  seen        ");
	if (summary->instance->identity.is_untimed)
		mon_out_text(printer->out, "without times: ");
	else
		mon_out_format(printer->out, "%.1f s: ", seconds_between(summary->first_at_ns, summary->last_at_ns));
	mon_out_format(printer->out, "%" PRIu64 " row%s, %" PRIu64 " event%s, %" PRIu64 " lost\n", summary->n_rows,
		       plural(summary->n_rows), summary->n_events, plural(summary->n_events),
		       summary->instance->lost);
	print_candidates(printer, summary);
	print_phases(printer, summary);
	print_classes(printer, summary);
}

static bool has_times(const struct rec_summaries *summaries)
{
	for (size_t i = 0; i < summaries->n_items; i++)
		if (!summaries->items[i].instance->identity.is_untimed)
			return true;
	return summaries->n_items == 0;
}

static void print_head(const struct printer *printer, const struct tele_trace_info *info,
		       const struct rec_summaries *summaries)
{
	size_t n_processes = summaries->n_items;
	char name[TEXT_BYTES];
	char size[32];
	const char *path = printer->options->path;
	bool is_pipe = strcmp(path, "-") == 0;
	mon_out_format(printer->out, "%s: %zu process%s",
		       is_pipe ? "standard input"
			       : mon_text_clean(path, printer->options->is_ascii, name, sizeof(name)),
		       n_processes, n_processes == 1 ? "" : "es");
	if (has_times(summaries))
		mon_out_format(printer->out, ", %.1f s", seconds_between(info->first_at_ns, info->last_at_ns));
	if (info->file_bytes)
		mon_out_format(printer->out, ", %s", mon_format_bytes(info->file_bytes, MON_UNITS_IEC, size, sizeof(size)));
	if (info->is_complete)
		mon_out_text(printer->out, ", complete\n");
	else
		mon_out_format(printer->out, ", incomplete%s%s\n", info->damage[0] ? ": " : "",
			       mon_text_clean(info->damage, printer->options->is_ascii, name, sizeof(name)));
}

typedef void (*print_fn)(const struct printer *printer, const struct tele_source *source,
			 const struct rec_summaries *summaries);

static int print_trace(const struct rec_report_options *options, struct mon_out *out, print_fn print,
		       struct tele_error *ret_error)
{
	struct tele_source *source;
	struct rec_summaries summaries = {.limits = options->limits};
	const struct printer printer = {out, options};
	int result = tele_trace_open(options->path, &source, ret_error);
	if (result < 0)
		return result;
	result = rec_summarise(source, &summaries, ret_error);
	if (result >= 0)
		print(&printer, source, &summaries);
	rec_summaries_fini(&summaries);
	tele_source_close(source);
	return result < 0 ? result : mon_out_status(out);
}

static void print_report(const struct printer *printer, const struct tele_source *source,
			 const struct rec_summaries *summaries)
{
	struct tele_trace_info info;
	tele_trace_get_info(source, &info);
	print_head(printer, &info, summaries);
	for (size_t i = 0; i < summaries->n_items; i++)
		print_summary(printer, &summaries->items[i]);
}

int rec_report(const struct rec_report_options *options, struct mon_out *out,
	       struct tele_error *ret_error)
{
	return print_trace(options, out, print_report, ret_error);
}

static void print_info(const struct printer *printer, const struct tele_source *source,
		       const struct rec_summaries *summaries)
{
	struct tele_trace_info info;
	tele_trace_get_info(source, &info);
	print_head(printer, &info, summaries);
	mon_out_format(printer->out, "blocks      %" PRIu64 "\nrecords     %" PRIu64 "\n", info.n_blocks,
		       info.n_records);
	if (info.damaged_at != UINT64_MAX)
		mon_out_format(printer->out, "damaged at  byte %" PRIu64 "\n", info.damaged_at);
	for (size_t i = 0; i < summaries->n_items; i++) {
		const struct rec_summary *summary = &summaries->items[i];
		mon_out_format(printer->out, "%s", i ? "            " : "processes   ");
		print_name(printer, summary);
		mon_out_format(printer->out, "            %" PRIu32 " fields, %" PRIu64 " rows, %" PRIu64 " events, %" PRIu64
			       " lost, instance %016" PRIx64 "\n",
			       summary->instance->schema ? summary->instance->schema->n_fields : 0,
			       summary->n_rows, summary->n_events, summary->instance->lost,
			       summary->instance->identity.instance_id);
	}
}

int rec_info(const struct rec_report_options *options, struct mon_out *out,
	     struct tele_error *ret_error)
{
	return print_trace(options, out, print_info, ret_error);
}
