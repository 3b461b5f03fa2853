// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Traces that are read once, from begin to end: blocks come one after the other
// as from a pipe, so that nothing is kept of each. What a pipe cannot give, the
// schemas that lie ahead, is taken in before: from the stream blocks that the
// indexes name, or by a walk over a file that has lost its index.

#include "trace_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"

// Where the blocks are that bring schemas, the last first.
struct places {
	uint64_t *offsets;
	size_t n_offsets, capacity;
};

static int note_place(void *context, uint64_t offset, struct tele_error *ret_error)
{
	struct places *places = context;
	if (places->n_offsets == places->capacity) {
		size_t capacity = places->capacity ? 2 * places->capacity : 64;
		void *grown = realloc(places->offsets, capacity * sizeof(places->offsets[0]));
		if (!grown)
			return tele_fail(ret_error, -ENOMEM, "out of memory for schemas");
		places->offsets = grown;
		places->capacity = capacity;
	}
	places->offsets[places->n_offsets++] = offset;
	return 0;
}

static int take(struct tele_trace *trace, const struct tele_block_header *header, const uint8_t *block,
		uint64_t offset, struct tele_error *ret_error)
{
	struct tele_trace_instance *ignored;
	bool has_grown;
	if (header->type == TELE_BLOCK_STREAM)
		return tele_trace_take_stream(trace, header, block, offset, &ignored, &has_grown, ret_error);
	return tele_trace_take_growth(trace, header, block, offset, &ignored, &has_grown, ret_error);
}

// Takes the blocks of one type in the order of the file.
static int take_places(struct tele_trace *trace, const struct places *places, unsigned type,
		       struct tele_error *ret_error)
{
	for (size_t i = places->n_offsets; i-- > 0;) {
		const uint8_t *block;
		struct tele_block_header header;
		int64_t taken = tele_scan_at(&trace->scan, places->offsets[i], &block, &header, ret_error);
		int failed = taken < 0 ? (int)taken : 0;
		if (taken > 0 && header.type == type)
			failed = take(trace, &header, block, places->offsets[i], ret_error);
		if (failed)
			return failed;
	}
	return 0;
}

// Reads the whole file: 0 or an error.
static int learn_by_walking(struct tele_trace *trace, unsigned type, struct tele_error *ret_error)
{
	const uint8_t *block;
	struct tele_block_header header;
	trace->scan.is_ended = false;
	trace->scan.wasted_bytes = 0;
	tele_scan_rewind(&trace->scan, trace->scan.blocks_begin);
	for (;;) {
		int64_t taken = tele_scan_next(&trace->scan, &block, &header, ret_error);
		if (taken <= 0)
			return (int)taken;
		int failed = header.type == type ? take(trace, &header, block, trace->scan.offset, ret_error) : 0;
		if (failed)
			return failed;
	}
}

// Streams come first, since what a schema has grown by makes sense only behind
// what it was, and one stream block may stand in for another that is damaged.
static int learn(struct tele_trace *trace, struct tele_error *ret_error)
{
	struct places places = {0};
	int found = tele_scan_index_schemas(&trace->scan, note_place, &places, ret_error);
	if (found > 0) {
		found = take_places(trace, &places, TELE_BLOCK_STREAM, ret_error);
		if (found == 0)
			found = take_places(trace, &places, TELE_BLOCK_GROWTH, ret_error);
	} else if (found == 0) {
		found = learn_by_walking(trace, TELE_BLOCK_STREAM, ret_error);
		if (found == 0)
			found = learn_by_walking(trace, TELE_BLOCK_GROWTH, ret_error);
	}
	free(places.offsets);
	return found;
}

int tele_trace_learn(struct tele_trace *trace, struct tele_error *ret_error)
{
	struct tele_scan *scan = &trace->scan;
	uint64_t damaged_at = scan->damaged_at;
	int failed = learn(trace, ret_error);
	if (failed < 0)
		return failed;
	// The reading comes upon whatever is wrong, in the order of the file.
	scan->damaged_at = damaged_at;
	if (damaged_at == UINT64_MAX)
		scan->damage[0] = '\0';
	scan->wasted_bytes = 0;
	scan->is_ended = false;
	tele_scan_rewind(scan, scan->blocks_begin);
	return 0;
}

const struct tele_instance *tele_trace_instance_at(const struct tele_source *source, uint32_t number)
{
	const struct tele_trace *trace = (const struct tele_trace *)source;
	TELE_ASSERT(trace->is_once);
	return number < trace->n_instances ? &trace->instances[number]->instance : NULL;
}

const uint8_t *tele_trace_schema_bytes(const struct tele_source *source, const struct tele_instance *instance,
				       size_t *ret_bytes)
{
	const struct tele_trace *trace = (const struct tele_trace *)source;
	const struct tele_trace_instance *own = (const struct tele_trace_instance *)instance;
	TELE_ASSERT(trace->is_once && own->schema_bytes);
	*ret_bytes = own->n_schema_bytes;
	return own->schema_bytes;
}
