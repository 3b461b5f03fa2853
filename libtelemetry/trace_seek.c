// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Seeking in a trace. By time it is a walk over the entries, which are in
// memory, and the read of two blocks; by record, of the time of the block that
// holds it; by candidate, a search by halves over the blocks of the instance,
// whose first rows tell how many candidates had ended: that number never falls.

#include "trace_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"

static int fail_pipe(const struct tele_trace *trace, struct tele_error *ret_error)
{
	return tele_fail(ret_error, -ESPIPE, "%s: %s", trace->scan.path, tele_strerror(-ESPIPE));
}

static void start_over(struct tele_trace *trace)
{
	trace->queue_begin = trace->queue_end = 0;
	trace->current = NULL;
	trace->next_entry = 0;
	trace->announce_next = UINT32_MAX;
	for (uint32_t i = 0; i < trace->n_instances; i++) {
		struct tele_trace_instance *instance = trace->instances[i];
		instance->is_announced = false;
		instance->has_next = false;
		instance->is_sought = false;
		instance->first_entry = 0;
		instance->instance.state = TELE_STARTING;
		instance->instance.lost = 0;
	}
}

// Finds the block of each instance to begin with. Returns the first of them.
static uint64_t choose_entries(struct tele_trace *trace, uint64_t at_ns)
{
	uint64_t first = TELE_TRACE_NO_ENTRY;
	struct tele_trace_instance *instance = NULL;
	uint64_t id = 0;
	for (uint64_t i = 0; i < trace->n_entries; i++) {
		const struct tele_trace_entry *entry = &trace->entries[i];
		// Blocks of one instance come in rows.
		if (!instance || entry->instance_id != id)
			instance = tele_trace_find_instance(trace, id = entry->instance_id);
		if (!instance || entry->type != TELE_BLOCK_DATA || entry->first_at_ns > at_ns)
			continue;
		instance->first_entry = i;
		instance->is_sought = true;
	}
	for (uint32_t i = 0; i < trace->n_instances; i++)
		if (trace->instances[i]->is_sought)
			first = tele_min_u64(first, trace->instances[i]->first_entry);
	return first == TELE_TRACE_NO_ENTRY ? 0 : first;
}

// Reads what observers told of the states of others before the chosen place.
static int gather_states(struct tele_trace *trace, struct tele_error *ret_error)
{
	bool is_observed = false;
	for (uint32_t i = 0; i < trace->n_instances && !is_observed; i++)
		is_observed = trace->instances[i]->is_named && trace->instances[i]->instance.identity.is_observer;
	if (!is_observed)
		return 0;
	for (uint64_t i = 0; i < trace->n_entries; i++) {
		const struct tele_trace_entry *entry = &trace->entries[i];
		const uint8_t *block;
		struct tele_block_header header;
		struct tele_trace_instance *instance = tele_trace_find_instance(trace, entry->instance_id);
		if (!instance || !instance->is_named || !instance->instance.identity.is_observer ||
		    entry->type != TELE_BLOCK_DATA || i >= instance->first_entry)
			continue;
		int64_t taken = tele_scan_at(&trace->scan, entry->offset, &block, &header, ret_error);
		if (taken < 0)
			return (int)taken;
		if (taken == 0 || header.type != TELE_BLOCK_DATA || header.n_events == 0)
			continue;
		int failed = tele_block_decode(&trace->block, instance->instance.schema->plan, block,
					       (size_t)taken);
		if (failed == -ENOMEM)
			return tele_trace_out_of_memory(trace, ret_error);
		for (uint32_t k = 0; !failed && k < trace->block.header.n_events; k++)
			(void)tele_trace_apply_state(trace, &trace->block.events[k]);
	}
	return 0;
}

int tele_trace_seek(struct tele_source *source, uint64_t at_ns, struct tele_error *ret_error)
{
	struct tele_trace *trace = tele_trace_of(source);
	if (!trace->has_entries)
		return fail_pipe(trace, ret_error);
	start_over(trace);
	if (at_ns == 0)
		return 0;
	trace->next_entry = choose_entries(trace, at_ns);
	for (uint32_t i = 0; i < trace->n_instances; i++) {
		const struct tele_trace_instance *instance = trace->instances[i];
		int failed = 0;
		if (instance->is_sought && !instance->is_named)
			failed = tele_trace_take_entry(trace, instance->stream_last, ret_error);
		if (!failed && instance->is_sought && !instance->is_named)
			failed = tele_trace_take_entry(trace, instance->stream_first, ret_error);
		if (failed)
			return failed;
	}
	trace->announce_next = 0;
	return gather_states(trace, ret_error);
}

// ---- By record and by candidate ------------------------------------------------------

