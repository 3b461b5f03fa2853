// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// One pass over a trace: which processes, which part of their runs, which rows
// and which fields are decided here, for all formats alike. The trace is read
// as a stream, so that memory does not grow with it; a pipe whose format must
// know all schemas ahead is put into a file first.

#include "export_format.h"

#include "../monitor/json.h"
#include "../monitor/model.h"
#include "export_input.h"

#include <errno.h>

#include "../libtelemetry/banned.h"

enum { PROGRESS_ROWS = 16384 };

static const struct rec_format *const formats[] = {
	[REC_EXPORT_CSV] = &rec_format_csv,
	[REC_EXPORT_JSONL] = &rec_format_jsonl,
	[REC_EXPORT_OPENMETRICS] = &rec_format_openmetrics,
	[REC_EXPORT_PERFETTO] = &rec_format_perfetto,
	[REC_EXPORT_TRACE] = &rec_format_trace,
};

bool rec_export_has(const struct rec_exported *process, uint32_t position)
{
	return position < process->n_fields && process->has_field[position] &&
	       process->instance->schema->fields[position].kind != TELE_RETIRED;
}

uint64_t rec_export_time(const struct rec_exporter *exporter, const struct rec_exported *process, uint64_t at_ns)
{
	if (process->instance->identity.pid)
		return at_ns - exporter->origin_at_ns;
	// An import takes 0 for the first unit of time.
	return at_ns == UINT64_C(1) << TELE_TIME_SHIFT ? 0 : at_ns;
}

const char *rec_export_label(const struct rec_exported *process)
{
	const struct tele_identity *identity = &process->instance->identity;
	return identity->label[0] ? identity->label : identity->comm;
}

void rec_export_json(struct rec_exporter *exporter, const char *text)
{
	exporter->scratch.n_bytes = 0;
	mon_json_string(&exporter->scratch, text);
	rec_outfile_put(&exporter->out, exporter->scratch.bytes, exporter->scratch.n_bytes);
}

// ---- Fields ---------------------------------------------------------------------

bool rec_pattern_match(const char *pattern, size_t len, const char *text)
{
	const char *end = pattern + len, *star = NULL, *back = NULL;
	for (; *text; text++) {
		if (pattern < end && *pattern == '*') {
			star = ++pattern;
			back = text--;
		} else if (pattern < end && (*pattern == '?' || *pattern == *text)) {
			pattern++;
		} else if (star) {
			pattern = star;
			text = back++;
		} else {
			return false;
		}
	}
	while (pattern < end && *pattern == '*')
		pattern++;
	return pattern == end;
}

static bool is_named_by(const char *patterns, const struct tele_field *field)
{
	char full[600], plain[600];
	tele_field_full_name(field, full, sizeof(full));
	snprintf(plain, sizeof(plain), "%s.%s", field->section, field->name);
	for (const char *at = patterns; *at; at += *at == ',') {
		size_t len = strcspn(at, ",");
		if (len && (rec_pattern_match(at, len, full) || rec_pattern_match(at, len, plain)))
			return true;
		at += len;
	}
	return false;
}

// The first pattern that no field of any chosen process is named by, or NULL.
static const char *useless_pattern(const struct rec_exporter *exporter)
{
	for (const char *at = exporter->options->fields; at && *at; at += *at == ',') {
		size_t len = strcspn(at, ",");
		bool is_used = len == 0;
		const struct tele_instance *instance;
		for (uint32_t i = 0; !is_used && (instance = tele_trace_instance_at(exporter->source, i)); i++)
			for (uint32_t k = 0; !is_used && instance->schema && k < instance->schema->n_fields; k++) {
				char one[600];
				snprintf(one, sizeof(one), "%.*s", (int)len, at);
				is_used = is_named_by(one, &instance->schema->fields[k]);
			}
		if (!is_used)
			return at;
		at += len;
	}
	return NULL;
}

