// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Chrome's trace-event JSON, as ui.perfetto.dev and chrome://tracing open it:
// a counter for each field, which is written where its value changes; phases
// and candidates as slices. Candidates that are open at once lie in lanes, one
// thread each, so that begins and ends nest. Everything that began ends.

#include "export_format.h"

#include "../monitor/json.h"

#include <errno.h>

#include "../libtelemetry/banned.h"

enum { LANES_MAX = 1024, PHASE_THREAD = 1, FIRST_LANE_THREAD = 2 };
// Numbers that no process has, for those whose own is taken or unknown. The
// viewers read 32 bits.
#define MADE_UP_PID UINT64_C(0x40000000)

struct perfetto {
	bool has_any; // an event was written
};

struct perfetto_process {
	uint64_t pid; // in the export
	uint64_t *last; // value of each field as last written
	uint32_t n_last;
	bool has_phase;
	struct lane {
		uint64_t handle;
		bool is_open;
	} *lanes;
	uint32_t n_lanes, lanes_capacity;
	struct mon_out names; // JSON strings of the fields, one behind the other
	uint32_t *name_ends;
};

static int begin(struct rec_exporter *exporter, struct tele_error *ret_error)
{
	exporter->own = calloc(1, sizeof(struct perfetto));
	if (!exporter->own)
		return tele_fail(ret_error, -ENOMEM, "out of memory");
	rec_outfile_text(&exporter->out, "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"producer\":\"rollcall\"},\"traceEvents\":[");
	return 0;
}

static void fini(struct rec_exporter *exporter)
{
	free(exporter->own);
}

static void drop(struct rec_exported *process)
{
	struct perfetto_process *own = process->own;
	if (!own)
		return;
	mon_out_fini(&own->names);
	free(own->name_ends);
	free(own->lanes);
	free(own->last);
	free(own);
}

// The beginning of an event, up to its phase, time and place.
static void put_event(struct rec_exporter *exporter, const struct rec_exported *process, const char *phase,
		      uint64_t thread, uint64_t at_ns)
{
	struct perfetto *perfetto = exporter->own;
	const struct perfetto_process *own = process->own;
	struct rec_outfile *out = &exporter->out;
	rec_outfile_text(out, perfetto->has_any ? ",\n{\"ph\":\"" : "\n{\"ph\":\"");
	perfetto->has_any = true;
	rec_outfile_text(out, phase);
	rec_outfile_text(out, "\",\"pid\":");
	rec_outfile_u64(out, own->pid);
	rec_outfile_text(out, ",\"tid\":");
	rec_outfile_u64(out, thread);
	if (*phase != 'M') {
		rec_outfile_text(out, ",\"ts\":");
		rec_outfile_decimal(out, rec_export_time(exporter, process, at_ns), 3);
	}
	rec_outfile_text(out, ",\"name\":");
}

static void put_metadata(struct rec_exporter *exporter, const struct rec_exported *process, uint64_t thread,
			 const char *what, const char *name)
{
	put_event(exporter, process, "M", thread, 0);
	rec_export_json(exporter, what);
	rec_outfile_text(&exporter->out, ",\"args\":{\"name\":");
	rec_export_json(exporter, name);
	rec_outfile_text(&exporter->out, "}}");
}

static uint64_t choose_pid(const struct rec_exporter *exporter, const struct rec_exported *process)
{
	uint64_t pid = process->instance->identity.pid;
	bool is_free = pid > 0 && pid < MADE_UP_PID;
	for (uint32_t i = 0; i < exporter->n_processes; i++) {
		const struct perfetto_process *other = exporter->processes[i]->own;
		if (exporter->processes[i] != process && other && other->pid == pid)
			is_free = false;
	}
	return is_free ? pid : MADE_UP_PID + process->number;
}

static int introduce(struct rec_exporter *exporter, struct rec_exported *process, struct tele_error *ret_error)
{
	const struct tele_identity *identity = &process->instance->identity;
	struct perfetto_process *own = process->own = calloc(1, sizeof(*own));
	if (!own)
		return tele_fail(ret_error, -ENOMEM, "out of memory for a process");
	own->pid = choose_pid(exporter, process);
	put_metadata(exporter, process, 0, "process_name", rec_export_label(process));
	put_event(exporter, process, "M", 0, 0);
	rec_outfile_text(&exporter->out, "\"process_labels\",\"args\":{\"labels\":\"");
	if (identity->pid) {
		rec_outfile_text(&exporter->out, "pid ");
		rec_outfile_u64(&exporter->out, identity->pid);
		rec_outfile_text(&exporter->out, ", ");
	}
	char text[48];
	snprintf(text, sizeof(text), "start %016llx\"}}", (unsigned long long)identity->instance_id);
	rec_outfile_text(&exporter->out, text);
	put_metadata(exporter, process, PHASE_THREAD, "thread_name", "phases");
	return 0;
}

