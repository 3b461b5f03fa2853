// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Import: a trace made of a text that was kept elsewhere. docs/import.md is the
// definition of both formats.

#ifndef REC_IMPORT_H
#define REC_IMPORT_H

#include "../libtelemetry/base.h"
#include "../libtelemetry/error.h"
#include "../libtelemetry/trace.h"

enum rec_import_format {
	REC_IMPORT_CSV,
	REC_IMPORT_CENSUS_LOG, // OCANNL's "autotune: census after ..." lines
};

struct rec_import_options {
	const char *input;  // "-": standard input
	const char *output; // "-": standard output
	bool replace;	    // output may exist
	enum rec_import_format format;
};

struct rec_import_result {
	uint64_t n_lines;
	uint64_t n_rows;
	uint64_t n_candidates;
	uint64_t n_skipped;   // census log: lines of other kinds
	uint64_t n_damaged;   // census log: census lines that could not be read
	uint64_t damaged_line; // the first of them
};

// Imports a whole text. TELE_ESYNTAX: it is not what the format asks for, and
// the error names line and column; else errors of reading and writing. Whatever
// goes wrong, the output is as it was.
int rec_import(const struct rec_import_options *options, struct rec_import_result *ret_result,
	       struct tele_error *ret_error);

// The same from a descriptor into a trace, without ending it. `label` names the
// instance.
int rec_import_stream(int fd, const char *label, enum rec_import_format format,
		      struct tele_trace_writer *writer, struct rec_import_result *ret_result,
		      struct tele_error *ret_error);

#endif
