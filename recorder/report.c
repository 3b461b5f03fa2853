// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The text of `report`: verdicts, candidates, phases and figures by class.
// Classes that were never known are left out.

#include "report.h"

#include "report_text.h"

#include "../libtelemetry/trace.h"
#include "../monitor/monitor.h"

#include <inttypes.h>

#include "../libtelemetry/banned.h"

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

static void print_class(const struct rec_printer *printer, const struct rec_class *class)
{
	char first[48];
	char peak[48];
	char last[48];
	char change[48];
	char name[ANALYSIS_CLASS_NAME_MAX];
	mon_out_format(printer->out, "  %-26s %12s %12s %12s %12s\n",
		       mon_text_clean(class->name, printer->options->is_ascii, name, sizeof(name)),
		       figure_text(class, class->first, false, first, sizeof(first)),
		       figure_text(class, class->peak, false, peak, sizeof(peak)),
		       class->is_last_known ? figure_text(class, class->last, false, last, sizeof(last)) : "n/a",
		       figure_text(class, (int64_t)((uint64_t)class->last - (uint64_t)class->first), true, change, sizeof(change)));
}

static void print_classes(const struct rec_printer *printer, const struct rec_summary *summary)
{
	bool has_head = false;
	unsigned n_devices = 0;
	size_t n_residuals = TELE_ARRAY_LEN(summary->residuals);
	for (size_t i = 0; i < summary->n_classes; i++)
		n_devices += strstr(summary->classes[i].name, "].device_used_bytes") != NULL;
	for (size_t i = 0; i < summary->n_classes + n_residuals; i++) {
		const struct rec_class *class = i < summary->n_classes ? &summary->classes[i]
								       : &summary->residuals[i - summary->n_classes];
		if (!is_printed(class, n_devices))
			continue;
		if (!has_head)
			mon_out_format(printer->out, "\n  %-26s %12s %12s %12s %12s\n", "class", "first", "peak",
				       "last", "change");
		has_head = true;
		print_class(printer, class);
	}
	if (!has_head)
		mon_out_text(printer->out, "\n  no figure of it is known\n");
}

static const char *mark(const struct rec_printer *printer, const struct analysis_verdict *verdict)
{
	if (analysis_shape_grows(verdict->growth.shape))
		return printer->options->is_ascii ? "^" : "▲";
	if (verdict->growth.shape == ANALYSIS_NOT_ENOUGH_DATA)
		return printer->options->is_ascii ? "-" : "·";
	return printer->options->is_ascii ? "*" : "●";
}

// Ranked: what grows first. Bytes whose count says it all, and labels that
// nothing ever had, are left out.
static void print_verdicts(const struct rec_printer *printer, const struct rec_summary *summary)
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

static void print_summary(const struct rec_printer *printer, const struct rec_summary *summary)
{
	mon_out_text(printer->out, "\n");
	rec_print_name(printer, summary);
	print_verdicts(printer, summary);
	if (summary->instance->identity.created_realtime_ns) {
		rec_print_time(printer, "  started     ", summary->instance->identity.created_realtime_ns);
		mon_out_text(printer->out, "\n");
	}
	mon_out_text(printer->out, "  seen        ");
	if (summary->instance->identity.is_untimed)
		mon_out_text(printer->out, "without times: ");
	else
		mon_out_format(printer->out, "%.1f s: ", rec_seconds_between(summary->first_at_ns, summary->last_at_ns));
	mon_out_format(printer->out, "%" PRIu64 " row%s, %" PRIu64 " event%s, %" PRIu64 " lost\n", summary->n_rows,
		       rec_plural(summary->n_rows), summary->n_events, rec_plural(summary->n_events),
		       summary->instance->lost);
	rec_print_candidates(printer, summary);
	rec_print_phases(printer, summary);
	print_classes(printer, summary);
}

static void print_report(const struct rec_printer *printer, const struct tele_source *source,
			 const struct rec_summaries *summaries)
{
	struct tele_trace_info info;
	tele_trace_get_info(source, &info);
	rec_print_head(printer, &info, summaries);
	for (size_t i = 0; i < summaries->n_items; i++)
		print_summary(printer, &summaries->items[i]);
}

int rec_report(const struct rec_report_options *options, struct mon_out *out,
	       struct tele_error *ret_error)
{
	return rec_print_trace(options, out, print_report, ret_error);
}
