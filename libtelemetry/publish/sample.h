// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// One tick of the publisher: what is registered, what happened, what is. Used
// by the publisher thread alone.

#ifndef TELE_SAMPLE_H
#define TELE_SAMPLE_H

#include "process.h"
#include "registry.h"

struct tele_sampler {
	struct tele_segment_file file;
	struct tele_ring ring;
	struct tele_host host;
	struct tele_plan plan;
	struct tele_schema_writer schema;
	uint8_t schema_bytes[TELE_SCHEMA_BYTES_DEFAULT];
	uint64_t values[TELE_SEGMENT_FIELDS_MAX];
	uint32_t string_fields[TELE_SEGMENT_FIELDS_MAX];
	uint32_t n_string_fields;
	uint32_t n_applied; // entries of the registry that are in the schema
	uint64_t slow_due_at_ns[TELE_REGISTRY_MAX];
	uint64_t publish_ns;
	uint64_t resident_bytes, resident_due_at_ns; // of our own memory
	int64_t realtime_offset_ns;
	bool is_evidence;
	unsigned n_skipped;
};

// Makes the segment and its first row. Returns 0, or an error with the step
// that failed in *ret_what.
int tele_sampler_start(struct tele_sampler *sampler, const struct tele_settings *settings,
		       uint64_t instance_id, uint64_t parent_instance_id, const char **ret_what);

// After parking: opens again what the thread before had open.
void tele_sampler_resume(struct tele_sampler *sampler);

// Publishes what stands in the boundary slots.
void tele_sampler_drain(struct tele_sampler *sampler);

// Drains the boundary slots, samples, publishes one row.
void tele_sampler_tick(struct tele_sampler *sampler);

// Stores the state of the process for readers.
void tele_sampler_set_state(struct tele_sampler *sampler, enum tele_state state);

#endif
