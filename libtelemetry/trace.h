// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Traces: files of blocks of any number of instances. The writer appends and
// never changes what is written; the reader survives a cut or a damaged block.
// docs/format-trace.md is the definition.

#ifndef TELE_TRACE_H
#define TELE_TRACE_H

#include "base.h"
#include "block.h"
#include "error.h"
#include "source.h"

// ---- Writing ------------------------------------------------------------------

struct tele_trace_writer;

// Creates a trace at path; "-" is standard output, where nothing is synced or
// sought. An existing file is replaced only when `replace`, and never while
// another writer has it open (-EBUSY): a regular file is locked (flock) until it
// is closed. Returns 0 or an error: -EEXIST, -EACCES, -ENOSPC, ...
int tele_trace_create(const char *path, bool replace, struct tele_trace_writer **ret_writer,
		      struct tele_error *ret_error);

// Whether a writer has the file at path open.
bool tele_trace_is_being_written(const char *path);

// Appends a stream block: an instance and its whole schema so far. To be called
// before its first data block and again when its schema has grown.
int tele_trace_write_stream(struct tele_trace_writer *writer, const struct tele_identity *identity,
			    const uint8_t *schema, size_t schema_bytes,
			    struct tele_error *ret_error);

// Appends what the schema has grown by since it was written last, from byte
// `from` on: a fraction of another stream block.
int tele_trace_write_growth(struct tele_trace_writer *writer, uint64_t instance_id,
			    const uint8_t *schema, size_t from, size_t schema_bytes,
			    struct tele_error *ret_error);

// Appends a whole block of data, or a stream or growth block of another trace,
// as it is. After 1,024 blocks an index block comes first. A failed write leaves
// the file valid up to the block before (cut back where the file can be); the
// error says what happened, and the writer goes on to fail until it is closed,
// or told to go on.
int tele_trace_write_block(struct tele_trace_writer *writer, const uint8_t *block,
			   size_t block_bytes, struct tele_error *ret_error);

// After a failure that was cut back: writes may be tried again, the disk having
// room again. False where the file could not be cut back.
bool tele_trace_go_on(struct tele_trace_writer *writer);

// The bytes that the file has when `n_bytes` more are appended and it is then
// ended.
uint64_t tele_trace_bytes_with(const struct tele_trace_writer *writer, size_t n_bytes);

// Brings what was appended to the disk. -ENOENT where the file has no name any
// more: nobody could ever read what is written.
int tele_trace_sync(struct tele_trace_writer *writer, struct tele_error *ret_error);

uint64_t tele_trace_written_bytes(const struct tele_trace_writer *writer);

// Writes the last index and the trailer, and syncs: after it nothing may be
// written. May be tried again as other writes.
int tele_trace_end(struct tele_trace_writer *writer, struct tele_error *ret_error);

// The same, where it was not done, and closes. Frees the writer in every case.
// Takes NULL.
int tele_trace_finish(struct tele_trace_writer *writer, struct tele_error *ret_error);

// ---- Reading --------------------------------------------------------------------

struct tele_trace_info {
	uint64_t file_bytes;	  // 0 for a pipe
	uint64_t read_bytes;	  // how far reading has come
	unsigned major, minor;	  // of its format
	uint64_t created_realtime_ns; // 0: not known
	uint64_t n_blocks;	  // of the kinds below
	uint64_t n_data_blocks, n_provisional_blocks, n_stream_blocks, n_growth_blocks;
	uint64_t n_records;
	uint64_t first_at_ns, last_at_ns; // monotonic, over all instances
	bool is_complete; // ended by its trailer, nothing damaged
	uint64_t damaged_at; // offset of the first bad byte run, or UINT64_MAX
	char damage[160];    // what is wrong there, one sentence; "" when nothing
};

// Opens a trace as a source; "-" is standard input, read as it comes. With a
// trailer the file opens in constant time; without one its headers are walked.
// Damaged blocks are skipped and become gaps. Returns 0 or an error: TELE_EMAGIC,
// TELE_EVERSION (the text names both versions), TELE_ETRUNCATED for an empty
// file, -EISDIR, ...
int tele_trace_open(const char *path, struct tele_source **ret_source,
		    struct tele_error *ret_error);

// The same for one reading from begin to end, in memory that does not grow with
// the file; such a source cannot be sought. Of a file, each instance comes with
// the whole schema it will ever have.
int tele_trace_open_once(const char *path, struct tele_source **ret_source,
			 struct tele_error *ret_error);

// Of a source that is opened to be read once: instance number `number` of those
// known so far, or NULL; and an instance's schema as a stream block brought it.
const struct tele_instance *tele_trace_instance_at(const struct tele_source *source, uint32_t number);
const uint8_t *tele_trace_schema_bytes(const struct tele_source *source,
				       const struct tele_instance *instance, size_t *ret_bytes);

// What is known of the trace; whole only after the last record was read, or for
// a file with a trailer.
void tele_trace_get_info(const struct tele_source *source, struct tele_trace_info *ret_info);

// Goes on from the last block of each instance that begins at or before at_ns
// (monotonic); 0 starts over. The next records tell instances and schemas again.
// -ESPIPE for a pipe.
int tele_trace_seek(struct tele_source *source, uint64_t at_ns, struct tele_error *ret_error);

// The same by a record of an instance, and by candidates: to the block in which
// `n_ended` candidates of the instance have ended first, or the first row
// already says so. What comes may begin with a few records before. Also
// TELE_ENOTFOUND: no such record or instance.
int tele_trace_seek_record(struct tele_source *source, uint64_t instance_id, uint64_t seq,
			   struct tele_error *ret_error);
int tele_trace_seek_candidate(struct tele_source *source, uint64_t instance_id, uint64_t n_ended,
			      struct tele_error *ret_error);

#endif
