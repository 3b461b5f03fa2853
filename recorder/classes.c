// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A class is a field, or the difference of two counters, or the residual that
// analysis/ derives. Unknown stays unknown: a difference needs both.

#include "classes.h"

#include "../analysis/derived.h"

#include "../libtelemetry/banned.h"

struct class_row {
	const char *name;
	uint16_t plus, minus; // field ids; minus == plus: none
};

#define OF(name, section, field) {name, TELE_ID_##section##_##field, TELE_ID_##section##_##field}
#define BETWEEN(name, section, field, less) {name, TELE_ID_##section##_##field, TELE_ID_##section##_##less}
#define CENSUS_CLASSES(section)                                               \
	OF("working_pools", section, live_working_pools),                     \
	OF("working_bytes", section, live_working_bytes),                     \
	OF("constant_pools", section, live_constant_pools),                   \
	OF("constant_bytes", section, live_constant_bytes),                   \
	OF("staging_pools", section, live_staging_pools),                     \
	OF("staging_bytes", section, live_staging_bytes),                     \
	OF("unlabelled_pools", section, live_unlabelled_pools),               \
	OF("unlabelled_bytes", section, live_unlabelled_bytes),               \
	BETWEEN("contexts", section, contexts_created, contexts_released),    \
	BETWEEN("modules", section, modules_loaded, modules_unloaded)

static const struct class_row process_classes[] = {CENSUS_CLASSES(census)};
static const struct class_row device_classes[] = {
	CENSUS_CLASSES(device),
	OF("device_used_bytes", device, used_bytes),
};
static const struct class_row host_classes[] = {
	OF("heap_live_bytes", heap, live_bytes),
	OF("heap_mapped_bytes", heap, mapped_bytes),
	OF("rss_bytes", host, rss_bytes),
};

struct reading {
	const struct tele_schema *schema;
	const uint64_t *row;
	uint32_t n_fields;
	rec_class_fn take;
	void *context;
};

static int take_rows(const struct reading *reading, const struct class_row *rows, size_t n_rows,
		     uint32_t instance)
{
	for (size_t i = 0; i < n_rows; i++) {
		struct rec_class_value value = {.unit = tele_builtin_fields[rows[i].plus].unit};
		uint64_t plus = tele_schema_value(reading->schema, rows[i].plus, instance, reading->row,
						  reading->n_fields);
		uint64_t minus = rows[i].minus == rows[i].plus
					 ? 0
					 : tele_schema_value(reading->schema, rows[i].minus, instance,
							     reading->row, reading->n_fields);
		value.is_known = plus != TELE_UNKNOWN && minus != TELE_UNKNOWN;
		value.value = value.is_known ? (int64_t)(plus - minus) : 0;
		if (instance != TELE_NO_INSTANCE)
			snprintf(value.name, sizeof(value.name), "device[%u].%s", instance, rows[i].name);
		else
			snprintf(value.name, sizeof(value.name), "%s", rows[i].name);
		int result = reading->take(reading->context, &value);
		if (result < 0)
			return result;
	}
	return 0;
}

static int take_devices(const struct reading *reading)
{
	for (uint32_t i = 0; i < reading->schema->n_fields; i++) {
		const struct tele_field *field = &reading->schema->fields[i];
		if (field->builtin != TELE_ID_device_captured_at_ns)
			continue;
		int result = take_rows(reading, device_classes, TELE_ARRAY_LEN(device_classes),
				       field->instance);
		if (result < 0)
			return result;
	}
	return 0;
}

static int take_residual(const struct reading *reading)
{
	struct analysis_derived derived;
	struct analysis_derived_number number;
	struct rec_class_value value = {.name = "residual_bytes", .unit = TELE_BYTES};
	analysis_derived_read(reading->schema, reading->row, reading->n_fields, &derived);
	for (size_t i = 0; analysis_derived_at(&derived, i, &number); i++)
		if (strcmp(number.name, value.name) == 0) {
			value.is_known = number.is_known && number.magnitude <= INT64_MAX;
			value.value = number.is_negative ? -(int64_t)number.magnitude
							 : (int64_t)number.magnitude;
		}
	return reading->take(reading->context, &value);
}

static int take_app(const struct reading *reading)
{
	for (uint32_t i = 0; i < reading->schema->n_fields; i++) {
		const struct tele_field *field = &reading->schema->fields[i];
		if (field->builtin >= 0 || strcmp(field->section, "app") != 0 ||
		    field->unit == TELE_STRING || field->unit == TELE_TIME_NS)
			continue;
		struct rec_class_value value = {.unit = field->unit};
		uint64_t number = i < reading->n_fields ? reading->row[i] : TELE_UNKNOWN;
		value.is_known = number <= INT64_MAX;
		value.value = value.is_known ? (int64_t)number : 0;
		tele_field_full_name(field, value.name, sizeof(value.name));
		int result = reading->take(reading->context, &value);
		if (result < 0)
			return result;
	}
	return 0;
}

int rec_each_class(const struct tele_schema *schema, const uint64_t *row, uint32_t n_fields,
		   rec_class_fn take, void *context)
{
	const struct reading reading = {schema, row, n_fields, take, context};
	int result = take_rows(&reading, process_classes, TELE_ARRAY_LEN(process_classes), TELE_NO_INSTANCE);
	if (result >= 0)
		result = take_devices(&reading);
	if (result >= 0)
		result = take_rows(&reading, host_classes, TELE_ARRAY_LEN(host_classes), TELE_NO_INSTANCE);
	if (result >= 0)
		result = take_residual(&reading);
	return result < 0 ? result : take_app(&reading);
}
