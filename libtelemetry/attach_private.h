// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// An attached segment, for the files that read it.

#ifndef TELE_ATTACH_PRIVATE_H
#define TELE_ATTACH_PRIVATE_H

#include "attach.h"
#include "identity.h"
#include "schema_pool.h"
#include "segment.h"
#include "strings.h"

#include <sys/types.h>

// What the open chunk and undrained slots hold, decoded: first what stood in
// the chunk, then what was taken from slots.
struct tele_open_rows {
	uint64_t epoch;
	uint64_t first_seq;
	uint32_t n_fields;
	uint32_t schema_bytes;
	uint32_t drained; // tickets, low half
	uint64_t *rows;	  // n_rows x n_fields
	uint64_t *row_seqs;
	struct tele_event *events;
	uint32_t n_rows, n_events;
	uint32_t n_chunk_rows, n_chunk_events; // of them, from the chunk
	struct tele_block_string *strings; // texts in `bytes` or `slots`
	uint32_t n_strings;
	uint8_t *bytes; // the chunk as read
	uint8_t *slots; // the slots as read
	uint64_t *codec_words;
	size_t rows_capacity_words;
};

struct tele_attach {
	int fd;
	uid_t owner; // of the file that is open
	char path[512];
	struct tele_layout layout;
	struct tele_instance instance;
	struct tele_strings *strings;
	struct tele_schema_pool *schemas;   // the list's that found it, or NULL
	struct tele_pooled_schema *pooled; // what instance.schema is of
	uint64_t control[TELE_CONTROL_DRAINED + 1];

	// Sealed ring: where to read on, and what was given.
	uint64_t ring_cursor;
	uint64_t next_seq; // after the last sealed record given; 0 where that is not known yet
	uint8_t *block;
	size_t block_capacity_bytes;
	uint64_t gap_from, gap_to; // before the block given last

	struct tele_open_rows open;
	uint64_t provisional_end; // seq after the last provisional record given
	uint8_t *scratch;
	uint8_t *provisional;
	size_t provisional_capacity_bytes;
};

// As tele_attach_open, of the file `name` in an open directory, whatever has
// become of the directory's own name. `path` is how to call it; `schemas` may be
// NULL.
int tele_attach_open_at(int directory_fd, const char *name, const char *path,
			struct tele_schema_pool *schemas, struct tele_attach **ret_attach, struct tele_error *ret_error);

// Opens a directory of segments, itself and not where a link leads. Refused are
// those that others may write into and, unless owner is (uid_t)-1, those of
// another owner. Returns the descriptor, or an error.
int tele_open_directory(const char *directory, uid_t owner, uid_t *ret_owner,
			struct tele_error *ret_error);

// Whether the publisher has given no sign of life for five periods and a second.
bool tele_attach_is_heartbeat_old(const struct tele_attach *attach);

// Whether the process was of another boot of the machine.
bool tele_attach_is_of_other_boot(const struct tele_attach *attach);

// Reads exactly n_bytes at offset, or fails: TELE_ETRUNCATED, -errno.
int tele_attach_pread(const struct tele_attach *attach, void *bytes, size_t n_bytes,
		      uint64_t offset);

// Whether somebody holds the writer's lock.
bool tele_attach_is_locked(const struct tele_attach *attach);

// Reads the control page.
int tele_attach_read_control(struct tele_attach *attach);

// Parses what the schema has grown by. 1 when it has, 0, or an error.
int tele_attach_read_schema(struct tele_attach *attach, struct tele_error *ret_error);

// The next sealed block into attach->block: 1, 0 when there is none, an error.
int tele_attach_next_sealed(struct tele_attach *attach, size_t *ret_block_bytes,
			    struct tele_error *ret_error);

// Reads and decodes the open chunk, and the undrained slots where the process is
// dead, into attach->open. 1, 0 when there is none just now, an error.
int tele_attach_read_open(struct tele_attach *attach, struct tele_error *ret_error);

// The latest row as its slot has it, without what is open: as tele_attach_latest,
// which may read what is open. 0, TELE_ENOTREADY, TELE_EOVERRUN, an error.
int tele_attach_latest_stored(struct tele_attach *attach, uint64_t *ret_row, size_t capacity,
			      uint32_t *ret_n_fields, uint64_t *ret_seq);

void tele_open_rows_free(struct tele_open_rows *open);

// Gives back the rows where they are many more than a writer of ours leaves, so
// that a list of hostile segments is not kept in memory at full size.
void tele_open_rows_trim(struct tele_open_rows *open);

#endif
