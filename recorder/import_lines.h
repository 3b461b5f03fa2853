// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Text from a descriptor, line by line, in bounded memory.

#ifndef REC_IMPORT_LINES_H
#define REC_IMPORT_LINES_H

#include "../libtelemetry/base.h"
#include "../libtelemetry/error.h"

#define REC_LINE_BYTES_MAX (1u << 20)
// The beginning of the text, which the identity of an import is made of.
#define REC_LINES_HEAD_BYTES (64u << 10)

struct rec_lines {
	int fd; // the caller's
	char *bytes;
	size_t start, end, capacity; // what is read and not yet given out
	bool is_at_end;
	uint64_t number; // of the line given out last; the first is 1
	uint64_t head_hash; // of the text's first REC_LINES_HEAD_BYTES
};

// Reads the beginning. 0 or -errno.
int rec_lines_init(struct rec_lines *lines, int fd, struct tele_error *ret_error);
void rec_lines_fini(struct rec_lines *lines);

// The next line, NUL-terminated, without its end (LF or CR LF), and its length;
// it may hold NULs, and may be changed. Valid until the next call. Returns 1, 0
// at the end, -errno, or TELE_ESYNTAX for a line that is longer than
// REC_LINE_BYTES_MAX; with `skips_long` such a line is given out empty instead.
int rec_lines_next(struct rec_lines *lines, bool skips_long, char **ret_line, size_t *ret_len,
		   struct tele_error *ret_error);

#endif
