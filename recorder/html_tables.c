// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Bars and tables. A cell that is sorted by number carries it, so that the
// script never reads what is written for people.

#include "html.h"

#include "../monitor/monitor.h"

#include <inttypes.h>
#include <math.h>

#include "../libtelemetry/banned.h"

enum { SEGMENTS_MAX = 24, STYLES = 8 };

// One stacked bar.
struct bar {
	struct {
		char name[64]; // foreign
		uint64_t bytes; // TELE_UNKNOWN: unknown
		bool is_hollow; // not resident
	} segments[SEGMENTS_MAX];
	unsigned n_segments;
	uint64_t total_bytes;
	uint64_t capacity_bytes; // TELE_UNKNOWN: none
};

static void add_segment(struct bar *bar, const char *name, uint64_t bytes, bool is_hollow)
{
	if (bar->n_segments == SEGMENTS_MAX)
		return;
	snprintf(bar->segments[bar->n_segments].name, sizeof(bar->segments[0].name), "%s", name);
	bar->segments[bar->n_segments].is_hollow = is_hollow;
	bar->segments[bar->n_segments++].bytes = bytes;
	if (bytes != TELE_UNKNOWN)
		bar->total_bytes += bytes;
}

static uint64_t value_at(const struct rec_kept_row *row, uint32_t position)
{
	return position < row->n_fields ? row->values[position] : TELE_UNKNOWN;
}

static void read_books(struct bar *bar, const struct tele_schema *schema, const struct rec_kept_row *row)
{
	for (uint32_t i = 0; i < schema->n_fields; i++) {
		const struct tele_field *field = &schema->fields[i];
		if (field->bucket != TELE_BUCKET_NONE && field->bucket != TELE_BUCKET_TOTAL && field->kind != TELE_RETIRED)
			add_segment(bar, field->label, value_at(row, i), field->resident == TELE_RESIDENT_NO);
	}
}

// The sum of a field over all devices, or unknown.
static uint64_t sum_devices(const struct tele_schema *schema, const struct rec_kept_row *row, enum tele_field_id id)
{
	uint64_t sum = TELE_UNKNOWN;
	for (uint32_t i = 0; i < schema->n_fields && i < row->n_fields; i++) {
		if (schema->fields[i].builtin != (int)id)
			continue;
		if (row->values[i] == TELE_UNKNOWN)
			return TELE_UNKNOWN;
		sum = sum == TELE_UNKNOWN ? row->values[i] : sum + row->values[i];
	}
	return sum;
}

static void read_pools(struct bar *bar, const struct tele_schema *schema, const struct rec_kept_row *row)
{
	for (uint32_t i = 0; i < schema->n_fields; i++) {
		char name[64];
		const struct tele_field *field = &schema->fields[i];
		if (!rec_is_pool_bytes(field))
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)(strlen(field->name) - strlen("live__bytes")), field->name + strlen("live_"));
		add_segment(bar, name, value_at(row, i), false);
	}
	uint64_t used = sum_devices(schema, row, TELE_ID_device_used_bytes);
	uint64_t other = used == TELE_UNKNOWN ? TELE_UNKNOWN : used > bar->total_bytes ? used - bar->total_bytes : 0;
	add_segment(bar, "other on the device", other, false);
	bar->capacity_bytes = sum_devices(schema, row, TELE_ID_device_total_bytes);
}

