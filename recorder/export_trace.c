// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A smaller trace out of a larger: the same identities and schemas, fewer rows.
// Fields that were not chosen are unknown. Records keep their numbers, so that
// what was lost stays lost; where rows are thinned they are numbered anew, and
// only what was lost leaves a hole. Texts that a block uses are written with
// it; ids that are transient are given out anew for each block.

#include "export_format.h"

#include "../libtelemetry/strings.h"

#include <errno.h>

#include "../libtelemetry/banned.h"

#define TRANSIENT_ID (UINT64_C(1) << 32)
enum { OPEN_MAX = 32 }; // blocks that are being filled at once

// What a block is made of, while it is being filled.
struct gathered {
	uint64_t *rows;
	size_t rows_words;
	uint32_t n_rows;
	struct tele_event events[TELE_BLOCK_EVENTS_MAX];
	uint32_t n_events;
	struct tele_block_string strings[TELE_BLOCK_STRINGS_MAX]; // texts are owned
	uint32_t n_strings;
	uint64_t n_transient;
};

struct cut {
	struct tele_trace_writer *writer;
	struct rec_draft draft; // what it writes
	uint32_t n_open;
	struct gathered *spare; // of a block that was written, or NULL
	void *scratch;
	size_t scratch_bytes;
	uint8_t *block;
	size_t block_bytes;
};

struct cut_process {
	uint64_t next_seq, first_seq, first_at_ns, last_at_ns;
	bool has_seq;
	uint32_t n_fields; // of the rows that are gathered
	struct gathered *block; // NULL between two blocks
	bool *is_kept; // by field
	uint32_t n_kept;
};

static bool is_thinned(const struct rec_exporter *exporter)
{
	return exporter->options->every_rows > 1 || exporter->options->every_ns > 0;
}

static void forget_strings(struct gathered *block)
{
	for (uint32_t i = 0; i < block->n_strings; i++)
		free((void *)(uintptr_t)block->strings[i].text);
	block->n_strings = 0;
	block->n_transient = 0;
}

static void free_gathered(struct gathered *block)
{
	if (!block)
		return;
	forget_strings(block);
	free(block->rows);
	free(block);
}

// ---- Where it goes ------------------------------------------------------------------

static int begin(struct rec_exporter *exporter, struct tele_error *ret_error)
{
	const struct rec_export_options *options = exporter->options;
	struct cut *cut = exporter->own = calloc(1, sizeof(*cut));
	if (!cut)
		return tele_fail(ret_error, -ENOMEM, "out of memory");
	int result = rec_draft_open(&cut->draft, options->output, options->input, options->replace, ret_error);
	return result < 0 ? result : tele_trace_create(rec_draft_written(&cut->draft), cut->draft.name, &cut->writer, ret_error);
}

static void fini(struct rec_exporter *exporter)
{
	struct cut *cut = exporter->own;
	if (!cut)
		return;
	(void)tele_trace_finish(cut->writer, NULL);
	rec_draft_drop(&cut->draft);
	free(cut->scratch);
	free(cut->block);
	free_gathered(cut->spare);
	free(cut);
}

static void drop(struct rec_exported *process)
{
	struct cut_process *own = process->own;
	if (!own)
		return;
	free_gathered(own->block);
	free(own->is_kept);
	free(own);
}

// ---- Blocks -------------------------------------------------------------------------

static int make_room(struct cut *cut, uint32_t n_fields, struct tele_error *ret_error)
{
	size_t scratch_bytes = tele_block_scratch_bytes(n_fields);
	size_t block_bytes = tele_block_bytes_max(n_fields, TELE_BLOCK_ROWS_MAX, TELE_BLOCK_EVENTS_MAX,
						  TELE_BLOCK_STRINGS_MAX);
	if (scratch_bytes > cut->scratch_bytes) {
		free(cut->scratch);
		cut->scratch = malloc(scratch_bytes);
		cut->scratch_bytes = cut->scratch ? scratch_bytes : 0;
	}
	if (block_bytes > cut->block_bytes) {
		free(cut->block);
		cut->block = malloc(block_bytes);
		cut->block_bytes = cut->block ? block_bytes : 0;
	}
	return cut->scratch && cut->block ? 0 : tele_fail(ret_error, -ENOMEM, "out of memory for a block");
}