static int take_process(struct rec_exporter *exporter, struct rec_exported *process, struct tele_error *ret_error)
{
	if (!process->own) {
		int result = introduce(exporter, process, ret_error);
		if (result < 0)
			return result;
	}
	struct perfetto_process *own = process->own;
	uint64_t *last = realloc(own->last, process->n_fields * sizeof(*last));
	own->last = last ? last : own->last;
	uint32_t *ends = realloc(own->name_ends, process->n_fields * sizeof(*ends));
	own->name_ends = ends ? ends : own->name_ends;
	if (!last || !ends)
		return tele_fail(ret_error, -ENOMEM, "out of memory for fields");
	for (; own->n_last < process->n_fields; own->n_last++) {
		const struct tele_field *field = &process->instance->schema->fields[own->n_last];
		char name[600];
		bool is_counter = field->unit != TELE_STRING && field->unit != TELE_TIME_NS;
		if (rec_export_has(process, own->n_last) && is_counter)
			mon_json_string(&own->names, tele_field_full_name(field, name, sizeof(name)));
		ends[own->n_last] = (uint32_t)own->names.n_bytes;
		last[own->n_last] = TELE_UNKNOWN;
	}
	return mon_out_status(&own->names) < 0 ? tele_fail(ret_error, -ENOMEM, "out of memory for names") : 0;
}

// ---- Slices -------------------------------------------------------------------------

static void end_slice(struct rec_exporter *exporter, const struct rec_exported *process, uint64_t thread,
		      const char *outcome, uint64_t at_ns)
{
	put_event(exporter, process, "E", thread, at_ns);
	rec_export_json(exporter, "");
	if (outcome) {
		rec_outfile_text(&exporter->out, ",\"args\":{\"outcome\":");
		rec_export_json(exporter, outcome);
		rec_outfile_text(&exporter->out, "}");
	}
	rec_outfile_text(&exporter->out, "}");
}

static void begin_slice(struct rec_exporter *exporter, const struct rec_exported *process, uint64_t thread,
			const char *category, const char *name, uint64_t at_ns)
{
	put_event(exporter, process, "B", thread, at_ns);
	rec_export_json(exporter, name);
	rec_outfile_text(&exporter->out, ",\"cat\":");
	rec_export_json(exporter, category);
	rec_outfile_text(&exporter->out, "}");
}

// ---- Counters -----------------------------------------------------------------------

static const char *unit_key(unsigned unit)
{
	return unit == TELE_BYTES ? "bytes" : unit == TELE_NS ? "ns" : "value";
}

static int take_row(struct rec_exporter *exporter, struct rec_exported *process, const struct tele_record *record,
		    uint64_t at_ns, struct tele_error *ret_error)
{
	struct perfetto_process *own = process->own;
	struct rec_outfile *out = &exporter->out;
	uint32_t from = 0;
	(void)ret_error;
	// It began before the part that is exported.
	if (!own->has_phase && process->phase[0]) {
		own->has_phase = true;
		begin_slice(exporter, process, PHASE_THREAD, "phase", process->phase, at_ns);
	}
	for (uint32_t i = 0; i < own->n_last && i < record->n_fields; from = own->name_ends[i++]) {
		uint64_t value = record->row[i];
		if (own->name_ends[i] == from || value == own->last[i])
			continue;
		own->last[i] = value;
		if (value == TELE_UNKNOWN)
			continue;
		put_event(exporter, process, "C", 0, at_ns);
		rec_outfile_put(out, own->names.bytes + from, own->name_ends[i] - from);
		rec_outfile_text(out, ",\"args\":{\"");
		rec_outfile_text(out, unit_key(process->instance->schema->fields[i].unit));
		rec_outfile_text(out, "\":");
		rec_outfile_u64(out, value);
		rec_outfile_text(out, "}}");
	}
	return 0;
}

// ---- Candidates and other events ----------------------------------------------------

// The lowest lane that is free, NULL when there is none.
static struct lane *find_lane(struct perfetto_process *own)
{
	for (uint32_t i = 0; i < own->n_lanes; i++)
		if (!own->lanes[i].is_open)
			return &own->lanes[i];
	if (own->n_lanes == own->lanes_capacity && own->lanes_capacity < LANES_MAX) {
		uint32_t capacity = own->lanes_capacity ? 2 * own->lanes_capacity : 4;
		void *grown = realloc(own->lanes, capacity * sizeof(own->lanes[0]));
		own->lanes = grown ? grown : own->lanes;
		own->lanes_capacity = grown ? capacity : own->lanes_capacity;
	}
	if (own->n_lanes == own->lanes_capacity)
		return NULL;
	own->lanes[own->n_lanes] = (struct lane){0};
	return &own->lanes[own->n_lanes++];
}

