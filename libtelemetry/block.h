// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Blocks: what the sealed ring and a trace are made of, byte for byte the
// same. A data block holds up to TELE_BLOCK_ROWS_MAX rows column by column,
// the events between them, and every string they use, under LZ4.
// docs/format-trace.md, "Blocks", is the definition.

#ifndef TELE_BLOCK_H
#define TELE_BLOCK_H

#include "base.h"
#include "event.h"
#include "plan.h"

#define TELE_BLOCK_MAGIC 0x4b424c52u // "RLBK" as bytes
#define TELE_BLOCK_HEADER_BYTES 64
#define TELE_BLOCK_ROWS_MAX 256
#define TELE_BLOCK_EVENTS_MAX 1024
#define TELE_BLOCK_STRINGS_MAX 2048
#define TELE_BLOCK_BYTES_MAX (4u << 20)	     // a whole block, stored
#define TELE_BLOCK_RAW_BYTES_MAX (12u << 20) // its payload, unpacked
#define TELE_STRING_BYTES_MAX 255

enum tele_block_type {
	TELE_BLOCK_DATA = 1,
	TELE_BLOCK_INDEX = 2,  // traces only
	TELE_BLOCK_STREAM = 3, // traces only: an instance's header and schema
	TELE_BLOCK_PAD = 4,    // ring only: skip to the start of the ring
	TELE_BLOCK_GROWTH = 5, // traces only: what an instance's schema has grown by
};

enum tele_block_codec {
	TELE_CODEC_STORED = 0,
	TELE_CODEC_LZ4 = 1,
};

enum {
	TELE_BLOCK_PROVISIONAL = 1, // superseded by a later block with the same first_seq
};

// The header of every block, all little-endian, 64 bytes. Blocks start and end
// at multiples of 8; bytes after the payload up to there are zero. The checksum
// is CRC-32C over header (with the word zero) and payload.
struct tele_block_header {
	uint32_t magic;
	uint8_t type;
	uint8_t codec;
	uint16_t flags;
	uint64_t instance_id;
	uint32_t stored_bytes; // payload as stored, without padding
	uint32_t raw_bytes;    // payload unpacked
	uint16_t n_rows;
	uint16_t n_events;
	uint16_t n_fields;
	uint16_t n_strings;
	uint64_t first_seq; // of the first row or event; records are consecutive
	uint64_t first_at_ns;
	uint64_t last_at_ns;
	uint32_t schema_bytes; // how much of the instance's schema it rests on
	uint32_t checksum;
};
_Static_assert(sizeof(struct tele_block_header) == TELE_BLOCK_HEADER_BYTES, "block header");

// One string a block uses. `text` is not NUL-terminated in a block.
struct tele_block_string {
	uint64_t id;
	const char *text;
	uint32_t len; // at most TELE_STRING_BYTES_MAX
};

// What goes into a data block. Rows and events are each in order of seq; the
// numbers first_seq .. first_seq + n_rows + n_events - 1 are each taken once.
// Every timestamp is a multiple of 1,024 as the plan's shifts say.
struct tele_block_input {
	uint64_t instance_id;
	const struct tele_plan *plan;
	uint32_t n_fields; // of each row; at most the plan's
	uint32_t schema_bytes;
	uint16_t flags;
	uint64_t first_seq;
	uint64_t first_at_ns; // time of the first and last record
	uint64_t last_at_ns;
	const uint64_t *rows; // row-major, row_stride words apart
	size_t row_stride;
	uint32_t n_rows;
	const struct tele_event *events;
	uint32_t n_events;
	const struct tele_block_string *strings;
	uint32_t n_strings;
};

// Bytes of scratch that tele_block_encode needs for these limits: no more than
// this is touched, so the publisher maps it once.
size_t tele_block_scratch_bytes(uint32_t n_fields);

// The most bytes a block of these limits can take, header and padding included.
size_t tele_block_bytes_max(uint32_t n_fields, uint32_t n_rows, uint32_t n_events,
			    uint32_t n_strings);

// Encodes a data block at out. Allocates nothing. Returns its bytes (a multiple
// of 8), or -ENOSPC when `capacity` is too small, TELE_ELIMIT, or TELE_EDAMAGED
// when the numbers of the events are not in order. Low bits that the plan's
// shifts say are zero are not kept.
int64_t tele_block_encode(const struct tele_block_input *input, void *scratch,
			  size_t scratch_bytes, uint8_t *out, size_t capacity);

// Bytes of state that tele_block_pack needs.
size_t tele_block_pack_state_bytes(void);

// Puts a payload at out + TELE_BLOCK_HEADER_BYTES, compressed where that makes
// it smaller, and notes codec and sizes in the header. `state` is aligned to 8.
// Returns 0, -ENOSPC when `capacity` is too small for the block, or TELE_ELIMIT.
int tele_block_pack(struct tele_block_header *header, const uint8_t *raw, size_t raw_bytes,
		    void *state, uint8_t *out, size_t capacity);

// Completes a block of another type: writes header and padding around a payload
// of stored_bytes that the caller has put at out + TELE_BLOCK_HEADER_BYTES, and
// the checksum. Returns the block's bytes.
size_t tele_block_finish(struct tele_block_header *header, uint8_t *out);

// Checks the header at `bytes`, of which n_bytes may be read, without its
// checksum: magic, type, limits, and that sizes do not overflow. Returns the
// block's whole size in bytes (it may be more than n_bytes), TELE_ETRUNCATED
// when the header itself is cut, TELE_EMAGIC or TELE_ELIMIT.
int64_t tele_block_size(const uint8_t *bytes, size_t n_bytes, struct tele_block_header *ret_header);

// The same and the checksum over the whole block, which must lie in n_bytes
// (else TELE_ETRUNCATED; TELE_ECHECKSUM where it does not match).
int64_t tele_block_check(const uint8_t *bytes, size_t n_bytes, struct tele_block_header *ret_header);

// Unpacks the payload of a checked block into header->raw_bytes at ret_raw.
// Returns 0 or TELE_EDAMAGED.
int tele_block_unpack(const struct tele_block_header *header, const uint8_t *payload,
		      uint8_t *ret_raw);

// A decoded data block. Reused from block to block; storage grows and is freed
// by tele_block_free. columns[f][r] is field f of row r; sequence[k] says what
// record first_seq + k is: a row number, or TELE_BLOCK_IS_EVENT | event number.
#define TELE_BLOCK_IS_EVENT 0x8000u
struct tele_block {
	struct tele_block_header header;
	uint64_t *columns; // field-major: columns[f * header.n_rows + r]
	struct tele_event *events;
	struct tele_block_string *strings; // text points into `raw`
	uint16_t *sequence;
	uint8_t *raw;
	size_t columns_words, events_count, strings_count, sequence_count, raw_bytes; // capacities
};

// Decodes a block that tele_block_check accepted. `plan` is the instance's and
// has at least header.n_fields fields, else TELE_ENOTREADY. Foreign bytes: any
// damage gives an error, bounded memory and time. Returns 0, or -ENOMEM.
int tele_block_decode(struct tele_block *block, const struct tele_plan *plan,
		      const uint8_t *bytes, size_t n_bytes);

// Copies row `row` of the block into ret_row (header.n_fields values).
void tele_block_row(const struct tele_block *block, uint32_t row, uint64_t *ret_row);

void tele_block_free(struct tele_block *block);

#endif
