// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A class is a field, the difference of two counters, the residual that
// derived.h tells, or the sum over devices. Unknown stays unknown: a difference
// needs both, a sum all of them. Where each stands in a row is looked up once,
// when the schema brings it, so that reading a row is a walk over positions.

#include "classes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "residency.h"

#include "../libtelemetry/banned.h"

#define NOWHERE UINT32_MAX

enum source_kind {
	SOURCE_FIELD,
	SOURCE_USED, // a field too: what SOURCE_DEVICES adds up
	SOURCE_DIFFERENCE,
	SOURCE_RESIDUAL,
	SOURCE_DEVICES
};

struct analysis_class_source {
	enum source_kind kind;
	uint32_t plus, minus; // positions in a row
	uint32_t device;
};

// One class of every process or device.
struct class_row {
	const char *name, *bytes, *total; // NULL: none
	enum source_kind kind;
	uint16_t plus, minus; // field ids
	bool is_effect;
};

#define POOLS(section, label)                                                                              \
	{#label "_pools", #label "_bytes", NULL, SOURCE_FIELD, TELE_ID_##section##_live_##label##_pools, 0, false}, \
	{#label "_bytes", NULL, "device_used_bytes", SOURCE_FIELD, TELE_ID_##section##_live_##label##_bytes, 0, false}
#define CENSUS(section)                                                                                  \
	POOLS(section, working), POOLS(section, constant), POOLS(section, staging),                      \
	POOLS(section, unlabelled),                                                                      \
	{"contexts", NULL, NULL, SOURCE_DIFFERENCE, TELE_ID_##section##_contexts_created,                \
	 TELE_ID_##section##_contexts_released, false},                                                         \
	{"modules", NULL, NULL, SOURCE_DIFFERENCE, TELE_ID_##section##_modules_loaded,                   \
	 TELE_ID_##section##_modules_unloaded, false}

static const struct class_row process_rows[] = {
	CENSUS(census),
	{"device_used_bytes", NULL, NULL, SOURCE_DEVICES, 0, 0, true},
	{"heap_live_bytes", NULL, "rss_bytes", SOURCE_FIELD, TELE_ID_heap_live_bytes, 0, true},
	{"heap_mapped_bytes", NULL, NULL, SOURCE_FIELD, TELE_ID_heap_mapped_bytes, 0, true},
	{"rss_bytes", NULL, NULL, SOURCE_FIELD, TELE_ID_host_rss_bytes, 0, true},
	{"residual_bytes", NULL, "rss_bytes", SOURCE_RESIDUAL, 0, 0, true},
};
static const struct class_row device_rows[] = {
	CENSUS(device),
	{"device_used_bytes", NULL, NULL, SOURCE_USED, TELE_ID_device_used_bytes, 0, true},
};

void analysis_classes_fini(struct analysis_classes *classes)
{
	free(classes->items);
	free(classes->sources);
	*classes = (struct analysis_classes){0};
}

int analysis_classes_copy(const struct analysis_classes *classes, struct analysis_classes *ret_copy)
{
	struct analysis_classes copy = *classes;
	copy.items = malloc((classes->n_items + 1) * sizeof(*copy.items));
	copy.sources = malloc((classes->n_items + 1) * sizeof(*copy.sources));
	copy.capacity = classes->n_items;
	*ret_copy = copy;
	if (!copy.items || !copy.sources) {
		analysis_classes_fini(ret_copy);
		return -ENOMEM;
	}
	if (classes->n_items == 0)
		return 0;
	memcpy(copy.items, classes->items, classes->n_items * sizeof(*copy.items));
	memcpy(copy.sources, classes->sources, classes->n_items * sizeof(*copy.sources));
	return 0;
}

static int make_room(struct analysis_classes *classes)
{
	if (classes->n_items < classes->capacity)
		return 0;
	size_t wanted = classes->capacity ? 2 * classes->capacity : TELE_ARRAY_LEN(process_rows) + TELE_ARRAY_LEN(device_rows);
	struct analysis_class *items = realloc(classes->items, wanted * sizeof(*items));
	if (!items)
		return -ENOMEM;
	classes->items = items;
	struct analysis_class_source *sources = realloc(classes->sources, wanted * sizeof(*sources));
	if (!sources)
		return -ENOMEM;
	classes->sources = sources;
	classes->capacity = wanted;
	return 0;
}

// Adds one class and returns it, or NULL: no memory, or full.
static struct analysis_class *add(struct analysis_classes *classes, enum tele_unit unit,
				  struct analysis_class_source source)
{
	classes->is_full |= classes->n_items == ANALYSIS_CLASSES_MAX;
	if (classes->is_full || make_room(classes) < 0)
		return NULL;
	struct analysis_class *class = &classes->items[classes->n_items];
	*class = (struct analysis_class){
		.unit = unit,
		.bytes_class = ANALYSIS_NO_CLASS,
		.total_class = ANALYSIS_NO_CLASS,
	};
	classes->sources[classes->n_items++] = source;
	return class;
}

static uint32_t position_of(const struct tele_schema *schema, uint16_t id, uint32_t device)
{
	int64_t position = tele_schema_position(schema, (enum tele_field_id)id, device);
	return position < 0 ? NOWHERE : (uint32_t)position;
}

static bool has_fields(const struct class_row *row, const struct analysis_class_source *source)
{
	if (row->kind == SOURCE_FIELD || row->kind == SOURCE_USED)
		return source->plus != NOWHERE;
	return row->kind != SOURCE_DIFFERENCE || (source->plus != NOWHERE && source->minus != NOWHERE);
}

static void write_name(char *buffer, const char *name, uint32_t device)
{
	if (device == TELE_NO_INSTANCE)
		snprintf(buffer, ANALYSIS_CLASS_NAME_MAX, "%s", name);
	else
		snprintf(buffer, ANALYSIS_CLASS_NAME_MAX, "device[%u].%s", device, name);
}

static int find_of(const struct analysis_classes *classes, const char *name, uint32_t device)
{
	char full[ANALYSIS_CLASS_NAME_MAX];
	if (!name)
		return ANALYSIS_NO_CLASS;
	write_name(full, name, device);
	return analysis_classes_find(classes, full);
}

static int add_rows(struct analysis_classes *classes, const struct tele_schema *schema,
		    const struct class_row *rows, size_t n_rows, uint32_t device)
{
	size_t first = classes->n_items;
	for (size_t i = 0; i < n_rows; i++) {
		struct analysis_class_source source = {.kind = rows[i].kind, .device = device};
		source.plus = position_of(schema, rows[i].plus, device);
		source.minus = position_of(schema, rows[i].minus, device);
		if (!has_fields(&rows[i], &source))
			continue;
		bool is_bytes = rows[i].kind == SOURCE_RESIDUAL || rows[i].kind == SOURCE_DEVICES ||
				tele_builtin_fields[rows[i].plus].unit == TELE_BYTES;
		struct analysis_class *class = add(classes, is_bytes ? TELE_BYTES : TELE_COUNT, source);
		if (!class)
			return classes->is_full ? 0 : -ENOMEM;
		write_name(class->name, rows[i].name, device);
		class->is_effect = rows[i].is_effect;
	}
	for (size_t i = 0, at = first; i < n_rows && at < classes->n_items; i++) {
		struct analysis_class *class = &classes->items[at];
		if (find_of(classes, rows[i].name, device) != (int)at)
			continue;
		class->bytes_class = find_of(classes, rows[i].bytes, device);
		class->total_class = find_of(classes, rows[i].total, device);
		at++;
	}
	return 0;
}

static int add_app(struct analysis_classes *classes, const struct tele_field *field, uint32_t position)
{
	if (field->builtin >= 0 || strcmp(field->section, "app") != 0 || field->kind != TELE_GAUGE ||
	    field->unit == TELE_STRING || field->unit == TELE_TIME_NS)
		return 0;
	struct analysis_class_source source = {SOURCE_FIELD, position, NOWHERE, TELE_NO_INSTANCE};
	struct analysis_class *class = add(classes, field->unit == TELE_BYTES ? TELE_BYTES : TELE_COUNT, source);
	if (!class)
		return classes->is_full ? 0 : -ENOMEM;
	tele_field_full_name(field, class->name, sizeof(class->name));
	return 0;
}

int analysis_classes_extend(struct analysis_classes *classes, const struct tele_schema *schema)
{
	size_t n_before = classes->n_items;
	uint32_t n_devices = classes->n_devices;
	int result = 0;
	if (schema->n_fields == classes->n_fields)
		return 0;
	if (classes->n_fields == 0)
		result = add_rows(classes, schema, process_rows, TELE_ARRAY_LEN(process_rows), TELE_NO_INSTANCE);
	for (uint32_t i = classes->n_fields; i < schema->n_fields && result >= 0; i++) {
		const struct tele_field *field = &schema->fields[i];
		if (field->builtin != TELE_ID_device_captured_at_ns) {
			result = add_app(classes, field, i);
			continue;
		}
		result = add_rows(classes, schema, device_rows, TELE_ARRAY_LEN(device_rows), field->instance);
		classes->n_devices++;
	}
	if (result < 0) {
		classes->n_items = n_before;
		classes->n_devices = n_devices;
		return result;
	}
	classes->n_fields = schema->n_fields;
	return (int)(classes->n_items - n_before);
}

static uint64_t value_at(const uint64_t *row, uint32_t n_fields, uint32_t position)
{
	return position < n_fields ? row[position] : TELE_UNKNOWN;
}

static uint64_t residual_of(const struct tele_schema *schema, const uint64_t *row, uint32_t n_fields)
{
	struct analysis_signed residual = analysis_residual_read(schema, row, n_fields);
	// The lowest stands for all that are lower.
	return residual.is_known && residual.value != INT64_MIN ? (uint64_t)residual.value : TELE_UNKNOWN;
}

static uint64_t sum_of_devices(const struct analysis_classes *classes, const uint64_t *row, uint32_t n_fields)
{
	uint64_t sum = TELE_UNKNOWN;
	for (size_t i = 0; i < classes->n_items; i++) {
		const struct analysis_class_source *source = &classes->sources[i];
		if (source->kind != SOURCE_USED)
			continue;
		uint64_t used = value_at(row, n_fields, source->plus);
		if (used == TELE_UNKNOWN)
			return TELE_UNKNOWN;
		sum = sum == TELE_UNKNOWN ? used : sum + used;
	}
	return sum;
}

uint64_t analysis_classes_value(const struct analysis_classes *classes, size_t index, const struct tele_schema *schema,
				const uint64_t *row, uint32_t n_fields)
{
	const struct analysis_class_source *source = &classes->sources[index];
	uint64_t plus = value_at(row, n_fields, source->plus), minus = 0;
	switch (source->kind) {
	case SOURCE_DIFFERENCE:
		minus = value_at(row, n_fields, source->minus);
		return plus == TELE_UNKNOWN || minus == TELE_UNKNOWN ? TELE_UNKNOWN : plus - minus;
	case SOURCE_FIELD:
	case SOURCE_USED:
		return plus;
	case SOURCE_RESIDUAL:
		return residual_of(schema, row, n_fields);
	case SOURCE_DEVICES:
		return sum_of_devices(classes, row, n_fields);
	}
	return TELE_UNKNOWN;
}

void analysis_classes_read(const struct analysis_classes *classes, const struct tele_schema *schema,
			   const uint64_t *row, uint32_t n_fields, uint64_t *ret_values)
{
	for (size_t i = 0; i < classes->n_items; i++)
		ret_values[i] = analysis_classes_value(classes, i, schema, row, n_fields);
}

int analysis_classes_find(const struct analysis_classes *classes, const char *name)
{
	for (size_t i = 0; i < classes->n_items; i++)
		if (strcmp(classes->items[i].name, name) == 0)
			return (int)i;
	return ANALYSIS_NO_CLASS;
}

uint32_t analysis_classes_device(const struct analysis_classes *classes, size_t index)
{
	return classes->sources[index].device;
}

bool analysis_classes_is_echo(const struct analysis_classes *classes, size_t index)
{
	return classes->n_devices == 1 && classes->sources[index].device != TELE_NO_INSTANCE;
}