static int check_patterns(const struct rec_exporter *exporter, struct tele_error *ret_error)
{
	const char *useless = useless_pattern(exporter);
	return useless ? tele_fail(ret_error, TELE_ENOTFOUND, "no field of the trace is called '%.*s'",
				   (int)tele_min_u64(strcspn(useless, ","), 80), useless)
		       : 0;
}

static int choose_fields(const struct rec_exporter *exporter, struct rec_exported *process)
{
	const struct tele_schema *schema = process->instance->schema;
	if (schema->n_fields <= process->n_fields)
		return 0;
	bool *grown = realloc(process->has_field, schema->n_fields * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	process->has_field = grown;
	for (uint32_t i = process->n_fields; i < schema->n_fields; i++)
		grown[i] = !exporter->options->fields || is_named_by(exporter->options->fields, &schema->fields[i]);
	process->n_fields = schema->n_fields;
	return 0;
}

// ---- Processes --------------------------------------------------------------------

static bool is_wanted(const struct rec_exporter *exporter, const struct tele_instance *instance)
{
	const char *select = exporter->options->select;
	if (instance->identity.is_observer)
		return exporter->format->has_observers;
	return !select || mon_identity_match(&instance->identity, select) > 0;
}

static struct rec_exported *process_of(struct rec_exporter *exporter, struct tele_instance *instance)
{
	// Records of a process come by the block.
	if (exporter->last && exporter->last->instance == instance)
		return exporter->last;
	for (uint32_t i = exporter->n_processes; i-- > 0;)
		if (exporter->processes[i]->instance == instance)
			return exporter->last = exporter->processes[i];
	if (exporter->n_processes == exporter->capacity) {
		uint32_t capacity = exporter->capacity ? 2 * exporter->capacity : 16;
		void *grown = realloc(exporter->processes, capacity * sizeof(exporter->processes[0]));
		if (!grown)
			return NULL;
		exporter->processes = grown;
		exporter->capacity = capacity;
	}
	struct rec_exported *process = calloc(1, sizeof(*process));
	if (!process)
		return NULL;
	process->instance = instance;
	process->number = exporter->n_processes;
	process->is_chosen = is_wanted(exporter, instance);
	exporter->processes[exporter->n_processes++] = process;
	return exporter->last = process;
}

// ---- Which part of the run ----------------------------------------------------------

static uint64_t time_of(const struct tele_record *record)
{
	if (record->kind == TELE_RECORD_EVENT)
		return record->event.at_ns;
	return record->kind == TELE_RECORD_ROW && record->n_fields ? record->row[0] : TELE_UNKNOWN;
}

static void note_place(struct rec_exported *process, const struct tele_record *record)
{
#define VALUE(id) \
	tele_schema_value(record->instance->schema, TELE_ID_##id, TELE_NO_INSTANCE, record->row, record->n_fields)
	if (record->kind == TELE_RECORD_EVENT) {
		const struct tele_event *event = &record->event;
		process->n_ended += event->type == TELE_EVENT_CANDIDATE_END;
		if (event->type == TELE_EVENT_PHASE) {
			const char *text = tele_instance_string(record->instance, event->string_id);
			snprintf(process->phase, sizeof(process->phase), "%s", text ? text : "");
		}
		return;
	}
	uint64_t attempted = VALUE(search_candidates_attempted), n_open = VALUE(search_open_candidates);
	if (attempted != TELE_UNKNOWN && n_open != TELE_UNKNOWN && attempted >= n_open)
		process->n_ended = attempted - n_open;
	if (!process->has_wall) {
		const struct tele_identity *identity = &record->instance->identity;
		uint64_t offset = VALUE(self_realtime_offset_ns);
		if (offset == TELE_UNKNOWN)
			offset = identity->created_realtime_ns ? identity->created_realtime_ns - identity->created_at_ns : 0;
		process->wall_offset_ns = offset;
		process->has_wall = true;
	}
#undef VALUE
}

// A trace's times are rounded to 1,024 ns, the first one too: what is said to be
// at 3 s may have come to lie just before it.
#define TIME_ROUNDING_NS 2048

static bool is_reached(const struct rec_exported *process, const struct mon_at *at, uint64_t at_ns)
{
	if (at->is_candidate)
		return process->n_ended >= at->candidate;
	return at_ns >= process->origin_at_ns &&
	       at_ns - process->origin_at_ns + TIME_ROUNDING_NS >= at->offset_ns;
}

static bool is_past(const struct rec_exported *process, const struct mon_at *at, uint64_t at_ns)
{
	if (at->is_candidate)
		return process->n_ended > at->candidate;
	return at_ns >= process->origin_at_ns && at_ns - process->origin_at_ns > at->offset_ns;
}

// A part that begins at a candidate begins with the row of its end, not with
// the end, which belongs to the part before.
static bool is_inside(const struct rec_exporter *exporter, struct rec_exported *process,
		      const struct tele_record *record, uint64_t at_ns)
{
	const struct mon_at *from = exporter->options->from, *to = exporter->options->to;
	if (process->instance->identity.is_observer)
		return true;
	bool may_begin = record->kind == TELE_RECORD_ROW || !from || !from->is_candidate;
	process->has_begun |= !from || (may_begin && is_reached(process, from, at_ns));
	return process->has_begun && !(to && is_past(process, to, at_ns));
}

// Whether a row is one of those to keep. The first and rows of candidates are.
static bool is_kept(const struct rec_exporter *exporter, struct rec_exported *process, uint64_t at_ns)
{
	const struct rec_export_options *options = exporter->options;
	bool is_boundary = process->is_boundary;
	process->is_boundary = false;
	process->n_passed++;
	bool is_due = !process->has_rows ||
		      (process->n_passed >= options->every_rows && at_ns >= process->next_at_ns);
	if (is_due)
		process->n_passed = 0;
	if (is_due && options->every_ns)
		process->next_at_ns = (at_ns / options->every_ns + 1) * options->every_ns;
	process->has_rows |= is_due || is_boundary;
	return is_due || is_boundary;
}

// Remembers a row that is not kept, which may turn out to be the last.
static int skip(struct rec_exported *process, const struct tele_record *record, uint64_t at_ns, struct tele_error *ret_error)
{
	if (record->n_fields > process->skipped_capacity) {
		uint64_t *grown = realloc(process->skipped, record->n_fields * sizeof(*grown));
		if (!grown)
			return tele_fail(ret_error, -ENOMEM, "out of memory for a row");
		process->skipped = grown;
		process->skipped_capacity = record->n_fields;
	}
	memcpy(process->skipped, record->row, record->n_fields * sizeof(*record->row));
	process->n_skipped = record->n_fields;
	process->skipped_seq = record->seq;
	process->skipped_at_ns = at_ns;
	return 0;
}

// ---- The pass -----------------------------------------------------------------------

static int tell_process(struct rec_exporter *exporter, struct rec_exported *process, struct tele_error *ret_error)
{
	uint32_t n_fields = process->n_fields;
	if (choose_fields(exporter, process) < 0)
		return tele_fail(ret_error, -ENOMEM, "out of memory for fields");
	if (process->is_known && process->n_fields == n_fields)
		return 0;
	int result = exporter->format->process(exporter, process, ret_error);
	process->is_known = true;
	return result;
}

static int tell_record(struct rec_exporter *exporter, struct rec_exported *process, const struct tele_record *record,
		       uint64_t at_ns, struct tele_error *ret_error)
{
	int result = tell_process(exporter, process, ret_error);
	if (result < 0)
		return result;
	process->last_at_ns = at_ns;
	if (record->kind == TELE_RECORD_ROW) {
		exporter->n_rows += !process->instance->identity.is_observer;
		return exporter->format->row(exporter, process, record, at_ns, ret_error);
	}
	process->is_boundary |= record->event.type == TELE_EVENT_CANDIDATE_BEGIN ||
				record->event.type == TELE_EVENT_CANDIDATE_END;
	return exporter->format->event(exporter, process, &record->event, at_ns, ret_error);
}

// Whether a row of its own follows.
static bool is_routine(unsigned type)
{
	return type == TELE_EVENT_CANDIDATE_BEGIN || type == TELE_EVENT_CANDIDATE_END;
}

// The last row before something happens stays, and the last of all.
static int tell_skipped(struct rec_exporter *exporter, struct rec_exported *process, struct tele_error *ret_error)
{
	const struct tele_record last = {
		.kind = TELE_RECORD_ROW,
		.instance = process->instance,
		.seq = process->skipped_seq,
		.row = process->skipped,
		.n_fields = process->n_skipped,
	};
	if (!process->n_skipped)
		return 0;
	process->n_skipped = 0;
	return tell_record(exporter, process, &last, process->skipped_at_ns, ret_error);
}

static int take_record(struct rec_exporter *exporter, const struct tele_record *record, struct tele_error *ret_error)
{
	struct rec_exported *process = process_of(exporter, record->instance);
	if (!process)
		return tele_fail(ret_error, -ENOMEM, "out of memory for %u processes", exporter->n_processes);
	if (analysis_outside_take(&exporter->outside, record) < 0)
		return tele_fail(ret_error, -ENOMEM, "out of memory for what was seen from outside");
	if (!process->is_chosen)
		return 0;
	if (record->kind == TELE_RECORD_GAP && process->is_known) {
		int result = tell_skipped(exporter, process, ret_error);
		return result < 0 ? result
				  : exporter->format->gap(exporter, process, record->gap_to - record->gap_from, ret_error);
	}
	uint64_t at_ns = time_of(record);
	if (at_ns == TELE_UNKNOWN)
		return 0;
	bool is_observer = process->instance->identity.is_observer;
	if (exporter->origin_at_ns == TELE_UNKNOWN && !is_observer)
		exporter->origin_at_ns = at_ns;
	process->origin_at_ns = is_observer ? 0 : exporter->origin_at_ns;
	note_place(process, record);
	if (!is_inside(exporter, process, record, at_ns))
		return 0;
	at_ns = tele_max_u64(at_ns, tele_max_u64(process->last_at_ns, process->origin_at_ns));
	if (record->kind == TELE_RECORD_ROW && !is_kept(exporter, process, at_ns))
		return skip(process, record, at_ns, ret_error);
	int result = 0;
	if (record->kind == TELE_RECORD_EVENT && !is_routine(record->event.type))
		result = tell_skipped(exporter, process, ret_error);
	process->n_skipped = 0;
	return result < 0 ? result : tell_record(exporter, process, record, at_ns, ret_error);
}

void rec_export_tell_progress(const struct rec_exporter *exporter)
{
	struct tele_trace_info info;
	if (!exporter->options->progress)
		return;
	tele_trace_get_info(exporter->source, &info);
	const struct rec_export_progress progress = {info.read_bytes, info.file_bytes, exporter->n_rows,
						     exporter->out.written_bytes};
	exporter->options->progress(exporter->options->context, &progress);
}

static int pass(struct rec_exporter *exporter, struct tele_error *ret_error)
{
	struct tele_record record;
	uint64_t n_records = 0;
	int got;
	while ((got = tele_source_next(exporter->source, &record, ret_error)) > 0) {
		int result = take_record(exporter, &record, ret_error);
		if (result == 0 && !exporter->format->has_own_output)
			result = rec_outfile_status(&exporter->out, ret_error);
		if (result == 0 && exporter->scratch.is_failed)
			result = tele_fail(ret_error, -ENOMEM, "out of memory");
		if (result < 0)
			return result;
		if (++n_records % PROGRESS_ROWS == 0)
			rec_export_tell_progress(exporter);
	}
	return got;
}

static void count_chosen(struct rec_exporter *exporter)
{
	const struct tele_instance *instance;
	for (uint32_t i = 0; (instance = tele_trace_instance_at(exporter->source, i)); i++)
		exporter->n_chosen += !instance->identity.is_observer && is_wanted(exporter, instance);
}

static int check_result(const struct rec_exporter *exporter, bool is_pipe, struct tele_error *ret_error)
{
	const struct rec_export_options *options = exporter->options;
	bool has_any = false;
	for (uint32_t i = 0; i < exporter->n_processes; i++)
		has_any |= exporter->processes[i]->is_chosen && !exporter->processes[i]->instance->identity.is_observer;
	if (options->select && !has_any)
		return tele_fail(ret_error, TELE_ENOTFOUND, "no process in the trace is called '%s'", options->select);
	if (options->from && exporter->n_rows == 0)
		return tele_fail(ret_error, TELE_ENOTFOUND, "no row of the trace lies there");
	return is_pipe ? check_patterns(exporter, ret_error) : 0;
}

static int export(struct rec_exporter *exporter, struct tele_error *ret_error)
{
	struct tele_trace_info info;
	tele_trace_get_info(exporter->source, &info);
	bool is_pipe = info.file_bytes == 0;
	int result = is_pipe ? 0 : check_patterns(exporter, ret_error);
	count_chosen(exporter);
	if (result == 0)
		result = exporter->format->begin(exporter, ret_error);
	if (result == 0)
		result = pass(exporter, ret_error);
	for (uint32_t i = 0; i < exporter->n_processes && result == 0; i++)
		result = tell_skipped(exporter, exporter->processes[i], ret_error);
	if (result == 0)
		result = check_result(exporter, is_pipe, ret_error);
	if (result == 0)
		result = exporter->format->end(exporter, ret_error);
	return result;
}

static void fill_result(const struct rec_exporter *exporter, struct rec_export_result *ret_result)
{
	struct tele_trace_info info;
	tele_trace_get_info(exporter->source, &info);
	*ret_result = (struct rec_export_result){
		.n_rows = exporter->n_rows,
		.written_bytes = exporter->written_bytes,
		.n_texts_left_out = exporter->n_texts_left_out,
		.is_complete = info.is_complete,
	};
	snprintf(ret_result->damage, sizeof(ret_result->damage), "%s", info.damage);
	for (uint32_t i = 0; i < exporter->n_processes; i++) {
		const struct tele_instance *instance = exporter->processes[i]->instance;
		ret_result->n_processes += exporter->processes[i]->is_known && !instance->identity.is_observer;
		ret_result->lost += exporter->processes[i]->is_known ? instance->lost : 0;
	}
}

int rec_export(const struct rec_export_options *options, struct rec_export_result *ret_result,
	       struct tele_error *ret_error)
{
	struct rec_exporter exporter = {
		.options = options,
		.format = formats[options->format],
		.out = {.fd = -1},
		.origin_at_ns = TELE_UNKNOWN,
	};
	*ret_result = (struct rec_export_result){0};
	int result = rec_export_input(options->input, exporter.format->needs_file, &exporter.source, ret_error);
	if (result < 0)
		return result;
	if (!exporter.format->has_own_output)
		result = rec_outfile_open(&exporter.out, options->output, options->input, options->replace, ret_error);
	if (result == 0)
		result = export(&exporter, ret_error);
	// A format of its own output puts it in its place only when all is well.
	for (uint32_t i = 0; i < exporter.n_processes; i++)
		exporter.format->drop(exporter.processes[i]);
	exporter.format->fini(&exporter);
	if (!exporter.format->has_own_output)
		exporter.written_bytes = exporter.out.written_bytes + exporter.out.n_bytes;
	int closed = rec_outfile_close(&exporter.out, result == 0, ret_error);
	result = result < 0 ? result : closed;
	if (result == 0)
		fill_result(&exporter, ret_result);
	for (uint32_t i = 0; i < exporter.n_processes; i++) {
		free(exporter.processes[i]->has_field);
		free(exporter.processes[i]->skipped);
		free(exporter.processes[i]);
	}
	free(exporter.processes);
	analysis_outside_fini(&exporter.outside);
	mon_out_fini(&exporter.scratch);
	tele_source_close(exporter.source);
	return result;
}