static void read_resident(struct bar *bar, const struct tele_schema *schema, const struct rec_kept_row *row)
{
#define VALUE(id) tele_schema_value(schema, TELE_ID_host_##id, TELE_NO_INSTANCE, row->values, row->n_fields)
	uint64_t rss = VALUE(rss_bytes), anon = VALUE(anon_bytes), file = VALUE(file_bytes), shmem = VALUE(shmem_bytes);
	// The parts are read less often than RSS, and are told where they fit it.
	bool is_split = anon != TELE_UNKNOWN && file != TELE_UNKNOWN && shmem != TELE_UNKNOWN && rss != TELE_UNKNOWN &&
			anon <= rss && file <= rss - anon && shmem <= rss - anon - file;
	add_segment(bar, "anonymous", is_split ? rss - file - shmem : TELE_UNKNOWN, false);
	add_segment(bar, "file", is_split ? file : TELE_UNKNOWN, false);
	add_segment(bar, "shared", is_split ? shmem : TELE_UNKNOWN, false);
	add_segment(bar, "resident", is_split ? TELE_UNKNOWN : rss, false);
	bar->capacity_bytes = VALUE(cgroup_max_bytes);
#undef VALUE
}

static bool has_bytes(uint64_t bytes)
{
	return bytes != TELE_UNKNOWN && bytes > 0;
}

static const char *bytes_or_none(uint64_t bytes, char *figure)
{
	return bytes == TELE_UNKNOWN ? "n/a" : rec_html_figure(TELE_BYTES, (int64_t)bytes, false, figure);
}

static bool has_capacity(const struct bar *bar)
{
	return bar->capacity_bytes != TELE_UNKNOWN && bar->capacity_bytes > 0;
}

static void put_bar(struct mon_out *out, const struct bar *bar, const char *when, uint64_t scale_bytes)
{
	char figure[REC_FIGURE_BYTES];
	mon_out_format(out, "<div class=\"barline\"><span>%s <b>%s</b></span><div class=\"bar\">", when,
		       rec_html_figure(TELE_BYTES, (int64_t)bar->total_bytes, false, figure));
	for (unsigned i = 0; i < bar->n_segments; i++) {
		if (!has_bytes(bar->segments[i].bytes))
			continue;
		mon_out_format(out, "<i class=\"s%u%s\" style=\"width:%.3f%%\" title=\"", i % STYLES, bar->segments[i].is_hollow ? " hollow" : "",
			       100.0 * (double)bar->segments[i].bytes / (double)scale_bytes);
		rec_html_text(out, bar->segments[i].name);
		mon_out_format(out, " %s\"></i>", rec_html_figure(TELE_BYTES, (int64_t)bar->segments[i].bytes, false, figure));
	}
	if (has_capacity(bar) && bar->capacity_bytes < scale_bytes)
		mon_out_format(out, "<b class=\"limit\" style=\"left:%.3f%%\" title=\"capacity\"></b>",
			       100.0 * (double)bar->capacity_bytes / (double)scale_bytes);
	mon_out_text(out, "</div></div>\n");
}

static void put_bar_legend(struct mon_out *out, const struct bar *last, const struct bar *peak)
{
	char figure[REC_FIGURE_BYTES];
	mon_out_text(out, "<p class=\"legend\">");
	for (unsigned i = 0; i < peak->n_segments; i++) {
		uint64_t at_end = last->segments[i].bytes, at_peak = peak->segments[i].bytes;
		if (!has_bytes(at_end) && !has_bytes(at_peak))
			continue;
		mon_out_format(out, "<span><i class=\"key s%u%s\"></i>", i % STYLES, peak->segments[i].is_hollow ? " hollow" : "");
		rec_html_text(out, peak->segments[i].name);
		mon_out_format(out, " %s", bytes_or_none(at_end, figure));
		if (at_peak != at_end)
			mon_out_format(out, " <em>(peak %s)</em>", bytes_or_none(at_peak, figure));
		mon_out_text(out, "</span> ");
	}
	if (has_capacity(peak))
		mon_out_format(out, "<span>capacity %s</span>", rec_html_figure(TELE_BYTES, (int64_t)peak->capacity_bytes, false, figure));
	mon_out_text(out, "</p>\n");
}

