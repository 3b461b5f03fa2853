// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The builder does for a file what the publisher does for a process: events
// first, the row of a candidate's boundary right behind its event, and counts
// of the search as they are after it. Rows are gathered until a block is full;
// candidate labels live as long as their block, other texts for ever.

#include "import_private.h"

#include <errno.h>

#include "../libtelemetry/banned.h"

struct rec_builder *rec_builder_new(struct tele_trace_writer *writer, const struct tele_identity *identity,
				    const char *note)
{
	struct rec_builder *builder = calloc(1, sizeof(*builder));
	if (!builder)
		return NULL;
	builder->writer = writer;
	builder->identity = *identity;
	builder->plan = malloc(sizeof(*builder->plan));
	builder->schema_bytes = malloc(TELE_SCHEMA_BYTES_MAX);
	builder->texts = calloc(TEXTS_MAX, sizeof(*builder->texts));
	builder->instances = calloc(TELE_FIELDS_MAX, sizeof(*builder->instances));
	builder->labels = calloc(EVENTS_MAX, sizeof(*builder->labels));
	if (!builder->plan || !builder->schema_bytes || !builder->texts || !builder->instances || !builder->labels ||
	    rec_search_init(&builder->search) < 0) {
		rec_builder_free(builder);
		return NULL;
	}
	int failed = tele_schema_write_start(&builder->schema, builder->schema_bytes, TELE_SCHEMA_BYTES_MAX,
					     builder->plan);
	TELE_ASSERT(!failed);
	for (unsigned section = 0; section < TELE_SECTION_COUNT; section++)
		builder->firsts[section] = UINT32_MAX;
	for (uint32_t i = 0; i < builder->plan->n_fields; i++)
		builder->places[i] = (struct place){
			.age = tele_builtin_fields[i].age_id,
			.unit = tele_builtin_fields[i].unit,
		};
	builder->block_number = 1;
	snprintf(builder->note, sizeof(builder->note), "%s", note ? note : "");
	return builder;
}

void rec_builder_free(struct rec_builder *builder)
{
	if (!builder)
		return;
	for (uint32_t i = 0; i < builder->n_texts; i++)
		free(builder->texts[i].bytes);
	rec_search_fini(&builder->search);
	free(builder->plan);
	free(builder->schema_bytes);
	free(builder->texts);
	free(builder->instances);
	free(builder->labels);
	free(builder->rows);
	free(builder->scratch);
	free(builder->block);
	free(builder);
}

uint64_t rec_builder_rows(const struct rec_builder *builder)
{
	return builder->n_rows_in_all;
}

uint64_t rec_builder_candidates(const struct rec_builder *builder)
{
	return builder->search.values.candidates_attempted;
}

void rec_builder_expect_search(struct rec_builder *builder)
{
	builder->search.has_begun = true;
}

uint32_t rec_builder_fields(const struct rec_builder *builder)
{
	return builder->plan->n_fields;
}

unsigned rec_builder_unit(const struct rec_builder *builder, int64_t position)
{
	return builder->places[position].unit;
}

// ---- Fields ---------------------------------------------------------------------

// Splits "section[N].field" or "section.field". False: not of that form.
static bool split_name(const char *name, unsigned *ret_section, uint32_t *ret_number, const char **ret_field)
{
	size_t len = strcspn(name, ".[");
	uint64_t number = 0;
	unsigned section = 0;
	const char *at = name + len;
	while (section < TELE_SECTION_COUNT && (strncmp(tele_builtin_sections[section].name, name, len) != 0 ||
						tele_builtin_sections[section].name[len] != '\0'))
		section++;
	if (section == TELE_SECTION_COUNT)
		return false;
	if (*at == '[') {
		const char *digits = ++at;
		while (*at >= '0' && *at <= '9' && number < TELE_NO_INSTANCE)
			number = 10 * number + (uint64_t)(*at++ - '0');
		if (at == digits || *at++ != ']' || number >= TELE_NO_INSTANCE ||
		    tele_builtin_sections[section].scope == TELE_SCOPE_PROCESS)
			return false;
	}
	if (*at != '.')
		return false;
	*ret_section = section;
	*ret_number = (uint32_t)number;
	*ret_field = at + 1;
	return true;
}

// Number of a section's field in the section, or -1.
static int index_in_section(unsigned section, const char *field)
{
	const struct tele_builtin_section *builtin = &tele_builtin_sections[section];
	for (int i = 0; i < builtin->n_fields; i++)
		if (strcmp(tele_builtin_fields[builtin->first_id + i].name, field) == 0)
			return i;
	return -1;
}

