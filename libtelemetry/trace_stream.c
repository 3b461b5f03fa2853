// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Stream and growth blocks: what brings an instance's header and schema. A
// schema only grows, so a later stream block serves all earlier data blocks too;
// that is how data is read whose own stream block was lost or lies before the
// place that was sought. A growth block serves only where all before it is known.

#include "trace_read.h"

#include "identity.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"

static int name_instance(struct tele_trace_instance *instance, const struct tele_identity *identity)
{
	if (!instance->strings)
		instance->strings = tele_strings_new();
	if (!instance->instance.schema)
		instance->instance.schema = tele_schema_new();
	if (!instance->strings || !instance->instance.schema)
		return -ENOMEM;
	instance->instance.strings = instance->strings;
	instance->instance.identity = *identity;
	instance->is_named = true;
	return 0;
}

static int unpack(struct tele_trace *trace, const struct tele_block_header *header, const uint8_t *block,
		  size_t head_bytes)
{
	if (header->raw_bytes > trace->raw_capacity) {
		void *grown = realloc(trace->raw, header->raw_bytes);
		if (!grown)
			return -ENOMEM;
		trace->raw = grown;
		trace->raw_capacity = header->raw_bytes;
	}
	if (header->raw_bytes < head_bytes || header->raw_bytes > head_bytes + TELE_SCHEMA_BYTES_MAX)
		return TELE_EDAMAGED;
	return tele_block_unpack(header, block + TELE_BLOCK_HEADER_BYTES, trace->raw);
}

// Keeps the bytes of a schema from byte `from` on, as far as they are new.
static int keep_schema(struct tele_trace_instance *instance, size_t from, const uint8_t *bytes, size_t n_bytes)
{
	size_t n_kept = instance->n_schema_bytes;
	if (instance->schema_bytes && (from > n_kept || from + n_bytes <= n_kept))
		return 0;
	uint8_t *kept = realloc(instance->schema_bytes, from + n_bytes + 1);
	if (!kept)
		return -ENOMEM;
	memcpy(kept + n_kept, bytes + (n_kept - from), from + n_bytes - n_kept);
	instance->schema_bytes = kept;
	instance->n_schema_bytes = from + n_bytes;
	return 0;
}

int tele_trace_take_stream(struct tele_trace *trace, const struct tele_block_header *header,
		       const uint8_t *block, uint64_t offset, struct tele_trace_instance **ret_instance,
		       bool *ret_has_grown, struct tele_error *ret_error)
{
	uint64_t words[TELE_HEADER_WORDS];
	struct tele_identity identity;
	struct tele_error refusal;
	*ret_instance = NULL;
	int failed = unpack(trace, header, block, sizeof(words));
	if (failed == -ENOMEM)
		return tele_trace_out_of_memory(trace, ret_error);
	if (failed) {
		tele_scan_note(&trace->scan, offset, "stream block damaged");
		return 0;
	}
	memcpy(words, trace->raw, sizeof(words));
	if (tele_header_decode(words, &identity, NULL, &refusal) != 0) {
		tele_scan_note(&trace->scan, offset, refusal.text);
		return 0;
	}
	if (identity.instance_id != header->instance_id) {
		tele_scan_note(&trace->scan, offset, "stream block of two instances");
		return 0;
	}
	struct tele_trace_instance *instance = tele_trace_need_instance(trace, identity.instance_id, &failed);
	if (failed)
		return tele_trace_out_of_memory(trace, ret_error);
	if (!instance) {
		tele_scan_note(&trace->scan, offset, "more than 65536 instances");
		return 0;
	}
	bool is_new = !instance->is_named;
	if (is_new && name_instance(instance, &identity) != 0)
		return tele_trace_out_of_memory(trace, ret_error);
	size_t schema_bytes = header->raw_bytes - sizeof(words);
	struct tele_schema *schema = instance->instance.schema;
	uint32_t n_fields = schema->n_fields;
	failed = tele_schema_parse(schema, trace->raw + sizeof(words), schema_bytes, &refusal);
	if (failed == -ENOMEM)
		return tele_trace_out_of_memory(trace, ret_error);
	if (failed)
		tele_scan_note(&trace->scan, offset, refusal.text);
	if (trace->is_once && keep_schema(instance, 0, trace->raw + sizeof(words), schema_bytes) != 0)
		return tele_trace_out_of_memory(trace, ret_error);
	*ret_instance = instance;
	*ret_has_grown = is_new || schema->n_fields > n_fields;
	return 0;
}

