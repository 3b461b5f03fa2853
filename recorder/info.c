// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The trace itself rather than what it says: sizes, blocks, processes, and the
// schema that each brought along. A field of a later version is shown as the
// trace describes it.

#include "report.h"

#include "report_text.h"

#include "../monitor/json.h"
#include "../monitor/monitor.h"

#include <inttypes.h>

#include "../libtelemetry/banned.h"

static uint32_t count_sections(const struct tele_schema *schema)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < schema->n_fields; i++) {
		const struct tele_field *field = &schema->fields[i], *before = i ? field - 1 : NULL;
		n += !before || before->instance != field->instance || strcmp(before->section, field->section) != 0;
	}
	return n;
}

// ---- Text --------------------------------------------------------------------------

static void print_schema(const struct rec_printer *printer, const struct tele_schema *schema)
{
	for (uint32_t i = 0; i < schema->n_fields; i++) {
		const struct tele_field *field = &schema->fields[i];
		char name[600], help[REC_TEXT_BYTES];
		tele_field_full_name(field, name, sizeof(name));
		mon_text_clean(name, printer->options->is_ascii, name, sizeof(name));
		mon_out_format(printer->out, "            %-36s %-9s %-6s %s\n", name, tele_kind_name(field->kind),
			       tele_unit_name(field->unit),
			       mon_text_clean(field->help, printer->options->is_ascii, help, sizeof(help)));
	}
}

static void print_process(const struct rec_printer *printer, const struct rec_summary *summary, bool is_first,
			  bool with_schema)
{
	static const struct tele_schema none;
	const struct tele_schema *schema = summary->instance->schema ? summary->instance->schema : &none;
	mon_out_text(printer->out, is_first ? "processes   " : "            ");
	rec_print_name(printer, summary);
	mon_out_format(printer->out,
		       "            %" PRIu32 " fields in %" PRIu32 " sections, %" PRIu64 " rows, %" PRIu64 " events, %" PRIu64
		       " lost in %" PRIu64 " gap%s, instance %016" PRIx64 "\n",
		       schema->n_fields, count_sections(schema), summary->n_rows, summary->n_events,
		       summary->instance->lost, summary->n_gaps, rec_plural(summary->n_gaps),
		       summary->instance->identity.instance_id);
	rec_print_candidates(printer, summary);
	rec_print_phases(printer, summary);
	if (with_schema)
		print_schema(printer, schema);
}

static void print_blocks(const struct rec_printer *printer, const struct tele_trace_info *info)
{
	mon_out_format(printer->out, "format      %u.%u", info->major, info->minor);
	if (info->created_realtime_ns)
		rec_print_time(printer, ", made ", info->created_realtime_ns);
	mon_out_format(printer->out, "\nblocks      %" PRIu64 ": %" PRIu64 " data (%" PRIu64 " of them provisional), %" PRIu64
		       " stream, %" PRIu64 " growth\n", info->n_blocks, info->n_data_blocks, info->n_provisional_blocks,
		       info->n_stream_blocks, info->n_growth_blocks);
	mon_out_format(printer->out, "records     %" PRIu64, info->n_records);
	if (info->file_bytes && info->n_records)
		mon_out_format(printer->out, " (%.1f bytes each)", (double)info->file_bytes / (double)info->n_records);
	mon_out_text(printer->out, "\n");
	if (info->damaged_at != UINT64_MAX)
		mon_out_format(printer->out, "damaged at  byte %" PRIu64 "\n", info->damaged_at);
}

static void print_all(const struct rec_printer *printer, const struct tele_source *source,
		      const struct rec_summaries *summaries, bool with_schema)
{
	struct tele_trace_info info;
	tele_trace_get_info(source, &info);
	rec_print_head(printer, &info, summaries);
	print_blocks(printer, &info);
	for (size_t i = 0; i < summaries->n_items; i++)
		print_process(printer, &summaries->items[i], i == 0, with_schema);
}

static void print_info(const struct rec_printer *printer, const struct tele_source *source,
		       const struct rec_summaries *summaries)
{
	print_all(printer, source, summaries, false);
}

static void print_info_and_schema(const struct rec_printer *printer, const struct tele_source *source,
				  const struct rec_summaries *summaries)
{
	print_all(printer, source, summaries, true);
}

int rec_info(const struct rec_report_options *options, bool with_schema, struct mon_out *out,
	     struct tele_error *ret_error)
{
	return rec_print_trace(options, out, with_schema ? print_info_and_schema : print_info, ret_error);
}

// ---- JSON --------------------------------------------------------------------------

static void put_u64(struct mon_out *out, const char *key, uint64_t value)
{
	mon_out_format(out, ",\"%s\":", key);
	mon_json_u64(out, value);
}

static void put_text(struct mon_out *out, const char *key, const char *text)
{
	mon_out_format(out, ",\"%s\":", key);
	mon_json_string(out, text);
}

