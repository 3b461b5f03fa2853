// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Whole blocks out of a trace file or a pipe: buffering, finding the next block
// after damage, header page, index and trailer. Knows nothing of what is in the
// blocks; trace_read.c does.

#ifndef TELE_TRACE_SCAN_H
#define TELE_TRACE_SCAN_H

#include "base.h"
#include "block.h"
#include "error.h"
#include "trace_wire.h"

struct tele_scan {
	int fd;
	bool is_owned;
	bool is_regular; // has offsets and an end; else a pipe
	char *path;
	uint64_t file_bytes;   // 0 for a pipe
	uint64_t blocks_begin; // offset of the first block
	uint16_t major, minor; // of the header page
	uint64_t created_realtime_ns; // 0 where it is damaged

	uint8_t *buffer;
	size_t capacity, start, end; // what is buffered: [start, end)
	uint64_t offset;	     // in the file, of buffer[start]
	bool is_at_end;		     // of input: nothing after what is buffered
	size_t taken_bytes;	     // of the block handed out last

	bool is_ended;	      // the trailer was met
	uint64_t wasted_bytes; // checked in vain while looking for blocks
	uint64_t damaged_at;  // first damage, or UINT64_MAX
	char damage[160];
};

// Opens path ("-": standard input), checks the header page and stands before
// the first block. On failure nothing is left to close.
int tele_scan_open(struct tele_scan *scan, const char *path, struct tele_error *ret_error);
void tele_scan_close(struct tele_scan *scan);

// The next whole block whose checksum is right; damage before it is noted and
// passed over. *ret_block stays valid until the next call. Returns its bytes, 0
// at the end, or a negative error of reading.
int64_t tele_scan_next(struct tele_scan *scan, const uint8_t **ret_block,
		       struct tele_block_header *ret_header, struct tele_error *ret_error);

// The block at `offset`, of a regular file. Returns its bytes, 0 where there is
// none that is whole (which is noted as damage), or an error of reading.
int64_t tele_scan_at(struct tele_scan *scan, uint64_t offset, const uint8_t **ret_block,
		     struct tele_block_header *ret_header, struct tele_error *ret_error);

// Stands before `offset` again.
void tele_scan_rewind(struct tele_scan *scan, uint64_t offset);

// Notes damage at an offset, unless some was noted before.
void tele_scan_note(struct tele_scan *scan, uint64_t offset, const char *what);

// Calls `take` with the offset of each stream and growth block that the indexes
// name, the last first. Returns 1; 0 where trailer or indexes are
// not whole; or a negative error, of reading or of `take`.
typedef int (*tele_scan_place_fn)(void *context, uint64_t offset, struct tele_error *ret_error);
int tele_scan_index_schemas(struct tele_scan *scan, tele_scan_place_fn take, void *context,
			    struct tele_error *ret_error);

// All entries of all index blocks in the order of the file, where the trailer
// and every index are whole; *ret_entries is to be freed. Returns 1; 0 where
// they are not (a recording cut off, or damage); or a negative error.
int tele_scan_index(struct tele_scan *scan, struct tele_trace_entry **ret_entries,
		    uint64_t *ret_n_entries, struct tele_error *ret_error);

#endif
