// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers

#include "mon_fixture.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB		   (UINT64_C(1) << 20)
#define REALTIME_OFFSET_NS UINT64_C(1770000000000000000)

static void parse(struct fixture *fixture)
{
	int failed = tele_schema_parse(fixture->instance.schema, fixture->writer.bytes,
				       fixture->writer.used_bytes, NULL);
	assert(failed == 0);
	(void)failed;
}

struct fixture *fixture_new(uint64_t pid, const char *label)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	struct tele_plan *plan = calloc(1, sizeof(*plan));
	uint8_t *bytes = malloc(TELE_SCHEMA_BYTES_MAX);
	assert(fixture && plan && bytes);
	int failed = tele_schema_write_start(&fixture->writer, bytes, TELE_SCHEMA_BYTES_MAX, plan);
	assert(failed == 0);
	(void)failed;
	fixture->strings = tele_strings_new();
	fixture->next_string = 1;
	fixture->device_like = UINT32_MAX;
	fixture->instance = (struct tele_instance){
		.identity = {.instance_id = 0x1000 + pid,
			     .boot_id = {1, 2},
			     .pid = pid,
			     .start_ticks = 77000 + pid,
			     .created_at_ns = FIXTURE_S,
			     .period_ns = FIXTURE_S / 10},
		.schema = tele_schema_new(),
		.strings = fixture->strings,
		.state = TELE_LIVE,
	};
	snprintf(fixture->instance.identity.label, sizeof(fixture->instance.identity.label), "%s",
		 label);
	snprintf(fixture->instance.identity.comm, sizeof(fixture->instance.identity.comm), "comm");
	for (size_t i = 0; i < TELE_FIELDS_MAX; i++)
		fixture->row[i] = TELE_UNKNOWN;
	parse(fixture);
	fixture_set(fixture, "self.realtime_offset_ns", REALTIME_OFFSET_NS);
	return fixture;
}

void fixture_free(struct fixture *fixture)
{
	tele_schema_free(fixture->instance.schema);
	tele_strings_free(fixture->strings);
	free(fixture->writer.plan);
	free(fixture->writer.bytes);
	free(fixture);
}

void fixture_add_device(struct fixture *fixture, uint32_t device)
{
	int64_t at = tele_schema_write_instance(&fixture->writer, TELE_SECTION_DEVICE, device,
						fixture->device_like);
	assert(at >= 0);
	if (fixture->device_like == UINT32_MAX)
		fixture->device_like = (uint32_t)at;
	parse(fixture);
}

void fixture_add_instance(struct fixture *fixture, enum tele_section section, uint32_t number)
{
	int64_t at = tele_schema_write_instance(&fixture->writer, section, number, UINT32_MAX);
	assert(at >= 0);
	(void)at;
	parse(fixture);
}

void fixture_add_app(struct fixture *fixture, const char *name, unsigned kind, unsigned unit)
{
	int64_t at = tele_schema_write_app(&fixture->writer, name, kind, unit);
	assert(at >= 0);
	(void)at;
	parse(fixture);
}

void fixture_set(struct fixture *fixture, const char *name, uint64_t value)
{
	int64_t at = tele_schema_find(fixture->instance.schema, name);
	if (at < 0)
		fprintf(stderr, "no field %s\n", name);
	assert(at >= 0);
	fixture->row[at] = value;
}

uint64_t fixture_string(struct fixture *fixture, const char *text)
{
	int failed =
		tele_strings_define(fixture->strings, fixture->next_string, text, strlen(text));
	assert(failed == 0);
	(void)failed;
	return fixture->next_string++;
}

static void apply(struct mon_model *model, const struct tele_record *record)
{
	int failed = mon_model_apply(model, record);
	assert(failed == 0);
	(void)failed;
}

void fixture_tell(struct mon_model *model, struct fixture *fixture)
{
	struct tele_record record = {.kind = TELE_RECORD_INSTANCE, .instance = &fixture->instance};
	apply(model, &record);
}

