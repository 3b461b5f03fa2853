// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Writing a schema, record by record, from the built-in tables and from what
// the program registers. A record is written whole or not at all: on failure
// used_bytes and the plan are what they were. The plan grows along, so that
// writer and reader predict alike.

#include "schema.h"

#include "crc32c.h"
#include "schema_wire.h"

#include <errno.h>
#include <string.h>

#include "banned.h"

static void *claim(struct tele_schema_writer *writer, size_t bytes, unsigned type)
{
	size_t aligned = tele_align_up(bytes, 8);
	if (aligned > UINT16_MAX || aligned > writer->capacity_bytes - writer->used_bytes)
		return NULL;
	uint8_t *record = writer->bytes + writer->used_bytes;
	memset(record, 0, aligned);
	struct tele_schema_head head = {.bytes = (uint16_t)aligned, .type = (uint8_t)type};
	memcpy(record, &head, sizeof(head));
	return record;
}

static void seal(struct tele_schema_writer *writer, void *record)
{
	struct tele_schema_head *head = record;
	head->checksum = 0;
	head->checksum = tele_crc32c(0, record, head->bytes);
	writer->used_bytes += head->bytes;
}

static int write_section(struct tele_schema_writer *writer, unsigned number)
{
	const struct tele_builtin_section *section = &tele_builtin_sections[number];
	size_t name_bytes = strlen(section->name);
	size_t help_bytes = strlen(section->help);
	struct tele_schema_section *record =
		claim(writer, sizeof(*record) + name_bytes + help_bytes + 2, TELE_SCHEMA_SECTION);
	if (!record)
		return -ENOSPC;
	TELE_ASSERT(name_bytes <= UINT8_MAX && help_bytes <= UINT8_MAX);
	record->number = (uint16_t)number;
	record->scope = (uint8_t)section->scope;
	record->name_bytes = (uint8_t)name_bytes;
	record->help_bytes = (uint8_t)help_bytes;
	char *text = (char *)(record + 1);
	memcpy(text, section->name, name_bytes + 1);
	memcpy(text + name_bytes + 1, section->help, help_bytes + 1);
	seal(writer, record);
	return 0;
}

struct field_spec {
	const char *name, *label, *help;
	uint32_t instance, age_index, reference;
	unsigned section, since, kind, unit, bucket, memory, resident, predictor, shift;
};

static int write_field(struct tele_schema_writer *writer, const struct field_spec *spec)
{
	size_t name_bytes = strlen(spec->name);
	size_t label_bytes = strlen(spec->label);
	size_t help_bytes = strlen(spec->help);
	TELE_ASSERT(name_bytes <= UINT8_MAX && label_bytes <= UINT8_MAX && help_bytes <= UINT8_MAX);
	struct tele_schema_field *record =
		claim(writer, sizeof(*record) + name_bytes + label_bytes + help_bytes + 3,
		      TELE_SCHEMA_FIELD);
	if (!record)
		return -ENOSPC;
	int refused = tele_plan_add_field(writer->plan, spec->predictor, spec->shift, spec->reference);
	if (refused)
		return refused;
	record->instance = spec->instance;
	record->age_index = spec->age_index;
	record->reference = spec->reference;
	record->section = (uint16_t)spec->section;
	record->since = (uint16_t)spec->since;
	record->kind = (uint8_t)spec->kind;
	record->unit = (uint8_t)spec->unit;
	record->bucket = (uint8_t)spec->bucket;
	record->memory = (uint8_t)spec->memory;
	record->resident = (uint8_t)spec->resident;
	record->predictor = (uint8_t)spec->predictor;
	record->shift = (uint8_t)spec->shift;
	record->name_bytes = (uint8_t)name_bytes;
	record->label_bytes = (uint8_t)label_bytes;
	record->help_bytes = (uint8_t)help_bytes;
	char *text = (char *)(record + 1);
	memcpy(text, spec->name, name_bytes + 1);
	text += name_bytes + 1;
	memcpy(text, spec->label, label_bytes + 1);
	text += label_bytes + 1;
	memcpy(text, spec->help, help_bytes + 1);
	seal(writer, record);
	return 0;
}

// The row's time is the first field; the main timestamp of every other section
// moves with it, other timestamps stand still until they are taken anew.
static unsigned builtin_predictor(unsigned id, uint32_t position)
{
	if (position == 0)
		return TELE_PREDICT_DOD;
	const struct tele_builtin_section *section =
		&tele_builtin_sections[tele_builtin_fields[id].section];
	return id == section->first_id ? TELE_PREDICT_OFFSET : TELE_PREDICT_DELTA;
}

static int write_invariant(struct tele_schema_writer *writer,
			   const struct tele_builtin_invariant *invariant, uint32_t first)
{
	uint32_t indexes[TELE_INVARIANT_TERMS_MAX];
	int8_t signs[TELE_INVARIANT_TERMS_MAX];
	uint32_t n_terms = 0;
	unsigned first_id = tele_builtin_sections[invariant->section].first_id;
	while (n_terms < TELE_INVARIANT_TERMS_MAX && invariant->terms[n_terms].sign) {
		indexes[n_terms] = first + invariant->terms[n_terms].id - first_id;
		signs[n_terms] = invariant->terms[n_terms].sign;
		n_terms++;
	}
	struct tele_schema_invariant *record =
		claim(writer, sizeof(*record) + (size_t)n_terms * 8, TELE_SCHEMA_INVARIANT);
	if (!record)
		return -ENOSPC;
	record->target = first + invariant->target_id - first_id;
	record->n_terms = n_terms;
	int refused = tele_plan_add_invariant(writer->plan, record->target, n_terms, indexes, signs);
	if (refused)
		return refused;
	uint8_t *at = (uint8_t *)(record + 1);
	for (uint32_t i = 0; i < n_terms; i++, at += 8) {
		int32_t sign = signs[i];
		memcpy(at, &indexes[i], 4);
		memcpy(at + 4, &sign, 4);
	}
	seal(writer, record);
	return 0;
}

