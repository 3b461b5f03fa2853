// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What trace_write.c and the readers share: header page, index and trailer.
// docs/format-trace.md is the definition.

#ifndef TELE_TRACE_WIRE_H
#define TELE_TRACE_WIRE_H

#include "base.h"
#include "block.h"

#define TELE_TRACE_MAGIC UINT64_C(0x3152544c4c414352)	// "RCALLTR1"
#define TELE_TRACE_END_MAGIC UINT64_C(0x444e454c4c414352) // "RCALLEND"
#define TELE_TRACE_MAJOR 1
#define TELE_TRACE_MINOR 1
#define TELE_TRACE_HEADER_BYTES 4096
#define TELE_TRACE_INDEX_BLOCKS 1024

// The first 512 bytes; zero up to header_bytes.
struct tele_trace_header {
	uint64_t magic;
	uint64_t endian_mark; // as in a segment
	uint16_t major;
	uint16_t minor;
	uint32_t header_bytes; // where the first block is; a multiple of 8
	uint64_t incompatible; // an unknown bit: do not read
	uint64_t compatible;   // an unknown bit: read on
	uint64_t created_realtime_ns;
	uint64_t created_at_ns; // monotonic
	uint64_t reserved[56];
	uint64_t checksum; // CRC-32C of the 504 bytes before
};
_Static_assert(sizeof(struct tele_trace_header) == 512, "trace header");

// The payload of an index block: this, and n_entries entries.
struct tele_trace_index {
	uint64_t previous_offset; // of the index block before, or 0
	uint32_t n_entries;
	uint32_t entry_bytes;
};
_Static_assert(sizeof(struct tele_trace_index) == 16, "trace index");

struct tele_trace_entry {
	uint64_t offset;
	uint64_t instance_id;
	uint64_t first_seq;
	uint64_t first_at_ns;
	uint64_t last_at_ns;
	uint32_t n_records;
	uint16_t flags;
	uint8_t type;
	uint8_t reserved;
};
_Static_assert(sizeof(struct tele_trace_entry) == 48, "trace index entry");

// The payload of a growth block: this, and the bytes of the schema from `from`
// up to the header's schema_bytes.
struct tele_trace_growth {
	uint32_t from;
	uint32_t reserved;
};
_Static_assert(sizeof(struct tele_trace_growth) == 8, "trace growth");

// The entry of a block at `offset`.
static inline struct tele_trace_entry tele_trace_entry_of(const struct tele_block_header *header,
							  uint64_t offset)
{
	return (struct tele_trace_entry){
		.offset = offset,
		.instance_id = header->instance_id,
		.first_seq = header->first_seq,
		.first_at_ns = header->first_at_ns,
		.last_at_ns = header->last_at_ns,
		.n_records = (uint32_t)header->n_rows + header->n_events,
		.flags = header->flags,
		.type = header->type,
	};
}

// Whether blocks of that type are told to readers, and so have an entry.
static inline bool tele_trace_is_indexed(unsigned type)
{
	return type == TELE_BLOCK_DATA || type == TELE_BLOCK_STREAM || type == TELE_BLOCK_GROWTH;
}

// The last bytes of a trace that was ended.
struct tele_trace_trailer {
	uint64_t index_offset; // of the last index block
	uint64_t n_blocks;     // in all indexes
	uint32_t reserved;
	uint32_t checksum; // CRC-32C of the 20 bytes before
	uint64_t magic;
};
_Static_assert(sizeof(struct tele_trace_trailer) == 32, "trace trailer");

#endif
