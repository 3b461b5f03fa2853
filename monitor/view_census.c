// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Pools by label, contexts and modules, over all devices and for each. Labels
// come from the schema: any field live_LABEL_pools is one, so a label of a
// later version has its row too. A label that never had a pool is left out.

#include "view_parts.h"

#include <stdio.h>
#include <string.h>

#include "format.h"

#include "../libtelemetry/banned.h"

#define LABELS_MAX  16
#define DEVICES_MAX 64

struct label {
	char name[32];
	uint64_t live, live_bytes, allocated;
};

// Where the census stands: its section, and the instance, or TELE_NO_INSTANCE.
struct place {
	const char *section;
	uint32_t instance;
};

static uint64_t value_of(const struct mon_process *process, const struct place *place,
			 const char *format, const char *label)
{
	char field[64], name[128];
	const struct mon_row *row = mon_process_latest(process);
	snprintf(field, sizeof(field), format, label);
	if (place->instance == TELE_NO_INSTANCE)
		snprintf(name, sizeof(name), "%s.%s", place->section, field);
	else
		snprintf(name, sizeof(name), "%s[%u].%s", place->section, place->instance, field);
	int64_t position = tele_schema_find(process->instance->schema, name);
	return position >= 0 && position < row->n_fields ? row->values[position] : TELE_UNKNOWN;
}

// The LABEL of live_LABEL_pools; false for any other name.
static bool label_of(const struct tele_field *field, char *buffer, size_t size)
{
	size_t len = strlen(field->name);
	if (len <= 11 || len - 11 >= size || memcmp(field->name, "live_", 5) != 0 ||
	    strcmp(field->name + len - 6, "_pools") != 0)
		return false;
	memcpy(buffer, field->name + 5, len - 11);
	buffer[len - 11] = '\0';
	return strchr(buffer, '%') == NULL;
}

static uint32_t read_labels(const struct mon_process *process, const struct place *place,
			    struct label labels[LABELS_MAX])
{
	const struct tele_schema *schema = process->instance->schema;
	uint32_t n_labels = 0;
	for (uint32_t i = 0; i < schema->n_fields && n_labels < LABELS_MAX; i++) {
		const struct tele_field *field = &schema->fields[i];
		struct label *label = &labels[n_labels];
		if (field->instance != place->instance ||
		    strcmp(field->section, place->section) != 0 ||
		    !label_of(field, label->name, sizeof(label->name)))
			continue;
		label->live = value_of(process, place, "live_%s_pools", label->name);
		label->live_bytes = value_of(process, place, "live_%s_bytes", label->name);
		label->allocated = value_of(process, place, "%s_pools_allocated", label->name);
		if (label->live != TELE_UNKNOWN && (label->live || label->allocated))
			n_labels++;
	}
	return n_labels;
}

static uint64_t sum_bytes(const struct label *labels, uint32_t n_labels)
{
	uint64_t sum_bytes = 0;
	for (uint32_t i = 0; i < n_labels; i++)
		if (labels[i].live_bytes == TELE_UNKNOWN ||
		    __builtin_add_overflow(sum_bytes, labels[i].live_bytes, &sum_bytes))
			return TELE_UNKNOWN;
	return sum_bytes;
}

// "working       82 ████████████      11.09G    82 new"
static void draw_label(struct mon_pen *pen, const struct label *label, uint64_t whole_bytes)
{
	char live[MON_NUMBER_BYTES], bytes[MON_NUMBER_BYTES], allocated[MON_NUMBER_BYTES];
	int columns = mon_bytes_columns(pen->units);
	int bar_width = pen->width - 12 - 7 - columns - 2 - 12;
	int x = pen->x;
	if (bar_width > 60)
		bar_width = 60;
	mon_draw_text(pen->grid, x, pen->y, 11, MON_DIM, label->name);
	x += 12;
	mon_draw_right(pen->grid, x, pen->y, 6, MON_BOLD,
		       mon_format_count(label->live, live, sizeof(live)));
	x += 7;
	if (bar_width > 0) {
		mon_draw_bar(pen->grid, x, pen->y, bar_width, MON_ACCENT, true, label->live_bytes,
			     whole_bytes);
		x += bar_width + 1;
	}
	mon_draw_right(pen->grid, x, pen->y, columns, MON_NORMAL,
		       mon_format_bytes(label->live_bytes, pen->units, bytes, sizeof(bytes)));
	x += columns + 1;
	mon_format_count(label->allocated, allocated, sizeof(allocated));
	mon_draw_right(pen->grid, x, pen->y, 6, MON_NORMAL, allocated);
	mon_draw_text(pen->grid, x + 7, pen->y, pen->x + pen->width - x - 7, MON_DIM, "new");
	pen->y++;
}

