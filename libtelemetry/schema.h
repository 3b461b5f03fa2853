// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The schema a segment or a trace carries: which field stands where in a row.
// Readers decode by it and never by their own table, so that an old monitor
// shows a newer program. docs/format-segment.md, "Schema", is the definition:
// a chain of records, each with a length and a checksum, append-only.

#ifndef TELE_SCHEMA_H
#define TELE_SCHEMA_H

#include "base.h"
#include "error.h"
#include "fields.h"
#include "plan.h"

#define TELE_NO_INSTANCE UINT32_MAX
#define TELE_SCHEMA_BYTES_DEFAULT (64u << 10)
#define TELE_SCHEMA_BYTES_MAX (1u << 20)

// Timestamps are multiples of 1,024 ns: the low bits are noise that would cost
// more than everything else in a row.
#define TELE_TIME_SHIFT 10
#define TELE_TIME_MASK (~(uint64_t)((1u << TELE_TIME_SHIFT) - 1))

// ---- Writing: no allocation, storage by the caller ----------------------------

struct tele_schema_writer {
	uint8_t *bytes;
	size_t capacity_bytes;
	size_t used_bytes;
	struct tele_plan *plan; // grows along; its n_fields is the row's length
};

// Starts a schema with all sections of scope PROCESS. Returns 0 or -ENOSPC.
int tele_schema_write_start(struct tele_schema_writer *writer, uint8_t *bytes,
			    size_t capacity_bytes, struct tele_plan *plan);

// The same without a field, for an observer, which is no process: the first
// field of the first instance added is the row's time.
int tele_schema_write_start_observer(struct tele_schema_writer *writer, uint8_t *bytes,
				     size_t capacity_bytes, struct tele_plan *plan);

// Adds instance N of a section (device[N], class[N], owner[N]). `like` is the
// position of the first field of an earlier instance of that section, or
// UINT32_MAX when this is its first. Returns the position of its first field,
// or -ENOSPC / TELE_ELIMIT, with nothing written.
int64_t tele_schema_write_instance(struct tele_schema_writer *writer, unsigned section,
				   uint32_t instance, uint32_t like);

// Adds app.NAME. Returns its position, or an error as above.
int64_t tele_schema_write_app(struct tele_schema_writer *writer, const char *name, unsigned kind,
			      unsigned unit);

// ---- Reading --------------------------------------------------------------------

struct tele_field {
	const char *section; // "device"; owned by the schema, valid UTF-8 or not: filter
	const char *name;    // "used_bytes"
	const char *label;
	const char *help;
	uint32_t instance;  // N, or TELE_NO_INSTANCE
	uint32_t age_index; // position of the timestamp that dates it
	int builtin;	    // enum tele_field_id, or -1 for a field this version does not know
	uint8_t kind, unit, bucket, memory, resident, predictor;
};

struct tele_schema {
	uint32_t n_fields;
	struct tele_field *fields;
	struct tele_plan *plan;
	uint32_t *positions; // by enum tele_field_id: of the first instance, or UINT32_MAX
	size_t parsed_bytes; // how far tele_schema_parse came
	void *storage;	     // private
};

// An empty schema; NULL when there is no memory. tele_schema_free takes NULL.
struct tele_schema *tele_schema_new(void);
void tele_schema_free(struct tele_schema *schema);

// Parses the records in bytes[parsed_bytes .. n_bytes) and appends their fields:
// called again with more bytes when a schema has grown. Stops before a record
// that is damaged and returns an error; what came before stays. Records of a
// type this version does not know are skipped. Pointers into `fields` move.
int tele_schema_parse(struct tele_schema *schema, const uint8_t *bytes, size_t n_bytes,
		      struct tele_error *ret_error);

// Position of a field in rows, or -1. Names as in JSON and CSV:
// "heap.live_bytes", "device[0].used_bytes", "app.queue"; "device.used_bytes"
// means device[0].
int64_t tele_schema_find(const struct tele_schema *schema, const char *name);

// The same by id and instance, without a search where it is a PROCESS section
// (whose instance does not matter).
int64_t tele_schema_position(const struct tele_schema *schema, enum tele_field_id id,
			     uint32_t instance);

// Value of a field in a row of n_fields values; TELE_UNKNOWN when the schema
// or this shorter row has no such field.
uint64_t tele_schema_value(const struct tele_schema *schema, enum tele_field_id id,
			   uint32_t instance, const uint64_t *row, uint32_t n_fields);

// The same of bytes[0 .. n_bytes) that stand at offset `from` of the schema.
// TELE_ENOTREADY where what lies before them has not been parsed.
int tele_schema_parse_from(struct tele_schema *schema, size_t from, const uint8_t *bytes,
			   size_t n_bytes, struct tele_error *ret_error);

// "device[0].used_bytes" into buffer, cut at size. Returns buffer.
char *tele_field_full_name(const struct tele_field *field, char *buffer, size_t size);

#endif