static void begin_candidate(struct rec_exporter *exporter, struct rec_exported *process, uint64_t handle,
			    const char *name, uint64_t at_ns)
{
	struct perfetto_process *own = process->own;
	uint32_t n_lanes = own->n_lanes;
	struct lane *lane = find_lane(own);
	if (!lane)
		return;
	uint64_t thread = FIRST_LANE_THREAD + (uint64_t)(lane - own->lanes);
	if (own->n_lanes > n_lanes) {
		char text[32];
		snprintf(text, sizeof(text), n_lanes ? "candidates %u" : "candidates", n_lanes + 1);
		put_metadata(exporter, process, thread, "thread_name", text);
	}
	*lane = (struct lane){handle, true};
	begin_slice(exporter, process, thread, "candidate", name, at_ns);
}

// Something that happened at one moment.
static void put_instant(struct rec_exporter *exporter, const struct rec_exported *process, const char *name,
			const char *key, const char *text, uint64_t at_ns)
{
	put_event(exporter, process, "i", PHASE_THREAD, at_ns);
	rec_export_json(exporter, name);
	rec_outfile_text(&exporter->out, ",\"s\":\"p\",\"args\":{");
	rec_export_json(exporter, key);
	rec_outfile_text(&exporter->out, ":");
	rec_export_json(exporter, text);
	rec_outfile_text(&exporter->out, "}}");
}

static void end_candidate(struct rec_exporter *exporter, struct rec_exported *process, const struct tele_event *event,
			  const char *name, uint64_t at_ns)
{
	struct perfetto_process *own = process->own;
	const char *outcome = tele_outcome_name(event->value < TELE_OUTCOME_COUNT ? (unsigned)event->value
										 : TELE_OUTCOME_FAILED);
	for (uint32_t i = 0; i < own->n_lanes; i++)
		if (own->lanes[i].is_open && own->lanes[i].handle == event->subject) {
			own->lanes[i].is_open = false;
			end_slice(exporter, process, FIRST_LANE_THREAD + i, outcome, at_ns);
			return;
		}
	// Its begin was not seen: an import, or before the part that is exported.
	put_instant(exporter, process, name, "outcome", outcome, at_ns);
}

static int take_event(struct rec_exporter *exporter, struct rec_exported *process, const struct tele_event *event,
		      uint64_t at_ns, struct tele_error *ret_error)
{
	struct perfetto_process *own = process->own;
	const char *text = event->string_id ? tele_instance_string(process->instance, event->string_id) : NULL;
	char name[40];
	(void)ret_error;
	switch (event->type) {
	case TELE_EVENT_PHASE:
		if (own->has_phase)
			end_slice(exporter, process, PHASE_THREAD, NULL, at_ns);
		own->has_phase = true;
		begin_slice(exporter, process, PHASE_THREAD, "phase", text ? text : "?", at_ns);
		break;
	case TELE_EVENT_CANDIDATE_BEGIN:
	case TELE_EVENT_CANDIDATE_END:
		snprintf(name, sizeof(name), "#%llu", (unsigned long long)event->subject);
		if (event->type == TELE_EVENT_CANDIDATE_BEGIN)
			begin_candidate(exporter, process, event->subject, text && *text ? text : name, at_ns);
		else
			end_candidate(exporter, process, event, text && *text ? text : name, at_ns);
		break;
	default:
		put_instant(exporter, process, tele_event_name(event->type), "text", text, at_ns);
	}
	return 0;
}

static int take_gap(struct rec_exporter *exporter, struct rec_exported *process, uint64_t n_lost,
		    struct tele_error *ret_error)
{
	char text[32];
	(void)ret_error;
	snprintf(text, sizeof(text), "%llu", (unsigned long long)n_lost);
	put_instant(exporter, process, "lost", "records", text, process->last_at_ns);
	return 0;
}

static int end(struct rec_exporter *exporter, struct tele_error *ret_error)
{
	(void)ret_error;
	for (uint32_t i = 0; i < exporter->n_processes; i++) {
		struct rec_exported *process = exporter->processes[i];
		struct perfetto_process *own = process->own;
		for (uint32_t k = 0; own && k < own->n_lanes; k++)
			if (own->lanes[k].is_open)
				end_slice(exporter, process, FIRST_LANE_THREAD + k, tele_outcome_name(TELE_OUTCOME_OPEN),
					  process->last_at_ns);
		if (own && own->has_phase)
			end_slice(exporter, process, PHASE_THREAD, NULL, process->last_at_ns);
	}
	rec_outfile_text(&exporter->out, "\n]}\n");
	return 0;
}

const struct rec_format rec_format_perfetto = {
	.begin = begin,
	.process = take_process,
	.row = take_row,
	.event = take_event,
	.gap = take_gap,
	.end = end,
	.drop = drop,
	.fini = fini,
};
