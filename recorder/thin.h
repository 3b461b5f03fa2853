// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Thinning of one instance's records: of its rows one for each interval, and
// all that carry the census of a candidate's boundary, the first and the last;
// of its events all. What is kept is numbered anew and encoded again.

#ifndef REC_THIN_H
#define REC_THIN_H

#include "../libtelemetry/error.h"
#include "../libtelemetry/schema.h"

struct rec_thin;

// Takes a block that was made. 0, or an error, which is passed on.
typedef int (*rec_emit_fn)(void *context, const uint8_t *block, size_t block_bytes,
			   bool is_provisional, struct tele_error *ret_error);

// NULL when there is no memory. rec_thin_free takes NULL.
struct rec_thin *rec_thin_new(uint64_t instance_id, uint64_t every_ns, rec_emit_fn emit, void *context);
void rec_thin_free(struct rec_thin *thin);

// Takes in the records of a data block that were not in one before; full blocks
// come out. The schema must have the fields of the block. A block that cannot
// be decoded counts as lost.
int rec_thin_take(struct rec_thin *thin, const struct tele_schema *schema, const uint8_t *block,
		  size_t block_bytes, struct tele_error *ret_error);

// That many records were lost here; *ret_first is the number of the first, as
// the trace counts.
int rec_thin_gap(struct rec_thin *thin, uint64_t n_lost, uint64_t *ret_first,
		 struct tele_error *ret_error);

// What is kept and not written yet comes out as a provisional block; in the end
// as a sealed one, with the last row whether its time had come or not.
int rec_thin_flush(struct rec_thin *thin, bool is_end, struct tele_error *ret_error);

#endif
