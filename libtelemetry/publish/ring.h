// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The one writer of a segment: rows, events and strings into open chunks, full
// chunks into sealed blocks. Used by the publisher thread only.

#ifndef TELE_RING_H
#define TELE_RING_H

#include "../base.h"
#include "../block.h"
#include "../codec.h"
#include "../segment.h"
#include "segment_create.h"

#define TELE_RING_BLOCKS_MAX 65536
#define TELE_RING_STRINGS_PER_COMMIT 16

// The text of an interned string of the process, or NULL for an unknown id.
typedef const char *(*tele_ring_text_fn)(uint64_t id, size_t *ret_len);

// Memory of the writer beside the segment: mapped once, touched as needed.
struct tele_ring_memory {
	uint8_t chunk[TELE_CHUNK_BYTES];      // mirror of the open chunk, where it defines strings
	uint8_t frames[TELE_CHUNK_BYTES];     // what is being encoded
	uint64_t codec_words[TELE_CODEC_WORDS(TELE_SEGMENT_FIELDS_MAX)];
	struct tele_event events[TELE_CHUNK_EVENTS_MAX];
	struct tele_block_string strings[TELE_CHUNK_STRINGS_MAX];
	struct tele_block_string picked[TELE_CHUNK_STRINGS_MAX]; // for the block being sealed
	uint64_t block_offsets[TELE_RING_BLOCKS_MAX];
	uint64_t rows[]; // TELE_CHUNK_ROWS_MAX rows, then scratch and block
};

struct tele_ring {
	struct tele_segment_file *file;
	const struct tele_plan *plan;
	struct tele_ring_memory *memory;
	size_t memory_bytes;
	uint8_t *scratch, *block;
	size_t scratch_bytes, block_capacity_bytes;

	uint64_t instance_id;
	uint64_t next_seq;
	struct tele_codec codec;
	uint32_t n_fields; // of rows in this chunk
	uint32_t schema_bytes;

	uint64_t epoch;
	unsigned chunk_index;
	size_t used_bytes;
	uint32_t drained; // tickets, as in the chunk's word
	uint64_t first_seq;
	uint32_t n_rows, n_events, n_strings;
	uint64_t next_string;  // transient ids
	uint64_t first_string; // of this chunk

	uint64_t head, tail;
	uint32_t first_block, n_blocks; // in block_offsets, a circle

	tele_ring_text_fn text_of;
	const uint32_t *string_fields;
	const uint32_t *n_string_fields;

	uint64_t rows_published, rows_dropped;
	int failed; // a write that did not go through: nothing more is published
};

// Maps the writer's memory and starts the first chunk. The plan and the file
// outlive the ring. Returns 0 or -ENOMEM.
int tele_ring_init(struct tele_ring *ring, struct tele_segment_file *file,
		   const struct tele_plan *plan, uint64_t instance_id, uint32_t schema_bytes);
void tele_ring_fini(struct tele_ring *ring);

// Tells the ring that the schema has grown to plan->n_fields fields: seals what
// is open, commits the new length, and starts a chunk of longer rows.
void tele_ring_grow(struct tele_ring *ring, const uint8_t *schema, uint32_t schema_bytes);

// One commit: an event (or NULL) and a row (or NULL) become visible together.
// Strings that the event's text or the row's string fields need are defined
// first. `drained` is the count of boundary tickets drained once this is
// visible. Returns 0, or the failure that stopped the ring.
struct tele_commit {
	const struct tele_event *event; // seq and string_id are filled in by the ring
	const char *text;		// of the event, or NULL
	size_t text_len;
	const uint64_t *row; // n_fields values
	uint32_t drained;
};
int tele_ring_commit(struct tele_ring *ring, const struct tele_commit *commit);

// Seals what is open (at the end, or before rows change their length).
void tele_ring_seal(struct tele_ring *ring);

// Bytes of [memory, memory + n_bytes) that are resident, in whole pages, as the
// kernel says (mincore); TELE_UNKNOWN when it does not.
uint64_t tele_resident_bytes_of(const void *memory, size_t n_bytes);

// Where rows hold string ids, and how to find their texts. The list outlives
// the ring and may grow with the schema.
void tele_ring_set_texts(struct tele_ring *ring, tele_ring_text_fn text_of,
			 const uint32_t *string_fields, const uint32_t *n_string_fields);

// ---- For ring_commit.c and store.h -------------------------------------------------

// Writes to the file what was stored in its private copy (write mode).
void tele_ring_write_out(struct tele_ring *ring, size_t offset, size_t n_bytes);

// Offset of the open chunk.
size_t tele_ring_chunk_offset(const struct tele_ring *ring);

#include "store.h"

#endif
