// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// JSON lines: an object for each row, with the events since the row before it.
// Integers are exact, unknown is null. Events behind a process's last row come
// in an object without fields.

#include "export_format.h"

#include "../monitor/json.h"

#include <errno.h>

#include "../libtelemetry/banned.h"

// Events are gathered up to here; then they get an object of their own.
#define EVENTS_BYTES_MAX (256u << 10)

struct jsonl_process {
	struct mon_out head; // `"pid":...,"label":"..."`
	struct mon_out names; // `"heap.live_bytes":`, one behind the other
	uint32_t *name_ends;  // of the chosen fields, by position
	uint32_t n_fields;
	struct mon_out events;
	uint64_t lost;
	uint64_t events_at_ns;
};

static void drop(struct rec_exported *process)
{
	struct jsonl_process *own = process->own;
	if (!own)
		return;
	mon_out_fini(&own->head);
	mon_out_fini(&own->names);
	mon_out_fini(&own->events);
	free(own->name_ends);
	free(own);
}

static int begin(struct rec_exporter *exporter, struct tele_error *ret_error)
{
	(void)exporter;
	(void)ret_error;
	return 0;
}

static void fini(struct rec_exporter *exporter)
{
	(void)exporter;
}

static int take_process(struct rec_exporter *exporter, struct rec_exported *process, struct tele_error *ret_error)
{
	(void)exporter;
	if (!process->own)
		process->own = calloc(1, sizeof(struct jsonl_process));
	struct jsonl_process *own = process->own;
	const struct tele_schema *schema = process->instance->schema;
	const struct tele_identity *identity = &process->instance->identity;
	uint32_t *ends = own ? realloc(own->name_ends, (schema->n_fields + 1) * sizeof(*ends)) : NULL;
	if (!ends)
		return tele_fail(ret_error, -ENOMEM, "out of memory for a process");
	own->name_ends = ends;
	if (own->head.n_bytes == 0) {
		mon_out_text(&own->head, "\"pid\":");
		mon_json_u64(&own->head, identity->pid ? identity->pid : TELE_UNKNOWN);
		mon_out_format(&own->head, ",\"start_ticks\":%llu,\"start_id\":\"%016llx\",\"label\":",
			       (unsigned long long)identity->start_ticks, (unsigned long long)identity->instance_id);
		mon_json_string(&own->head, rec_export_label(process));
	}
	for (; own->n_fields < schema->n_fields; own->n_fields++) {
		char name[600];
		if (rec_export_has(process, own->n_fields)) {
			mon_json_string(&own->names, tele_field_full_name(&schema->fields[own->n_fields], name, sizeof(name)));
			mon_out_text(&own->names, ":");
		}
		ends[own->n_fields] = (uint32_t)own->names.n_bytes;
	}
	return mon_out_status(&own->head) || mon_out_status(&own->names) ? tele_fail(ret_error, -ENOMEM, "out of memory for a process")
									 : 0;
}

// The beginning of an object, up to what is not a row's.
static void put_head(struct rec_exporter *exporter, struct rec_exported *process, uint64_t at_ns)
{
	struct jsonl_process *own = process->own;
	struct rec_outfile *out = &exporter->out;
	rec_outfile_text(out, "{\"time_s\":");
	rec_outfile_decimal(out, rec_export_time(exporter, process, at_ns), 9);
	rec_outfile_text(out, ",\"realtime_ns\":");
	if (process->has_wall && process->wall_offset_ns)
		rec_outfile_u64(out, at_ns + process->wall_offset_ns);
	else
		rec_outfile_text(out, "null");
	rec_outfile_text(out, ",");
	rec_outfile_put(out, own->head.bytes, own->head.n_bytes);
	if (own->lost) {
		rec_outfile_text(out, ",\"lost_before\":");
		rec_outfile_u64(out, own->lost);
		own->lost = 0;
	}
	if (own->events.n_bytes) {
		rec_outfile_text(out, ",\"events\":[");
		rec_outfile_put(out, own->events.bytes, own->events.n_bytes);
		rec_outfile_text(out, "]");
		own->events.n_bytes = 0;
	}
}

