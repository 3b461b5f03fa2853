// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A trace in the formats of other tools. docs/export.md is the definition of
// what each holds.

#ifndef REC_EXPORT_H
#define REC_EXPORT_H

#include "../libtelemetry/base.h"
#include "../libtelemetry/error.h"
#include "../monitor/monitor.h"

#define REC_EXPORT_FORMAT_MAP(X)                \
	X(REC_EXPORT_CSV, "csv")                 \
	X(REC_EXPORT_JSONL, "jsonl")             \
	X(REC_EXPORT_OPENMETRICS, "openmetrics") \
	X(REC_EXPORT_PERFETTO, "perfetto")       \
	X(REC_EXPORT_TRACE, "trace")

enum rec_export_format {
#define X(id, name) id,
	REC_EXPORT_FORMAT_MAP(X)
#undef X
};

struct rec_export_progress {
	uint64_t read_bytes, file_bytes; // 0: of a pipe
	uint64_t n_rows;		 // taken
	uint64_t written_bytes;
};

struct rec_export_options {
	const char *input;  // the trace; "-": standard input
	const char *output; // "-": standard output
	bool replace;	    // output may exist
	enum rec_export_format format;
	const char *fields; // patterns with * and ?, separated by commas; NULL: all fields
	const char *select; // PID or LABEL; NULL: all processes
	const struct mon_at *from, *to; // NULL: from the beginning, to the end
	uint64_t every_rows; // of each process, one row in so many; 0: all
	uint64_t every_ns;   // at most one in this time; 0: all
	void (*progress)(void *context, const struct rec_export_progress *progress); // or NULL; now and then
	void *context;
};

struct rec_export_result {
	uint64_t n_rows; // written, of n_processes
	uint64_t n_processes;
	uint64_t written_bytes;
	uint64_t n_texts_left_out; // openmetrics: beyond 4,096 of a process
	uint64_t lost;	 // records that the trace lacks
	bool is_complete; // the trace: whole, and ended by its recorder
	char damage[160];
};

// Exports. Whatever goes wrong, a file at `output` is as it was (a process that a
// signal ends should unlink rec_outfile_draft). Returns 0,
// TELE_ENOTFOUND where `select`, a pattern or `from` means nothing in the trace,
// or an error of reading or writing.
int rec_export(const struct rec_export_options *options, struct rec_export_result *ret_result,
	       struct tele_error *ret_error);

#endif
