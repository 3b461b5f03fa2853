// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Schema records as bytes: the layouts that schema_write.c and schema_read.c
// share. docs/format-segment.md, "Schema", is the definition.

#ifndef TELE_SCHEMA_WIRE_H
#define TELE_SCHEMA_WIRE_H

#include "base.h"

enum tele_schema_record_type {
	TELE_SCHEMA_SECTION = 1,
	TELE_SCHEMA_FIELD = 2,
	TELE_SCHEMA_INVARIANT = 3,
	TELE_SCHEMA_INSTANCE = 4,
};

// Every record starts with this; `bytes` counts the whole record and is a
// multiple of 8; the checksum is CRC-32C over the record with itself zero.
struct tele_schema_head {
	uint16_t bytes;
	uint8_t type;
	uint8_t reserved;
	uint32_t checksum;
};

// Followed by name and help, each with its NUL, zero-padded.
struct tele_schema_section {
	struct tele_schema_head head;
	uint16_t number;
	uint8_t scope;
	uint8_t name_bytes; // without the NUL, here and below
	uint8_t help_bytes;
	uint8_t reserved[3];
};

// Followed by name, label and help. Its position is the number of fields
// before it.
struct tele_schema_field {
	struct tele_schema_head head;
	uint32_t instance;
	uint32_t age_index;
	uint32_t reference;
	uint16_t section;
	uint16_t since;
	uint8_t kind, unit, bucket, memory, resident, predictor, shift;
	uint8_t name_bytes, label_bytes, help_bytes;
	uint8_t reserved[6];
};

// Followed by n_terms pairs {u32 position, i32 sign}.
struct tele_schema_invariant {
	struct tele_schema_head head;
	uint32_t target;
	uint32_t n_terms;
};

// Repeats the fields [like, like + n_fields) and the invariants among them as
// instance `instance` of the same section, appended at the end.
struct tele_schema_instance {
	struct tele_schema_head head;
	uint32_t instance;
	uint32_t like;
	uint32_t n_fields;
	uint32_t reserved;
};

_Static_assert(sizeof(struct tele_schema_head) == 8, "schema head");
_Static_assert(sizeof(struct tele_schema_section) == 16, "schema section");
_Static_assert(sizeof(struct tele_schema_field) == 40, "schema field");
_Static_assert(sizeof(struct tele_schema_invariant) == 16, "schema invariant");
_Static_assert(sizeof(struct tele_schema_instance) == 24, "schema instance");

#endif
