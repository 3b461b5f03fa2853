// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A trace as a source. Blocks come from trace_scan.c: by the list of entries
// where the file can be sought, one after the other from a pipe; what is done
// with a block is the same. Each instance knows the number of its next record:
// what a block repeats is passed over, what it leaves out is a gap. So a
// provisional block is told at once, and the sealed one that supersedes it adds
// only what is new.

#include "trace_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"

static struct tele_trace *trace_of(struct tele_source *source)
{
	return (struct tele_trace *)source;
}

static struct tele_record *push(struct tele_trace *trace, enum tele_record_kind kind, struct tele_trace_instance *instance)
{
	TELE_ASSERT(trace->queue_end < TELE_TRACE_QUEUE_MAX);
	struct tele_record *record = &trace->queue[trace->queue_end++];
	*record = (struct tele_record){.kind = kind, .instance = &instance->instance};
	return record;
}

static void announce(struct tele_trace *trace, struct tele_trace_instance *instance)
{
	instance->is_announced = true;
	push(trace, TELE_RECORD_INSTANCE, instance);
	if (instance->instance.schema->n_fields > 0)
		push(trace, TELE_RECORD_SCHEMA, instance);
}

// Of a stream or growth block.
static int tell_schema(struct tele_trace *trace, const struct tele_block_header *header,
		       const uint8_t *block, uint64_t offset, struct tele_error *ret_error)
{
	struct tele_trace_instance *instance;
	bool has_grown;
	int failed = header->type == TELE_BLOCK_STREAM ?
			     tele_trace_take_stream(trace, header, block, offset, &instance, &has_grown, ret_error) :
			     tele_trace_take_growth(trace, header, block, offset, &instance, &has_grown, ret_error);
	if (failed || !instance)
		return failed;
	if (!instance->is_announced)
		announce(trace, instance);
	else if (has_grown)
		push(trace, TELE_RECORD_SCHEMA, instance);
	return 0;
}

static int define_strings(const struct tele_block *block, struct tele_strings *strings)
{
	tele_strings_forget_transient(strings);
	for (uint32_t i = 0; i < block->header.n_strings; i++) {
		const struct tele_block_string *string = &block->strings[i];
		if (tele_strings_define(strings, string->id, string->text, string->len) == -ENOMEM)
			return -ENOMEM;
	}
	return 0;
}

// Makes ready to tell what is new in the decoded block.
static void begin_block(struct tele_trace *trace, struct tele_trace_instance *instance)
{
	const struct tele_block_header *header = &trace->block.header;
	uint64_t end = header->first_seq + header->n_rows + header->n_events;
	uint64_t from = header->first_seq;
	if (!instance->is_announced)
		announce(trace, instance);
	if (instance->has_next && from > instance->next_seq) {
		struct tele_record *gap = push(trace, TELE_RECORD_GAP, instance);
		gap->gap_from = instance->next_seq;
		gap->gap_to = from;
		instance->instance.lost += from - instance->next_seq;
	}
	if (instance->instance.state == TELE_STARTING && header->n_rows) {
		instance->instance.state = TELE_LIVE;
		push(trace, TELE_RECORD_STATE, instance);
	}
	if (instance->has_next && instance->next_seq > from)
		from = instance->next_seq;
	instance->next_seq = end;
	instance->has_next = true;
	trace->current = instance;
	trace->record = (uint32_t)(from - header->first_seq);
	trace->n_records = (uint32_t)(end - header->first_seq);
	trace->tile_rows = 0;
}

// Decodes a data block, finding its instance's header first where need be.
// Returns 1, 0 where it cannot be read (which is noted), or an error.
static int decode_data(struct tele_trace *trace, struct tele_trace_instance *instance,
		       const struct tele_block_header *header, const uint8_t *block,
		       size_t block_bytes, uint64_t offset, struct tele_error *ret_error)
{
	if (!tele_trace_is_ready(instance, header)) {
		struct tele_block_header again;
		int failed = tele_trace_find_stream(trace, instance, header, ret_error);
		if (failed)
			return failed;
		if (!tele_trace_is_ready(instance, header)) {
			tele_scan_note(&trace->scan, offset,
				       "block of an instance whose header or schema is missing");
			return 0;
		}
		// The search has moved on from this block.
		int64_t taken = tele_scan_at(&trace->scan, offset, &block, &again, ret_error);
		if (taken <= 0)
			return (int)taken;
		block_bytes = (size_t)taken;
	}
	int failed = tele_block_decode(&trace->block, instance->instance.schema->plan, block, block_bytes);
	if (failed == -ENOMEM || (!failed && define_strings(&trace->block, instance->strings)))
		return tele_trace_out_of_memory(trace, ret_error);
	if (failed)
		tele_scan_note(&trace->scan, offset, "contents of the block make no sense");
	return !failed;
}

