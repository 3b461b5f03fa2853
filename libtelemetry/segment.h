// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Words, frames and limits of a segment that writer and readers share.
// docs/format-segment.md is the definition.

#ifndef TELE_SEGMENT_H
#define TELE_SEGMENT_H

#include "base.h"
#include "block.h"

#define TELE_PAGE_BYTES 4096
#define TELE_SEGMENT_BYTES_MIN (64u << 10)
#define TELE_SEGMENT_BYTES_MAX (130u << 20)
#define TELE_RING_BYTES_MIN (64u << 10)
#define TELE_RING_BYTES_DEFAULT (1u << 20)
#define TELE_RING_BYTES_MAX (64u << 20)
#define TELE_CHUNK_BYTES 32768
#define TELE_SEGMENT_FIELDS_MAX 2048

// A chunk is sealed before it holds more than this.
#define TELE_CHUNK_ROWS_MAX 256
#define TELE_CHUNK_EVENTS_MAX 960
#define TELE_CHUNK_STRINGS_MAX 1920

// Words of the control page.
enum tele_control {
	TELE_CONTROL_STATE = 0,	       // enum tele_state, up to PARKED
	TELE_CONTROL_HEARTBEAT = 1,    // monotonic ns of the last tick
	TELE_CONTROL_ROWS = 2,	       // rows published
	TELE_CONTROL_DROPPED = 3,      // rows that could not be
	TELE_CONTROL_PUBLISH_NS = 4,   // time spent publishing
	TELE_CONTROL_EVIDENCE = 5,     // 1: holds candidates or census records
	TELE_CONTROL_EXEC = 6,	       // 1: the program is in exec
	TELE_CONTROL_HEAD = 16,	       // oldest valid byte of the ring, counted from its start for ever
	TELE_CONTROL_TAIL = 17,	       // committed bytes, likewise
	TELE_CONTROL_SEALED_SEQ = 18,  // records below this are in sealed blocks (or gone)
	TELE_CONTROL_LATEST = 32,      // latest seq * 2 + slot
	TELE_CONTROL_SCHEMA_BYTES = 33, // committed
	TELE_CONTROL_FIELDS = 34,      // committed
	TELE_CONTROL_CLAIMED = 48,     // tickets of boundary slots given out
	TELE_CONTROL_DRAINED = 64,     // and drained, for those who claim
};

// An open chunk: eight words, then frames.
enum tele_chunk_word {
	TELE_CHUNK_EPOCH = 0,	   // its number, from 1; 0 while it is set up
	TELE_CHUNK_USED = 1,	   // low half: bytes of frames; high half: tickets drained
	TELE_CHUNK_FIRST_SEQ = 2,  // of its first record
	TELE_CHUNK_FIELDS = 3,	   // of each row
	TELE_CHUNK_SCHEMA_BYTES = 4,
	TELE_CHUNK_HEADER_WORDS = 8,
};
#define TELE_CHUNK_HEADER_BYTES (8 * TELE_CHUNK_HEADER_WORDS)

enum tele_frame {
	TELE_FRAME_ROW = 1,    // a row of the row codec
	TELE_FRAME_EVENT = 2,  // varints: type, time >> 10, subject, value, string id
	TELE_FRAME_STRING = 3, // varints: id, length; the bytes
};

// A latest-row slot: seq (0 while the slot is written), number of fields, the
// values.
#define TELE_LATEST_HEADER_WORDS 2
#define TELE_LATEST_SLOT_BYTES(fields_capacity) \
	(8 * ((size_t)(fields_capacity) + TELE_LATEST_HEADER_WORDS))

// A boundary slot.
enum tele_slot_word {
	TELE_SLOT_FILLED = 0, // ticket + 1 once it is filled
	TELE_SLOT_THREAD = 1, // who claimed it
	TELE_SLOT_TYPE = 2,   // low half: event type; high half: words used
	TELE_SLOT_AT = 3,
	TELE_SLOT_SUBJECT = 4,
	TELE_SLOT_VALUE = 5,
	TELE_SLOT_TEXT_LEN = 6,
	TELE_SLOT_TEXT = 8, // 256 bytes
	TELE_SLOT_PARTS = 40, // {section:16, n_values:16, instance:32}, the values; ...
};

// String ids from here on mean something only in the chunk or block that
// defines them.
#define TELE_STRING_TRANSIENT (UINT64_C(1) << 32)

#endif
