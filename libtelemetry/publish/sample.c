// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// One tick of the publisher. The values of all fields stand in one row, which
// lives from tick to tick: collectors overwrite their part of it, a boundary
// overwrites the sections that it captured, and what nobody refreshed keeps its
// value and its own older timestamp.

#include "sample.h"

#include "publisher.h"

#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "../banned.h"

#define NS_PER_S 1000000000
#define OFFSET_NOISE_NS 2000000 // clock adjustments below this are not worth a change
#define SLOW_COST_FACTOR 200
#define COLLECT_TRIES 8
#define SKIPPED_MAX 3 // rows left out while a slot is half filled

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

TELE_EXPORT uint64_t rollcall_clock_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC) & TELE_TIME_MASK;
}

static uint64_t *section_values(struct tele_sampler *sampler, unsigned section)
{
	return sampler->values + tele_builtin_sections[section].first_id;
}

// ---- What is registered ------------------------------------------------------------

// String fields that entry brings, and values that nobody has filled yet.
static void note_fields(struct tele_sampler *sampler, uint32_t position, unsigned section)
{
	const struct tele_builtin_section *builtin = &tele_builtin_sections[section];
	for (uint32_t i = 0; i < builtin->n_fields; i++)
		if (tele_builtin_fields[builtin->first_id + i].unit == TELE_STRING)
			sampler->string_fields[sampler->n_string_fields++] = position + i;
}

// Brings the schema up to what is registered. Before the segment exists it
// only writes the schema's bytes.
static void apply_registrations(struct tele_sampler *sampler)
{
	uint32_t count = tele_registry_count();
	uint32_t n_fields = sampler->plan.n_fields;
	if (count == sampler->n_applied)
		return;
	tele_registry_write(&sampler->schema, sampler->n_applied, count);
	for (uint32_t i = sampler->n_applied; i < count; i++) {
		const struct tele_registered *entry = tele_registry_at(i);
		if (!entry->is_app && entry->instance != TELE_NO_INSTANCE)
			note_fields(sampler, entry->position, entry->section);
		sampler->slow_due_at_ns[i] = 0;
	}
	memset(sampler->values + n_fields, 0xff, 8 * (sampler->plan.n_fields - n_fields));
	sampler->n_applied = count;
	bool has_grown = sampler->plan.n_fields != n_fields;
	if (has_grown && sampler->ring.memory)
		tele_ring_grow(&sampler->ring, sampler->schema_bytes,
			       (uint32_t)sampler->schema.used_bytes);
}

// ---- What happened ------------------------------------------------------------------

// Where a section that a boundary captured stands in the row, or UINT32_MAX.
static uint32_t position_of(struct tele_sampler *sampler, unsigned section, uint32_t instance)
{
	if (section >= TELE_SECTION_COUNT)
		return UINT32_MAX;
	if (tele_builtin_sections[section].scope == TELE_SCOPE_PROCESS)
		return tele_builtin_sections[section].first_id;
	// The section was registered before its boundary was published.
	apply_registrations(sampler);
	for (uint32_t i = 0; i < sampler->n_applied; i++) {
		const struct tele_registered *entry = tele_registry_at(i);
		if (!entry->is_app && entry->section == section && entry->instance == instance)
			return entry->position;
	}
	return UINT32_MAX;
}

static bool take_parts(struct tele_sampler *sampler, const uint64_t *slot)
{
	size_t used = slot[TELE_SLOT_TYPE] >> 32;
	bool has_parts = false;
	for (size_t at = TELE_SLOT_PARTS; at < used;) {
		unsigned section = slot[at] & 0xffff;
		uint32_t n_values = slot[at] >> 16 & 0xffff;
		uint32_t position = position_of(sampler, section, (uint32_t)(slot[at] >> 32));
		if (position != UINT32_MAX && n_values <= tele_builtin_sections[section].n_fields) {
			memcpy(sampler->values + position, slot + at + 1, 8 * (size_t)n_values);
			has_parts = true;
		}
		at += 1 + n_values;
	}
	return has_parts;
}

static void fill_self(struct tele_sampler *sampler, uint64_t at_ns)
{
	struct tele_self_values self = {
		.captured_at_ns = at_ns,
		.realtime_offset_ns = (uint64_t)sampler->realtime_offset_ns,
		.rows_published = sampler->ring.rows_published + 1,
		.rows_dropped = sampler->ring.rows_dropped,
		.boundaries_dropped = tele_boundaries_dropped(),
		.registrations_refused = tele_registrations_refused(),
		.publish_ns = sampler->publish_ns,
		.segment_bytes = sampler->file.layout.segment_bytes,
		.threads = 1,
		.resident_bytes = sampler->resident_bytes,
	};
	memcpy(section_values(sampler, TELE_SECTION_SELF), &self, sizeof(self));
}

