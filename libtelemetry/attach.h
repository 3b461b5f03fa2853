// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Reading a segment while its process runs, or after it died. Everything comes
// by pread into private memory and is checked there; the process is never
// touched and never waits. docs/format-segment.md, "Rules for readers".

#ifndef TELE_ATTACH_H
#define TELE_ATTACH_H

#include "base.h"
#include "block.h"
#include "error.h"
#include "source.h"

struct tele_attach;

// Opens the segment at path (a regular file, not a link, 64 KiB to 130 MiB, one
// name). Returns 0, TELE_ENOTREADY for one that is just being made, or an error
// that says what is wrong with it.
int tele_attach_open(const char *path, struct tele_attach **ret_attach,
		     struct tele_error *ret_error);

// Opens the segment of another attachment once more.
int tele_attach_reopen(const struct tele_attach *attach, struct tele_attach **ret_attach,
		       struct tele_error *ret_error);

// Takes NULL.
void tele_attach_close(struct tele_attach *attach);

// Identity, schema, strings, state and lost records; refreshed by
// tele_attach_refresh. Valid until close; its schema, until it has grown.
struct tele_instance *tele_attach_instance(struct tele_attach *attach);

const char *tele_attach_path(const struct tele_attach *attach);

// Size of the segment file in bytes, and whether it holds candidates or census
// records, or a boundary that nobody drained, which makes it evidence that only
// `gc` removes.
uint64_t tele_attach_segment_bytes(const struct tele_attach *attach);
bool tele_attach_is_evidence(const struct tele_attach *attach);

// Monotonic time of the publisher's last sign of life, and rows it published.
uint64_t tele_attach_heartbeat_ns(const struct tele_attach *attach);
uint64_t tele_attach_rows_published(const struct tele_attach *attach);

// Reads the control page again: state (by lock, heartbeat and process), schema
// growth. Returns 1 when the schema has grown, else 0; an error when the file
// is damaged or gone, with the state `unreadable` where it cannot be read.
int tele_attach_refresh(struct tele_attach *attach, struct tele_error *ret_error);

// The latest row, without decoding any history: one small read. ret_row has
// capacity words; *ret_n_fields says how many were filled. Returns 0,
// TELE_ENOTREADY before the first row, TELE_EOVERRUN when the writer was faster
// a hundred times in a row.
int tele_attach_latest(struct tele_attach *attach, uint64_t *ret_row, size_t capacity,
		       uint32_t *ret_n_fields, uint64_t *ret_seq, struct tele_error *ret_error);

// The history as whole blocks, for a recorder: *ret_block is the next sealed
// block, verbatim, or, with_provisional and when all sealed ones were given, a
// provisional block of what the open chunk and undrained boundary slots hold;
// that one counts as kept by the caller. Returns 1 with a block (valid until
// the next call), 0 when there is nothing new, an error. Records that were
// overwritten before they could be read and are in no provisional block either
// are counted in the instance's `lost`; *ret_gap_from/to tell them (equal: none).
int tele_attach_next_block(struct tele_attach *attach, bool with_provisional,
			   const uint8_t **ret_block, size_t *ret_block_bytes,
			   bool *ret_is_provisional, uint64_t *ret_gap_from, uint64_t *ret_gap_to,
			   struct tele_error *ret_error);

// The raw schema bytes as far as committed, for a stream block.
const uint8_t *tele_attach_schema_bytes(const struct tele_attach *attach, size_t *ret_bytes);

// A source over one segment: its whole history from the oldest record on, then
// what comes. With from_now only the latest row first. Takes over `attach`.
int tele_ring_source_open(struct tele_attach *attach, bool from_now,
			  struct tele_source **ret_source, struct tele_error *ret_error);

// Gives back what such a source decodes into; it is had again when something
// comes. False, with nothing done, while a block is being told.
bool tele_ring_source_trim(struct tele_source *source);

#endif
