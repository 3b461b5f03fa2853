// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// One walk over the bytes of a trace, from the header page to the trailer, with
// nothing left out: what lies between two whole blocks is a damaged place. A
// second reader of the same file finds schemas whose own blocks are damaged.
// Blocks that can be read go into the repaired trace as they are, a schema
// before them where its place was damaged.

#include "verify.h"

#include "draft.h"

#include "../libtelemetry/trace_read.h"
#include "../monitor/monitor.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../libtelemetry/banned.h"

struct seen {
	uint64_t instance_id;
	size_t schema_bytes; // of it in the repaired trace
	uint64_t next_seq;   // records before it were counted
};

struct walker {
	const struct rec_verify_options *options;
	struct mon_out *out;
	struct tele_scan scan;
	struct tele_source *source; // the second reader
	struct tele_trace *trace;   // behind it
	struct tele_trace_writer *writer; // or NULL
	struct rec_draft draft;		  // what it writes
	struct tele_block block;
	uint64_t number; // of blocks so far, damaged places not counted
	uint64_t n_told, n_records;
	uint64_t n_damaged, n_kept;
	uint64_t expected; // offset behind the last block
	// Since the last index.
	struct tele_trace_entry entries[TELE_TRACE_INDEX_BLOCKS];
	uint64_t n_entries, n_indexed;
	uint64_t last_index; // its offset; 0: none
	bool is_index_known; // nothing was damaged since the last index
	struct seen *seen; // by instance
	size_t n_seen, seen_capacity;
};

static void tell(struct walker *walker, uint64_t offset, const char *what, const char *of)
{
	char number[32];
	if (walker->n_damaged++ < REC_DAMAGES_TOLD)
		mon_out_format(walker->out, "damaged at byte %s: %s%s\n", rec_number_text(offset, number), of, what);
}

// "block 7, data of 4711 search, records 100 to 355: " of a block whose header
// can still be read; else its number alone.
static void describe(const struct walker *walker, const struct tele_block_header *header, char *buffer, size_t size)
{
	static const char *const types[] = {"?", "data", "index", "stream", "pad", "growth"};
	char label[160] = "";
	const struct tele_trace_instance *instance =
		header ? tele_trace_find_instance(walker->trace, header->instance_id) : NULL;
	if (instance && instance->is_named)
		snprintf(label, sizeof(label), " of %" PRIu64 " %s", instance->instance.identity.pid,
			 instance->instance.identity.label[0] ? instance->instance.identity.label :
								instance->instance.identity.comm);
	mon_text_clean(label, walker->options->is_ascii, label, sizeof(label));
	if (!header)
		snprintf(buffer, size, "block %" PRIu64 ": ", walker->number + 1);
	else if (header->type == TELE_BLOCK_DATA && header->n_rows + header->n_events > 0)
		snprintf(buffer, size, "block %" PRIu64 ", data%s, records %" PRIu64 " to %" PRIu64 ": ", walker->number + 1,
			 label, header->first_seq, header->first_seq + header->n_rows + header->n_events - 1);
	else
		snprintf(buffer, size, "block %" PRIu64 ", %s%s: ", walker->number + 1,
			 header->type < TELE_ARRAY_LEN(types) ? types[header->type] : "of a later type", label);
}

// What the scan found wrong since it was asked last.
static void tell_scan_damage(struct walker *walker)
{
	struct tele_block_header header;
	uint8_t bytes[TELE_BLOCK_HEADER_BYTES];
	char of[320] = "";
	uint64_t at = walker->scan.damaged_at;
	if (at == UINT64_MAX)
		return;
	const char *colon = strstr(walker->scan.damage, ": ");
	const char *what = colon ? colon + 2 : walker->scan.damage;
	if (at >= walker->scan.blocks_begin) {
		bool is_read = pread(walker->scan.fd, bytes, sizeof(bytes), (off_t)at) == (ssize_t)sizeof(bytes);
		bool is_header = is_read && tele_block_size(bytes, sizeof(bytes), &header) > 0;
		describe(walker, is_header ? &header : NULL, of, sizeof(of));
	}
	tell(walker, at, what, of);
	walker->scan.damaged_at = UINT64_MAX;
	walker->is_index_known = false;
}

// ---- The repaired trace ----------------------------------------------------------------