// Timestamps carry no bits below 1,024 ns, whoever took them.
static void round_times(struct tele_sampler *sampler)
{
	const struct tele_plan *plan = &sampler->plan;
	for (uint32_t k = 0; k < plan->n_special; k++) {
		uint32_t i = plan->special[k];
		if (plan->fields[i].shift && sampler->values[i] != TELE_UNKNOWN)
			sampler->values[i] &= TELE_TIME_MASK;
	}
}

static void commit(struct tele_sampler *sampler, const struct tele_commit *what)
{
	uint64_t before = clock_ns(CLOCK_MONOTONIC);
	tele_ring_commit(&sampler->ring, what);
	sampler->publish_ns += clock_ns(CLOCK_MONOTONIC) - before;
}

void tele_sampler_drain(struct tele_sampler *sampler)
{
	const uint64_t *slot;
	while ((slot = tele_slots_front()) != NULL) {
		struct tele_event event = {
			.at_ns = slot[TELE_SLOT_AT],
			.subject = slot[TELE_SLOT_SUBJECT],
			.value = slot[TELE_SLOT_VALUE],
			.type = (uint32_t)slot[TELE_SLOT_TYPE],
		};
		bool has_row = take_parts(sampler, slot);
		size_t text_len = tele_min_u64(slot[TELE_SLOT_TEXT_LEN], TELE_STRING_BYTES_MAX);
		if (has_row) {
			fill_self(sampler, event.at_ns);
			round_times(sampler);
		}
		commit(sampler, &(struct tele_commit){
					.event = &event,
					.text = (const char *)(slot + TELE_SLOT_TEXT),
					.text_len = text_len,
					.row = has_row ? sampler->values : NULL,
					.drained = (uint32_t)(tele_slots_drained() + 1),
				});
		tele_slots_pop();
	}
}

// ---- What is --------------------------------------------------------------------------

static void collect_slow(struct tele_sampler *sampler, uint32_t index, uint64_t *values)
{
	const struct rollcall_collector *collector = &tele_registry_at(index)->collector;
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	if (!collector->collect_slow || now < sampler->slow_due_at_ns[index])
		return;
	uint64_t before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	collector->collect_slow(collector->context, values, collector->n_values);
	uint64_t cost = clock_ns(CLOCK_THREAD_CPUTIME_ID) - before;
	sampler->slow_due_at_ns[index] = now + cost * SLOW_COST_FACTOR;
}

static void collect(struct tele_sampler *sampler)
{
	tele_host_collect(&sampler->host, section_values(sampler, TELE_SECTION_HOST));
	bool has_app = false;
	for (uint32_t i = 0; i < sampler->n_applied; i++) {
		struct tele_registered *entry = tele_registry_at(i);
		uint64_t *values = sampler->values + entry->position;
		if (entry->is_app) {
			*values = atomic_load_explicit(&entry->app.value, memory_order_relaxed);
			has_app = true;
			continue;
		}
		if (entry->collector.collect)
			entry->collector.collect(entry->collector.context, values,
						 entry->collector.n_values);
		collect_slow(sampler, i, values);
	}
	if (has_app)
		section_values(sampler, TELE_SECTION_APP)[0] = rollcall_clock_ns();
}

// Wall clock minus monotonic clock; a change beyond noise is published, a jump
// is an event besides.
static void watch_clock(struct tele_sampler *sampler, uint64_t now)
{
	int64_t offset = (int64_t)(clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC));
	int64_t change = offset - sampler->realtime_offset_ns;
	if (change > -OFFSET_NOISE_NS && change < OFFSET_NOISE_NS)
		return;
	bool is_jump = sampler->realtime_offset_ns != 0 && (change > NS_PER_S || change < -NS_PER_S);
	sampler->realtime_offset_ns = offset;
	if (!is_jump)
		return;
	struct tele_event event = {
		.type = TELE_EVENT_CLOCK,
		.at_ns = now,
		.value = (uint64_t)offset,
	};
	commit(sampler, &(struct tele_commit){
				.event = &event,
				.drained = (uint32_t)tele_slots_drained(),
			});
}

static void note_evidence(struct tele_sampler *sampler)
{
	if (sampler->is_evidence)
		return;
	if (section_values(sampler, TELE_SECTION_CENSUS)[0] == TELE_UNKNOWN &&
	    section_values(sampler, TELE_SECTION_SEARCH)[0] == TELE_UNKNOWN)
		return;
	sampler->is_evidence = true;
	tele_ring_note(&sampler->ring, TELE_CONTROL_EVIDENCE, 1);
}

// Drains and samples so that the row is newer than every boundary before it: a
// boundary that was claimed while the row was collected comes first, or counts
// would seem to fall from one row to the next. False when a thread stands still
// between claiming and filling a slot.
static bool collect_after_boundaries(struct tele_sampler *sampler)
{
	for (int tries = 0; tries < COLLECT_TRIES; tries++) {
		apply_registrations(sampler);
		tele_sampler_drain(sampler);
		collect(sampler);
		if (tele_slots_are_drained())
			return true;
	}
	return false;
}

