// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What a trace holds: its instances by id, and its blocks in the order of the
// file, from the index or from a walk where there is none. Every number here is
// foreign; the only thing relied upon is that entries grow in offset, which
// trace_scan.c has checked or the walk has made so.

#include "trace_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"

int tele_trace_out_of_memory(const struct tele_trace *trace, struct tele_error *ret_error)
{
	return tele_fail(ret_error, -ENOMEM, "%s: %s", trace->scan.path, tele_strerror(-ENOMEM));
}

static uint32_t *slot_of(const struct tele_trace *trace, uint64_t id)
{
	uint32_t at = (uint32_t)((id * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (trace->table_capacity - 1);
	while (trace->table[at] &&
	       trace->instances[trace->table[at] - 1]->instance.identity.instance_id != id)
		at = (at + 1) & (trace->table_capacity - 1);
	return &trace->table[at];
}

struct tele_trace_instance *tele_trace_find_instance(const struct tele_trace *trace, uint64_t id)
{
	if (trace->table_capacity == 0)
		return NULL;
	uint32_t number = *slot_of(trace, id);
	return number ? trace->instances[number - 1] : NULL;
}

static int grow_table(struct tele_trace *trace)
{
	uint32_t capacity = trace->table_capacity ? trace->table_capacity * 2 : 64;
	uint32_t *grown = calloc(capacity, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	free(trace->table);
	trace->table = grown;
	trace->table_capacity = capacity;
	for (uint32_t i = 0; i < trace->n_instances; i++)
		*slot_of(trace, trace->instances[i]->instance.identity.instance_id) = i + 1;
	return 0;
}

struct tele_trace_instance *tele_trace_need_instance(struct tele_trace *trace, uint64_t id, int *ret_failed)
{
	struct tele_trace_instance *instance = tele_trace_find_instance(trace, id);
	*ret_failed = 0;
	if (instance || trace->n_instances >= TELE_TRACE_INSTANCES_MAX)
		return instance;
	*ret_failed = -ENOMEM;
	if (trace->n_instances * 2 >= trace->table_capacity && grow_table(trace))
		return NULL;
	if (trace->n_instances == trace->instances_capacity) {
		uint32_t capacity = trace->instances_capacity ? trace->instances_capacity * 2 : 16;
		void *grown = realloc(trace->instances, capacity * sizeof(struct tele_trace_instance *));
		if (!grown)
			return NULL;
		trace->instances = grown;
		trace->instances_capacity = capacity;
	}
	instance = calloc(1, sizeof(*instance));
	if (!instance)
		return NULL;
	*ret_failed = 0;
	instance->instance.identity.instance_id = id;
	instance->stream_first = TELE_TRACE_NO_ENTRY;
	instance->stream_last = TELE_TRACE_NO_ENTRY;
	trace->instances[trace->n_instances++] = instance;
	*slot_of(trace, id) = trace->n_instances;
	return instance;
}

void tele_trace_free_instances(struct tele_trace *trace)
{
	for (uint32_t i = 0; i < trace->n_instances; i++) {
		tele_schema_free(trace->instances[i]->instance.schema);
		tele_strings_free(trace->instances[i]->strings);
		free(trace->instances[i]->schema_bytes);
		free(trace->instances[i]);
	}
	free(trace->instances);
	free(trace->table);
}

struct tele_trace_instance *tele_trace_apply_state(struct tele_trace *trace,
						   const struct tele_event *event)
{
	if (event->type != TELE_EVENT_STATE || event->value > TELE_UNREADABLE)
		return NULL;
	struct tele_trace_instance *target = tele_trace_find_instance(trace, event->subject);
	if (!target || target->instance.state == (enum tele_state)event->value)
		return NULL;
	target->instance.state = (enum tele_state)event->value;
	return target;
}

// ---- What is known of the whole ---------------------------------------------------

static void count_records(struct tele_trace *trace, struct tele_trace_instance *instance,
			  const struct tele_trace_entry *entry)
{
	struct tele_trace_info *info = &trace->info;
	if (info->n_records == 0 || entry->first_at_ns < info->first_at_ns)
		info->first_at_ns = entry->first_at_ns;
	if (info->n_records == 0 || entry->last_at_ns > info->last_at_ns)
		info->last_at_ns = entry->last_at_ns;
	uint64_t from = entry->first_seq;
	uint64_t end = entry->first_seq + entry->n_records;
	if (instance->has_counted && instance->counted_seq > from)
		from = instance->counted_seq;
	if (end > from) {
		info->n_records += end - from;
		instance->counted_seq = end;
		instance->has_counted = true;
	}
}

int tele_trace_count_entry(struct tele_trace *trace, const struct tele_trace_entry *entry,
			   uint64_t number)
{
	int failed;
	struct tele_trace_info *info = &trace->info;
	info->n_blocks++;
	info->n_data_blocks += entry->type == TELE_BLOCK_DATA;
	info->n_provisional_blocks += entry->type == TELE_BLOCK_DATA && (entry->flags & TELE_BLOCK_PROVISIONAL);
	info->n_stream_blocks += entry->type == TELE_BLOCK_STREAM;
	info->n_growth_blocks += entry->type == TELE_BLOCK_GROWTH;
	struct tele_trace_instance *instance =
		tele_trace_need_instance(trace, entry->instance_id, &failed);
	if (!instance)
		return failed;
	if (entry->type == TELE_BLOCK_STREAM) {
		if (instance->stream_first == TELE_TRACE_NO_ENTRY)
			instance->stream_first = number;
		instance->stream_last = number;
	}
	if (entry->type == TELE_BLOCK_DATA && entry->n_records)
		count_records(trace, instance, entry);
	return 0;
}

// Goes through the file block by block and keeps an entry of each.
static int walk(struct tele_trace *trace, struct tele_error *ret_error)
{
	const uint8_t *block;
	struct tele_block_header header;
	tele_scan_rewind(&trace->scan, trace->scan.blocks_begin);
	for (;;) {
		int64_t taken = tele_scan_next(&trace->scan, &block, &header, ret_error);
		if (taken <= 0)
			return (int)taken;
		if (!tele_trace_is_indexed(header.type))
			continue;
		if (trace->n_entries == trace->entries_capacity) {
			uint64_t capacity = trace->entries_capacity ? trace->entries_capacity * 2 : 256;
			void *grown = realloc(trace->entries, capacity * sizeof(*trace->entries));
			if (!grown)
				return tele_trace_out_of_memory(trace, ret_error);
			trace->entries = grown;
			trace->entries_capacity = capacity;
		}
		trace->entries[trace->n_entries++] = tele_trace_entry_of(&header, trace->scan.offset);
	}
}

int tele_trace_load_entries(struct tele_trace *trace, struct tele_error *ret_error)
{
	uint64_t damaged_at = trace->scan.damaged_at;
	int found = tele_scan_index(&trace->scan, &trace->entries, &trace->n_entries, ret_error);
	if (found < 0)
		return found;
	if (found == 0) {
		// The walk comes upon what is wrong with the index, if anything is.
		trace->scan.damaged_at = damaged_at;
		int failed = walk(trace, ret_error);
		if (failed)
			return failed;
		tele_scan_note(&trace->scan, trace->scan.file_bytes,
			       trace->scan.is_ended ? "the index does not match the blocks" :
						      "no trailer: the recording was cut off");
	}
	trace->has_entries = true;
	for (uint64_t i = 0; i < trace->n_entries; i++)
		if (tele_trace_count_entry(trace, &trace->entries[i], i))
			return tele_trace_out_of_memory(trace, ret_error);
	return 0;
}