static int flush(struct rec_exporter *exporter, struct rec_exported *process, struct tele_error *ret_error)
{
	struct cut *cut = exporter->own;
	struct cut_process *own = process->own;
	struct gathered *block = own ? own->block : NULL;
	size_t schema_bytes;
	if (!block)
		return 0;
	int result = make_room(cut, own->n_fields, ret_error);
	if (result < 0)
		return result;
	(void)tele_trace_schema_bytes(exporter->source, process->instance, &schema_bytes);
	const struct tele_block_input input = {
		.instance_id = process->instance->identity.instance_id,
		.plan = process->instance->schema->plan,
		.n_fields = own->n_fields,
		.schema_bytes = (uint32_t)schema_bytes,
		.first_seq = own->first_seq,
		.first_at_ns = own->first_at_ns,
		.last_at_ns = own->last_at_ns,
		.rows = block->rows,
		.row_stride = own->n_fields,
		.n_rows = block->n_rows,
		.events = block->events,
		.n_events = block->n_events,
		.strings = block->strings,
		.n_strings = block->n_strings,
	};
	int64_t bytes = tele_block_encode(&input, cut->scratch, cut->scratch_bytes, cut->block, cut->block_bytes);
	if (bytes < 0)
		return tele_fail(ret_error, (int)bytes, "rows of %u fields do not fit into a block", own->n_fields);
	own->block = NULL;
	block->n_rows = block->n_events = 0;
	forget_strings(block);
	free_gathered(cut->spare);
	cut->spare = block;
	cut->n_open--;
	return tele_trace_write_block(cut->writer, cut->block, (size_t)bytes, ret_error);
}

// Makes the block ready for one more record of number `seq`.
static int prepare(struct rec_exporter *exporter, struct rec_exported *process, uint64_t seq, uint32_t n_fields,
		   struct tele_error *ret_error)
{
	struct cut *cut = exporter->own;
	struct cut_process *own = process->own;
	const struct gathered *block = own->block;
	// A row may bring a text for each of its fields.
	bool is_full = block && (block->n_rows == TELE_BLOCK_ROWS_MAX || block->n_events == TELE_BLOCK_EVENTS_MAX ||
				 block->n_strings > TELE_BLOCK_STRINGS_MAX / 2);
	bool is_other = block && (seq != own->next_seq || (n_fields && block->n_rows && n_fields != own->n_fields));
	int result = is_full || is_other ? flush(exporter, process, ret_error) : 0;
	for (uint32_t i = 0; result == 0 && cut->n_open >= OPEN_MAX && i < exporter->n_processes; i++)
		if (exporter->processes[i] != process)
			result = flush(exporter, exporter->processes[i], ret_error);
	if (result < 0)
		return result;
	if (!own->block) {
		own->block = cut->spare ? cut->spare : calloc(1, sizeof(*own->block));
		cut->spare = NULL;
		if (!own->block)
			return tele_fail(ret_error, -ENOMEM, "out of memory for a block");
		own->first_seq = seq;
		own->first_at_ns = UINT64_MAX;
		own->n_fields = n_fields;
		cut->n_open++;
	}
	if (n_fields)
		own->n_fields = n_fields;
	own->next_seq = seq + 1;
	own->has_seq = true;
	return 0;
}

static void note_time(struct cut_process *own, uint64_t at_ns)
{
	if (own->first_at_ns == UINT64_MAX)
		own->first_at_ns = at_ns;
	own->last_at_ns = at_ns;
}

// The id that a text has in this block, 0 where it is not known any more.
static int64_t define_text(struct rec_exported *process, uint64_t id)
{
	struct gathered *block = ((struct cut_process *)process->own)->block;
	const char *text = id ? tele_instance_string(process->instance, id) : NULL;
	bool is_transient = TELE_STRING_IS_TRANSIENT(id);
	if (!text || block->n_strings == TELE_BLOCK_STRINGS_MAX)
		return 0;
	for (uint32_t i = 0; i < block->n_strings && !is_transient; i++)
		if (block->strings[i].id == id)
			return (int64_t)id;
	size_t len = strnlen(text, TELE_STRING_BYTES_MAX);
	char *copy = strndup(text, len);
	if (!copy)
		return -ENOMEM;
	if (is_transient)
		id = TRANSIENT_ID + block->n_transient++;
	block->strings[block->n_strings++] = (struct tele_block_string){id, copy, (uint32_t)len};
	return (int64_t)id;
}

// ---- Records ------------------------------------------------------------------------

// Fields that a row cannot be read without stay: its time and clock, and the
// times that date what was chosen.
static int keep_fields(struct rec_exported *process)
{
	struct cut_process *own = process->own;
	const struct tele_schema *schema = process->instance->schema;
	bool *kept = realloc(own->is_kept, process->n_fields * sizeof(*kept));
	if (!kept)
		return -ENOMEM;
	own->is_kept = kept;
	own->n_kept = process->n_fields;
	memcpy(kept, process->has_field, process->n_fields * sizeof(*kept));
	for (uint32_t i = 0; i < process->n_fields; i++) {
		uint32_t age = schema->fields[i].age_index;
		if (process->has_field[i] && age < process->n_fields)
			kept[age] = true;
		if (i == 0 || schema->fields[i].builtin == TELE_ID_self_realtime_offset_ns)
			kept[i] = true;
	}
	return 0;
}

