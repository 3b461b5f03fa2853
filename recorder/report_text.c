// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Lines that `report` and `info` have in common. Every name in a trace is
// foreign and cleaned before it is printed; unknown figures say n/a.

#include "report_text.h"

#include "../libtelemetry/trace.h"
#include "../monitor/monitor.h"

#include <inttypes.h>

#include "../libtelemetry/banned.h"

void rec_print_time(const struct rec_printer *printer, const char *what, uint64_t realtime_ns)
{
	time_t seconds = (time_t)(realtime_ns / 1000000000u);
	struct tm local;
	char text[64];
	if (!localtime_r(&seconds, &local) || strftime(text, sizeof(text), "%F %T %z", &local) == 0)
		snprintf(text, sizeof(text), "n/a");
	mon_out_format(printer->out, "%s%s", what, text);
}

double rec_seconds_between(uint64_t from_ns, uint64_t to_ns)
{
	return from_ns < to_ns ? (double)(to_ns - from_ns) / 1e9 : 0;
}

const char *rec_plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static void print_count(const struct rec_printer *printer, const char *before, uint64_t count,
			const char *what)
{
	if (count == TELE_UNKNOWN)
		mon_out_format(printer->out, "%sn/a %s", before, what);
	else
		mon_out_format(printer->out, "%s%" PRIu64 " %s", before, count, what);
}

void rec_print_candidates(const struct rec_printer *printer, const struct rec_summary *summary)
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
	char text[REC_TEXT_BYTES];
	if (summary->last_candidate_event)
		mon_out_format(printer->out, "  last        %s: %s\n",
			       summary->last_candidate_event == TELE_EVENT_CANDIDATE_BEGIN ? "begun" : "ended",
			       mon_text_clean(summary->last_candidate, printer->options->is_ascii, text,
					      sizeof(text)));
}

void rec_print_phases(const struct rec_printer *printer, const struct rec_summary *summary)
{
	for (size_t i = 0; i < summary->n_phases; i++) {
		const struct rec_phase *phase = &summary->phases[i];
		char text[REC_TEXT_BYTES];
		mon_out_format(printer->out, "  %-10s  %s: %" PRIu64 " candidate%s", i ? "" : "phases",
			       phase->name[0] ? mon_text_clean(phase->name, printer->options->is_ascii, text,
							       sizeof(text))
					      : "?",
			       phase->n_candidates, rec_plural(phase->n_candidates));
		if (!summary->instance->identity.is_untimed)
			mon_out_format(printer->out, " in %.1f s", rec_seconds_between(phase->begin_at_ns, phase->end_at_ns));
		mon_out_text(printer->out, "\n");
	}
}

void rec_print_name(const struct rec_printer *printer, const struct rec_summary *summary)
{
	const struct tele_identity *identity = &summary->instance->identity;
	char label[REC_TEXT_BYTES];
	mon_text_clean(identity->label[0] ? identity->label : identity->comm, printer->options->is_ascii, label,
		       sizeof(label));
	if (identity->pid)
		mon_out_format(printer->out, "%" PRIu64 "  ", identity->pid);
	mon_out_format(printer->out, "%s  (%s)\n", label,
		       identity->pid ? tele_state_name(summary->instance->state) : "imported");
}

static bool has_times(const struct rec_summaries *summaries)
{
	for (size_t i = 0; i < summaries->n_items; i++)
		if (!summaries->items[i].instance->identity.is_untimed)
			return true;
	return summaries->n_items == 0;
}

void rec_print_head(const struct rec_printer *printer, const struct tele_trace_info *info,
		       const struct rec_summaries *summaries)
{
	size_t n_processes = summaries->n_items;
	char name[REC_TEXT_BYTES];
	char size[32];
	const char *path = printer->options->path;
	bool is_pipe = strcmp(path, "-") == 0;
	mon_out_format(printer->out, "%s: %zu process%s",
		       is_pipe ? "standard input"
			       : mon_text_clean(path, printer->options->is_ascii, name, sizeof(name)),
		       n_processes, n_processes == 1 ? "" : "es");
	if (has_times(summaries))
		mon_out_format(printer->out, ", %.1f s", rec_seconds_between(info->first_at_ns, info->last_at_ns));
	if (info->file_bytes)
		mon_out_format(printer->out, ", %s", mon_format_bytes(info->file_bytes, MON_UNITS_IEC, size, sizeof(size)));
	if (info->is_complete)
		mon_out_text(printer->out, ", complete\n");
	else
		mon_out_format(printer->out, ", incomplete%s%s\n", info->damage[0] ? ": " : "",
			       mon_text_clean(info->damage, printer->options->is_ascii, name, sizeof(name)));
}

int rec_print_trace(const struct rec_report_options *options, struct mon_out *out, rec_print_fn print,
		       struct tele_error *ret_error)
{
	struct tele_source *source;
	struct rec_summaries summaries = {.limits = options->limits};
	const struct rec_printer printer = {out, options};
	int result = tele_trace_open_once(options->path, &source, ret_error);
	if (result < 0)
		return result;
	result = rec_summarise(source, &summaries, ret_error);
	if (result >= 0)
		print(&printer, source, &summaries);
	rec_summaries_fini(&summaries);
	tele_source_close(source);
	return result < 0 ? result : mon_out_status(out);
}