static int tell_data(struct tele_trace *trace, const struct tele_block_header *header,
		     const uint8_t *block, size_t block_bytes, uint64_t offset,
		     struct tele_error *ret_error)
{
	int failed;
	struct tele_trace_instance *instance =
		tele_trace_need_instance(trace, header->instance_id, &failed);
	if (failed)
		return tele_trace_out_of_memory(trace, ret_error);
	if (!instance) {
		tele_scan_note(&trace->scan, offset, "too many instances");
		return 0;
	}
	uint64_t end = header->first_seq + header->n_rows + header->n_events;
	if (end == header->first_seq || (instance->has_next && end <= instance->next_seq))
		return 0;
	int decoded = decode_data(trace, instance, header, block, block_bytes, offset, ret_error);
	if (decoded > 0)
		begin_block(trace, instance);
	return decoded < 0 ? decoded : 0;
}

// ---- The next record ---------------------------------------------------------------

static bool pop(struct tele_trace *trace, struct tele_record *ret_record)
{
	if (trace->queue_begin == trace->queue_end)
		return false;
	*ret_record = trace->queue[trace->queue_begin++];
	if (trace->queue_begin == trace->queue_end)
		trace->queue_begin = trace->queue_end = 0;
	return true;
}

// Turns a few rows from columns into rows: eight at a time, since that many
// values of a column share a cache line.
static int fill_tile(struct tele_trace *trace, uint32_t row, struct tele_error *ret_error)
{
	const struct tele_block_header *header = &trace->block.header;
	const uint32_t n_fields = header->n_fields;
	uint32_t n_rows = header->n_rows - row;
	if (n_rows > TELE_TRACE_TILE_ROWS)
		n_rows = TELE_TRACE_TILE_ROWS;
	size_t words = (size_t)n_fields * TELE_TRACE_TILE_ROWS;
	if (words > trace->tile_words || !trace->tile) {
		void *grown = realloc(trace->tile, (words + 1) * sizeof(*trace->tile));
		if (!grown)
			return tele_trace_out_of_memory(trace, ret_error);
		trace->tile = grown;
		trace->tile_words = words;
	}
	for (uint32_t f = 0; f < n_fields; f++) {
		const uint64_t *column = trace->block.columns + (size_t)f * header->n_rows + row;
		for (uint32_t r = 0; r < n_rows; r++)
			trace->tile[(size_t)r * n_fields + f] = column[r];
	}
	trace->tile_begin = row;
	trace->tile_rows = n_rows;
	return 0;
}

static int tell_record(struct tele_trace *trace, struct tele_record *ret_record,
		       struct tele_error *ret_error)
{
	const struct tele_block *block = &trace->block;
	const uint32_t number = trace->record++;
	const uint32_t which = block->sequence[number];
	*ret_record = (struct tele_record){
		.instance = &trace->current->instance,
		.seq = block->header.first_seq + number,
	};
	if (which & TELE_BLOCK_IS_EVENT) {
		ret_record->kind = TELE_RECORD_EVENT;
		ret_record->event = block->events[which & ~TELE_BLOCK_IS_EVENT];
		struct tele_trace_instance *changed = tele_trace_apply_state(trace, &ret_record->event);
		if (changed && changed->is_announced)
			push(trace, TELE_RECORD_STATE, changed);
		return 1;
	}
	if (which - trace->tile_begin >= trace->tile_rows) {
		int failed = fill_tile(trace, which, ret_error);
		if (failed)
			return failed;
	}
	ret_record->kind = TELE_RECORD_ROW;
	ret_record->n_fields = block->header.n_fields;
	ret_record->row = trace->tile + (size_t)(which - trace->tile_begin) * block->header.n_fields;
	return 1;
}

// Takes the next block of a file. Returns 1, 0 at the end, or an error.
static int next_of_file(struct tele_trace *trace, struct tele_error *ret_error)
{
	const uint8_t *block;
	struct tele_block_header header;
	if (trace->next_entry >= trace->n_entries)
		return 0;
	const uint64_t number = trace->next_entry++;
	const struct tele_trace_entry *entry = &trace->entries[number];
	struct tele_trace_instance *instance = tele_trace_find_instance(trace, entry->instance_id);
	bool is_passed = !instance || (entry->type == TELE_BLOCK_DATA && number < instance->first_entry);
	if (is_passed)
		return 1;
	int64_t taken = tele_scan_at(&trace->scan, entry->offset, &block, &header, ret_error);
	if (taken <= 0)
		return taken < 0 ? (int)taken : 1;
	int failed = 0;
	if (header.type == TELE_BLOCK_STREAM || header.type == TELE_BLOCK_GROWTH)
		failed = tell_schema(trace, &header, block, entry->offset, ret_error);
	else if (header.type == TELE_BLOCK_DATA)
		failed = tell_data(trace, &header, block, (size_t)taken, entry->offset, ret_error);
	return failed ? failed : 1;
}

