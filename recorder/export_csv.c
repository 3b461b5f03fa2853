// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// CSV as `rollcall import` reads it: time, candidate, phase, outcome, then the
// fields; an unknown value is an empty cell. With several processes each has a
// section of its own, gathered in a spill and written one after the other.

#include "export_format.h"

#include "../monitor/utf8.h"

#include <errno.h>

#include "../libtelemetry/banned.h"

enum { OPEN_MAX = 1024, PIECE_BYTES = 2048 };

struct csv {
	struct rec_spill *spill;
	struct mon_out line;
};

// Candidates that are open, so that two of the same label can be told apart.
struct open_candidate {
	uint64_t handle, hash;
	bool is_numbered; // its label is another's, too
};

struct csv_process {
	struct rec_stream stream;
	bool has_header;
	char candidate[300]; // of the next row; "" for none
	unsigned outcome;
	struct open_candidate *open;
	uint32_t n_open, open_capacity;
};

static int begin(struct rec_exporter *exporter, struct tele_error *ret_error)
{
	struct csv *csv = calloc(1, sizeof(*csv));
	exporter->own = csv;
	if (csv)
		csv->spill = rec_spill_new();
	return csv && csv->spill ? 0 : tele_fail(ret_error, -ENOMEM, "out of memory");
}

static void fini(struct rec_exporter *exporter)
{
	struct csv *csv = exporter->own;
	if (!csv)
		return;
	rec_spill_free(csv->spill);
	mon_out_fini(&csv->line);
	free(csv);
}

static void drop(struct rec_exported *process)
{
	struct csv_process *own = process->own;
	if (!own)
		return;
	rec_stream_fini(&own->stream);
	free(own->open);
	free(own);
}

// A cell: what no table can hold (line ends, controls, bytes that are not
// UTF-8) becomes U+FFFD.
static void put_cell(struct mon_out *line, const char *text)
{
	bool is_quoted = text[strcspn(text, ",\"")] != '\0' || *text == ' ';
	if (is_quoted)
		mon_out_bytes(line, "\"", 1);
	for (uint32_t ch = mon_utf8_next(&text); ch; ch = mon_utf8_next(&text)) {
		char bytes[MON_CHAR_BYTES_MAX];
		if (ch == '"')
			mon_out_bytes(line, "\"", 1);
		mon_out_bytes(line, bytes, mon_utf8_put(mon_char_is_safe(ch) ? ch : 0xfffd, bytes));
	}
	if (is_quoted)
		mon_out_bytes(line, "\"", 1);
}

static void put_number(struct mon_out *line, uint64_t value)
{
	char text[24];
	char *at = text + sizeof(text);
	do {
		*--at = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	mon_out_bytes(line, at, (size_t)(text + sizeof(text) - at));
}

static int put_line(struct rec_exporter *exporter, struct csv_process *own, struct tele_error *ret_error)
{
	struct csv *csv = exporter->own;
	int result = mon_out_status(&csv->line);
	if (result < 0)
		return tele_fail(ret_error, result, "out of memory for a line");
	if (exporter->n_chosen <= 1) {
		rec_outfile_put(&exporter->out, csv->line.bytes, csv->line.n_bytes);
	} else {
		for (size_t at = 0; at < csv->line.n_bytes && result == 0; at += PIECE_BYTES)
			result = rec_spill_put(csv->spill, &own->stream, csv->line.bytes + at,
					       (size_t)tele_min_u64(PIECE_BYTES, csv->line.n_bytes - at), ret_error);
	}
	csv->line.n_bytes = 0;
	return result;
}

static int put_header(struct rec_exporter *exporter, struct rec_exported *process, struct tele_error *ret_error)
{
	struct csv *csv = exporter->own;
	mon_out_text(&csv->line, "time_s,candidate,phase,outcome");
	for (uint32_t i = 0; i < process->n_fields; i++) {
		char name[600];
		if (!rec_export_has(process, i))
			continue;
		mon_out_bytes(&csv->line, ",", 1);
		put_cell(&csv->line, tele_field_full_name(&process->instance->schema->fields[i], name, sizeof(name)));
	}
	mon_out_bytes(&csv->line, "\n", 1);
	return put_line(exporter, process->own, ret_error);
}

static int take_process(struct rec_exporter *exporter, struct rec_exported *process, struct tele_error *ret_error)
{
	// A file's schemas are whole from the start: there is no second call.
	if (!process->own)
		process->own = calloc(1, sizeof(struct csv_process));
	if (!process->own)
		return tele_fail(ret_error, -ENOMEM, "out of memory for a process");
	return put_header(exporter, process, ret_error);
}

static uint64_t hash_of(const char *text)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return hash;
}

// Whether its label is that of another that is open. One that is not remembered
// is taken for the only one.
static bool begin_candidate(struct csv_process *own, uint64_t handle, uint64_t hash)
{
	bool is_numbered = false;
	for (uint32_t i = 0; i < own->n_open; i++)
		is_numbered |= own->open[i].hash == hash;
	if (own->n_open == own->open_capacity && own->open_capacity < OPEN_MAX) {
		uint32_t capacity = own->open_capacity ? 2 * own->open_capacity : 8;
		void *grown = realloc(own->open, capacity * sizeof(own->open[0]));
		own->open = grown ? grown : own->open;
		own->open_capacity = grown ? capacity : own->open_capacity;
	}
	if (own->n_open == own->open_capacity)
		return false;
	own->open[own->n_open++] = (struct open_candidate){handle, hash, is_numbered};
	return is_numbered;
}

