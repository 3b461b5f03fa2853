// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What has no shape of its own: any section as pairs of name and number, by
// kind and unit of its fields.

#include "view_parts.h"

#include <stdio.h>
#include <string.h>

#include "format.h"

#include "../libtelemetry/banned.h"

#define PAIR_COLUMNS	  26
#define PAIR_NAME_COLUMNS 14
#define AGE_STALE_NS	  UINT64_C(5000000000)

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
