// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A builder of an imported trace, for the files that make it (import_build.c:
// fields and texts; import_rows.c: rows and blocks).

#ifndef REC_IMPORT_PRIVATE_H
#define REC_IMPORT_PRIVATE_H

#include "import_build.h"
#include "import_search.h"

#include "../libtelemetry/block.h"

enum {
	EVENTS_MAX = TELE_BLOCK_EVENTS_MAX,
	EVENTS_A_ROW = 2, // a phase and a boundary
	TEXTS_MAX = 4096,
	NAME_MAX_BYTES = 63,
};
#define TRANSIENT_ID (UINT64_C(1) << 32)

struct text {
	char *bytes;
	size_t len;
	uint64_t used_in_block; // number of the last block that defines it
};

struct rec_builder {
	struct tele_trace_writer *writer;
	struct tele_identity identity;
	struct tele_schema_writer schema;
	struct tele_plan *plan;
	uint8_t *schema_bytes;
	uint32_t firsts[TELE_SECTION_COUNT]; // position of a section's first instance, or UINT32_MAX
	struct place {
		uint32_t age;	 // position of the time that dates it
		uint8_t unit;
		bool is_given;	 // asked for: the caller fills it
		bool is_text;
	} places[TELE_FIELDS_MAX];
	struct instance {
		unsigned section;
		uint32_t number;
		uint32_t first;
	} *instances;
	uint32_t n_instances;
	struct rec_search search;
	struct text *texts; // id - 1
	uint32_t n_texts, n_text_fields;
	// The block that is being filled.
	uint64_t *rows;
	uint32_t n_rows, rows_max;
	struct tele_event events[EVENTS_MAX];
	uint32_t n_events;
	struct tele_block_string strings[TELE_BLOCK_STRINGS_MAX];
	uint32_t n_strings;
	char (*labels)[TELE_STRING_BYTES_MAX]; // one an event
	uint64_t block_number, first_seq, next_seq, first_at_ns, last_at_ns;
	uint64_t n_rows_in_all;
	bool is_announced;
	void *scratch;
	size_t scratch_bytes, block_bytes;
	uint8_t *block;
	char note[TELE_STRING_BYTES_MAX + 1];
};

// Notes that the block uses a text, or a label, whose id is returned.
void rec_builder_define_text(struct rec_builder *builder, uint64_t id);
uint64_t rec_builder_define_label(struct rec_builder *builder, const char *label);

#endif
