// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The field table, compiled: ids, record structs and descriptors of every
// field in schema/*.def. Columns of a row:
//
//   TELE_FIELD(section, name, kind, unit, bucket, memory, resident, age,
//              since, label, help)
//
//   kind      GAUGE goes both ways; COUNTER never falls while the process
//             lives; PEAK is the highest of a gauge since a reset; TIMESTAMP is
//             a CLOCK_MONOTONIC time; STATE is a code, an id or a string;
//             RETIRED keeps the place of a field that is no longer filled.
//   unit      BYTES, COUNT, NS, TIME_NS (a time point), STRING (a string id).
//   bucket    which bucket of the books the field is; TOTAL is their sum.
//   memory    whose memory it speaks of: HOST, PINNED, DEVICE, MANAGED.
//   resident  for a bucket: YES is resident, NO is not, RETAINED is resident
//             though nothing lives there. Predicted resident sums YES and
//             RETAINED over the buckets.
//   age       the TIMESTAMP field of the section that dates the value.
//   since     the schema version that brought it.
//   label     at most 12 columns; help: one sentence.
//
// Rows are append-only within a section. All values are uint64_t; TELE_UNKNOWN
// is unknown. Timestamps are multiples of 1,024 ns (schema.h).

#ifndef TELE_FIELDS_H
#define TELE_FIELDS_H

#include "base.h"

#define TELE_SCHEMA_VERSION 1

enum tele_kind {
	TELE_GAUGE,
	TELE_COUNTER,
	TELE_PEAK,
	TELE_TIMESTAMP,
	TELE_STATE,
	TELE_RETIRED,
	TELE_KIND_COUNT
};

enum tele_unit {
	TELE_BYTES,
	TELE_COUNT,
	TELE_NS,
	TELE_TIME_NS,
	TELE_STRING,
	TELE_UNIT_COUNT
};

enum tele_bucket {
	TELE_BUCKET_NONE,
	TELE_BUCKET_TOTAL,
	TELE_BUCKET_LIVE,
	TELE_BUCKET_ROUNDING,
	TELE_BUCKET_CACHE,
	TELE_BUCKET_SPAN_FREE,
	TELE_BUCKET_RETURNED,
	TELE_BUCKET_VIRGIN,
	TELE_BUCKET_HYSTERESIS,
	TELE_BUCKET_OVERHEAD,
	TELE_BUCKET_COUNT
};

enum tele_memory {
	TELE_MEMORY_HOST,
	TELE_MEMORY_PINNED,
	TELE_MEMORY_DEVICE,
	TELE_MEMORY_MANAGED,
	TELE_MEMORY_COUNT
};

enum tele_resident {
	TELE_RESIDENT_NO,
	TELE_RESIDENT_YES,
	TELE_RESIDENT_RETAINED,
	TELE_RESIDENT_COUNT
};

enum tele_scope {
	TELE_SCOPE_PROCESS,
	TELE_SCOPE_DEVICE,
	TELE_SCOPE_CLASS,
	TELE_SCOPE_OWNER,
	TELE_SCOPE_LIBRARY
};

// Section numbers: the order of sections.def, and what the wire carries.
enum tele_section {
#define TELE_SECTION(ID, name, scope, help) TELE_SECTION_##ID,
#include "schema/sections.def"
	TELE_SECTION_COUNT
};

// Field ids of the built-in fields: TELE_ID_heap_live_bytes. Not the position
// in a row: that depends on the schema a process carries (schema.h).
enum tele_field_id {
#define TELE_FIELD(section, name, kind, unit, bucket, memory, resident, age, since, label, help) \
	TELE_ID_##section##_##name,
#include "schema/all.def"
	TELE_ID_COUNT
};

// One record struct a section, what producers fill: struct tele_heap_values.
// Every member is a uint64_t in table order, without padding.
#define TELE_FIELD(section, name, kind, unit, bucket, memory, resident, age, since, label, help) \
	uint64_t name;
struct tele_self_values {
#include "schema/self.def"
};
struct tele_heap_values {
#include "schema/heap.def"
};
struct tele_census_values {
#include "schema/census.def"
};
struct tele_host_values {
#include "schema/host.def"
};
struct tele_search_values {
#include "schema/search.def"
};
struct tele_app_values {
#include "schema/app.def"
};
struct tele_device_values {
#include "schema/device.def"
};
struct tele_class_values {
#include "schema/class.def"
};
struct tele_owner_values {
#include "schema/owner.def"
};
struct tele_driver_values {
#include "schema/driver.def"
};
struct tele_cuda_values {
#include "schema/cuda.def"
};
struct tele_outside_values {
#include "schema/outside.def"
};
#undef TELE_FIELD

// One built-in field. `index_in_section` is its place in the record struct;
// `age_id` the id of the timestamp that dates it.
struct tele_builtin_field {
	const char *name;
	const char *label;
	const char *help;
	uint16_t section;
	uint16_t index_in_section;
	uint16_t age_id;
	uint16_t since;
	uint8_t kind;
	uint8_t unit;
	uint8_t bucket;
	uint8_t memory;
	uint8_t resident;
};

struct tele_builtin_section {
	const char *name;
	const char *help;
	uint16_t scope;
	uint16_t first_id; // of its fields in tele_builtin_fields
	uint16_t n_fields;
};

// A linear invariant: target = sum of sign * term, all in one section. The
// terms end at the first with sign 0.
#define TELE_INVARIANT_TERMS_MAX 16
struct tele_builtin_invariant {
	uint16_t section;
	uint16_t target_id;
	struct tele_builtin_term {
		uint16_t id;
		int8_t sign;
	} terms[TELE_INVARIANT_TERMS_MAX];
};

extern const struct tele_builtin_field tele_builtin_fields[TELE_ID_COUNT];
extern const struct tele_builtin_section tele_builtin_sections[TELE_SECTION_COUNT];
extern const struct tele_builtin_invariant tele_builtin_invariants[];
extern const size_t tele_builtin_invariants_count;

// Outcomes of a candidate: 0 is open, the others are those of outcomes.def.
enum tele_outcome {
	TELE_OUTCOME_OPEN = 0,
#define TELE_OUTCOME(ID, name, linked, timed) TELE_OUTCOME_##ID,
#include "schema/outcomes.def"
	TELE_OUTCOME_COUNT
};

// "open", "declined", ...; "?" for a number that is not an outcome.
const char *tele_outcome_name(unsigned outcome);

// The outcome of that name, or -1.
int tele_outcome_of(const char *name);

// Whether the axes `linked` and `timed` count a candidate of this outcome.
bool tele_outcome_is_linked(unsigned outcome);
bool tele_outcome_is_timed(unsigned outcome);

// Names as schemas, JSON and documents spell them; "?" beyond the range.
const char *tele_kind_name(unsigned kind);
const char *tele_unit_name(unsigned unit);
const char *tele_bucket_name(unsigned bucket);
const char *tele_memory_name(unsigned memory);
const char *tele_resident_name(unsigned resident);

#endif
