// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A growing buffer that all outputs are written to: text, JSON, tables. What
// becomes of the bytes is the caller's business. A failed allocation is
// remembered, so that one check at the end is enough.

#ifndef MON_OUT_H
#define MON_OUT_H

#include "../libtelemetry/base.h"

struct mon_out {
	char *bytes; // n_bytes of them, and a NUL behind; NULL while empty
	size_t n_bytes, capacity;
	bool is_failed; // out of memory: what is here is not whole
};

// All zero is an empty buffer.
void mon_out_fini(struct mon_out *out);

void mon_out_bytes(struct mon_out *out, const char *bytes, size_t n_bytes);
void mon_out_text(struct mon_out *out, const char *text);
void mon_out_format(struct mon_out *out, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

// 0, or -ENOMEM when anything was lost.
int mon_out_status(const struct mon_out *out);

#endif
