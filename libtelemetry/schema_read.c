// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Reading a schema. The bytes are foreign: every record is checked against its
// checksum and its limits before anything of it is used, and a schema that has
// grown is parsed on from where the last parse stopped. Texts are copied into
// blocks that never move, so names stay valid while `fields` grows.

#include "schema.h"

#include "crc32c.h"
#include "schema_wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"

#define SECTIONS_MAX 256
#define TEXT_BLOCK_BYTES (16u << 10)

struct text_block {
	struct text_block *next;
	size_t used_bytes;
	char bytes[TEXT_BLOCK_BYTES];
};

// A section as the bytes describe it: our own numbers mean nothing here.
struct read_section {
	const char *name;
	int builtin; // enum tele_section, or -1
};

struct storage {
	struct text_block *texts;
	size_t capacity_fields;
	struct read_section sections[SECTIONS_MAX];
};

struct tele_schema *tele_schema_new(void)
{
	struct tele_schema *schema = calloc(1, sizeof(*schema));
	if (!schema)
		return NULL;
	schema->plan = calloc(1, sizeof(*schema->plan));
	schema->positions = malloc(TELE_ID_COUNT * sizeof(*schema->positions));
	schema->storage = calloc(1, sizeof(struct storage));
	if (!schema->plan || !schema->positions || !schema->storage) {
		tele_schema_free(schema);
		return NULL;
	}
	for (size_t i = 0; i < TELE_ID_COUNT; i++)
		schema->positions[i] = UINT32_MAX;
	return schema;
}

void tele_schema_free(struct tele_schema *schema)
{
	if (!schema)
		return;
	struct storage *storage = schema->storage;
	if (storage) {
		struct text_block *block = storage->texts;
		while (block) {
			struct text_block *next = block->next;
			free(block);
			block = next;
		}
	}
	free(storage);
	free(schema->fields);
	free(schema->positions);
	free(schema->plan);
	free(schema);
}

static const char *keep_text(struct storage *storage, const uint8_t *bytes, size_t len)
{
	struct text_block *block = storage->texts;
	TELE_ASSERT(len <= UINT8_MAX);
	if (!block || block->used_bytes + len + 1 > TEXT_BLOCK_BYTES) {
		block = malloc(sizeof(*block));
		if (!block)
			return NULL;
		block->next = storage->texts;
		block->used_bytes = 0;
		storage->texts = block;
	}
	char *text = block->bytes + block->used_bytes;
	for (size_t i = 0; i < len; i++)
		text[i] = bytes[i] ? (char)bytes[i] : '?';
	text[len] = '\0';
	block->used_bytes += len + 1;
	return text;
}

static int reserve_fields(struct tele_schema *schema, size_t n_fields)
{
	struct storage *storage = schema->storage;
	if (n_fields <= storage->capacity_fields)
		return 0;
	size_t capacity = storage->capacity_fields ? storage->capacity_fields * 2 : 128;
	while (capacity < n_fields)
		capacity *= 2;
	void *grown = realloc(schema->fields, capacity * sizeof(*schema->fields));
	if (!grown)
		return -ENOMEM;
	schema->fields = grown;
	storage->capacity_fields = capacity;
	return 0;
}

static int builtin_section_of(const char *name)
{
	for (int i = 0; i < TELE_SECTION_COUNT; i++)
		if (strcmp(tele_builtin_sections[i].name, name) == 0)
			return i;
	return -1;
}

static int builtin_field_of(int section, const char *name)
{
	if (section < 0)
		return -1;
	unsigned first = tele_builtin_sections[section].first_id;
	for (unsigned id = first; id < first + tele_builtin_sections[section].n_fields; id++)
		if (strcmp(tele_builtin_fields[id].name, name) == 0)
			return (int)id;
	return -1;
}

static int read_section_record(struct tele_schema *schema, const uint8_t *bytes, size_t n_bytes)
{
	struct storage *storage = schema->storage;
	struct tele_schema_section record;
	if (n_bytes < sizeof(record))
		return TELE_EDAMAGED;
	memcpy(&record, bytes, sizeof(record));
	if (record.number >= SECTIONS_MAX || record.name_bytes == 0 ||
	    sizeof(record) + record.name_bytes + record.help_bytes + 2u > n_bytes)
		return TELE_EDAMAGED;
	const char *name = keep_text(storage, bytes + sizeof(record), record.name_bytes);
	if (!name)
		return -ENOMEM;
	storage->sections[record.number] =
		(struct read_section){.name = name, .builtin = builtin_section_of(name)};
	return 0;
}