static struct seen *seen_of(struct walker *walker, uint64_t instance_id)
{
	for (size_t i = walker->n_seen; i-- > 0;)
		if (walker->seen[i].instance_id == instance_id)
			return &walker->seen[i];
	if (walker->n_seen == walker->seen_capacity) {
		size_t capacity = walker->seen_capacity ? 2 * walker->seen_capacity : 16;
		void *grown = realloc(walker->seen, capacity * sizeof(walker->seen[0]));
		if (!grown)
			return NULL;
		walker->seen = grown;
		walker->seen_capacity = capacity;
	}
	walker->seen[walker->n_seen] = (struct seen){.instance_id = instance_id};
	return &walker->seen[walker->n_seen++];
}

// The instance's last stream block, ahead of its place.
static int write_stream_ahead(struct walker *walker, const struct tele_block_header *wanted,
			      size_t *schema_bytes, struct tele_error *ret_error)
{
	const struct tele_trace_instance *instance = tele_trace_find_instance(walker->trace, wanted->instance_id);
	const uint8_t *block;
	struct tele_block_header header;
	uint64_t numbers[2] = {instance->stream_last, instance->stream_first};
	for (int i = 0; i < 2; i++) {
		if (numbers[i] >= walker->trace->n_entries)
			continue;
		int64_t taken = tele_scan_at(&walker->trace->scan, walker->trace->entries[numbers[i]].offset, &block,
					     &header, ret_error);
		if (taken < 0)
			return (int)taken;
		if (taken == 0 || header.type != TELE_BLOCK_STREAM || header.schema_bytes < wanted->schema_bytes)
			continue;
		*schema_bytes = header.schema_bytes;
		return tele_trace_write_block(walker->writer, block, (size_t)taken, ret_error);
	}
	return 0;
}

static int write_repaired(struct walker *walker, struct seen *seen, const struct tele_block_header *header,
			  const uint8_t *block, size_t block_bytes, struct tele_error *ret_error)
{
	int failed = 0;
	if (header->type == TELE_BLOCK_DATA && header->schema_bytes > seen->schema_bytes)
		failed = write_stream_ahead(walker, header, &seen->schema_bytes, ret_error);
	if (!failed)
		failed = tele_trace_write_block(walker->writer, block, block_bytes, ret_error);
	if (!failed && header->type != TELE_BLOCK_DATA && header->schema_bytes > seen->schema_bytes)
		seen->schema_bytes = header->schema_bytes;
	return failed;
}

static int keep(struct walker *walker, const struct tele_block_header *header, const uint8_t *block,
		size_t block_bytes, struct tele_error *ret_error)
{
	struct seen *seen = seen_of(walker, header->instance_id);
	if (!seen)
		return tele_fail(ret_error, -ENOMEM, "out of memory");
	uint64_t end = header->first_seq + header->n_rows + header->n_events;
	if (header->type == TELE_BLOCK_DATA && end > seen->next_seq) {
		walker->n_records += end - tele_max_u64(seen->next_seq, header->first_seq);
		seen->next_seq = end;
	}
	walker->n_kept++;
	return walker->writer ? write_repaired(walker, seen, header, block, block_bytes, ret_error) : 0;
}

// ---- Blocks ------------------------------------------------------------------------------

static bool has_strings(const struct tele_block *block)
{
	for (uint32_t i = 0; i < block->header.n_events; i++) {
		uint64_t id = block->events[i].string_id;
		bool is_defined = id == 0;
		for (uint32_t k = 0; k < block->header.n_strings && !is_defined; k++)
			is_defined = block->strings[k].id == id;
		if (!is_defined)
			return false;
	}
	return true;
}

// Why the contents of a data block cannot be used, or NULL; *ret_failed is an
// error of reading.
static const char *judge_data(struct walker *walker, const struct tele_block_header *header,
			      const uint8_t *block, size_t block_bytes, int *ret_failed, struct tele_error *ret_error)
{
	struct tele_trace_instance *instance = tele_trace_find_instance(walker->trace, header->instance_id);
	*ret_failed = 0;
	if (!instance)
		return "more than 65536 instances";
	if (!tele_trace_is_ready(instance, header))
		*ret_failed = tele_trace_find_stream(walker->trace, instance, header, ret_error);
	if (*ret_failed)
		return NULL;
	if (!tele_trace_is_ready(instance, header))
		return "its instance's header or schema is missing";
	int decoded = tele_block_decode(&walker->block, instance->instance.schema->plan, block, block_bytes);
	if (decoded == -ENOMEM)
		*ret_failed = tele_fail(ret_error, decoded, "out of memory");
	if (decoded)
		return "its contents make no sense";
	return has_strings(&walker->block) ? NULL : "it lacks a text that it uses";
}

