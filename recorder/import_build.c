// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The builder does for a file what the publisher does for a process: events
// first, the row of a candidate's boundary right behind its event, and counts
// of the search as they are after it. Rows are gathered until a block is full;
// candidate labels live as long as their block, other texts for ever.

#include "import_build.h"

#include "import_search.h"

#include <errno.h>

#include "../libtelemetry/banned.h"

enum {
	EVENTS_MAX = TELE_BLOCK_EVENTS_MAX,
	EVENTS_A_ROW = 2, // a phase and a boundary
	TEXTS_MAX = 4096,
	NAME_MAX_BYTES = 63,
};
#define TRANSIENT_ID (UINT64_C(1) << 32)

struct text {
	char *bytes;
	size_t len;
	uint64_t used_in_block; // number of the last block that defines it
};

struct rec_builder {
	struct tele_trace_writer *writer;
	struct tele_identity identity;
	struct tele_schema_writer schema;
	struct tele_plan *plan;
	uint8_t *schema_bytes;
	uint32_t firsts[TELE_SECTION_COUNT]; // position of a section's first instance, or UINT32_MAX
	struct place {
		uint32_t age;	 // position of the time that dates it
		uint8_t unit;
		bool is_given;	 // asked for: the caller fills it
		bool is_text;
	} places[TELE_FIELDS_MAX];
	struct instance {
		unsigned section;
		uint32_t number;
		uint32_t first;
	} *instances;
	uint32_t n_instances;
	struct rec_search search;
	struct text *texts; // id - 1
	uint32_t n_texts, n_text_fields;
	// The block that is being filled.
	uint64_t *rows;
	uint32_t n_rows, rows_max;
	struct tele_event events[EVENTS_MAX];
	uint32_t n_events;
	struct tele_block_string strings[TELE_BLOCK_STRINGS_MAX];
	uint32_t n_strings;
	char (*labels)[TELE_STRING_BYTES_MAX]; // one an event
	uint64_t block_number, first_seq, next_seq, first_at_ns, last_at_ns;
	uint64_t n_rows_in_all;
	bool is_announced;
	void *scratch;
	size_t scratch_bytes, block_bytes;
	uint8_t *block;
	char note[TELE_STRING_BYTES_MAX + 1];
};

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
static void define_text(struct rec_builder *builder, uint64_t id)
{
	struct text *text = &builder->texts[id - 1];
	if (text->used_in_block == builder->block_number)
		return;
	text->used_in_block = builder->block_number;
	TELE_ASSERT(builder->n_strings < TELE_BLOCK_STRINGS_MAX);
	builder->strings[builder->n_strings++] = (struct tele_block_string){id, text->bytes, (uint32_t)text->len};
}

// The id of a label in this block.
static uint64_t define_label(struct rec_builder *builder, const char *label)
{
	char *copy = builder->labels[builder->n_events];
	size_t len = strnlen(label, TELE_STRING_BYTES_MAX);
	memcpy(copy, label, len);
	uint64_t id = TRANSIENT_ID + builder->n_strings;
	TELE_ASSERT(builder->n_strings < TELE_BLOCK_STRINGS_MAX);
	builder->strings[builder->n_strings++] = (struct tele_block_string){id, copy, (uint32_t)len};
	return id;
}

// ---- Blocks ---------------------------------------------------------------------

static int start_blocks(struct rec_builder *builder, struct tele_error *ret_error)
{
	uint32_t n_fields = builder->plan->n_fields;
	builder->rows_max = TELE_BLOCK_ROWS_MAX;
	do {
		builder->block_bytes = tele_block_bytes_max(n_fields, builder->rows_max, EVENTS_MAX,
							    TELE_BLOCK_STRINGS_MAX);
	} while (builder->block_bytes == TELE_BLOCK_BYTES_MAX && (builder->rows_max /= 2) > 1);
	builder->scratch_bytes = tele_block_scratch_bytes(n_fields);
	builder->scratch = malloc(builder->scratch_bytes);
	builder->block = malloc(builder->block_bytes);
	builder->rows = malloc(sizeof(builder->rows[0]) * n_fields * builder->rows_max);
	if (!builder->scratch || !builder->block || !builder->rows)
		return tele_fail(ret_error, -ENOMEM, "out of memory for rows of %u fields", n_fields);
	return 0;
}