// What our own memory holds of the process's: this sampler, the writer, what is
// registered, and the copy of a segment that is written instead of mapped.
static void measure_self(struct tele_sampler *sampler, uint64_t now)
{
	if (now < sampler->resident_due_at_ns)
		return;
	const uint64_t parts[] = {
		tele_resident_bytes_of(sampler, sizeof(*sampler)),
		tele_resident_bytes_of(sampler->ring.memory, sampler->ring.memory_bytes),
		tele_registry_resident_bytes(),
		tele_intern_resident_bytes(),
		sampler->file.is_written ? tele_resident_bytes_of(sampler->file.bytes,
								  sampler->file.layout.segment_bytes) :
					   0,
	};
	sampler->resident_bytes = 0;
	for (size_t i = 0; i < TELE_ARRAY_LEN(parts) && sampler->resident_bytes != TELE_UNKNOWN; i++)
		sampler->resident_bytes =
			parts[i] == TELE_UNKNOWN ? TELE_UNKNOWN : sampler->resident_bytes + parts[i];
	sampler->resident_due_at_ns = now + NS_PER_S;
}

void tele_sampler_tick(struct tele_sampler *sampler)
{
	uint64_t now = rollcall_clock_ns();
	measure_self(sampler, now);
	watch_clock(sampler, now);
	if (!collect_after_boundaries(sampler) && ++sampler->n_skipped < SKIPPED_MAX) {
		tele_ring_note(&sampler->ring, TELE_CONTROL_HEARTBEAT, now);
		return;
	}
	sampler->n_skipped = 0;
	fill_self(sampler, rollcall_clock_ns());
	round_times(sampler);
	note_evidence(sampler);
	commit(sampler, &(struct tele_commit){
				.row = sampler->values,
				.drained = (uint32_t)tele_slots_drained(),
			});
	tele_ring_note(&sampler->ring, TELE_CONTROL_DROPPED, sampler->ring.rows_dropped);
	tele_ring_note(&sampler->ring, TELE_CONTROL_PUBLISH_NS, sampler->publish_ns);
	tele_ring_note(&sampler->ring, TELE_CONTROL_HEARTBEAT, now);
}

void tele_sampler_set_state(struct tele_sampler *sampler, enum tele_state state)
{
	// Also after a write that failed: this one may go through.
	sampler->ring.failed = 0;
	tele_ring_control(&sampler->ring, TELE_CONTROL_STATE, state);
}

int tele_sampler_start(struct tele_sampler *sampler, const struct tele_settings *settings,
		       uint64_t instance_id, uint64_t parent_instance_id, const char **ret_what)
{
	struct tele_identity identity;
	memset(sampler->values, 0xff, sizeof(sampler->values));
	sampler->n_string_fields = 0;
	sampler->n_applied = 0;
	sampler->publish_ns = 0;
	sampler->resident_due_at_ns = 0;
	sampler->realtime_offset_ns = 0;
	sampler->is_evidence = false;
	sampler->ring.memory = NULL;
	int failed = tele_schema_write_start(&sampler->schema, sampler->schema_bytes,
					     sizeof(sampler->schema_bytes), &sampler->plan);
	TELE_ASSERT(!failed);
	for (unsigned section = 0; section < TELE_SECTION_COUNT; section++)
		if (tele_builtin_sections[section].scope == TELE_SCOPE_PROCESS)
			note_fields(sampler, tele_builtin_sections[section].first_id, section);
	apply_registrations(sampler);
	tele_identity_of_self(settings, instance_id, parent_instance_id, &identity);
	failed = tele_segment_create(&identity, settings->directory, settings->ring_bytes,
				     sampler->schema_bytes, sampler->schema.used_bytes,
				     &sampler->file, ret_what);
	if (failed)
		return failed;
	*ret_what = "map the publisher's memory";
	failed = tele_ring_init(&sampler->ring, &sampler->file, &sampler->plan, instance_id,
				(uint32_t)sampler->schema.used_bytes);
	if (failed)
		return failed;
	tele_ring_set_texts(&sampler->ring, tele_intern_text, sampler->string_fields,
			    &sampler->n_string_fields);
	tele_host_open(&sampler->host);
	tele_slots_attach(sampler->file.bytes + sampler->file.layout.control_offset,
			  sampler->file.bytes + sampler->file.layout.slots_offset);
	tele_sampler_tick(sampler);
	tele_sampler_set_state(sampler, TELE_LIVE);
	return 0;
}

void tele_sampler_resume(struct tele_sampler *sampler)
{
	tele_segment_relock(&sampler->file);
	tele_host_open(&sampler->host);
	tele_sampler_tick(sampler); // a sign of life before it is said to live
	tele_sampler_set_state(sampler, TELE_LIVE);
}