static int take_event(struct rec_exporter *exporter, struct rec_exported *process, const struct tele_event *event,
		      uint64_t at_ns, struct tele_error *ret_error)
{
	struct jsonl_process *own = process->own;
	struct mon_out *out = &own->events;
	const char *text = event->string_id ? tele_instance_string(process->instance, event->string_id) : NULL;
	bool is_candidate = event->type == TELE_EVENT_CANDIDATE_BEGIN || event->type == TELE_EVENT_CANDIDATE_END;
	own->events_at_ns = at_ns;
	mon_out_format(out, "%s{\"type\":", out->n_bytes ? "," : "");
	if (strcmp(tele_event_name(event->type), "?") == 0)
		mon_out_format(out, "%u", event->type);
	else
		mon_json_string(out, tele_event_name(event->type));
	mon_out_format(out, ",\"seq\":%llu,\"subject\":", (unsigned long long)event->seq);
	mon_json_u64(out, event->subject);
	if (is_candidate && event->type == TELE_EVENT_CANDIDATE_END) {
		mon_out_text(out, ",\"outcome\":");
		mon_json_string(out, event->value < TELE_OUTCOME_COUNT ? tele_outcome_name((unsigned)event->value) : NULL);
	} else if (event->type == TELE_EVENT_STATE) {
		mon_out_text(out, ",\"state\":");
		mon_json_string(out, event->value <= TELE_UNREADABLE ? tele_state_name((unsigned)event->value) : NULL);
	} else if (!is_candidate) {
		mon_out_text(out, ",\"value\":");
		mon_json_u64(out, event->value);
	}
	mon_out_text(out, ",\"text\":");
	mon_json_string(out, text);
	mon_out_text(out, "}");
	if (mon_out_status(out) < 0)
		return tele_fail(ret_error, -ENOMEM, "out of memory for events");
	if (out->n_bytes > EVENTS_BYTES_MAX) {
		put_head(exporter, process, at_ns);
		rec_outfile_text(&exporter->out, "}\n");
	}
	return 0;
}

static int take_row(struct rec_exporter *exporter, struct rec_exported *process, const struct tele_record *record,
		    uint64_t at_ns, struct tele_error *ret_error)
{
	struct jsonl_process *own = process->own;
	struct rec_outfile *out = &exporter->out;
	const struct tele_schema *schema = process->instance->schema;
	uint32_t from = 0;
	bool has_any = false;
	(void)ret_error;
	put_head(exporter, process, at_ns);
	rec_outfile_text(out, ",\"seq\":");
	rec_outfile_u64(out, record->seq);
	rec_outfile_text(out, ",\"phase\":");
	rec_export_json(exporter, process->phase[0] ? process->phase : NULL);
	rec_outfile_text(out, ",\"fields\":{");
	for (uint32_t i = 0; i < own->n_fields; from = own->name_ends[i++]) {
		if (own->name_ends[i] == from)
			continue;
		if (has_any)
			rec_outfile_text(out, ",");
		has_any = true;
		rec_outfile_put(out, own->names.bytes + from, own->name_ends[i] - from);
		uint64_t value = i < record->n_fields ? record->row[i] : TELE_UNKNOWN;
		if (value == TELE_UNKNOWN)
			rec_outfile_text(out, "null");
		else if (schema->fields[i].unit == TELE_STRING)
			rec_export_json(exporter, tele_instance_string(process->instance, value));
		else
			rec_outfile_u64(out, value);
	}
	rec_outfile_text(out, "}}\n");
	return 0;
}

static int take_gap(struct rec_exporter *exporter, struct rec_exported *process, uint64_t n_lost,
		    struct tele_error *ret_error)
{
	struct jsonl_process *own = process->own;
	(void)exporter;
	(void)ret_error;
	own->lost += n_lost;
	return 0;
}

static int end(struct rec_exporter *exporter, struct tele_error *ret_error)
{
	(void)ret_error;
	for (uint32_t i = 0; i < exporter->n_processes; i++) {
		struct rec_exported *process = exporter->processes[i];
		struct jsonl_process *own = process->own;
		if (!own || own->events.n_bytes == 0)
			continue;
		put_head(exporter, process, own->events_at_ns);
		rec_outfile_text(&exporter->out, "}\n");
	}
	return 0;
}

const struct rec_format rec_format_jsonl = {
	.begin = begin,
	.process = take_process,
	.row = take_row,
	.event = take_event,
	.gap = take_gap,
	.end = end,
	.drop = drop,
	.fini = fini,
};
