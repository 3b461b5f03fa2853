// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Many streams of bytes that grow together and are read one after the other: a
// trace has rows, and some formats want columns. What does not fit into a few
// KiB of each stream lies in one file without a name.

#ifndef REC_SPILL_H
#define REC_SPILL_H

#include "../libtelemetry/base.h"
#include "../libtelemetry/error.h"

struct rec_spill;

// The file lies in $TMPDIR, else in /var/tmp or /tmp. NULL when there is no
// memory. rec_spill_free takes NULL.
struct rec_spill *rec_spill_new(void);
void rec_spill_free(struct rec_spill *spill);

// One stream. All zero is an empty one.
struct rec_stream {
	uint8_t *bytes; // not yet in the file
	uint32_t n_bytes;
	uint32_t capacity;
	uint64_t first_at; // offset of its first chunk, 0: none
	uint64_t next_at;  // of the chunk that `bytes` will fill
};
void rec_stream_fini(struct rec_stream *stream);

// Appends. 0, -ENOMEM, or an error of the file.
int rec_spill_put(struct rec_spill *spill, struct rec_stream *stream, const void *bytes, size_t n_bytes,
		  struct tele_error *ret_error);

// Gives all bytes of a stream to `take`, piece by piece, a piece beginning where
// a put began. 0, an error of the file, or what `take` returned below 0.
typedef int (*rec_spill_take_fn)(void *context, const uint8_t *bytes, size_t n_bytes);
int rec_spill_read(struct rec_spill *spill, const struct rec_stream *stream, rec_spill_take_fn take, void *context,
		   struct tele_error *ret_error);

#endif
