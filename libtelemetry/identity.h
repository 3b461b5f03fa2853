// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The 64 header words of an instance: the first 512 bytes of a segment, and of
// the payload of a stream block in a trace. docs/format-segment.md, "Header",
// is the definition.

#ifndef TELE_IDENTITY_H
#define TELE_IDENTITY_H

#include "base.h"
#include "error.h"
#include "source.h"

#define TELE_HEADER_WORDS 64
#define TELE_SEGMENT_MAGIC UINT64_C(0x3147534c4c414352) // "RCALLSG1"
#define TELE_ENDIAN_MARK UINT64_C(0x0102030405060708)
#define TELE_FORMAT_MAJOR 1
#define TELE_FORMAT_MINOR 0
// Incompatible flags this version knows: none. Compatible ones:
#define TELE_COMPATIBLE_OBSERVER 1u // not a process: what a reader measured
#define TELE_COMPATIBLE_UNTIMED 2u  // times of its records give their order and nothing else

// Where things stand in a segment. All zero in a stream block.
struct tele_layout {
	uint64_t segment_bytes;
	uint64_t schema_offset, schema_capacity_bytes;
	uint64_t fields_capacity;
	uint64_t latest_offset, latest_slot_bytes;
	uint64_t chunk_offset, chunk_bytes;
	uint64_t ring_offset, ring_bytes;
	uint64_t control_offset;
	uint64_t block_bytes_max, rows_per_block;
	uint64_t slots_offset, slot_bytes, n_slots;
};

// Fills the words, checksum included. `layout` may be NULL.
void tele_header_encode(const struct tele_identity *identity, const struct tele_layout *layout,
			uint64_t ret_words[TELE_HEADER_WORDS]);

// Checks foreign words and reads them. TELE_EMAGIC, TELE_EVERSION (the text
// names both versions, or the unknown incompatible flag), TELE_ECHECKSUM.
// Offsets are not checked against a file here. `ret_layout` may be NULL.
int tele_header_decode(const uint64_t words[TELE_HEADER_WORDS], struct tele_identity *ret_identity,
		       struct tele_layout *ret_layout, struct tele_error *ret_error);

// The boot id of /proc/sys/kernel/random/boot_id: 32 hexadecimal digits with
// dashes between them.
void tele_boot_id_parse(const char *text, uint64_t ret_id[2]);

#endif