// The position of an instance's first field.
static int64_t find_instance(struct rec_builder *builder, unsigned section, uint32_t number)
{
	const struct tele_builtin_section *builtin = &tele_builtin_sections[section];
	if (builtin->scope == TELE_SCOPE_PROCESS)
		return builtin->first_id;
	for (uint32_t i = 0; i < builder->n_instances; i++)
		if (builder->instances[i].section == section && builder->instances[i].number == number)
			return builder->instances[i].first;
	int64_t first = tele_schema_write_instance(&builder->schema, section, number, builder->firsts[section]);
	if (first < 0)
		return TELE_ELIMIT;
	if (builder->firsts[section] == UINT32_MAX)
		builder->firsts[section] = (uint32_t)first;
	builder->instances[builder->n_instances++] = (struct instance){section, number, (uint32_t)first};
	for (uint32_t i = 0; i < builtin->n_fields; i++) {
		const struct tele_builtin_field *field = &tele_builtin_fields[builtin->first_id + i];
		builder->places[first + i] = (struct place){
			.age = (uint32_t)first + field->age_id - builtin->first_id,
			.unit = field->unit,
		};
	}
	return first;
}

static int64_t add_gauge(struct rec_builder *builder, const char *name)
{
	char clean[NAME_MAX_BYTES + 1];
	size_t len = strlen(name);
	if (len > NAME_MAX_BYTES)
		return TELE_ELIMIT;
	for (size_t i = 0; i <= len; i++) {
		unsigned char c = (unsigned char)name[i];
		bool is_kept = c == '\0' || c == '_' || c == '.' || (c >= '0' && c <= '9') ||
			       ((c | 32) >= 'a' && (c | 32) <= 'z');
		clean[i] = is_kept ? (char)c : '_';
	}
	bool is_bytes = len >= 5 && strcmp(clean + len - 5, "bytes") == 0;
	unsigned unit = is_bytes ? TELE_BYTES : TELE_COUNT;
	int64_t position = tele_schema_write_app(&builder->schema, clean, TELE_GAUGE, unit);
	if (position < 0)
		return TELE_ELIMIT;
	builder->places[position] = (struct place){
		.age = TELE_ID_app_captured_at_ns,
		.unit = (uint8_t)unit,
	};
	return position;
}

int64_t rec_builder_field(struct rec_builder *builder, const char *name)
{
	unsigned section;
	uint32_t number;
	const char *field;
	int index = -1;
	int64_t position;
	TELE_ASSERT(!builder->rows);
	bool has_section = split_name(name, &section, &number, &field);
	if (has_section)
		index = index_in_section(section, field);
	if (index >= 0) {
		position = find_instance(builder, section, number);
		position = position < 0 ? position : position + index;
	} else {
		bool is_app = has_section && section == TELE_SECTION_APP && *field;
		position = add_gauge(builder, is_app ? field : name);
	}
	if (position < 0)
		return position;
	struct place *place = &builder->places[position];
	place->is_text = place->unit == TELE_STRING;
	builder->n_text_fields += place->is_text && !place->is_given;
	place->is_given = true;
	return builder->n_text_fields > TELE_BLOCK_STRINGS_MAX / 2 ? (int64_t)TELE_ELIMIT : position;
}

// ---- Texts ----------------------------------------------------------------------

int64_t rec_builder_text(struct rec_builder *builder, const char *text)
{
	size_t len = strnlen(text, TELE_STRING_BYTES_MAX);
	for (uint32_t i = builder->n_texts; i-- > 0;)
		if (builder->texts[i].len == len && memcmp(builder->texts[i].bytes, text, len) == 0)
			return (int64_t)i + 1;
	if (builder->n_texts == TEXTS_MAX)
		return TELE_ELIMIT;
	char *bytes = malloc(len + 1);
	if (!bytes)
		return -ENOMEM;
	memcpy(bytes, text, len);
	bytes[len] = '\0';
	builder->texts[builder->n_texts++] = (struct text){.bytes = bytes, .len = len};
	return builder->n_texts;
}

// Sees to it that the block defines a text that it uses.
void rec_builder_define_text(struct rec_builder *builder, uint64_t id)
{
	struct text *text = &builder->texts[id - 1];
	if (text->used_in_block == builder->block_number)
		return;
	text->used_in_block = builder->block_number;
	TELE_ASSERT(builder->n_strings < TELE_BLOCK_STRINGS_MAX);
	builder->strings[builder->n_strings++] = (struct tele_block_string){id, text->bytes, (uint32_t)text->len};
}

// The id of a label in this block.
uint64_t rec_builder_define_label(struct rec_builder *builder, const char *label)
{
	char *copy = builder->labels[builder->n_events];
	size_t len = strnlen(label, TELE_STRING_BYTES_MAX);
	memcpy(copy, label, len);
	uint64_t id = TRANSIENT_ID + builder->n_strings;
	TELE_ASSERT(builder->n_strings < TELE_BLOCK_STRINGS_MAX);
	builder->strings[builder->n_strings++] = (struct tele_block_string){id, copy, (uint32_t)len};
	return id;
}