static bool end_candidate(struct csv_process *own, uint64_t handle)
{
	for (uint32_t i = 0; i < own->n_open; i++)
		if (own->open[i].handle == handle) {
			bool is_numbered = own->open[i].is_numbered;
			own->open[i] = own->open[--own->n_open];
			return is_numbered;
		}
	return false;
}

static int take_event(struct rec_exporter *exporter, struct rec_exported *process, const struct tele_event *event,
		      uint64_t at_ns, struct tele_error *ret_error)
{
	struct csv_process *own = process->own;
	(void)exporter;
	(void)at_ns;
	(void)ret_error;
	bool is_begin = event->type == TELE_EVENT_CANDIDATE_BEGIN;
	if (!is_begin && event->type != TELE_EVENT_CANDIDATE_END)
		return 0;
	const char *label = event->string_id ? tele_instance_string(process->instance, event->string_id) : NULL;
	bool is_numbered = is_begin ? begin_candidate(own, event->subject, hash_of(label ? label : ""))
				    : end_candidate(own, event->subject);
	unsigned long long handle = event->subject;
	if (!label || !*label)
		snprintf(own->candidate, sizeof(own->candidate), "#%llu", handle);
	else if (is_numbered)
		snprintf(own->candidate, sizeof(own->candidate), "%s #%llu", label, handle);
	else
		snprintf(own->candidate, sizeof(own->candidate), "%s", label);
	own->outcome = is_begin ? TELE_OUTCOME_OPEN
		       : event->value > 0 && event->value < TELE_OUTCOME_COUNT ? (unsigned)event->value
									       : TELE_OUTCOME_FAILED;
	return 0;
}

static void put_time(struct mon_out *line, uint64_t ns)
{
	char digits[10];
	put_number(line, ns / 1000000000);
	ns %= 1000000000;
	if (ns == 0)
		return;
	digits[0] = '.';
	for (int i = 9; i > 0; i--, ns /= 10)
		digits[i] = (char)('0' + ns % 10);
	size_t len = sizeof(digits);
	while (digits[len - 1] == '0')
		len--;
	mon_out_bytes(line, digits, len);
}

static int take_row(struct rec_exporter *exporter, struct rec_exported *process, const struct tele_record *record,
		    uint64_t at_ns, struct tele_error *ret_error)
{
	struct csv *csv = exporter->own;
	struct csv_process *own = process->own;
	struct mon_out *line = &csv->line;
	const struct tele_schema *schema = process->instance->schema;
	put_time(line, rec_export_time(exporter, process, at_ns));
	mon_out_bytes(line, ",", 1);
	put_cell(line, own->candidate);
	mon_out_bytes(line, ",", 1);
	put_cell(line, process->phase);
	mon_out_bytes(line, ",", 1);
	if (own->candidate[0] && own->outcome)
		mon_out_text(line, tele_outcome_name(own->outcome));
	own->candidate[0] = '\0';
	for (uint32_t i = 0; i < process->n_fields; i++) {
		if (!rec_export_has(process, i))
			continue;
		mon_out_bytes(line, ",", 1);
		uint64_t value = i < record->n_fields ? record->row[i] : TELE_UNKNOWN;
		if (value == TELE_UNKNOWN)
			continue;
		const char *text = schema->fields[i].unit == TELE_STRING ? tele_instance_string(process->instance, value) : NULL;
		if (text)
			put_cell(line, text);
		else if (schema->fields[i].unit != TELE_STRING)
			put_number(line, value);
	}
	mon_out_bytes(line, "\n", 1);
	return put_line(exporter, own, ret_error);
}

static int take_gap(struct rec_exporter *exporter, struct rec_exported *process, uint64_t n_lost,
		    struct tele_error *ret_error)
{
	(void)exporter;
	(void)process;
	(void)n_lost;
	(void)ret_error;
	return 0;
}

static int take_piece(void *context, const uint8_t *bytes, size_t n_bytes)
{
	struct rec_exporter *exporter = context;
	rec_outfile_put(&exporter->out, (const char *)bytes, n_bytes);
	return exporter->out.failure.code;
}

static int end(struct rec_exporter *exporter, struct tele_error *ret_error)
{
	struct csv *csv = exporter->own;
	bool has_any = false;
	for (uint32_t i = 0; i < exporter->n_processes && exporter->n_chosen > 1; i++) {
		struct rec_exported *process = exporter->processes[i];
		struct csv_process *own = process->own;
		if (!own)
			continue;
		const struct tele_identity *identity = &process->instance->identity;
		if (has_any)
			rec_outfile_text(&exporter->out, "\n");
		has_any = true;
		mon_out_format(&csv->line, "# process %llu %016llx ", (unsigned long long)identity->pid,
			       (unsigned long long)identity->instance_id);
		put_cell(&csv->line, rec_export_label(process));
		mon_out_text(&csv->line, "\n");
		rec_outfile_put(&exporter->out, csv->line.bytes, csv->line.n_bytes);
		csv->line.n_bytes = 0;
		int result = rec_spill_read(csv->spill, &own->stream, take_piece, exporter, ret_error);
		if (result < 0)
			return rec_outfile_status(&exporter->out, ret_error) < 0 ? exporter->out.failure.code : result;
	}
	return mon_out_status(&csv->line) < 0 ? tele_fail(ret_error, -ENOMEM, "out of memory for a line") : 0;
}

const struct rec_format rec_format_csv = {
	.begin = begin,
	.process = take_process,
	.row = take_row,
	.event = take_event,
	.gap = take_gap,
	.end = end,
	.drop = drop,
	.fini = fini,
	.needs_file = true,
};
