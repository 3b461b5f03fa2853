// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Where a recording goes: one trace, or pieces of it of a limited size, each of
// which is a trace of its own. FILE is the piece being written; full ones are
// renamed to FILE.1, FILE.2 and so on, the newest with the highest number.

#ifndef REC_SINK_H
#define REC_SINK_H

#include "../libtelemetry/error.h"
#include "../libtelemetry/trace.h"

struct rec_sink;

// Called before a piece ends: what every piece must hold at its end. 0 or an
// error.
typedef int (*rec_before_end_fn)(void *context, struct tele_error *ret_error);

struct rec_sink_settings {
	const char *path; // "-": standard output
	// An existing file is replaced; of pieces it becomes one instead, and those
	// that an earlier recording left are counted among the ones to keep.
	bool replace;
	uint64_t max_bytes; // of a piece; 0: one piece without a limit
	uint64_t n_keep; // full pieces to keep; 0: all. On a full disk the oldest go, too
	rec_before_end_fn before_end; // may be NULL
	void *context;
};

// Creates the first piece. Pieces need a regular file: -EINVAL for another.
int rec_sink_open(const struct rec_sink_settings *settings, struct rec_sink **ret_sink,
		  struct tele_error *ret_error);

// A number that rises with every piece: what was announced in an earlier one is
// to be announced again.
uint64_t rec_sink_piece(const struct rec_sink *sink);

// Goes on to the next piece where n_bytes more would make this one too large. A
// piece that holds nothing yet takes whatever comes.
int rec_sink_make_room(struct rec_sink *sink, size_t n_bytes, struct tele_error *ret_error);

// As the functions of trace.h; on a full disk the oldest piece makes room where
// that was allowed.
int rec_sink_stream(struct rec_sink *sink, const struct tele_identity *identity,
		    const uint8_t *schema, size_t schema_bytes, struct tele_error *ret_error);
int rec_sink_growth(struct rec_sink *sink, uint64_t instance_id, const uint8_t *schema, size_t from,
		    size_t schema_bytes, struct tele_error *ret_error);
int rec_sink_block(struct rec_sink *sink, const uint8_t *block, size_t block_bytes,
		   struct tele_error *ret_error);
int rec_sink_sync(struct rec_sink *sink, struct tele_error *ret_error);

// Bytes written so far, to all pieces, and how many pieces were dropped.
uint64_t rec_sink_written_bytes(const struct rec_sink *sink);
uint64_t rec_sink_dropped(const struct rec_sink *sink);

// Ends the last piece. Nothing may be written after it.
int rec_sink_end(struct rec_sink *sink, struct tele_error *ret_error);

// Closes, and frees the sink in every case. Takes NULL.
int rec_sink_close(struct rec_sink *sink, struct tele_error *ret_error);

#endif
