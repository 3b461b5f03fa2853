// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Rows of an import as blocks of a trace: times, candidates and phases are put
// between what the caller gave.

#include "import_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../libtelemetry/banned.h"

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
	rec_builder_define_text(builder, (uint64_t)id);
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
	event.string_id = rec_builder_define_label(builder, row->candidate);
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
			rec_builder_define_text(builder, values[i]);
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
	rec_builder_define_text(builder, (uint64_t)id);
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
