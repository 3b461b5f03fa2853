// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What export.c and the formats share: a process on its way through an export,
// and what a format does with it.

#ifndef REC_EXPORT_FORMAT_H
#define REC_EXPORT_FORMAT_H

#include "../analysis/outside.h"
#include "../libtelemetry/source.h"
#include "../libtelemetry/trace.h"
#include "../monitor/out.h"
#include "export.h"
#include "outfile.h"
#include "spill.h"

struct rec_exported {
	struct tele_instance *instance;
	uint32_t number; // of processes, from 0
	bool is_chosen;	 // else it is passed over
	bool is_known;	 // the format was told of it
	bool *has_field; // which fields were chosen, n_fields of them
	uint32_t n_fields;
	char phase[256]; // now; "" before the first

	// Where it is in its run, and what of it was taken.
	uint64_t origin_at_ns; // of the whole trace
	uint64_t n_ended;      // candidates
	bool has_begun;
	bool is_boundary; // the next row belongs to a candidate's event
	uint64_t n_passed; // rows since the last that was taken
	uint64_t next_at_ns;
	bool has_rows; // at least one was taken
	// The row that was passed over last, n_skipped fields, at skipped_at_ns, in
	// case that it is one to keep. 0: none.
	uint64_t *skipped;
	uint32_t n_skipped, skipped_capacity;
	uint64_t skipped_seq, skipped_at_ns;
	uint64_t last_at_ns; // of what was taken; times never fall
	uint64_t wall_offset_ns; // wall clock minus monotonic, as at its first row
	bool has_wall;
	void *own; // the format's
};

struct rec_exporter;

// Each returns 0 or an error. Records of a process come in order; a row comes
// behind the events before it. `at_ns` never falls.
struct rec_format {
	int (*begin)(struct rec_exporter *exporter, struct tele_error *ret_error);
	// A process whose schema is known, once, and again when the schema has grown.
	int (*process)(struct rec_exporter *exporter, struct rec_exported *process, struct tele_error *ret_error);
	int (*row)(struct rec_exporter *exporter, struct rec_exported *process, const struct tele_record *record,
		   uint64_t at_ns, struct tele_error *ret_error);
	int (*event)(struct rec_exporter *exporter, struct rec_exported *process, const struct tele_event *event,
		     uint64_t at_ns, struct tele_error *ret_error);
	int (*gap)(struct rec_exporter *exporter, struct rec_exported *process, uint64_t n_lost,
		   struct tele_error *ret_error);
	int (*end)(struct rec_exporter *exporter, struct tele_error *ret_error);
	void (*drop)(struct rec_exported *process); // frees its `own`
	void (*fini)(struct rec_exporter *exporter);
	bool needs_file;   // schemas must be known ahead
	bool has_observers; // takes what readers measured, too
	bool has_own_output; // opens options->output itself
};

struct rec_exporter {
	const struct rec_export_options *options;
	const struct rec_format *format;
	struct tele_source *source;
	struct rec_outfile out;
	struct rec_exported **processes;
	uint32_t n_processes, capacity;
	struct rec_exported *last; // whose record came last
	uint32_t n_chosen; // of a file: how many processes there will be
	uint64_t origin_at_ns; // of the first record
	uint64_t n_rows;
	uint64_t n_texts_left_out; // openmetrics: changes to a text that has no series
	uint64_t written_bytes;
	struct mon_out scratch;
	struct analysis_outside outside; // what observers told so far
	void *own; // the format's
};

extern const struct rec_format rec_format_csv;
extern const struct rec_format rec_format_jsonl;
extern const struct rec_format rec_format_openmetrics;
extern const struct rec_format rec_format_perfetto;
extern const struct rec_format rec_format_trace;

// Time of a record as the formats tell it: since the beginning of the trace, or
// of an imported table as the table said.
uint64_t rec_export_time(const struct rec_exporter *exporter, const struct rec_exported *process, uint64_t at_ns);

// Whether a field is in the export and holds something: the rows' own time is
// always chosen.
bool rec_export_has(const struct rec_exported *process, uint32_t position);

// A name for a process: its label, else its name; foreign.
const char *rec_export_label(const struct rec_exported *process);

// A JSON string of foreign bytes, to the output.
void rec_export_json(struct rec_exporter *exporter, const char *text);

// Tells whoever waits how far it is.
void rec_export_tell_progress(const struct rec_exporter *exporter);

// Whether the pattern (* and ?) is the whole text.
bool rec_pattern_match(const char *pattern, size_t len, const char *text);

#endif
