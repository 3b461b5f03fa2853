// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Rows of an import on their way into a trace: fields by name, candidates and
// phases as events, the counts of a search. One instance without a process.

#ifndef REC_IMPORT_BUILD_H
#define REC_IMPORT_BUILD_H

#include "../libtelemetry/schema.h"
#include "../libtelemetry/source.h"
#include "../libtelemetry/trace.h"

struct rec_builder;

// An import called `label`. `note` (or NULL) is kept in the trace as a mark at
// its beginning. NULL when there is no memory. rec_builder_free takes NULL.
struct rec_builder *rec_builder_new(struct tele_trace_writer *writer, const struct tele_identity *identity,
				    const char *note);
void rec_builder_free(struct rec_builder *builder);

// The position of a field in rows, by its name in CSV; a name the schema does
// not have becomes a gauge app.NAME, of bytes when it ends in "bytes", with '_'
// for what a gauge's name cannot hold. Only before the first row. TELE_ELIMIT:
// no room for more fields, or the name is too long.
int64_t rec_builder_field(struct rec_builder *builder, const char *name);

// What the schema says of it.
unsigned rec_builder_unit(const struct rec_builder *builder, int64_t position);

// The value of a field of unit STRING. TELE_ELIMIT after 4,096 different texts.
int64_t rec_builder_text(struct rec_builder *builder, const char *text);

// Candidates will come: until then their counts are 0, not unknown.
void rec_builder_expect_search(struct rec_builder *builder);

// The most values a row can have.
uint32_t rec_builder_fields(const struct rec_builder *builder);

struct rec_builder_row {
	uint64_t at_ns;
	const char *candidate; // NULL: none
	const char *phase;     // NULL: as before
	unsigned outcome;      // enum tele_outcome; TELE_OUTCOME_OPEN: none
	bool is_new;	       // an end is of a candidate of its own, whatever its label
	const uint64_t *values; // by position; only fields that were asked for are read
};

// Appends a row. With a candidate and an outcome it is that candidate's end;
// with a candidate that is not open its begin. Ages, times and the counts of
// the search are filled in where no field was asked for that says otherwise.
// 0, or an error of the trace.
int rec_builder_add(struct rec_builder *builder, const struct rec_builder_row *row,
		    struct tele_error *ret_error);

// Writes what is left. The trace itself is the caller's to finish.
int rec_builder_finish(struct rec_builder *builder, struct tele_error *ret_error);

uint64_t rec_builder_rows(const struct rec_builder *builder);
uint64_t rec_builder_candidates(const struct rec_builder *builder);

#endif