void rec_html_bars(struct mon_out *out, const struct rec_html_process *process)
{
	static const struct {
		const char *title;
		void (*read)(struct bar *bar, const struct tele_schema *schema, const struct rec_kept_row *row);
	} kinds[REC_PEAK_COUNT] = {
		[REC_PEAK_BOOKS] = {"Books of the allocator", read_books},
		[REC_PEAK_POOLS] = {"Pools", read_pools},
		[REC_PEAK_RESIDENT] = {"Resident memory", read_resident},
	};
	const struct tele_schema *schema = process->summary->instance->schema;
	const struct rec_series *series = process->series;
	bool has_head = false;
	for (int i = 0; i < REC_PEAK_COUNT; i++) {
		struct bar last = {.capacity_bytes = TELE_UNKNOWN}, peak = last;
		if (!series->peaks[i].values || series->peak_bytes[i] == 0)
			continue;
		kinds[i].read(&last, schema, &series->last);
		kinds[i].read(&peak, schema, &series->peaks[i]);
		uint64_t scale_bytes = tele_max_u64(tele_max_u64(last.total_bytes, peak.total_bytes), 1);
		if (has_capacity(&peak) && peak.capacity_bytes / 4 <= scale_bytes)
			scale_bytes = tele_max_u64(scale_bytes, peak.capacity_bytes);
		if (!has_head)
			mon_out_text(out, "<h3>At the end, and at the peak</h3>\n<div class=\"bars\">\n");
		has_head = true;
		mon_out_format(out, "<div class=\"barbox\"><h4>%s</h4>\n", kinds[i].title);
		put_bar(out, &last, "end", scale_bytes);
		put_bar(out, &peak, "peak", scale_bytes);
		put_bar_legend(out, &last, &peak);
		mon_out_text(out, "</div>\n");
	}
	if (has_head)
		mon_out_text(out, "</div>\n");
}

// ---- Tables ----------------------------------------------------------------------------------

static void put_number(struct mon_out *out, unsigned unit, int64_t value, bool is_known, bool with_sign)
{
	char figure[REC_FIGURE_BYTES];
	if (is_known)
		mon_out_format(out, "<td class=\"n\" data-v=\"%" PRId64 "\">%s</td>", value,
			       rec_html_figure(unit, value, with_sign, figure));
	else
		mon_out_text(out, "<td class=\"n quiet\">n/a</td>");
}

static void put_class(struct mon_out *out, const struct rec_class *class, const struct analysis_verdict *verdict)
{
	mon_out_text(out, "<tr><td>");
	rec_html_text(out, class->name);
	mon_out_format(out, "</td><td><span class=\"badge %s\">%s</span></td>", rec_html_shape_style(verdict),
		       rec_html_shape_word(verdict));
	put_number(out, class->unit, class->first, true, false);
	put_number(out, class->unit, class->peak, true, false);
	put_number(out, class->unit, class->last, class->is_last_known, false);
	put_number(out, class->unit, (int64_t)((uint64_t)class->last - (uint64_t)class->first), true, true);
	mon_out_text(out, "</tr>\n");
}

void rec_html_classes(struct mon_out *out, const struct rec_html_process *process)
{
	const struct rec_summary *summary = process->summary;
	bool has_head = false;
	for (size_t i = 0; i < summary->n_classes + TELE_ARRAY_LEN(summary->residuals); i++) {
		bool is_class = i < summary->n_classes;
		const struct rec_class *class = is_class ? &summary->classes[i]
							 : &summary->residuals[i - summary->n_classes];
		if (is_class ? !rec_html_has_class(process, i) : !class->is_known)
			continue;
		if (!has_head)
			mon_out_text(out, "<h3>Figures</h3>\n<div class=\"scroll\"><table class=\"sortable\">\n<thead><tr><th>class</th><th>verdict</th>"
					  "<th class=\"n\">first</th><th class=\"n\">peak</th><th class=\"n\">last</th><th class=\"n\">change</th></tr></thead>\n<tbody>\n");
		has_head = true;
		put_class(out, class, is_class ? rec_html_verdict(process, i, ANALYSIS_AXIS_COUNT) : NULL);
	}
	if (has_head)
		mon_out_text(out, "</tbody></table></div>\n");
}