void fixture_row(struct mon_model *model, struct fixture *fixture, uint64_t at_ns)
{
	fixture->row[0] = at_ns;
	struct tele_record record = {.kind = TELE_RECORD_ROW,
				     .instance = &fixture->instance,
				     .seq = ++fixture->seq,
				     .row = fixture->row,
				     .n_fields = fixture->instance.schema->n_fields};
	apply(model, &record);
}

void fixture_event(struct mon_model *model, struct fixture *fixture, uint32_t type, uint64_t at_ns,
		   uint64_t subject, uint64_t value, const char *text)
{
	struct tele_record record = {
		.kind = TELE_RECORD_EVENT, .instance = &fixture->instance, .seq = ++fixture->seq};
	record.event = (struct tele_event){.seq = record.seq,
					   .at_ns = at_ns,
					   .subject = subject,
					   .value = value,
					   .string_id = text ? fixture_string(fixture, text) : 0,
					   .type = type};
	apply(model, &record);
}

void fixture_gap(struct mon_model *model, struct fixture *fixture, uint64_t n_records)
{
	struct tele_record record = {.kind = TELE_RECORD_GAP, .instance = &fixture->instance};
	record.gap_from = fixture->seq + 1;
	fixture->seq += n_records;
	record.gap_to = fixture->seq + 1;
	fixture->instance.lost += n_records;
	apply(model, &record);
}

void fixture_state(struct mon_model *model, struct fixture *fixture, enum tele_state state)
{
	struct tele_record record = {.kind = TELE_RECORD_STATE, .instance = &fixture->instance};
	fixture->instance.state = state;
	apply(model, &record);
}

static void set_heap(struct fixture *fixture, uint64_t scale)
{
	static const struct {
		const char *name;
		uint64_t bytes;
	} buckets[] = {
		{"heap.live_bytes", 734 * MIB + 104857},
		{"heap.rounding_bytes", 58 * MIB},
		{"heap.cache_bytes", 943718},
		{"heap.span_free_bytes", 17 * MIB},
		{"heap.returned_bytes", 131 * MIB},
		{"heap.virgin_bytes", 264 * MIB},
		{"heap.hysteresis_bytes", 2 * MIB + 209715},
		{"heap.segment_overhead_bytes", 19 * MIB},
	};
	uint64_t mapped_bytes = 0;
	for (size_t i = 0; i < sizeof(buckets) / sizeof(buckets[0]); i++) {
		fixture_set(fixture, buckets[i].name, buckets[i].bytes / scale);
		mapped_bytes += buckets[i].bytes / scale;
	}
	fixture_set(fixture, "heap.mapped_bytes", mapped_bytes);
	fixture_set(fixture, "heap.untouched_bytes", 6 * MIB / scale);
	fixture_set(fixture, "heap.settled", 1);
	fixture_set(fixture, "host.rss_bytes", 861 * MIB / scale);
	fixture_set(fixture, "host.file_bytes", 31 * MIB / scale);
	fixture_set(fixture, "host.shmem_bytes", 1 * MIB);
	fixture_set(fixture, "host.anon_bytes", 829 * MIB / scale);
	fixture_set(fixture, "host.threads", 3);
	fixture_set(fixture, "self.segment_bytes", 1 * MIB + MIB / 2);
	fixture_set(fixture, "self.resident_bytes", 400 << 10);
	fixture_set(fixture, "self.threads", 1);
}

