// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What observers told of a process (section `outside`), and what follows from it
// together with the process's own row: the overhead, and what is foreign. One
// place, so that screens, JSON, reports and exports cannot differ.

#ifndef ANALYSIS_OUTSIDE_H
#define ANALYSIS_OUTSIDE_H

#include "derived.h"

#include "../libtelemetry/source.h"

// What an observer's row says of a process's device, with the newest reading so
// far in *ret_values: takes it when it is newer, or the first (captured_at_ns 0).
void analysis_outside_find(const struct tele_schema *schema, const uint64_t *row, uint32_t n_fields,
			   uint64_t subject, uint32_t device, struct tele_outside_values *values);

// The two residuals of one device; unknown where nothing was told (captured_at_ns
// 0) or the part that was is.
void analysis_outside_residuals(const struct tele_outside_values *told, uint64_t live_bytes,
				struct analysis_signed *ret_overhead, struct analysis_signed *ret_foreign);

// Their sums over every device of a process's row. `find` asks for the newest
// reading of a device.
typedef void analysis_outside_find_fn(const void *context, uint64_t subject, uint32_t device,
				      struct tele_outside_values *ret_values);
void analysis_outside_sum(analysis_outside_find_fn *find, const void *context, uint64_t subject,
			  const struct tele_schema *schema, const uint64_t *row, uint32_t n_fields,
			  struct analysis_signed *ret_overhead, struct analysis_signed *ret_foreign);

// ---- Along a source --------------------------------------------------------------

// The newest rows of observers, for who reads records one by one. All zero is
// empty. Instances are the source's, which has to stay.
struct analysis_outside {
	struct analysis_told *items;
	uint32_t n_items;
};

// Keeps an observer's row; other records are left alone. 0 or -ENOMEM.
int analysis_outside_take(struct analysis_outside *outside, const struct tele_record *record);
void analysis_outside_fini(struct analysis_outside *outside);

// The same sums for a process's row that was read along.
void analysis_outside_read(const struct analysis_outside *outside, const struct tele_record *record,
			   struct analysis_signed *ret_overhead, struct analysis_signed *ret_foreign);

#endif