static int flush(struct rec_builder *builder, struct tele_error *ret_error)
{
	if (builder->n_rows == 0 && builder->n_events == 0)
		return 0;
	if (!builder->is_announced) {
		builder->identity.created_at_ns = builder->first_at_ns;
		int result = tele_trace_write_stream(builder->writer, &builder->identity, builder->schema_bytes,
						     builder->schema.used_bytes, ret_error);
		if (result < 0)
			return result;
		builder->is_announced = true;
	}
	const struct tele_block_input input = {
		.instance_id = builder->identity.instance_id,
		.plan = builder->plan,
		.n_fields = builder->plan->n_fields,
		.schema_bytes = (uint32_t)builder->schema.used_bytes,
		.first_seq = builder->first_seq,
		.first_at_ns = builder->first_at_ns,
		.last_at_ns = builder->last_at_ns,
		.rows = builder->rows,
		.row_stride = builder->plan->n_fields,
		.n_rows = builder->n_rows,
		.events = builder->events,
		.n_events = builder->n_events,
		.strings = builder->strings,
		.n_strings = builder->n_strings,
	};
	int64_t bytes = tele_block_encode(&input, builder->scratch, builder->scratch_bytes, builder->block,
					  builder->block_bytes);
	if (bytes < 0)
		return tele_fail(ret_error, (int)bytes, "rows of %u fields do not fit into a block",
				 builder->plan->n_fields);
	builder->n_rows = builder->n_events = builder->n_strings = 0;
	builder->first_seq = builder->next_seq;
	builder->block_number++;
	return tele_trace_write_block(builder->writer, builder->block, (size_t)bytes, ret_error);
}

static bool is_full(const struct rec_builder *builder)
{
	return builder->n_rows == builder->rows_max || builder->n_events + EVENTS_A_ROW > EVENTS_MAX ||
	       builder->n_strings + builder->n_text_fields + EVENTS_A_ROW + 1 > TELE_BLOCK_STRINGS_MAX;
}

static void note_time(struct rec_builder *builder, uint64_t at_ns)
{
	if (builder->n_rows == 0 && builder->n_events == 0)
		builder->first_at_ns = at_ns;
	builder->last_at_ns = at_ns;
}

static void add_event(struct rec_builder *builder, struct tele_event event)
{
	note_time(builder, event.at_ns);
	event.seq = builder->next_seq++;
	builder->events[builder->n_events++] = event;
}

// ---- Rows -----------------------------------------------------------------------

// The times of a row: those given are moved along with the row's own, the
// others are the row's where anything they date is known.
static void fill_times(const struct rec_builder *builder, uint64_t at_ns, uint64_t *values)
{
	uint64_t own = builder->places[TELE_ID_self_captured_at_ns].is_given ? values[TELE_ID_self_captured_at_ns]
									     : TELE_UNKNOWN;
	for (uint32_t i = 0; i < builder->plan->n_fields; i++) {
		const struct place *place = &builder->places[i];
		if (values[i] == TELE_UNKNOWN)
			continue;
		if (place->unit != TELE_TIME_NS) {
			if (!builder->places[place->age].is_given)
				values[place->age] = at_ns;
			continue;
		}
		if (!place->is_given || i == TELE_ID_self_captured_at_ns)
			continue;
		if (own != TELE_UNKNOWN)
			values[i] += at_ns - own;
		values[i] &= TELE_TIME_MASK;
	}
	values[TELE_ID_self_captured_at_ns] = at_ns;
}

