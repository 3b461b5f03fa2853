// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Whether a trace or a segment is what its format says, byte for byte: each
// damaged place by offset and block, and what can be recovered.

#ifndef REC_VERIFY_H
#define REC_VERIFY_H

#include "../libtelemetry/base.h"
#include "../libtelemetry/error.h"
#include "../monitor/out.h"

struct rec_verify_options {
	const char *path;
	const char *repair; // a new trace for the whole blocks; NULL: none. Only of a trace
	bool replace;	    // an existing one
	bool is_ascii;
};

#define REC_DAMAGES_TOLD 20 // further ones are counted

// What was found, as text. Returns 0 when all is whole, 1 when something is
// damaged or missing, or an error: of reading, of what is neither a trace nor a
// segment, or of the repaired trace.
int rec_verify(const struct rec_verify_options *options, struct mon_out *out,
	       struct tele_error *ret_error);

// The two kinds, for rec_verify.
int rec_verify_trace(const struct rec_verify_options *options, struct mon_out *out,
		     struct tele_error *ret_error);
int rec_verify_segment(const struct rec_verify_options *options, struct mon_out *out,
		       struct tele_error *ret_error);

// "1,234,567" into buffer.
char *rec_number_text(uint64_t number, char buffer[32]);

#endif