static bool is_data_of(const struct tele_trace_entry *entry, uint64_t instance_id)
{
	return entry->type == TELE_BLOCK_DATA && entry->instance_id == instance_id && entry->n_records > 0;
}

int tele_trace_seek_record(struct tele_source *source, uint64_t instance_id, uint64_t seq,
			   struct tele_error *ret_error)
{
	struct tele_trace *trace = tele_trace_of(source);
	const struct tele_trace_entry *found = NULL;
	if (!trace->has_entries)
		return fail_pipe(trace, ret_error);
	for (uint64_t i = 0; i < trace->n_entries; i++) {
		const struct tele_trace_entry *entry = &trace->entries[i];
		if (is_data_of(entry, instance_id) && seq >= entry->first_seq &&
		    seq - entry->first_seq < entry->n_records)
			found = entry;
	}
	if (!found)
		return tele_fail(ret_error, TELE_ENOTFOUND, "%s: no record %llu", trace->scan.path,
				 (unsigned long long)seq);
	return tele_trace_seek(source, found->first_at_ns, ret_error);
}

// Decodes the block of entry `number`, finding its schema first where need be.
// Returns 1, 0 where it cannot be read, or an error.
static int decode_entry(struct tele_trace *trace, uint64_t number, struct tele_error *ret_error)
{
	const uint8_t *block;
	struct tele_block_header header;
	uint64_t offset = trace->entries[number].offset;
	struct tele_trace_instance *instance =
		tele_trace_find_instance(trace, trace->entries[number].instance_id);
	int64_t taken = tele_scan_at(&trace->scan, offset, &block, &header, ret_error);
	if (taken <= 0 || header.type != TELE_BLOCK_DATA)
		return taken < 0 ? (int)taken : 0;
	if (!tele_trace_is_ready(instance, &header)) {
		int failed = tele_trace_find_stream(trace, instance, &header, ret_error);
		if (failed || !tele_trace_is_ready(instance, &header))
			return failed;
		taken = tele_scan_at(&trace->scan, offset, &block, &header, ret_error);
		if (taken <= 0)
			return (int)taken;
	}
	int failed = tele_block_decode(&trace->block, instance->instance.schema->plan, block, (size_t)taken);
	if (failed == -ENOMEM)
		return tele_trace_out_of_memory(trace, ret_error);
	return !failed;
}

// How many candidates had ended by the first row of the block in trace->block.
static uint64_t ended_at_begin(const struct tele_trace *trace, const struct tele_schema *schema)
{
	const struct tele_block *block = &trace->block;
	int64_t attempted = tele_schema_position(schema, TELE_ID_search_candidates_attempted, TELE_NO_INSTANCE);
	int64_t open = tele_schema_position(schema, TELE_ID_search_open_candidates, TELE_NO_INSTANCE);
	if (block->header.n_rows == 0 || attempted < 0 || open < 0 || attempted >= block->header.n_fields ||
	    open >= block->header.n_fields)
		return 0;
	uint64_t n_attempted = block->columns[(size_t)attempted * block->header.n_rows];
	uint64_t n_open = block->columns[(size_t)open * block->header.n_rows];
	return n_attempted == TELE_UNKNOWN || n_open == TELE_UNKNOWN || n_open > n_attempted ?
		       0 : n_attempted - n_open;
}

int tele_trace_seek_candidate(struct tele_source *source, uint64_t instance_id, uint64_t n_ended,
			      struct tele_error *ret_error)
{
	struct tele_trace *trace = tele_trace_of(source);
	if (!trace->has_entries)
		return fail_pipe(trace, ret_error);
	const struct tele_trace_instance *instance = tele_trace_find_instance(trace, instance_id);
	uint64_t *numbers = malloc((trace->n_entries + 1) * sizeof(*numbers));
	if (!numbers)
		return tele_trace_out_of_memory(trace, ret_error);
	uint64_t n = 0;
	for (uint64_t i = 0; i < trace->n_entries; i++)
		if (is_data_of(&trace->entries[i], instance_id))
			numbers[n++] = i;
	// The last block at whose first row fewer had ended.
	uint64_t low = 0, high = n;
	int result = 0;
	while (high - low > 1) {
		uint64_t middle = low + (high - low) / 2;
		result = decode_entry(trace, numbers[middle], ret_error);
		if (result < 0)
			break;
		if (result == 0 || ended_at_begin(trace, instance->instance.schema) < n_ended)
			low = middle;
		else
			high = middle;
	}
	uint64_t at_ns = n ? trace->entries[numbers[low]].first_at_ns : 0;
	free(numbers);
	if (result < 0)
		return result;
	if (n == 0)
		return tele_fail(ret_error, TELE_ENOTFOUND, "%s: no such instance", trace->scan.path);
	return tele_trace_seek(source, at_ns, ret_error);
}