static int add_phase(struct rec_builder *builder, const struct rec_builder_row *row, struct tele_error *ret_error)
{
	int64_t id = rec_builder_text(builder, row->phase);
	if (id < 0)
		return tele_fail(ret_error, (int)id, "more than %d different phases", TEXTS_MAX);
	if (builder->search.values.phase == (uint64_t)id)
		return 0;
	builder->search.values.phase = (uint64_t)id;
	builder->search.has_begun = true;
	define_text(builder, (uint64_t)id);
	add_event(builder, (struct tele_event){.type = TELE_EVENT_PHASE, .at_ns = row->at_ns, .string_id = (uint64_t)id});
	return 0;
}

static void add_boundary(struct rec_builder *builder, const struct rec_builder_row *row)
{
	struct rec_boundary boundary;
	rec_search_take(&builder->search, row->candidate, row->outcome, row->is_new, &boundary);
	if (boundary.is_none)
		return;
	struct tele_event event = {
		.type = row->outcome ? TELE_EVENT_CANDIDATE_END : TELE_EVENT_CANDIDATE_BEGIN,
		.at_ns = row->at_ns,
		.subject = boundary.handle,
		.value = row->outcome,
	};
	event.string_id = define_label(builder, row->candidate);
	add_event(builder, event);
}

static void fill_search(struct rec_builder *builder, uint64_t *values)
{
	const struct tele_builtin_section *section = &tele_builtin_sections[TELE_SECTION_SEARCH];
	uint64_t counts[sizeof(builder->search.values) / sizeof(uint64_t)];
	if (!builder->search.has_begun)
		return;
	memcpy(counts, &builder->search.values, sizeof(counts));
	for (uint32_t i = 1; i < section->n_fields; i++)
		if (!builder->places[section->first_id + i].is_given)
			values[section->first_id + i] = counts[i];
}

static void add_row(struct rec_builder *builder, const struct rec_builder_row *row)
{
	uint32_t n_fields = builder->plan->n_fields;
	uint64_t *values = builder->rows + (size_t)builder->n_rows * n_fields;
	memset(values, 0xff, n_fields * sizeof(*values));
	for (uint32_t i = 0; i < n_fields; i++)
		if (builder->places[i].is_given)
			values[i] = row->values[i];
	fill_search(builder, values);
	fill_times(builder, row->at_ns, values);
	for (uint32_t i = 0; i < n_fields; i++)
		if (builder->places[i].unit == TELE_STRING && values[i] != TELE_UNKNOWN)
			define_text(builder, values[i]);
	note_time(builder, row->at_ns);
	builder->n_rows++;
	builder->n_rows_in_all++;
	builder->next_seq++;
}

// The trace's first event says where it comes from.
static int add_note(struct rec_builder *builder, uint64_t at_ns, struct tele_error *ret_error)
{
	if (!builder->note[0])
		return 0;
	int64_t id = rec_builder_text(builder, builder->note);
	if (id < 0)
		return tele_fail(ret_error, (int)id, "out of memory for texts");
	define_text(builder, (uint64_t)id);
	add_event(builder, (struct tele_event){.type = TELE_EVENT_MARK, .at_ns = at_ns, .string_id = (uint64_t)id});
	return 0;
}

int rec_builder_add(struct rec_builder *builder, const struct rec_builder_row *row, struct tele_error *ret_error)
{
	int result = 0;
	if (!builder->rows) {
		result = start_blocks(builder, ret_error);
		if (result == 0)
			result = add_note(builder, row->at_ns, ret_error);
	}
	if (result == 0 && is_full(builder))
		result = flush(builder, ret_error);
	if (result == 0 && row->phase)
		result = add_phase(builder, row, ret_error);
	if (result < 0)
		return result;
	if (row->candidate)
		add_boundary(builder, row);
	add_row(builder, row);
	return 0;
}

int rec_builder_finish(struct rec_builder *builder, struct tele_error *ret_error)
{
	if (!builder->rows)
		return 0;
	if (is_full(builder)) {
		int result = flush(builder, ret_error);
		if (result < 0)
			return result;
	}
	add_event(builder, (struct tele_event){
				   .type = TELE_EVENT_STATE,
				   .at_ns = builder->last_at_ns,
				   .subject = builder->identity.instance_id,
				   .value = TELE_EXITED,
			   });
	return flush(builder, ret_error);
}