int tele_trace_take_growth(struct tele_trace *trace, const struct tele_block_header *header,
			   const uint8_t *block, uint64_t offset, struct tele_trace_instance **ret_instance,
			   bool *ret_has_grown, struct tele_error *ret_error)
{
	struct tele_trace_growth growth;
	struct tele_error refusal;
	*ret_instance = NULL;
	struct tele_trace_instance *instance = tele_trace_find_instance(trace, header->instance_id);
	if (!instance || !instance->is_named)
		return 0;
	int failed = unpack(trace, header, block, sizeof(growth));
	if (failed == -ENOMEM)
		return tele_trace_out_of_memory(trace, ret_error);
	if (!failed)
		memcpy(&growth, trace->raw, sizeof(growth));
	if (failed || growth.from > TELE_SCHEMA_BYTES_MAX) {
		tele_scan_note(&trace->scan, offset, "growth block damaged");
		return 0;
	}
	struct tele_schema *schema = instance->instance.schema;
	uint32_t n_fields = schema->n_fields;
	failed = tele_schema_parse_from(schema, growth.from, trace->raw + sizeof(growth),
					header->raw_bytes - sizeof(growth), &refusal);
	if (failed == -ENOMEM)
		return tele_trace_out_of_memory(trace, ret_error);
	if (trace->is_once && !failed &&
	    keep_schema(instance, growth.from, trace->raw + sizeof(growth), header->raw_bytes - sizeof(growth)) != 0)
		return tele_trace_out_of_memory(trace, ret_error);
	// What lies before it may still be found elsewhere.
	if (failed && failed != TELE_ENOTREADY)
		tele_scan_note(&trace->scan, offset, refusal.text);
	*ret_instance = instance;
	*ret_has_grown = schema->n_fields > n_fields;
	return 0;
}

bool tele_trace_is_ready(const struct tele_trace_instance *instance, const struct tele_block_header *header)
{
	return instance->is_named && instance->instance.schema->n_fields >= header->n_fields &&
	       instance->instance.schema->parsed_bytes >= header->schema_bytes;
}

int tele_trace_take_entry(struct tele_trace *trace, uint64_t number, struct tele_error *ret_error)
{
	const uint8_t *block;
	struct tele_block_header header;
	struct tele_trace_instance *ignored;
	bool has_grown;
	if (number >= trace->n_entries)
		return 0;
	uint64_t offset = trace->entries[number].offset;
	int64_t taken = tele_scan_at(&trace->scan, offset, &block, &header, ret_error);
	if (taken < 0)
		return (int)taken;
	if (taken > 0 && header.type == TELE_BLOCK_STREAM)
		return tele_trace_take_stream(trace, &header, block, offset, &ignored, &has_grown, ret_error);
	if (taken > 0 && header.type == TELE_BLOCK_GROWTH)
		return tele_trace_take_growth(trace, &header, block, offset, &ignored, &has_grown, ret_error);
	return 0;
}

// Takes all that the schema of an instance has grown by, in order.
static int take_growths(struct tele_trace *trace, const struct tele_trace_instance *instance,
			const struct tele_block_header *wanted, struct tele_error *ret_error)
{
	int failed = 0;
	for (uint64_t i = 0; i < trace->n_entries && !failed && !tele_trace_is_ready(instance, wanted); i++)
		if (trace->entries[i].type == TELE_BLOCK_GROWTH &&
		    trace->entries[i].instance_id == instance->instance.identity.instance_id)
			failed = tele_trace_take_entry(trace, i, ret_error);
	return failed;
}

int tele_trace_find_stream(struct tele_trace *trace, struct tele_trace_instance *instance,
		       const struct tele_block_header *wanted, struct tele_error *ret_error)
{
	if (!trace->has_entries || instance->is_hopeless)
		return 0;
	int failed = tele_trace_take_entry(trace, instance->stream_last, ret_error);
	if (!failed && !tele_trace_is_ready(instance, wanted))
		failed = tele_trace_take_entry(trace, instance->stream_first, ret_error);
	if (!failed && !tele_trace_is_ready(instance, wanted))
		failed = take_growths(trace, instance, wanted, ret_error);
	instance->is_hopeless = !tele_trace_is_ready(instance, wanted);
	return failed;
}
