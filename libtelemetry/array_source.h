// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A source over arrays: for tests, and for screens that are made up.

#ifndef TELE_ARRAY_SOURCE_H
#define TELE_ARRAY_SOURCE_H

#include "base.h"
#include "block.h"
#include "error.h"
#include "source.h"

// One instance. Rows and events are each in order; everything but the schema,
// the identity and the strings is the caller's and lives as long as the source.
struct tele_array_instance {
	struct tele_identity identity;
	const uint8_t *schema;
	size_t schema_bytes;
	const uint64_t *rows; // row-major, n_fields words each
	uint32_t n_fields;
	size_t n_rows;
	// The number of each row, or NULL: rows take the numbers from first_seq
	// on that no event has. Numbers left out become gaps.
	const uint64_t *row_seqs;
	uint64_t first_seq;
	const struct tele_event *events;
	size_t n_events;
	const struct tele_block_string *strings;
	size_t n_strings;
	enum tele_state state; // told after the last record
};

// Makes a source of n instances, whose records come in order of time. Returns
// 0, or what the schema is refused for, or -ENOMEM.
int tele_array_source_open(const struct tele_array_instance *instances, size_t n_instances,
			   struct tele_source **ret_source, struct tele_error *ret_error);

#endif
