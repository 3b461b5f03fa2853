// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What has no shape of its own: any section as pairs of name and number, by
// kind and unit of its fields, and the log.

#include "view_parts.h"

#include <stdio.h>
#include <string.h>

#include "format.h"

#include "../libtelemetry/banned.h"

#define PAIR_COLUMNS	  26
#define PAIR_NAME_COLUMNS 14
#define AGE_STALE_NS	  UINT64_C(5000000000)
#define LOG_LINES	  12

static const char *pair_text(const struct mon_pen *pen, const struct tele_field *field,
			     uint64_t value, char *buffer, size_t size)
{
	const char *text;
	switch (field->unit) {
	case TELE_BYTES:
		return mon_format_bytes(value, pen->units, buffer, size);
	case TELE_NS:
		return mon_format_elapsed(value, buffer, size);
	case TELE_STRING:
		text = value == TELE_UNKNOWN ? NULL
					     : tele_instance_string(pen->process->instance, value);
		return text ? text : "n/a";
	default:
		return mon_format_count(value, buffer, size);
	}
}

// Dimmed where the reading is old against the row it stands in.
static unsigned pair_style(const struct tele_field *field, const struct mon_row *row,
			   uint64_t value)
{
	uint64_t at_ns =
		field->age_index < row->n_fields ? row->values[field->age_index] : TELE_UNKNOWN;
	if (value == TELE_UNKNOWN)
		return MON_DIM;
	if (at_ns < row->at_ns && row->at_ns - at_ns > AGE_STALE_NS)
		return MON_DIM;
	return MON_NORMAL;
}

// Which fields of a section are worth a place: no times, no offsets.
static bool is_pair(const struct tele_field *field, const char *section)
{
	if (strcmp(field->section, section) != 0 || field->instance != TELE_NO_INSTANCE ||
	    field->kind == TELE_TIMESTAMP || field->kind == TELE_RETIRED)
		return false;
	return field->builtin != TELE_ID_self_realtime_offset_ns;
}

void mon_draw_section(struct mon_pen *pen, const char *section, const char *title)
{
	const struct tele_schema *schema = pen->process->instance->schema;
	const struct mon_row *row = mon_process_latest(pen->process);
	int width = PAIR_COLUMNS + mon_bytes_columns(pen->units) - 7;
	int n_beside = pen->width / width > 0 ? pen->width / width : 1;
	int n_pairs = 0;
	for (uint32_t i = 0; i < schema->n_fields && i < row->n_fields; i++) {
		const struct tele_field *field = &schema->fields[i];
		char buffer[MON_NUMBER_BYTES];
		if (!is_pair(field, section))
			continue;
		if (n_pairs == 0)
			mon_draw_title(pen, title, "", MON_NORMAL);
		int x = pen->x + n_pairs % n_beside * width, y = pen->y + n_pairs / n_beside;
		const char *name = field->builtin >= 0 ? field->label : field->name;
		const char *text = pair_text(pen, field, row->values[i], buffer, sizeof(buffer));
		mon_draw_text(pen->grid, x, y, PAIR_NAME_COLUMNS - 1, MON_DIM, name);
		mon_draw_right(pen->grid, x + PAIR_NAME_COLUMNS, y, width - PAIR_NAME_COLUMNS - 3,
			       pair_style(field, row, row->values[i]), text);
		n_pairs++;
	}
	pen->y += (n_pairs + n_beside - 1) / n_beside;
}

// ---- The log ------------------------------------------------------------------

static void entry_text(const struct mon_log_entry *entry, char *buffer, size_t size)
{
	unsigned long long subject = entry->subject, value = entry->value;
	char bytes[MON_NUMBER_BYTES];
	switch (entry->type) {
	case TELE_EVENT_FORK:
		snprintf(buffer, size, "child %llu", subject);
		break;
	case TELE_EVENT_OUT_OF_MEMORY:
		snprintf(buffer, size, "%s refused %s",
			 mon_format_bytes(subject, MON_UNITS_IEC, bytes, sizeof(bytes)),
			 entry->text);
		break;
	case TELE_EVENT_DISCARD_REFUSED:
		snprintf(buffer, size, "%s: %s",
			 mon_format_bytes(subject, MON_UNITS_IEC, bytes, sizeof(bytes)),
			 tele_strerror(value <= 4095 ? -(int)value : 0));
		break;
	case TELE_EVENT_OWNER_CLOSED:
		snprintf(buffer, size, "%s, %llu pool%s left", entry->text, value,
			 value == 1 ? "" : "s");
		break;
	case TELE_EVENT_GAP:
		snprintf(buffer, size, "%llu records lost from %llu on", value, subject);
		break;
	case TELE_EVENT_STATE:
		snprintf(buffer, size, "%s",
			 tele_state_name(value < UINT32_MAX ? (unsigned)value : UINT32_MAX));
		break;
	default:
		snprintf(buffer, size, "%s", entry->text);
		break;
	}
}

static unsigned entry_style(const struct mon_log_entry *entry)
{
	switch (entry->type) {
	case TELE_EVENT_OUT_OF_MEMORY:
		return MON_BAD;
	case TELE_EVENT_DISCARD_REFUSED:
	case TELE_EVENT_GAP:
		return MON_WARN;
	default:
		return MON_NORMAL;
	}
}

void mon_draw_log(struct mon_pen *pen)
{
	const struct mon_process *process = pen->process;
	uint64_t offset_ns = mon_process_field(process, TELE_ID_self_realtime_offset_ns);
	uint64_t n = process->n_log;
	uint64_t oldest = n > LOG_LINES ? n - LOG_LINES : 0;
	if (n == 0)
		return;
	mon_draw_title(pen, "LOG", "newest first", MON_DIM);
	for (uint64_t i = n; i > oldest; i--) {
		const struct mon_log_entry *entry = &process->log[(i - 1) % MON_LOG_MAX];
		char clock[MON_NUMBER_BYTES] = "n/a", text[320];
		if (offset_ns != TELE_UNKNOWN)
			mon_format_clock(entry->at_ns + offset_ns, clock, sizeof(clock));
		entry_text(entry, text, sizeof(text));
		mon_draw_text(pen->grid, pen->x, pen->y, 8, MON_DIM, clock);
		mon_draw_text(pen->grid, pen->x + 10, pen->y, 15, entry_style(entry),
			      tele_event_name(entry->type));
		mon_draw_text(pen->grid, pen->x + 26, pen->y, pen->width - 26, entry_style(entry),
			      text);
		pen->y++;
	}
}
