// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// JSON of the model. Strings of other processes are escaped so that neither a
// parser nor a terminal can be surprised; integers are written as integers, up
// to 2^64 - 2, and never pass through a double.

#include "json.h"

#include "utf8.h"

#include "../libtelemetry/banned.h"

static void write_escape(struct mon_out *out, uint32_t ch)
{
	if (ch == MON_CHAR_INVALID)
		ch = 0xfffd;
	if (ch < 0x10000) {
		mon_out_format(out, "\\u%04x", ch);
		return;
	}
	ch -= 0x10000;
	mon_out_format(out, "\\u%04x\\u%04x", 0xd800 | ch >> 10, 0xdc00 | (ch & 0x3ff));
}

void mon_json_string(struct mon_out *out, const char *text)
{
	if (!text) {
		mon_out_text(out, "null");
		return;
	}
	mon_out_text(out, "\"");
	for (uint32_t ch = mon_utf8_next(&text); ch; ch = mon_utf8_next(&text)) {
		char bytes[MON_CHAR_BYTES_MAX + 1] = "\\";
		if (ch == '"' || ch == '\\') {
			bytes[1] = (char)ch;
			mon_out_bytes(out, bytes, 2);
		} else if (!mon_char_is_safe(ch)) {
			write_escape(out, ch);
		} else {
			mon_out_bytes(out, bytes, mon_utf8_put(ch, bytes));
		}
	}
	mon_out_text(out, "\"");
}

void mon_json_u64(struct mon_out *out, uint64_t value)
{
	if (value == TELE_UNKNOWN)
		mon_out_text(out, "null");
	else
		mon_out_format(out, "%llu", (unsigned long long)value);
}

static void write_key(struct mon_out *out, const char *name)
{
	mon_json_string(out, name);
	mon_out_text(out, ":");
}

static void write_fields(struct mon_out *out, const struct mon_process *process)
{
	const struct tele_schema *schema = process->instance->schema;
	const struct mon_row *row = mon_process_latest(process);
	mon_out_text(out, "{");
	for (uint32_t i = 0; i < schema->n_fields; i++) {
		char name[600];
		const struct tele_field *field = &schema->fields[i];
		uint64_t value = row && i < row->n_fields ? row->values[i] : TELE_UNKNOWN;
		if (i)
			mon_out_text(out, ",");
		write_key(out, tele_field_full_name(field, name, sizeof(name)));
		if (field->unit == TELE_STRING)
			mon_json_string(out,
					value == TELE_UNKNOWN
						? NULL
						: tele_instance_string(process->instance, value));
		else
			mon_json_u64(out, value);
	}
	mon_out_text(out, "}");
}

static void write_derived(struct mon_out *out, const struct mon_process *process)
{
	static const struct analysis_derived nothing = {
		.residency = {.predicted_bytes = TELE_UNKNOWN,
			      .predicted_floor_bytes = TELE_UNKNOWN,
			      .rss_bytes = TELE_UNKNOWN},
		.live_pools = TELE_UNKNOWN,
		.live_pool_bytes = TELE_UNKNOWN,
	};
	bool has_row = mon_process_latest(process) != NULL;
	const struct analysis_derived *derived = has_row ? &process->derived : &nothing;
	struct analysis_derived_number number;
	mon_out_text(out, "{\"balanced\":");
	if (!derived->books.is_known)
		mon_out_text(out, "null");
	else
		mon_out_text(out, derived->books.is_balanced ? "true" : "false");
	for (size_t i = 0; analysis_derived_at(derived, i, &number); i++) {
		mon_out_text(out, ",");
		write_key(out, number.name);
		if (!number.is_known)
			mon_out_text(out, "null");
		else
			mon_out_format(out, "%s%llu", number.is_negative ? "-" : "",
				       (unsigned long long)number.magnitude);
	}
	mon_out_text(out, "}");
}

static void write_candidates(struct mon_out *out, const struct mon_process *process)
{
	mon_out_text(out, "{");
	for (unsigned outcome = 0; outcome < TELE_OUTCOME_COUNT; outcome++) {
		write_key(out, tele_outcome_name(outcome));
		mon_json_u64(out, mon_process_outcomes(process, outcome));
		mon_out_text(out, ",");
	}
	write_key(out, "phase");
	mon_json_string(out, mon_process_phase(process));
	mon_out_text(out, "}");
}

void mon_json_process(struct mon_out *out, const struct mon_process *process)
{
	const struct mon_row *row = mon_process_latest(process);
	mon_out_text(out, "{\"pid\":");
	mon_json_u64(out, process->identity.pid ? process->identity.pid : TELE_UNKNOWN); // 0: an import
	mon_out_text(out, ",\"start_ticks\":");
	mon_json_u64(out, process->identity.start_ticks);
	mon_out_text(out, ",\"label\":");
	mon_json_string(out, process->identity.label);
	mon_out_text(out, ",\"state\":");
	mon_json_string(out, tele_state_name(process->state));
	mon_out_text(out, ",\"captured_at_ns\":");
	mon_json_u64(out, row ? row->at_ns : TELE_UNKNOWN);
	mon_out_text(out, ",\"lost\":");
	mon_json_u64(out, process->lost);
	mon_out_text(out, ",\"fields\":");
	write_fields(out, process);
	mon_out_text(out, ",\"derived\":");
	write_derived(out, process);
	mon_out_text(out, ",\"candidates\":");
	write_candidates(out, process);
	mon_out_text(out, ",\"verdicts\":");
	mon_json_verdicts(out, process->watch, process->judged, process->n_judged);
	mon_out_text(out, "}");
}

// A segment that nothing is known of but where it is, and why it is unreadable.
static void write_unreadable(struct mon_out *out, const struct mon_unreadable *unreadable)
{
	mon_out_text(out, "{\"pid\":null,\"start_ticks\":null,\"label\":null,\"state\":");
	mon_json_string(out, tele_state_name(TELE_UNREADABLE));
	mon_out_text(out, ",\"captured_at_ns\":null,\"lost\":null,\"fields\":{},\"derived\":{},"
			  "\"candidates\":{},\"verdicts\":[],\"path\":");
	mon_json_string(out, unreadable->path);
	mon_out_text(out, ",\"error\":");
	mon_json_string(out, unreadable->why);
	mon_out_text(out, "}");
}

void mon_json_write(struct mon_out *out, const struct mon_model *model, const char *select)
{
	bool has_any = false;
	mon_out_text(out, "[");
	for (uint32_t i = 0; i < model->n_processes; i++) {
		const struct mon_process *process = model->processes[i];
		if (!mon_process_is_listed(process) ||
		    (select && !mon_identity_match(&process->identity, select)))
			continue;
		if (has_any)
			mon_out_text(out, ",");
		mon_json_process(out, process);
		has_any = true;
	}
	for (uint32_t i = 0; i < model->n_unreadable && !select; i++) {
		if (has_any)
			mon_out_text(out, ",");
		write_unreadable(out, &model->unreadable[i]);
		has_any = true;
	}
	mon_out_text(out, "]\n");
}
