// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The two formats of import, line by line into a builder. Each reads `lines` to
// their end and counts what it saw; errors as rec_import.

#ifndef REC_IMPORT_FORMATS_H
#define REC_IMPORT_FORMATS_H

#include "import.h"
#include "import_build.h"
#include "import_lines.h"

int rec_import_csv(struct rec_lines *lines, struct rec_builder *builder, struct rec_import_result *result,
		   struct tele_error *ret_error);

int rec_import_census(struct rec_lines *lines, struct rec_builder *builder, struct rec_import_result *result,
		      struct tele_error *ret_error);

// One line of a census log, as far as it tells of a candidate.
struct rec_census_line {
	char label[256];
	bool is_dedup; // else a census
	bool has_peak;
	uint64_t live_pools, working_pools, working_bytes, constant_pools, constant_bytes;
	uint64_t pools_allocated, pools_freed, peak_bytes;
	uint64_t contexts_created, contexts_released;
	uint64_t modules_loaded, modules_unloaded;
};

// 1: it is one; 0: another kind of line; TELE_ESYNTAX: a census that is damaged.
int rec_census_parse(const char *line, struct rec_census_line *ret_line);

#endif
