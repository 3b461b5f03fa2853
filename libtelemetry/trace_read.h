// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The state of a trace that is being read, shared by trace_read.c (telling
// records) and trace_entries.c (what is in the file: instances and blocks).

#ifndef TELE_TRACE_READ_H
#define TELE_TRACE_READ_H

#include "strings.h"
#include "trace.h"
#include "trace_scan.h"

#define TELE_TRACE_INSTANCES_MAX 65536
#define TELE_TRACE_NO_ENTRY UINT64_MAX
#define TELE_TRACE_TILE_ROWS 8
#define TELE_TRACE_QUEUE_MAX 6

struct tele_trace_instance {
	struct tele_instance instance; // first: what a record points at
	struct tele_strings *strings;
	bool is_named;	    // a stream block was read
	bool is_announced;  // its INSTANCE record was given, or is in the queue
	bool has_next;	    // next_seq is known
	bool has_counted;   // counted_seq is known
	bool is_hopeless;   // no stream block in the file helps
	bool is_sought;	    // the next seek's place lies behind its start
	uint64_t next_seq;  // of the record to tell next
	uint64_t counted_seq; // records before it are in info.n_records
	uint64_t first_entry; // after a seek: blocks before it are passed over
	uint64_t stream_first, stream_last; // entries of its stream blocks
	uint8_t *schema_bytes; // as the longest stream block brought them, when read once
	size_t n_schema_bytes;
};

struct tele_trace {
	struct tele_source source; // first
	struct tele_scan scan;
	struct tele_trace_info info;

	bool has_entries; // a file; else a pipe
	bool is_once;	  // a file is read as a pipe, and schemas are kept as bytes
	struct tele_trace_entry *entries;
	uint64_t n_entries, entries_capacity, next_entry;

	struct tele_trace_instance **instances; // in order of appearance
	uint32_t n_instances, instances_capacity;
	uint32_t *table; // by id: number + 1; a power of two, at most half full
	uint32_t table_capacity;
	uint32_t announce_next; // after a seek: who is yet to be announced

	struct tele_record queue[TELE_TRACE_QUEUE_MAX];
	unsigned queue_begin, queue_end;

	struct tele_block block; // the one being told
	struct tele_trace_instance *current;
	uint32_t record, n_records; // within it
	uint64_t *tile;		    // a few of its rows, row-major
	size_t tile_words;
	uint32_t tile_begin, tile_rows;

	uint8_t *raw; // a stream block, unpacked
	size_t raw_capacity;
};

int tele_trace_out_of_memory(const struct tele_trace *trace, struct tele_error *ret_error);

struct tele_trace_instance *tele_trace_find_instance(const struct tele_trace *trace, uint64_t id);

// Finds or makes the instance of an id. NULL: no memory (*ret_failed), or more
// instances than a trace may have.
struct tele_trace_instance *tele_trace_need_instance(struct tele_trace *trace, uint64_t id,
						     int *ret_failed);

void tele_trace_free_instances(struct tele_trace *trace);

// A state event says how some instance is now, mostly another one: which, or
// NULL for none that it changes.
struct tele_trace_instance *tele_trace_apply_state(struct tele_trace *trace,
						   const struct tele_event *event);

// The trace behind a source, which must be one.
struct tele_trace *tele_trace_of(struct tele_source *source);

// Counts a block, number `number`, into the info. Records that an earlier block
// had are not counted again. Returns 0 or -ENOMEM.
int tele_trace_count_entry(struct tele_trace *trace, const struct tele_trace_entry *entry,
			   uint64_t number);

// Fills `entries` from the index, or by a walk over the file.
int tele_trace_load_entries(struct tele_trace *trace, struct tele_error *ret_error);

// Takes in every stream block of a file that is to be read once, and goes back
// to its beginning.
int tele_trace_learn(struct tele_trace *trace, struct tele_error *ret_error);

// Takes in a stream block. *ret_instance is NULL for one that makes no sense,
// which is noted as damage. *ret_has_grown: the instance is new or has new
// fields. Returns 0 or -ENOMEM.
int tele_trace_take_stream(struct tele_trace *trace, const struct tele_block_header *header,
			   const uint8_t *block, uint64_t offset,
			   struct tele_trace_instance **ret_instance, bool *ret_has_grown,
			   struct tele_error *ret_error);

// The same of a growth block. *ret_instance is NULL for one whose instance is
// not known, which is no damage of its own.
int tele_trace_take_growth(struct tele_trace *trace, const struct tele_block_header *header,
			   const uint8_t *block, uint64_t offset,
			   struct tele_trace_instance **ret_instance, bool *ret_has_grown,
			   struct tele_error *ret_error);

// The same for the block of entry `number`, if there is one and it is one.
int tele_trace_take_entry(struct tele_trace *trace, uint64_t number, struct tele_error *ret_error);

// Whether header and schema are known as far as a data block needs them.
bool tele_trace_is_ready(const struct tele_trace_instance *instance,
			 const struct tele_block_header *header);

// Looks elsewhere in the file for what a data block needs. Moves the scan.
// Returns 0, found or not, or an error.
int tele_trace_find_stream(struct tele_trace *trace, struct tele_trace_instance *instance,
			   const struct tele_block_header *wanted, struct tele_error *ret_error);

#endif