// The same of a pipe.
static int next_of_pipe(struct tele_trace *trace, struct tele_error *ret_error)
{
	const uint8_t *block;
	struct tele_block_header header;
	int64_t taken = tele_scan_next(&trace->scan, &block, &header, ret_error);
	if (taken < 0)
		return (int)taken;
	if (taken == 0) {
		if (!trace->scan.is_ended)
			tele_scan_note(&trace->scan, trace->scan.offset,
				       "no trailer: the recording was cut off");
		return 0;
	}
	if (!tele_trace_is_indexed(header.type))
		return 1;
	uint64_t offset = trace->scan.offset;
	struct tele_trace_entry entry = tele_trace_entry_of(&header, offset);
	int failed = tele_trace_count_entry(trace, &entry, TELE_TRACE_NO_ENTRY);
	if (failed)
		return tele_trace_out_of_memory(trace, ret_error);
	if (header.type != TELE_BLOCK_DATA)
		failed = tell_schema(trace, &header, block, offset, ret_error);
	else
		failed = tell_data(trace, &header, block, (size_t)taken, offset, ret_error);
	return failed ? failed : 1;
}

static int next_record(struct tele_source *source, struct tele_record *ret_record,
		       struct tele_error *ret_error)
{
	struct tele_trace *trace = trace_of(source);
	for (;;) {
		if (pop(trace, ret_record))
			return 1;
		if (trace->announce_next < trace->n_instances) {
			struct tele_trace_instance *instance = trace->instances[trace->announce_next++];
			if (instance->is_sought && instance->is_named)
				announce(trace, instance);
			continue;
		}
		if (trace->current && trace->record < trace->n_records)
			return tell_record(trace, ret_record, ret_error);
		trace->current = NULL;
		int taken = trace->has_entries ? next_of_file(trace, ret_error) :
						 next_of_pipe(trace, ret_error);
		if (taken <= 0)
			return taken;
	}
}

static void close_trace(struct tele_source *source)
{
	struct tele_trace *trace = trace_of(source);
	tele_scan_close(&trace->scan);
	tele_trace_free_instances(trace);
	tele_block_free(&trace->block);
	free(trace->entries);
	free(trace->tile);
	free(trace->raw);
	free(trace);
}

static const struct tele_source_ops trace_ops = {.next = next_record, .close = close_trace};

static int open_trace(const char *path, bool is_once, struct tele_source **ret_source, struct tele_error *ret_error)
{
	struct tele_trace *trace = calloc(1, sizeof(*trace));
	if (!trace)
		return tele_fail(ret_error, -ENOMEM, "%s: %s", path, tele_strerror(-ENOMEM));
	trace->source.ops = &trace_ops;
	trace->announce_next = UINT32_MAX;
	int failed = tele_scan_open(&trace->scan, path, ret_error);
	if (failed) {
		free(trace);
		return failed;
	}
	trace->info.file_bytes = trace->scan.file_bytes;
	trace->is_once = is_once;
	if (trace->scan.is_regular)
		failed = is_once ? tele_trace_learn(trace, ret_error) : tele_trace_load_entries(trace, ret_error);
	if (failed) {
		close_trace(&trace->source);
		return failed;
	}
	*ret_source = &trace->source;
	return 0;
}

struct tele_trace *tele_trace_of(struct tele_source *source)
{
	TELE_ASSERT(source->ops == &trace_ops);
	return trace_of(source);
}

int tele_trace_open(const char *path, struct tele_source **ret_source, struct tele_error *ret_error)
{
	return open_trace(path, false, ret_source, ret_error);
}

int tele_trace_open_once(const char *path, struct tele_source **ret_source, struct tele_error *ret_error)
{
	return open_trace(path, true, ret_source, ret_error);
}

void tele_trace_get_info(const struct tele_source *source, struct tele_trace_info *ret_info)
{
	const struct tele_trace *trace = (const struct tele_trace *)source;
	TELE_ASSERT(source->ops == &trace_ops);
	*ret_info = trace->info;
	ret_info->read_bytes = trace->scan.offset;
	ret_info->major = trace->scan.major;
	ret_info->minor = trace->scan.minor;
	ret_info->created_realtime_ns = trace->scan.created_realtime_ns;
	ret_info->damaged_at = trace->scan.damaged_at;
	ret_info->is_complete = trace->scan.is_ended && trace->scan.damaged_at == UINT64_MAX;
	memcpy(ret_info->damage, trace->scan.damage, sizeof(ret_info->damage));
}