static void put_candidate(struct mon_out *out, const struct rec_html_process *process,
			  const struct rec_candidate *candidate, unsigned columns, bool is_timed)
{
	const struct rec_series *series = process->series;
	char span[REC_FIGURE_BYTES];
	bool has_begin = candidate->begin_at_ns != TELE_UNKNOWN && candidate->end_at_ns >= candidate->begin_at_ns;
	mon_out_format(out, "<tr><td class=\"n\" data-v=\"%" PRIu64 "\">%" PRIu64 "</td><td class=\"label\">", candidate->number, candidate->number);
	rec_html_text(out, candidate->label);
	mon_out_text(out, "</td><td>");
	if (candidate->phase && candidate->phase <= series->n_phases)
		rec_html_text(out, series->phases[candidate->phase - 1].name);
	mon_out_format(out, "</td><td><i class=\"key o%u\"></i>%s</td>", candidate->outcome % TELE_OUTCOME_COUNT,
		       tele_outcome_name(candidate->outcome));
	if (is_timed) {
		uint64_t at_ns = has_begin ? candidate->begin_at_ns : candidate->end_at_ns;
		uint64_t since_ns = at_ns > series->first_at_ns ? at_ns - series->first_at_ns : 0;
		mon_out_format(out, "<td class=\"n\" data-v=\"%" PRIu64 "\">%s</td>", since_ns, rec_html_seconds((double)since_ns / 1e9, span));
		put_number(out, TELE_NS, (int64_t)(candidate->end_at_ns - candidate->begin_at_ns), has_begin, false);
	}
	for (int i = 0; i < REC_DELTAS; i++)
		if (columns >> i & 1)
			put_number(out, strstr(rec_delta_names[i], "_bytes") ? TELE_BYTES : TELE_COUNT, candidate->deltas[i],
				   candidate->known >> i & 1, true);
	mon_out_text(out, "</tr>\n");
}

void rec_html_candidates(struct mon_out *out, const struct rec_html_process *process)
{
	const struct rec_series *series = process->series;
	bool is_timed = !process->summary->instance->identity.is_untimed;
	unsigned columns = 0;
	if (series->n_candidates == 0)
		return;
	for (size_t k = 0; k < series->n_candidates; k++)
		for (int i = 0; i < REC_DELTAS; i++)
			if ((series->candidates[k].known >> i & 1) && series->candidates[k].deltas[i])
				columns |= 1u << i;
	mon_out_format(out, "<h3>Candidates</h3>\n<p class=\"quiet\">What each changed between its begin and its end; where several are open at once, "
			    "each has what all did.");
	if (series->n_candidates < series->n_ended)
		mon_out_format(out, " The newest %d of %" PRIu64 ", and of the others the %d that left most.", REC_HTML_CANDIDATES_KEPT,
			       series->n_ended, REC_HTML_CANDIDATES_KEPT);
	mon_out_format(out, "</p>\n<p><input type=\"search\" class=\"filter\" placeholder=\"filter\" aria-label=\"filter candidates\"></p>\n"
			    "<div class=\"scroll tall\"><table class=\"sortable candidates\">\n<thead><tr><th class=\"n\">#</th><th>candidate</th><th>phase</th><th>outcome</th>%s",
		       is_timed ? "<th class=\"n\">begun</th><th class=\"n\">took</th>" : "");
	for (int i = 0; i < REC_DELTAS; i++)
		if (columns >> i & 1)
			mon_out_format(out, "<th class=\"n\">%s</th>", rec_delta_names[i]);
	mon_out_text(out, "</tr></thead>\n<tbody>\n");
	for (size_t k = 0; k < series->n_candidates; k++)
		put_candidate(out, process, &series->candidates[k], columns, is_timed);
	mon_out_text(out, "</tbody></table></div>\n");
}
