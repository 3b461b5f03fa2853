// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// An observer has a slot for each process and device, which says itself of whom
// it speaks. Where several observers spoke, as in a trace of two recordings, the
// newest is believed.

#include "outside.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../libtelemetry/banned.h"

struct analysis_told {
	const struct tele_instance *instance;
	uint64_t *row;
	uint32_t n_fields, capacity;
};

void analysis_outside_find(const struct tele_schema *schema, const uint64_t *row, uint32_t n_fields,
			   uint64_t subject, uint32_t device, struct tele_outside_values *values)
{
	for (uint32_t i = 0; i < schema->n_fields && i < n_fields; i++) {
		if (schema->fields[i].builtin != TELE_ID_outside_captured_at_ns)
			continue;
		uint32_t slot = schema->fields[i].instance;
#define VALUE(name) tele_schema_value(schema, TELE_ID_outside_##name, slot, row, n_fields)
		if (VALUE(subject) != subject || VALUE(device) != device || row[i] == TELE_UNKNOWN ||
		    row[i] < values->captured_at_ns)
			continue;
		*values = (struct tele_outside_values){
			.captured_at_ns = row[i],
			.subject = subject,
			.device = device,
			.process_bytes = VALUE(process_bytes),
			.used_bytes = VALUE(used_bytes),
			.total_bytes = VALUE(total_bytes),
			.all_processes_bytes = VALUE(all_processes_bytes),
		};
#undef VALUE
	}
}

void analysis_outside_residuals(const struct tele_outside_values *told, uint64_t live_bytes,
				struct analysis_signed *ret_overhead, struct analysis_signed *ret_foreign)
{
	*ret_overhead = *ret_foreign = (struct analysis_signed){0};
	// In a container, where processes go by other numbers, their sum says nothing.
	if (told->captured_at_ns == 0 || told->process_bytes == TELE_UNKNOWN)
		return;
	*ret_overhead = analysis_difference(told->process_bytes, live_bytes);
	*ret_foreign = analysis_difference(told->used_bytes, told->all_processes_bytes);
}

static void add(struct analysis_signed *sum, struct analysis_signed value)
{
	if (value.is_known)
		sum->is_known = !__builtin_add_overflow(sum->value, value.value, &sum->value);
}

void analysis_outside_sum(analysis_outside_find_fn *find, const void *context, uint64_t subject,
			  const struct tele_schema *schema, const uint64_t *row, uint32_t n_fields,
			  struct analysis_signed *ret_overhead, struct analysis_signed *ret_foreign)
{
	*ret_overhead = *ret_foreign = (struct analysis_signed){0};
	for (uint32_t i = 0; i < schema->n_fields && i < n_fields; i++) {
		struct tele_outside_values told = {0};
		struct analysis_signed overhead, foreign;
		if (schema->fields[i].builtin != TELE_ID_driver_live_bytes)
			continue;
		find(context, subject, schema->fields[i].instance, &told);
		analysis_outside_residuals(&told, row[i], &overhead, &foreign);
		add(ret_overhead, overhead);
		add(ret_foreign, foreign);
	}
}

// ---- Along a source --------------------------------------------------------------

static struct analysis_told *told_by(struct analysis_outside *outside, const struct tele_instance *instance)
{
	for (uint32_t i = 0; i < outside->n_items; i++)
		if (outside->items[i].instance == instance)
			return &outside->items[i];
	struct analysis_told *grown = realloc(outside->items, (outside->n_items + 1) * sizeof(*grown));
	if (!grown)
		return NULL;
	outside->items = grown;
	grown[outside->n_items] = (struct analysis_told){.instance = instance};
	return &grown[outside->n_items++];
}

int analysis_outside_take(struct analysis_outside *outside, const struct tele_record *record)
{
	if (record->kind != TELE_RECORD_ROW || !record->instance->identity.is_observer)
		return 0;
	struct analysis_told *told = told_by(outside, record->instance);
	if (!told)
		return -ENOMEM;
	if (told->capacity < record->n_fields) {
		uint64_t *grown = realloc(told->row, record->n_fields * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		told->row = grown;
		told->capacity = record->n_fields;
	}
	if (record->n_fields)
		memcpy(told->row, record->row, record->n_fields * sizeof(*told->row));
	told->n_fields = record->n_fields;
	return 0;
}

void analysis_outside_fini(struct analysis_outside *outside)
{
	for (uint32_t i = 0; i < outside->n_items; i++)
		free(outside->items[i].row);
	free(outside->items);
	*outside = (struct analysis_outside){0};
}

static void find_along(const void *context, uint64_t subject, uint32_t device,
		       struct tele_outside_values *ret_values)
{
	const struct analysis_outside *outside = context;
	for (uint32_t i = 0; i < outside->n_items; i++)
		analysis_outside_find(outside->items[i].instance->schema, outside->items[i].row,
				      outside->items[i].n_fields, subject, device, ret_values);
}

void analysis_outside_read(const struct analysis_outside *outside, const struct tele_record *record,
			   struct analysis_signed *ret_overhead, struct analysis_signed *ret_foreign)
{
	const struct tele_instance *instance = record->instance;
	*ret_overhead = *ret_foreign = (struct analysis_signed){0};
	if (outside->n_items > 0)
		analysis_outside_sum(find_along, outside, instance->identity.instance_id, instance->schema,
				     record->row, record->n_fields, ret_overhead, ret_foreign);
}