// Writes all fields and invariants of a section.
static int write_section_fields(struct tele_schema_writer *writer, unsigned number,
				uint32_t instance)
{
	const struct tele_builtin_section *section = &tele_builtin_sections[number];
	uint32_t first = writer->plan->n_fields;
	for (unsigned id = section->first_id; id < (unsigned)section->first_id + section->n_fields; id++) {
		const struct tele_builtin_field *field = &tele_builtin_fields[id];
		uint32_t position = writer->plan->n_fields;
		int failed = write_field(
			writer,
			&(struct field_spec){
				.name = field->name,
				.label = field->label,
				.help = field->help,
				.instance = instance,
				.age_index = first + field->age_id - section->first_id,
				.section = number,
				.since = field->since,
				.kind = field->kind,
				.unit = field->unit,
				.bucket = field->bucket,
				.memory = field->memory,
				.resident = field->resident,
				.predictor = builtin_predictor(id, position),
				.shift = field->kind == TELE_TIMESTAMP ? TELE_TIME_SHIFT : 0,
			});
		if (failed)
			return failed;
	}
	for (size_t i = 0; i < tele_builtin_invariants_count; i++)
		if (tele_builtin_invariants[i].section == number) {
			int failed = write_invariant(writer, &tele_builtin_invariants[i], first);
			if (failed)
				return failed;
		}
	return 0;
}

static int start(struct tele_schema_writer *writer, uint8_t *bytes, size_t capacity_bytes,
		 struct tele_plan *plan, bool has_process)
{
	*writer = (struct tele_schema_writer){
		.bytes = bytes,
		.capacity_bytes = capacity_bytes,
		.plan = plan,
	};
	tele_plan_init(plan);
	for (unsigned number = 0; number < TELE_SECTION_COUNT; number++) {
		int failed = write_section(writer, number);
		if (!failed && has_process && tele_builtin_sections[number].scope == TELE_SCOPE_PROCESS)
			failed = write_section_fields(writer, number, TELE_NO_INSTANCE);
		if (failed)
			return failed;
	}
	return 0;
}

int tele_schema_write_start(struct tele_schema_writer *writer, uint8_t *bytes,
			    size_t capacity_bytes, struct tele_plan *plan)
{
	return start(writer, bytes, capacity_bytes, plan, true);
}

int tele_schema_write_start_observer(struct tele_schema_writer *writer, uint8_t *bytes,
				     size_t capacity_bytes, struct tele_plan *plan)
{
	return start(writer, bytes, capacity_bytes, plan, false);
}

// Bytes that the first instance of a section takes, so that it can be refused
// before anything is written.
static size_t section_bytes(unsigned number)
{
	const struct tele_builtin_section *section = &tele_builtin_sections[number];
	size_t bytes = 0;
	for (unsigned id = section->first_id; id < (unsigned)section->first_id + section->n_fields; id++) {
		const struct tele_builtin_field *field = &tele_builtin_fields[id];
		bytes += tele_align_up(sizeof(struct tele_schema_field) + strlen(field->name) +
					       strlen(field->label) + strlen(field->help) + 3,
				       8);
	}
	for (size_t i = 0; i < tele_builtin_invariants_count; i++)
		if (tele_builtin_invariants[i].section == number)
			bytes += sizeof(struct tele_schema_invariant) + 8 * TELE_INVARIANT_TERMS_MAX;
	return bytes;
}

int64_t tele_schema_write_instance(struct tele_schema_writer *writer, unsigned section,
				   uint32_t instance, uint32_t like)
{
	TELE_ASSERT(section < TELE_SECTION_COUNT);
	uint32_t first = writer->plan->n_fields;
	uint32_t n_fields = tele_builtin_sections[section].n_fields;
	if (first + n_fields > TELE_FIELDS_MAX || writer->plan->n_invariants >= TELE_INVARIANTS_MAX)
		return TELE_ELIMIT;
	if (like == UINT32_MAX) {
		if (section_bytes(section) > writer->capacity_bytes - writer->used_bytes)
			return -ENOSPC;
		int failed = write_section_fields(writer, section, instance);
		TELE_ASSERT(!failed);
		return first;
	}
	struct tele_schema_instance *record = claim(writer, sizeof(*record), TELE_SCHEMA_INSTANCE);
	if (!record)
		return -ENOSPC;
	record->instance = instance;
	record->like = like;
	record->n_fields = n_fields;
	int failed = tele_plan_repeat(writer->plan, like, n_fields);
	TELE_ASSERT(!failed);
	seal(writer, record);
	return first;
}

int64_t tele_schema_write_app(struct tele_schema_writer *writer, const char *name, unsigned kind,
			      unsigned unit)
{
	uint32_t position = writer->plan->n_fields;
	size_t len = strlen(name);
	char label[13];
	if (len > UINT8_MAX)
		return TELE_ELIMIT;
	memcpy(label, name, len < 12 ? len : 12);
	label[len < 12 ? len : 12] = '\0';
	int failed = write_field(writer, &(struct field_spec){
						 .name = name,
						 .label = label,
						 .help = "",
						 .instance = TELE_NO_INSTANCE,
						 .age_index = TELE_ID_app_captured_at_ns,
						 .section = TELE_SECTION_APP,
						 .since = TELE_SCHEMA_VERSION,
						 .kind = kind,
						 .unit = unit,
						 .predictor = TELE_PREDICT_DELTA,
					 });
	return failed ? failed : (int64_t)position;
}