// The same of a stream or growth block; the second reader takes it in.
static const char *judge_schema(struct walker *walker, const struct tele_block_header *header,
				const uint8_t *block, int *ret_failed, struct tele_error *ret_error)
{
	struct tele_trace_instance *instance;
	bool has_grown;
	struct tele_scan *scan = &walker->trace->scan;
	scan->damaged_at = UINT64_MAX;
	*ret_failed = header->type == TELE_BLOCK_STREAM ?
			      tele_trace_take_stream(walker->trace, header, block, 0, &instance, &has_grown, ret_error) :
			      tele_trace_take_growth(walker->trace, header, block, 0, &instance, &has_grown, ret_error);
	if (*ret_failed || scan->damaged_at == UINT64_MAX)
		return NULL;
	scan->damaged_at = UINT64_MAX;
	const char *colon = strstr(scan->damage, ": ");
	return colon ? colon + 2 : scan->damage;
}

// Whether the index lists exactly what came since the one before.
static const char *judge_index(struct walker *walker, const struct tele_block_header *header, const uint8_t *block)
{
	struct tele_trace_index index;
	uint8_t raw[sizeof(index) + sizeof(walker->entries)];
	if (header->raw_bytes < sizeof(index) || header->raw_bytes > sizeof(raw) ||
	    tele_block_unpack(header, block + TELE_BLOCK_HEADER_BYTES, raw) != 0)
		return "its contents make no sense";
	memcpy(&index, raw, sizeof(index));
	if (index.entry_bytes != sizeof(walker->entries[0]) ||
	    sizeof(index) + (uint64_t)index.n_entries * index.entry_bytes != header->raw_bytes)
		return "its contents make no sense";
	walker->n_indexed += index.n_entries;
	bool is_same = index.n_entries == walker->n_entries && index.previous_offset == walker->last_index &&
		       memcmp(raw + sizeof(index), walker->entries, walker->n_entries * sizeof(walker->entries[0])) == 0;
	return is_same || !walker->is_index_known ? NULL : "it does not list the blocks before it";
}

static int take_block(struct walker *walker, const struct tele_block_header *header, const uint8_t *block,
		      size_t block_bytes, struct tele_error *ret_error)
{
	char of[320];
	int failed = 0;
	const char *wrong = NULL;
	uint64_t offset = walker->scan.offset;
	if (header->type == TELE_BLOCK_INDEX) {
		wrong = judge_index(walker, header, block);
		walker->n_entries = 0;
		walker->last_index = offset;
		walker->is_index_known = true;
	} else if (tele_trace_is_indexed(header->type)) {
		wrong = header->type == TELE_BLOCK_DATA ?
				judge_data(walker, header, block, block_bytes, &failed, ret_error) :
				judge_schema(walker, header, block, &failed, ret_error);
		walker->is_index_known &= walker->n_entries < TELE_TRACE_INDEX_BLOCKS;
		if (walker->n_entries < TELE_TRACE_INDEX_BLOCKS)
			walker->entries[walker->n_entries++] = tele_trace_entry_of(header, offset);
		walker->n_told++;
		if (!failed && !wrong)
			failed = keep(walker, header, block, block_bytes, ret_error);
	}
	if (wrong) {
		describe(walker, header, of, sizeof(of));
		tell(walker, offset, wrong, of);
	}
	walker->number++;
	return failed;
}

static void check_header_page(struct walker *walker)
{
	uint8_t page[TELE_TRACE_HEADER_BYTES];
	size_t n = walker->scan.blocks_begin < sizeof(page) ? (size_t)walker->scan.blocks_begin : sizeof(page);
	if (pread(walker->scan.fd, page, n, 0) != (ssize_t)n)
		return;
	for (size_t i = sizeof(struct tele_trace_header); i < n; i++)
		if (page[i]) {
			tell(walker, i, "a reserved byte is not zero", "header page: ");
			return;
		}
}