static void set_census(struct fixture *fixture, const char *section, uint64_t n_linked)
{
	static const char *const labels[] = {"constant", "staging", "unlabelled"};
	char name[96];
#define SET(field, value)                                                                          \
	(snprintf(name, sizeof(name), "%s." field, section), fixture_set(fixture, name, value))
	for (size_t i = 0; i < 3; i++) {
		uint64_t n_pools = i == 0;
		snprintf(name, sizeof(name), "%s.live_%s_pools", section, labels[i]);
		fixture_set(fixture, name, n_pools);
		snprintf(name, sizeof(name), "%s.live_%s_bytes", section, labels[i]);
		fixture_set(fixture, name, n_pools * 9752 * 1000);
		snprintf(name, sizeof(name), "%s.%s_pools_allocated", section, labels[i]);
		fixture_set(fixture, name, n_pools);
	}
	SET("live_working_pools", n_linked);
	SET("live_working_bytes", n_linked * 102 * MIB);
	SET("working_pools_allocated", n_linked);
	SET("pools_freed", 0);
	SET("contexts_created", n_linked + 4);
	SET("contexts_released", 0);
	SET("modules_loaded", n_linked);
	SET("modules_unloaded", n_linked > 3 ? n_linked - 3 : 0);
	SET("peak_pool_bytes", n_linked * 102 * MIB + 9752 * 1000);
#undef SET
}

static void set_search(struct fixture *fixture, uint64_t n_linked)
{
	fixture_set(fixture, "search.candidates_attempted", 2 * n_linked + 1);
	fixture_set(fixture, "search.candidates_linked", n_linked);
	fixture_set(fixture, "search.candidates_timed", n_linked - n_linked / 6);
	fixture_set(fixture, "search.candidates_kept", n_linked / 10);
	fixture_set(fixture, "search.candidates_declined", n_linked);
	fixture_set(fixture, "search.candidates_link_failed", n_linked / 6);
	fixture_set(fixture, "search.candidates_non_dispatchable", 0);
	fixture_set(fixture, "search.candidates_deduplicated", 0);
	fixture_set(fixture, "search.candidates_failed", 0);
	fixture_set(fixture, "search.open_candidates", 1);
}

struct fixture *fixture_search(struct mon_model *model, uint64_t pid, uint64_t n_linked)
{
	struct fixture *fixture = fixture_new(pid, "tune gpt2_mini");
	fixture_add_device(fixture, 0);
	fixture_add_app(fixture, "queue_depth", TELE_GAUGE, TELE_COUNT);
	fixture_set(fixture, "app.queue_depth", 12);
	fixture_set(fixture, "device[0].name", fixture_string(fixture, "Tile 5070 Ti"));
	fixture_set(fixture, "device[0].total_bytes", 12227 * MIB);
	fixture_tell(model, fixture);
	set_heap(fixture, 1);
	fixture_event(model, fixture, TELE_EVENT_PHASE, 2 * FIXTURE_S, 0, 0, "B");
	fixture_set(fixture, "search.phase", fixture->next_string - 1);
	for (uint64_t i = 1; i <= n_linked; i++) {
		char label[64];
		uint64_t at_ns = (i + 2) * FIXTURE_S;
		snprintf(label, sizeof(label), "F_preset[bs=%d]", 1 << (i % 10));
		fixture_event(model, fixture, TELE_EVENT_CANDIDATE_BEGIN, at_ns, 2 * i, 0, label);
		set_census(fixture, "census", i);
		set_census(fixture, "device[0]", i);
		set_search(fixture, i);
		fixture_set(fixture, "device[0].used_bytes", i * 102 * MIB + 310 * MIB);
		fixture_row(model, fixture, at_ns);
		if (i < n_linked)
			fixture_event(model, fixture, TELE_EVENT_CANDIDATE_END,
				      at_ns + FIXTURE_S / 2, 2 * i, TELE_OUTCOME_TIMED, NULL);
	}
	return fixture;
}

struct fixture *fixture_server(struct mon_model *model, uint64_t pid, const char *label)
{
	struct fixture *fixture = fixture_new(pid, label);
	fixture_tell(model, fixture);
	set_heap(fixture, 2 + pid % 7);
	fixture_row(model, fixture, 10 * FIXTURE_S);
	return fixture;
}