static int append_field(struct tele_schema *schema, const struct tele_field *field)
{
	schema->fields[schema->n_fields] = *field;
	if (field->builtin >= 0 && schema->positions[field->builtin] == UINT32_MAX)
		schema->positions[field->builtin] = schema->n_fields;
	schema->n_fields++;
	TELE_ASSERT(schema->n_fields == schema->plan->n_fields);
	return 0;
}

static int read_field_record(struct tele_schema *schema, const uint8_t *bytes, size_t n_bytes)
{
	struct storage *storage = schema->storage;
	struct tele_schema_field record;
	if (n_bytes < sizeof(record))
		return TELE_EDAMAGED;
	memcpy(&record, bytes, sizeof(record));
	if (record.section >= SECTIONS_MAX || !storage->sections[record.section].name ||
	    record.name_bytes == 0 || record.age_index >= TELE_FIELDS_MAX ||
	    sizeof(record) + record.name_bytes + record.label_bytes + record.help_bytes + 3u > n_bytes)
		return TELE_EDAMAGED;
	const struct read_section *section = &storage->sections[record.section];
	const uint8_t *text = bytes + sizeof(record);
	struct tele_field field = {
		.section = section->name,
		.name = keep_text(storage, text, record.name_bytes),
		.label = keep_text(storage, text + record.name_bytes + 1, record.label_bytes),
		.help = keep_text(storage, text + record.name_bytes + record.label_bytes + 2,
				  record.help_bytes),
		.instance = record.instance,
		.age_index = record.age_index,
		.kind = record.kind,
		.unit = record.unit,
		.bucket = record.bucket,
		.memory = record.memory,
		.resident = record.resident,
		.predictor = record.predictor,
	};
	if (!field.name || !field.label || !field.help ||
	    reserve_fields(schema, (size_t)schema->n_fields + 1))
		return -ENOMEM;
	int failed = tele_plan_add_field(schema->plan, record.predictor, record.shift, record.reference);
	if (failed)
		return failed;
	field.builtin = builtin_field_of(section->builtin, field.name);
	return append_field(schema, &field);
}

static int read_invariant_record(struct tele_schema *schema, const uint8_t *bytes, size_t n_bytes)
{
	struct tele_schema_invariant record;
	uint32_t indexes[TELE_TERMS_MAX];
	int8_t signs[TELE_TERMS_MAX];
	if (n_bytes < sizeof(record))
		return TELE_EDAMAGED;
	memcpy(&record, bytes, sizeof(record));
	if (record.n_terms > TELE_TERMS_MAX || sizeof(record) + (size_t)record.n_terms * 8 > n_bytes)
		return TELE_EDAMAGED;
	for (uint32_t i = 0; i < record.n_terms; i++) {
		int32_t sign;
		memcpy(&indexes[i], bytes + sizeof(record) + (size_t)i * 8, 4);
		memcpy(&sign, bytes + sizeof(record) + (size_t)i * 8 + 4, 4);
		if (sign != 1 && sign != -1)
			return TELE_EDAMAGED;
		signs[i] = (int8_t)sign;
	}
	return tele_plan_add_invariant(schema->plan, record.target, record.n_terms, indexes, signs);
}

static int read_instance_record(struct tele_schema *schema, const uint8_t *bytes, size_t n_bytes)
{
	struct tele_schema_instance record;
	if (n_bytes < sizeof(record))
		return TELE_EDAMAGED;
	memcpy(&record, bytes, sizeof(record));
	uint32_t first = schema->n_fields;
	if (record.n_fields > TELE_FIELDS_MAX)
		return TELE_ELIMIT;
	if (reserve_fields(schema, (size_t)first + record.n_fields))
		return -ENOMEM;
	int failed = tele_plan_repeat(schema->plan, record.like, record.n_fields);
	if (failed)
		return failed;
	for (uint32_t i = 0; i < record.n_fields; i++) {
		struct tele_field field = schema->fields[record.like + i];
		field.instance = record.instance;
		if (field.age_index >= record.like)
			field.age_index += first - record.like;
		schema->fields[schema->n_fields++] = field;
	}
	TELE_ASSERT(schema->n_fields == schema->plan->n_fields);
	return 0;
}