static void write_schema(struct mon_out *out, const struct tele_schema *schema)
{
	mon_out_text(out, ",\"schema\":[");
	for (uint32_t i = 0; schema && i < schema->n_fields; i++) {
		const struct tele_field *field = &schema->fields[i];
		char name[600];
		mon_out_format(out, "%s{\"name\":", i ? "," : "");
		mon_json_string(out, tele_field_full_name(field, name, sizeof(name)));
		put_text(out, "kind", tele_kind_name(field->kind));
		put_text(out, "unit", tele_unit_name(field->unit));
		put_text(out, "label", field->label);
		put_text(out, "help", field->help);
		mon_out_format(out, ",\"is_known\":%s}", field->builtin >= 0 ? "true" : "false");
	}
	mon_out_text(out, "]");
}

static void write_phases(struct mon_out *out, const struct rec_summary *summary)
{
	mon_out_text(out, ",\"phases\":[");
	for (size_t i = 0; i < summary->n_phases; i++) {
		const struct rec_phase *phase = &summary->phases[i];
		mon_out_format(out, "%s{\"name\":", i ? "," : "");
		mon_json_string(out, phase->name);
		put_u64(out, "candidates", phase->n_candidates);
		put_u64(out, "begin_at_ns", phase->begin_at_ns);
		put_u64(out, "end_at_ns", phase->end_at_ns);
		mon_out_text(out, "}");
	}
	mon_out_text(out, "]");
}

static void write_process(struct mon_out *out, const struct rec_summary *summary)
{
	const struct tele_identity *identity = &summary->instance->identity;
	char id[20];
	mon_out_text(out, "{\"pid\":");
	mon_json_u64(out, identity->pid ? identity->pid : TELE_UNKNOWN);
	put_u64(out, "start_ticks", identity->start_ticks);
	snprintf(id, sizeof(id), "%016" PRIx64, identity->instance_id);
	put_text(out, "instance", id);
	put_text(out, "label", identity->label);
	put_text(out, "comm", identity->comm);
	put_text(out, "state", tele_state_name(summary->instance->state));
	put_u64(out, "created_realtime_ns", identity->created_realtime_ns ? identity->created_realtime_ns : TELE_UNKNOWN);
	mon_out_format(out, ",\"is_timed\":%s", identity->is_untimed ? "false" : "true");
	put_u64(out, "first_at_ns", summary->first_at_ns);
	put_u64(out, "last_at_ns", summary->first_at_ns == TELE_UNKNOWN ? TELE_UNKNOWN : summary->last_at_ns);
	put_u64(out, "rows", summary->n_rows);
	put_u64(out, "events", summary->n_events);
	put_u64(out, "gaps", summary->n_gaps);
	put_u64(out, "lost", summary->instance->lost);
	mon_out_text(out, ",\"candidates\":{\"attempted\":");
	mon_json_u64(out, summary->n_attempted);
	put_u64(out, "linked", summary->n_linked);
	for (unsigned i = 0; i < TELE_OUTCOME_COUNT; i++)
		put_u64(out, tele_outcome_name(i), summary->outcomes[i]);
	mon_out_text(out, "}");
	write_phases(out, summary);
	write_schema(out, summary->instance->schema);
	mon_out_text(out, "}");
}

static void write_info(const struct rec_printer *printer, const struct tele_source *source,
		       const struct rec_summaries *summaries)
{
	struct mon_out *out = printer->out;
	struct tele_trace_info info;
	bool is_pipe = strcmp(printer->options->path, "-") == 0;
	tele_trace_get_info(source, &info);
	mon_out_text(out, "{\"path\":");
	mon_json_string(out, is_pipe ? NULL : printer->options->path);
	mon_out_format(out, ",\"format\":\"%u.%u\"", info.major, info.minor);
	put_u64(out, "created_realtime_ns", info.created_realtime_ns ? info.created_realtime_ns : TELE_UNKNOWN);
	put_u64(out, "bytes", info.file_bytes ? info.file_bytes : TELE_UNKNOWN);
	mon_out_format(out, ",\"is_complete\":%s", info.is_complete ? "true" : "false");
	put_u64(out, "damaged_at", info.damaged_at);
	put_text(out, "damage", info.damage[0] ? info.damage : NULL);
	mon_out_text(out, ",\"blocks\":{\"data\":");
	mon_json_u64(out, info.n_data_blocks);
	put_u64(out, "provisional", info.n_provisional_blocks);
	put_u64(out, "stream", info.n_stream_blocks);
	put_u64(out, "growth", info.n_growth_blocks);
	mon_out_text(out, "}");
	put_u64(out, "records", info.n_records);
	put_u64(out, "first_at_ns", info.n_records ? info.first_at_ns : TELE_UNKNOWN);
	put_u64(out, "last_at_ns", info.n_records ? info.last_at_ns : TELE_UNKNOWN);
	mon_out_text(out, ",\"processes\":[");
	for (size_t i = 0; i < summaries->n_items; i++) {
		mon_out_text(out, i ? "," : "");
		write_process(out, &summaries->items[i]);
	}
	mon_out_text(out, "]}\n");
}

int rec_info_json(const struct rec_report_options *options, struct mon_out *out,
		  struct tele_error *ret_error)
{
	return rec_print_trace(options, out, write_info, ret_error);
}
