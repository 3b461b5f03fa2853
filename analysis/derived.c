// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What follows from one row. Live pools are summed over every label the schema
// has, those of later versions included: a field census.live_LABEL_pools is
// one. The table of names at the end is the JSON contract.

#include "derived.h"

#include <string.h>

#include "../libtelemetry/banned.h"

static bool is_live_of_any_label(const struct tele_field *field, const char *suffix)
{
	static const char prefix[] = "live_";
	size_t name_len = strlen(field->name);
	size_t suffix_len = strlen(suffix);
	return name_len > sizeof(prefix) - 1 + suffix_len &&
	       memcmp(field->name, prefix, sizeof(prefix) - 1) == 0 &&
	       strcmp(field->name + name_len - suffix_len, suffix) == 0;
}

// The sum of the live counts (or bytes) of all labels; unknown when one is, or
// when there is none.
static uint64_t sum_labels(const struct tele_schema *schema, const uint64_t *row, uint32_t n_fields,
			   const char *suffix)
{
	uint64_t sum = 0;
	bool has_any = false;
	for (uint32_t i = 0; i < schema->n_fields; i++) {
		const struct tele_field *field = &schema->fields[i];
		if (field->builtin >= 0 &&
		    tele_builtin_fields[field->builtin].section != TELE_SECTION_CENSUS)
			continue;
		if (strcmp(field->section, "census") != 0 || field->instance != TELE_NO_INSTANCE ||
		    field->kind == TELE_RETIRED || !is_live_of_any_label(field, suffix))
			continue;
		if (i >= n_fields || row[i] == TELE_UNKNOWN)
			return TELE_UNKNOWN;
		if (__builtin_add_overflow(sum, row[i], &sum) || sum == TELE_UNKNOWN)
			return TELE_UNKNOWN - 1;
		has_any = true;
	}
	return has_any ? sum : TELE_UNKNOWN;
}

// Of the devices whose use was observed: what everybody used then, less what the
// driver holds for this process now.
static struct analysis_signed unattributed(const struct tele_schema *schema, const uint64_t *row,
					   uint32_t n_fields)
{
	struct analysis_signed rest = {0};
	for (uint32_t i = 0; i < schema->n_fields; i++) {
		const struct tele_field *field = &schema->fields[i];
		if (field->builtin != TELE_ID_device_used_bytes)
			continue;
		uint64_t used = tele_schema_value(schema, TELE_ID_device_used_bytes, field->instance, row, n_fields);
		uint64_t live = tele_schema_value(schema, TELE_ID_driver_live_bytes, field->instance, row, n_fields);
		if (used > INT64_MAX || live > INT64_MAX)
			continue;
		rest.is_known = true;
		if (__builtin_add_overflow(rest.value, (int64_t)used - (int64_t)live, &rest.value))
			return (struct analysis_signed){0};
	}
	return rest;
}

void analysis_derived_read(const struct tele_schema *schema, const uint64_t *row, uint32_t n_fields,
			   struct analysis_derived *ret_derived)
{
	struct analysis_derived derived;
	analysis_books_read(schema, row, n_fields, &derived.books);
	analysis_residency_of_books(schema, row, n_fields, &derived.books, &derived.residency);
	derived.live_pools = sum_labels(schema, row, n_fields, "_pools");
	derived.live_pool_bytes = sum_labels(schema, row, n_fields, "_bytes");
#define VALUE(id) tele_schema_value(schema, TELE_ID_census_##id, TELE_NO_INSTANCE, row, n_fields)
	derived.live_modules = analysis_difference(VALUE(modules_loaded), VALUE(modules_unloaded));
	derived.unreleased_contexts =
		analysis_difference(VALUE(contexts_created), VALUE(contexts_released));
#undef VALUE
	derived.unattributed = unattributed(schema, row, n_fields);
	derived.overhead = derived.foreign = (struct analysis_signed){0};
	*ret_derived = derived;
}

// The JSON contract: names in order, and where the number stands.
static const struct {
	const char *name;
	size_t offset;
	bool is_signed;
} numbers[] = {
#define AT(member) offsetof(struct analysis_derived, member)
	{"unexplained_bytes", AT(books.unexplained_bytes), true},
	{"predicted_resident_bytes", AT(residency.predicted_bytes), false},
	{"predicted_resident_floor_bytes", AT(residency.predicted_floor_bytes), false},
	{"rss_bytes", AT(residency.rss_bytes), false},
	{"residual_bytes", AT(residency.residual_bytes), true},
	{"residual_untouched_bytes", AT(residency.untouched_bytes), true},
	{"residual_file_bytes", AT(residency.file_bytes), true},
	{"residual_shmem_bytes", AT(residency.shmem_bytes), true},
	{"residual_own_bytes", AT(residency.own_bytes), true},
	{"residual_other_bytes", AT(residency.other_bytes), true},
	{"live_pools", AT(live_pools), false},
	{"live_pool_bytes", AT(live_pool_bytes), false},
	{"live_modules", AT(live_modules), true},
	{"unreleased_contexts", AT(unreleased_contexts), true},
	{"residual_huge_bytes", AT(residency.huge_bytes), true},
	{"unattributed_bytes", AT(unattributed), true},
	{"overhead_bytes", AT(overhead), true},
	{"foreign_bytes", AT(foreign), true},
#undef AT
};

bool analysis_derived_at(const struct analysis_derived *derived, size_t index,
			 struct analysis_derived_number *ret_number)
{
	if (index >= TELE_ARRAY_LEN(numbers))
		return false;
	const void *at = (const char *)derived + numbers[index].offset;
	struct analysis_derived_number number = {.name = numbers[index].name};
	if (numbers[index].is_signed) {
		const struct analysis_signed *value = at;
		number.is_known = value->is_known;
		number.is_negative = value->value < 0;
		number.magnitude = (uint64_t)value->value;
		if (number.is_negative)
			number.magnitude = UINT64_C(0) - number.magnitude;
	} else {
		const uint64_t *value = at;
		number.is_known = *value != TELE_UNKNOWN;
		number.magnitude = number.is_known ? *value : 0;
	}
	*ret_number = number;
	return true;
}
