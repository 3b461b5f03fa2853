// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Where an export goes: a buffered writer whose file appears only when it is
// whole. The first failure is remembered, and nothing is written after it.

#ifndef REC_OUTFILE_H
#define REC_OUTFILE_H

#include "draft.h"

#include "../libtelemetry/base.h"
#include "../libtelemetry/error.h"

struct rec_outfile {
	int fd;
	struct rec_draft draft;
	char *bytes;
	size_t n_bytes;
	uint64_t written_bytes;
	struct tele_error failure; // code 0: none
};

// Opens the output, a file by way of a draft (draft.h). Devices, pipes and "-"
// are written to as they are.
int rec_outfile_open(struct rec_outfile *file, const char *path, const char *input, bool replace,
		     struct tele_error *ret_error);

// The same without a destination: what is put is written to a descriptor of the
// caller's.
int rec_outfile_open_fd(struct rec_outfile *file, int fd, const char *path, struct tele_error *ret_error);

void rec_outfile_put(struct rec_outfile *file, const char *bytes, size_t n_bytes);
void rec_outfile_text(struct rec_outfile *file, const char *text);
void rec_outfile_u64(struct rec_outfile *file, uint64_t value);
void rec_outfile_i64(struct rec_outfile *file, int64_t value);

// value / 10^digits as a decimal number, without zeros at its end; digits <= 9.
void rec_outfile_decimal(struct rec_outfile *file, uint64_t value, unsigned digits);

// 0, or the first failure.
int rec_outfile_status(const struct rec_outfile *file, struct tele_error *ret_error);

// Writes what is buffered. 0 or the first failure.
int rec_outfile_flush(struct rec_outfile *file, struct tele_error *ret_error);

// Ends the output: with `is_good` the file comes to its place, else it is gone.
// Returns 0 or an error, which is told only where none was before.
int rec_outfile_close(struct rec_outfile *file, bool is_good, struct tele_error *ret_error);

#endif