static void draw_fact(struct mon_pen *pen, const char *name, const char *number, const char *rest)
{
	mon_draw_text(pen->grid, pen->x, pen->y, 11, MON_DIM, name);
	mon_draw_right(pen->grid, pen->x + 12, pen->y, 6, MON_BOLD, number);
	mon_draw_text(pen->grid, pen->x + 19, pen->y, pen->width - 19, MON_NORMAL, rest);
	pen->y++;
}

static void draw_contexts_and_modules(struct mon_pen *pen)
{
	const struct analysis_derived *derived = &pen->process->derived;
	char number[MON_NUMBER_BYTES], up[MON_NUMBER_BYTES], down[MON_NUMBER_BYTES], rest[96];
#define COUNT(name, buffer)                                                                        \
	mon_format_count(mon_process_field(pen->process, TELE_ID_census_##name), buffer,           \
			 sizeof(buffer))
	snprintf(rest, sizeof(rest), "unreleased (%s created, %s released)",
		 COUNT(contexts_created, up), COUNT(contexts_released, down));
	draw_fact(pen, "contexts",
		  mon_format_signed_count(derived->unreleased_contexts, number, sizeof(number)),
		  rest);
	snprintf(rest, sizeof(rest), "live (%s loaded, %s unloaded)", COUNT(modules_loaded, up),
		 COUNT(modules_unloaded, down));
	draw_fact(pen, "modules",
		  mon_format_signed_count(derived->live_modules, number, sizeof(number)), rest);
#undef COUNT
}

static void draw_outlived(struct mon_pen *pen)
{
	uint64_t n_pools = mon_process_field(pen->process, TELE_ID_census_outlived_pools);
	char number[MON_NUMBER_BYTES], bytes[MON_NUMBER_BYTES], rest[96];
	if (n_pools == 0 || n_pools == TELE_UNKNOWN)
		return;
	mon_format_bytes(mon_process_field(pen->process, TELE_ID_census_outlived_bytes), pen->units,
			 bytes, sizeof(bytes));
	snprintf(rest, sizeof(rest), "pools still there after their owner closed, %s", bytes);
	draw_fact(pen, "outlived", mon_format_count(n_pools, number, sizeof(number)), rest);
}

// Invariants that do not hold, the books apart: they have a line of their own.
static void draw_broken(struct mon_pen *pen)
{
	const struct tele_schema *schema = pen->process->instance->schema;
	for (uint32_t i = 0; i < pen->process->n_broken; i++) {
		char name[200];
		if (i >= TELE_ARRAY_LEN(pen->process->broken))
			break;
		const struct analysis_broken *broken = &pen->process->broken[i];
		if (schema->fields[broken->target].bucket == TELE_BUCKET_TOTAL)
			continue;
		tele_field_full_name(&schema->fields[broken->target], name, sizeof(name));
		mon_draw_format(pen->grid, pen->x, pen->y++, pen->width, MON_BAD,
				"%.120s does not add up: off by %+lld", name,
				(long long)broken->off);
	}
}

void mon_draw_census(struct mon_pen *pen)
{
	const struct place place = {"census", TELE_NO_INSTANCE};
	struct label labels[LABELS_MAX];
	char freed[MON_NUMBER_BYTES], peak[MON_NUMBER_BYTES], rest[128];
	const struct analysis_derived *derived = &pen->process->derived;
	uint32_t n_labels = read_labels(pen->process, &place, labels);
	if (n_labels == 0 && derived->live_pools == TELE_UNKNOWN &&
	    !derived->unreleased_contexts.is_known && !derived->live_modules.is_known) {
		mon_draw_title(pen, "CENSUS", "n/a: no pool, context or module was recorded",
			       MON_DIM);
		return;
	}
	mon_format_count(mon_process_field(pen->process, TELE_ID_census_pools_freed), freed,
			 sizeof(freed));
	mon_format_bytes(mon_process_field(pen->process, TELE_ID_census_peak_pool_bytes),
			 pen->units, peak, sizeof(peak));
	snprintf(rest, sizeof(rest), "live pools by label, %s freed, peak %s", freed, peak);
	mon_draw_title(pen, "CENSUS", rest, MON_NORMAL);
	uint64_t whole_bytes = sum_bytes(labels, n_labels);
	for (uint32_t i = 0; i < n_labels; i++)
		draw_label(pen, &labels[i], whole_bytes);
	draw_contexts_and_modules(pen);
	draw_outlived(pen);
	draw_broken(pen);
}

// ---- Devices ------------------------------------------------------------------

static void draw_device_title(struct mon_pen *pen, uint32_t instance, uint64_t used_bytes,
			      uint64_t total_bytes)
{
	char title[32], used[MON_NUMBER_BYTES], total[MON_NUMBER_BYTES];
	const char *name = mon_process_string(pen->process, TELE_ID_device_name, instance);
	int end = pen->x + pen->width;
	snprintf(title, sizeof(title), "DEVICE %u", instance);
	int x = pen->x + mon_draw_text(pen->grid, pen->x, pen->y, pen->width, MON_TITLE, title) + 2;
	if (name)
		x += mon_draw_text(pen->grid, x, pen->y, (end - x) / 2, MON_NORMAL, name) + 2;
	mon_format_bytes(used_bytes, pen->units, used, sizeof(used));
	mon_format_bytes(total_bytes, pen->units, total, sizeof(total));
	bool is_over = used_bytes != TELE_UNKNOWN && total_bytes != TELE_UNKNOWN &&
		       used_bytes > total_bytes;
	mon_draw_format(pen->grid, x, pen->y, end - x, is_over ? MON_BAD : MON_NORMAL,
			"used %s of %s%s", used, total, is_over ? ", over" : "");
	pen->y++;
}

static void draw_device(struct mon_pen *pen, uint32_t instance)
{
	const struct place place = {"device", instance};
	struct label labels[LABELS_MAX];
	uint64_t used_bytes = mon_process_value(pen->process, TELE_ID_device_used_bytes, instance);
	uint64_t total_bytes =
		mon_process_value(pen->process, TELE_ID_device_total_bytes, instance);
	uint32_t n_labels = read_labels(pen->process, &place, labels);
	uint64_t pool_bytes = sum_bytes(labels, n_labels);
	uint64_t whole_bytes = total_bytes == TELE_UNKNOWN ? pool_bytes : total_bytes;
	draw_device_title(pen, instance, used_bytes, total_bytes);
	for (uint32_t i = 0; i < n_labels; i++)
		draw_label(pen, &labels[i], whole_bytes);
	if (used_bytes == TELE_UNKNOWN || pool_bytes == TELE_UNKNOWN || used_bytes <= pool_bytes)
		return;
	char other[MON_NUMBER_BYTES];
	int columns = mon_bytes_columns(pen->units);
	mon_draw_text(pen->grid, pen->x, pen->y, 11, MON_DIM, "other");
	mon_draw_right(pen->grid, pen->x + 12, pen->y, columns, MON_NORMAL,
		       mon_format_bytes(used_bytes - pool_bytes, pen->units, other, sizeof(other)));
	mon_draw_text(pen->grid, pen->x + 14 + columns, pen->y, pen->width - 14 - columns, MON_DIM,
		      "driver and other processes");
	pen->y++;
}

void mon_draw_devices(struct mon_pen *pen)
{
	uint32_t devices[DEVICES_MAX];
	uint32_t n_devices =
		mon_process_instances(pen->process, TELE_SECTION_DEVICE, devices, DEVICES_MAX);
	for (uint32_t i = 0; i < n_devices && i < DEVICES_MAX; i++)
		draw_device(pen, devices[i]);
}