static int take_process(struct rec_exporter *exporter, struct rec_exported *process, struct tele_error *ret_error)
{
	struct cut *cut = exporter->own;
	size_t n_bytes;
	if (!process->own)
		process->own = calloc(1, sizeof(struct cut_process));
	if (!process->own || keep_fields(process) < 0)
		return tele_fail(ret_error, -ENOMEM, "out of memory for a process");
	const uint8_t *bytes = tele_trace_schema_bytes(exporter->source, process->instance, &n_bytes);
	return tele_trace_write_stream(cut->writer, &process->instance->identity, bytes, n_bytes, ret_error);
}

static uint64_t seq_of(const struct rec_exporter *exporter, const struct cut_process *own, uint64_t seq)
{
	return is_thinned(exporter) && own->has_seq ? own->next_seq : seq;
}

static int take_row(struct rec_exporter *exporter, struct rec_exported *process, const struct tele_record *record,
		    uint64_t at_ns, struct tele_error *ret_error)
{
	struct cut_process *own = process->own;
	const struct tele_schema *schema = process->instance->schema;
	uint32_t n_fields = record->n_fields;
	(void)at_ns;
	int result = prepare(exporter, process, seq_of(exporter, own, record->seq), n_fields, ret_error);
	if (result < 0)
		return result;
	struct gathered *block = own->block;
	size_t needed_words = ((size_t)block->n_rows + 1) * n_fields;
	if (needed_words > block->rows_words) {
		size_t words = 2 * needed_words;
		void *grown = realloc(block->rows, words * sizeof(block->rows[0]));
		if (!grown)
			return tele_fail(ret_error, -ENOMEM, "out of memory for rows");
		block->rows = grown;
		block->rows_words = words;
	}
	uint64_t *row = block->rows + (size_t)block->n_rows++ * n_fields;
	for (uint32_t i = 0; i < n_fields; i++) {
		row[i] = i < own->n_kept && own->is_kept[i] ? record->row[i] : TELE_UNKNOWN;
		if (schema->fields[i].unit != TELE_STRING || row[i] == TELE_UNKNOWN)
			continue;
		int64_t id = define_text(process, row[i]);
		if (id < 0)
			return tele_fail(ret_error, -ENOMEM, "out of memory for a text");
		row[i] = id ? (uint64_t)id : TELE_UNKNOWN;
	}
	note_time(own, record->row[0]);
	return 0;
}

static int take_event(struct rec_exporter *exporter, struct rec_exported *process, const struct tele_event *event,
		      uint64_t at_ns, struct tele_error *ret_error)
{
	struct cut_process *own = process->own;
	struct tele_event copy = *event;
	(void)at_ns;
	copy.seq = seq_of(exporter, own, event->seq);
	int result = prepare(exporter, process, copy.seq, 0, ret_error);
	if (result < 0)
		return result;
	int64_t id = define_text(process, event->string_id);
	if (id < 0)
		return tele_fail(ret_error, -ENOMEM, "out of memory for a text");
	copy.string_id = (uint64_t)id;
	own->block->events[own->block->n_events++] = copy;
	note_time(own, event->at_ns);
	return 0;
}

static int take_gap(struct rec_exporter *exporter, struct rec_exported *process, uint64_t n_lost,
		    struct tele_error *ret_error)
{
	struct cut_process *own = process->own;
	if (!is_thinned(exporter) || !own->has_seq)
		return 0;
	// The hole lies between two blocks.
	int result = flush(exporter, process, ret_error);
	own->next_seq += n_lost;
	return result;
}

static int end(struct rec_exporter *exporter, struct tele_error *ret_error)
{
	struct cut *cut = exporter->own;
	int result = 0;
	for (uint32_t i = 0; i < exporter->n_processes && result == 0; i++)
		result = flush(exporter, exporter->processes[i], ret_error);
	if (result < 0)
		return result;
	struct tele_trace_writer *writer = cut->writer;
	cut->writer = NULL;
	exporter->written_bytes = tele_trace_written_bytes(writer);
	result = tele_trace_finish(writer, ret_error);
	return result < 0 ? result : rec_draft_place(&cut->draft, ret_error);
}

const struct rec_format rec_format_trace = {
	.begin = begin,
	.process = take_process,
	.row = take_row,
	.event = take_event,
	.gap = take_gap,
	.end = end,
	.drop = drop,
	.fini = fini,
	.has_observers = true,
	.has_own_output = true,
};