// Checks length and checksum of the record at `bytes`. Returns its length.
static int64_t check_record(const uint8_t *bytes, size_t n_bytes, struct tele_schema_head *ret_head)
{
	if (n_bytes < sizeof(*ret_head))
		return TELE_ETRUNCATED;
	memcpy(ret_head, bytes, sizeof(*ret_head));
	if (ret_head->bytes < sizeof(*ret_head) || ret_head->bytes % 8)
		return TELE_EDAMAGED;
	if (ret_head->bytes > n_bytes)
		return TELE_ETRUNCATED;
	struct tele_schema_head zeroed = *ret_head;
	zeroed.checksum = 0;
	uint32_t crc = tele_crc32c(0, &zeroed, sizeof(zeroed));
	crc = tele_crc32c(crc, bytes + sizeof(zeroed), ret_head->bytes - sizeof(zeroed));
	return crc == ret_head->checksum ? ret_head->bytes : TELE_ECHECKSUM;
}

int tele_schema_parse(struct tele_schema *schema, const uint8_t *bytes, size_t n_bytes,
		      struct tele_error *ret_error)
{
	return tele_schema_parse_from(schema, 0, bytes, n_bytes, ret_error);
}

int tele_schema_parse_from(struct tele_schema *schema, size_t from, const uint8_t *bytes,
			   size_t n_bytes, struct tele_error *ret_error)
{
	if (from > schema->parsed_bytes)
		return tele_fail(ret_error, TELE_ENOTREADY, "schema from byte %zu on, with %zu known", from,
				 schema->parsed_bytes);
	while (schema->parsed_bytes - from < n_bytes) {
		struct tele_schema_head head;
		size_t at = schema->parsed_bytes - from;
		int64_t length = check_record(bytes + at, n_bytes - at, &head);
		int failed = length < 0 ? (int)length : 0;
		if (!failed && head.type == TELE_SCHEMA_SECTION)
			failed = read_section_record(schema, bytes + at, head.bytes);
		else if (!failed && head.type == TELE_SCHEMA_FIELD)
			failed = read_field_record(schema, bytes + at, head.bytes);
		else if (!failed && head.type == TELE_SCHEMA_INVARIANT)
			failed = read_invariant_record(schema, bytes + at, head.bytes);
		else if (!failed && head.type == TELE_SCHEMA_INSTANCE)
			failed = read_instance_record(schema, bytes + at, head.bytes);
		if (failed)
			return tele_fail(ret_error, failed, "schema record at byte %zu: %s",
					 schema->parsed_bytes, tele_strerror(failed));
		schema->parsed_bytes += head.bytes;
	}
	return 0;
}

int64_t tele_schema_find(const struct tele_schema *schema, const char *name)
{
	const char *dot = strchr(name, '.');
	if (!dot)
		return -1;
	size_t section_len = (size_t)(dot - name);
	uint32_t instance = TELE_NO_INSTANCE;
	if (section_len && name[section_len - 1] == ']') {
		const char *open = memchr(name, '[', section_len);
		char *end;
		if (!open || open[1] < '0' || open[1] > '9')
			return -1;
		unsigned long number = strtoul(open + 1, &end, 10);
		if (end != name + section_len - 1 || number >= TELE_NO_INSTANCE)
			return -1;
		instance = (uint32_t)number;
		section_len = (size_t)(open - name);
	}
	for (uint32_t i = 0; i < schema->n_fields; i++) {
		const struct tele_field *field = &schema->fields[i];
		bool is_instance = field->instance == instance ||
				   (instance == TELE_NO_INSTANCE && field->instance == 0);
		if (is_instance && strcmp(field->name, dot + 1) == 0 &&
		    strlen(field->section) == section_len &&
		    memcmp(field->section, name, section_len) == 0)
			return i;
	}
	return -1;
}

int64_t tele_schema_position(const struct tele_schema *schema, enum tele_field_id id,
			     uint32_t instance)
{
	uint32_t first = schema->positions[id];
	if (first == UINT32_MAX)
		return -1;
	if (tele_builtin_sections[tele_builtin_fields[id].section].scope == TELE_SCOPE_PROCESS)
		return first;
	for (uint32_t i = first; i < schema->n_fields; i++)
		if (schema->fields[i].builtin == (int)id && schema->fields[i].instance == instance)
			return i;
	return -1;
}

uint64_t tele_schema_value(const struct tele_schema *schema, enum tele_field_id id,
			   uint32_t instance, const uint64_t *row, uint32_t n_fields)
{
	int64_t position = tele_schema_position(schema, id, instance);
	return position < 0 || position >= n_fields ? TELE_UNKNOWN : row[position];
}

char *tele_field_full_name(const struct tele_field *field, char *buffer, size_t size)
{
	if (field->instance == TELE_NO_INSTANCE)
		snprintf(buffer, size, "%s.%s", field->section, field->name);
	else
		snprintf(buffer, size, "%s[%u].%s", field->section, field->instance, field->name);
	return buffer;
}