static void check_trailer(struct walker *walker)
{
	struct tele_trace_trailer trailer;
	if (!walker->scan.is_ended) {
		tell(walker, walker->scan.file_bytes, "no trailer: the recording was cut off, or goes on", "");
		return;
	}
	uint64_t at = walker->expected;
	if (pread(walker->scan.fd, &trailer, sizeof(trailer), (off_t)at) != (ssize_t)sizeof(trailer))
		return;
	bool is_right = trailer.index_offset == walker->last_index && trailer.n_blocks == walker->n_indexed;
	if (!is_right && walker->n_damaged == 0)
		tell(walker, at, "it does not match the blocks", "trailer: ");
}

static int walk(struct walker *walker, struct tele_error *ret_error)
{
	const uint8_t *block;
	struct tele_block_header header;
	int64_t taken;
	tell_scan_damage(walker);
	check_header_page(walker);
	walker->expected = walker->scan.blocks_begin;
	walker->is_index_known = true;
	while ((taken = tele_scan_next(&walker->scan, &block, &header, ret_error)) > 0) {
		tell_scan_damage(walker);
		int failed = take_block(walker, &header, block, (size_t)taken, ret_error);
		if (failed)
			return failed;
		walker->expected = walker->scan.offset + (uint64_t)taken;
	}
	tell_scan_damage(walker);
	check_trailer(walker);
	return (int)taken;
}

static void conclude(const struct walker *walker)
{
	char blocks[32], told[32], records[32];
	rec_number_text(walker->n_kept, blocks);
	rec_number_text(walker->trace->n_entries > walker->n_told ? walker->trace->n_entries : walker->n_told, told);
	rec_number_text(walker->n_records, records);
	if (walker->n_damaged == 0) {
		mon_out_format(walker->out, "whole: %s blocks, %s records\n", blocks, records);
		return;
	}
	if (walker->n_damaged > REC_DAMAGES_TOLD)
		mon_out_format(walker->out, "and %" PRIu64 " more places\n", walker->n_damaged - REC_DAMAGES_TOLD);
	mon_out_format(walker->out, "recoverable: %s of %s blocks, with %s records", blocks, told, records);
	if (walker->options->repair)
		mon_out_text(walker->out, "; they are in the new trace\n");
	else
		mon_out_text(walker->out, "; --repair OUT writes them to a new trace\n");
}

static int open_walker(struct walker *walker, struct tele_error *ret_error)
{
	const struct rec_verify_options *options = walker->options;
	int failed = tele_scan_open(&walker->scan, options->path, ret_error);
	if (failed)
		return failed;
	if (!walker->scan.is_regular)
		return tele_fail(ret_error, -ESPIPE, "%s is not a regular file", options->path);
	failed = tele_trace_open(options->path, &walker->source, ret_error);
	if (failed)
		return failed;
	walker->trace = tele_trace_of(walker->source);
	if (!options->repair)
		return 0;
	failed = rec_draft_open(&walker->draft, options->repair, options->path, options->replace, ret_error);
	if (!failed && strcmp(walker->draft.path, "-") == 0)
		failed = tele_fail(ret_error, -EINVAL, "%s is for the verdict; name a file to repair into", options->repair);
	return failed ? failed
		      : tele_trace_create(rec_draft_written(&walker->draft), walker->draft.name, &walker->writer, ret_error);
}

int rec_verify_trace(const struct rec_verify_options *options, struct mon_out *out,
		     struct tele_error *ret_error)
{
	struct walker *walker = calloc(1, sizeof(*walker));
	char name[400], bytes[32];
	if (!walker)
		return tele_fail(ret_error, -ENOMEM, "out of memory");
	walker->options = options;
	walker->out = out;
	walker->scan.fd = -1;
	int result = open_walker(walker, ret_error);
	if (result == 0) {
		mon_out_format(out, "%s: a trace, %s bytes\n",
			       mon_text_clean(options->path, options->is_ascii, name, sizeof(name)),
			       rec_number_text(walker->scan.file_bytes, bytes));
		result = walk(walker, ret_error);
	}
	if (result == 0)
		conclude(walker);
	int finished = walker->writer ? tele_trace_finish(walker->writer, result < 0 ? NULL : ret_error) : 0;
	if (result == 0 && finished == 0)
		finished = rec_draft_place(&walker->draft, ret_error);
	rec_draft_drop(&walker->draft);
	if (result == 0)
		result = finished < 0 ? finished : walker->n_damaged > 0;
	tele_source_close(walker->source);
	tele_scan_close(&walker->scan);
	tele_block_free(&walker->block);
	free(walker->seen);
	free(walker);
	return result;
}
