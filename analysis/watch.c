// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// From records to the engine's rows. A candidate's event has number s and the
// row s + 1 carries the census as it was at that boundary; an event whose row
// is lost is no boundary, the gap says so. All comes from the records and the
// limits given at the start: no clock, no files.
//
// The engine is made with the first row that has a known class, and extended
// when the schema grows: histories there are stay, new ones begin.

#include "watch.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../libtelemetry/banned.h"

// Where the capacity of a class comes from: looked up once, since rows are many.
struct class_capacity {
	enum { CAPACITY_NONE, CAPACITY_HOST, CAPACITY_DEVICE, CAPACITY_DEVICES } kind;
	uint32_t device;
	int total_class;
	uint64_t limit_bytes; // that somebody gave for this very class
};

struct analysis_watch {
	enum analysis_look look;
	struct analysis_limits limits;
	struct analysis_classes classes;
	struct analysis_verdicts *engine;
	uint64_t *values; // one a class
	struct class_capacity *capacities; // likewise
	size_t n_values;
	enum analysis_boundary boundary; // of the row boundary_seq
	unsigned outcome;
	uint64_t boundary_seq;
	uint64_t n_open; // by events, for rows that do not say
	uint64_t last_open, last_attempted; // by the last row; TELE_UNKNOWN
};

// ---- Limits -------------------------------------------------------------------

void analysis_limits_init(struct analysis_limits *limits)
{
	*limits = (struct analysis_limits){.machine_bytes = TELE_UNKNOWN};
}

static int size_shift(const char *unit)
{
	static const char letters[] = "KMGTP";
	if (!unit[0] || strcmp(unit, "B") == 0)
		return 0;
	const char *letter = strchr(letters, unit[0]);
	if (!letter || !(unit[1] == '\0' || strcmp(unit + 1, "iB") == 0))
		return -1;
	return 10 * (int)(letter - letters + 1);
}

int analysis_size_parse(const char *text, uint64_t *ret_bytes)
{
	char *end;
	if (text[0] < '0' || text[0] > '9')
		return -EINVAL;
	double number = strtod(text, &end);
	int shift = size_shift(end);
	if (shift < 0 || !(number >= 0) || ldexp(number, shift) >= 9e18)
		return -EINVAL;
	*ret_bytes = (uint64_t)ldexp(number, shift);
	return 0;
}

int analysis_limits_add(struct analysis_limits *limits, const char *text)
{
	const char *equals = strrchr(text, '=');
	size_t len = equals ? (size_t)(equals - text) : 0;
	uint64_t bytes;
	if (len == 0 || len >= ANALYSIS_CLASS_NAME_MAX || analysis_size_parse(equals + 1, &bytes) < 0)
		return -EINVAL;
	if (limits->n_items == ANALYSIS_LIMITS_MAX)
		return -ENOSPC;
	struct analysis_limit *limit = &limits->items[limits->n_items++];
	memcpy(limit->name, text, len);
	limit->name[len] = '\0';
	limit->bytes = bytes;
	return 0;
}

static uint64_t limit_of(const struct analysis_limits *limits, const char *name)
{
	for (size_t i = limits->n_items; i-- > 0;)
		if (strcmp(limits->items[i].name, name) == 0)
			return limits->items[i].bytes;
	return TELE_UNKNOWN;
}

// ---- The engine ---------------------------------------------------------------

struct analysis_watch *analysis_watch_new(enum analysis_look look, const struct analysis_limits *limits)
{
	struct analysis_watch *watch = calloc(1, sizeof(*watch));
	if (!watch)
		return NULL;
	watch->look = look;
	watch->limits = *limits;
	watch->boundary_seq = watch->last_open = TELE_UNKNOWN;
	return watch;
}

void analysis_watch_free(struct analysis_watch *watch)
{
	if (!watch)
		return;
	analysis_verdicts_free(watch->engine);
	analysis_classes_fini(&watch->classes);
	free(watch->values);
	free(watch->capacities);
	free(watch);
}

struct analysis_watch *analysis_watch_copy(const struct analysis_watch *watch)
{
	struct analysis_watch *copy = malloc(sizeof(*copy));
	if (!copy)
		return NULL;
	*copy = *watch;
	copy->engine = watch->engine ? analysis_verdicts_copy(watch->engine) : NULL;
	copy->values = malloc((watch->n_values + 1) * sizeof(*copy->values));
	copy->capacities = malloc((watch->n_values + 1) * sizeof(*copy->capacities));
	bool is_whole = analysis_classes_copy(&watch->classes, &copy->classes) == 0 && copy->values &&
			copy->capacities && (copy->engine || !watch->engine);
	if (!is_whole) {
		analysis_watch_free(copy);
		return NULL;
	}
	if (watch->n_values == 0)
		return copy;
	memcpy(copy->values, watch->values, watch->n_values * sizeof(*copy->values));
	memcpy(copy->capacities, watch->capacities, watch->n_values * sizeof(*copy->capacities));
	return copy;
}

static void start_over(struct analysis_watch *watch)
{
	struct analysis_watch empty = {
		.look = watch->look,
		.limits = watch->limits,
		.boundary_seq = TELE_UNKNOWN,
		.last_open = TELE_UNKNOWN,
		.last_attempted = TELE_UNKNOWN,
	};
	analysis_verdicts_free(watch->engine);
	analysis_classes_fini(&watch->classes);
	free(watch->values);
	free(watch->capacities);
	*watch = empty;
}

// A part has the capacity of its total, which the engine looks up; where the
// total itself is not known, the part is held against it alone.
static struct class_capacity find_capacity(const struct analysis_watch *watch, size_t index)
{
	const struct analysis_class *class = &watch->classes.items[index];
	const char *total = class->total_class >= 0 ? watch->classes.items[class->total_class].name : class->name;
	struct class_capacity capacity = {
		.kind = CAPACITY_NONE,
		.device = analysis_classes_device(&watch->classes, index),
		.total_class = class->total_class,
		.limit_bytes = limit_of(&watch->limits, class->name),
	};
	if (class->unit != TELE_BYTES)
		return capacity;
	if (strcmp(total, "rss_bytes") == 0)
		capacity.kind = CAPACITY_HOST;
	else if (capacity.device != TELE_NO_INSTANCE)
		capacity.kind = CAPACITY_DEVICE;
	else if (strcmp(total, "device_used_bytes") == 0)
		capacity.kind = CAPACITY_DEVICES;
	return capacity;
}

static int take_schema(struct analysis_watch *watch, const struct tele_schema *schema)
{
	int result = analysis_classes_extend(&watch->classes, schema);
	size_t n = watch->classes.n_items;
	if (result < 0 || watch->n_values >= n)
		return result < 0 ? result : 0;
	uint64_t *values = realloc(watch->values, n * sizeof(*values));
	if (!values)
		return -ENOMEM;
	watch->values = values;
	struct class_capacity *capacities = realloc(watch->capacities, n * sizeof(*capacities));
	if (!capacities)
		return -ENOMEM;
	watch->capacities = capacities;
	for (; watch->n_values < n; watch->n_values++)
		capacities[watch->n_values] = find_capacity(watch, watch->n_values);
	return 0;
}

static bool has_any(const struct analysis_watch *watch)
{
	for (size_t i = 0; i < watch->n_values; i++)
		if (watch->values[i] != TELE_UNKNOWN)
			return true;
	return false;
}

// Makes or extends the engine for all classes there are.
static int have_engine(struct analysis_watch *watch)
{
	const struct analysis_classes *classes = &watch->classes;
	if (!watch->engine)
		return analysis_verdicts_new(classes->items, classes->n_items, &watch->engine);
	size_t n = analysis_verdicts_classes(watch->engine);
	return analysis_verdicts_extend(watch->engine, classes->items + n, classes->n_items - n);
}

// ---- Capacities ---------------------------------------------------------------

// The size of one device: its own word first.
static uint64_t device_total(const struct analysis_watch *watch, const struct tele_schema *schema,
			     const struct tele_record *record, uint32_t device)
{
	char name[32];
	uint64_t bytes = tele_schema_value(schema, TELE_ID_device_total_bytes, device, record->row,
					   record->n_fields);
	snprintf(name, sizeof(name), "device[%u]", device);
	if (bytes == TELE_UNKNOWN)
		bytes = limit_of(&watch->limits, name);
	return bytes == TELE_UNKNOWN ? limit_of(&watch->limits, "device") : bytes;
}

static uint64_t devices_total(const struct analysis_watch *watch, const struct tele_schema *schema,
			     const struct tele_record *record)
{
	uint64_t sum = 0;
	uint32_t n_fields = watch->classes.n_devices ? schema->n_fields : 0;
	for (uint32_t i = 0; i < n_fields; i++) {
		if (schema->fields[i].builtin != TELE_ID_device_captured_at_ns)
			continue;
		uint64_t bytes = device_total(watch, schema, record, schema->fields[i].instance);
		if (bytes == TELE_UNKNOWN)
			return TELE_UNKNOWN;
		sum += bytes;
	}
	return watch->classes.n_devices ? sum : limit_of(&watch->limits, "device");
}

static uint64_t host_total(const struct analysis_watch *watch, const struct tele_schema *schema,
			     const struct tele_record *record)
{
	const uint64_t *boot_id = record->instance->identity.boot_id;
	uint64_t cgroup = tele_schema_value(schema, TELE_ID_host_cgroup_max_bytes, TELE_NO_INSTANCE,
					    record->row, record->n_fields);
	bool is_same = boot_id[0] == watch->limits.boot_id[0] && boot_id[1] == watch->limits.boot_id[1];
	return tele_min_u64(cgroup, is_same ? watch->limits.machine_bytes : TELE_UNKNOWN);
}

static void set_capacities(struct analysis_watch *watch, const struct tele_schema *schema,
			   const struct tele_record *record)
{
	uint64_t host_bytes = host_total(watch, schema, record), devices_bytes = devices_total(watch, schema, record);
	for (size_t i = 0; i < watch->classes.n_items; i++) {
		const struct class_capacity *capacity = &watch->capacities[i];
		uint64_t bytes = capacity->limit_bytes;
		bool has_total = capacity->total_class >= 0 && watch->values[capacity->total_class] != TELE_UNKNOWN;
		if (bytes == TELE_UNKNOWN && !has_total && capacity->kind == CAPACITY_HOST)
			bytes = host_bytes;
		else if (bytes == TELE_UNKNOWN && !has_total && capacity->kind == CAPACITY_DEVICE)
			bytes = device_total(watch, schema, record, capacity->device);
		else if (bytes == TELE_UNKNOWN && !has_total && capacity->kind == CAPACITY_DEVICES)
			bytes = devices_bytes;
		analysis_verdicts_set_capacity(watch->engine, i, bytes);
	}
}

// ---- Records ------------------------------------------------------------------

static int take_row(struct analysis_watch *watch, const struct tele_record *record)
{
	// The schema may know more by now than the row did: what a row brings must
	// not depend on when it is read.
	struct tele_schema known = *record->instance->schema;
	const struct tele_schema *schema = &known;
	if (known.n_fields > record->n_fields)
		known.n_fields = record->n_fields;
	int result = take_schema(watch, schema);
	if (result < 0)
		return result;
	analysis_classes_read(&watch->classes, schema, record->row, record->n_fields, watch->values);
	if (!watch->engine && !has_any(watch))
		return 0;
	result = have_engine(watch);
	if (result < 0)
		return result;
	set_capacities(watch, schema, record);
#define COUNT(name) tele_schema_value(schema, TELE_ID_search_##name, TELE_NO_INSTANCE, record->row, record->n_fields)
	uint64_t n_open = COUNT(open_candidates), at_ns = record->n_fields ? record->row[0] : TELE_UNKNOWN;
	struct analysis_row row = {
		.time_s = at_ns == TELE_UNKNOWN || record->instance->identity.is_untimed ? NAN : (double)at_ns / 1e9,
		.counts = {
			[ANALYSIS_ATTEMPTED] = COUNT(candidates_attempted),
			[ANALYSIS_LINKED] = COUNT(candidates_linked),
			[ANALYSIS_TIMED] = COUNT(candidates_timed),
			[ANALYSIS_KEPT] = COUNT(candidates_kept),
		},
		.values = watch->values,
		.is_inside = (n_open == TELE_UNKNOWN ? watch->n_open : n_open) > 0,
	};
#undef COUNT
	// A candidate that ends again (timed, and at last kept) is no other one: it
	// closes nothing, and no candidate was begun unseen (a table of ends alone).
	bool is_again = watch->boundary == ANALYSIS_CANDIDATE_END && n_open != TELE_UNKNOWN &&
			watch->last_open != TELE_UNKNOWN && n_open >= watch->last_open &&
			row.counts[ANALYSIS_ATTEMPTED] == watch->last_attempted;
	watch->last_open = n_open;
	watch->last_attempted = row.counts[ANALYSIS_ATTEMPTED];
	if (watch->boundary_seq == record->seq && !is_again) {
		row.boundary = watch->boundary;
		row.outcome = watch->outcome;
	}
	watch->boundary_seq = TELE_UNKNOWN;
	if (watch->look == ANALYSIS_LIVE)
		return (int)analysis_verdicts_row(watch->engine, &row);
	analysis_verdicts_add(watch->engine, &row);
	return 0;
}

static void take_event(struct analysis_watch *watch, const struct tele_record *record)
{
	const struct tele_event *event = &record->event;
	bool is_end = event->type == TELE_EVENT_CANDIDATE_END;
	if (!is_end && event->type != TELE_EVENT_CANDIDATE_BEGIN)
		return;
	if (is_end)
		watch->n_open -= watch->n_open > 0;
	else
		watch->n_open++;
	watch->boundary = is_end ? ANALYSIS_CANDIDATE_END : ANALYSIS_CANDIDATE_BEGIN;
	watch->outcome = event->value < TELE_OUTCOME_COUNT ? (unsigned)event->value : TELE_OUTCOME_OPEN;
	watch->boundary_seq = record->seq + 1;
}

int analysis_watch_take(struct analysis_watch *watch, const struct tele_record *record)
{
	switch (record->kind) {
	case TELE_RECORD_INSTANCE:
		start_over(watch);
		return 0;
	case TELE_RECORD_ROW:
		return take_row(watch, record);
	case TELE_RECORD_EVENT:
		take_event(watch, record);
		return 0;
	case TELE_RECORD_GAP:
		watch->boundary_seq = watch->last_open = TELE_UNKNOWN;
		watch->n_open = 0;
		if (watch->engine)
			analysis_verdicts_gap(watch->engine);
		return 0;
	case TELE_RECORD_SCHEMA: // rows bring it
	case TELE_RECORD_STATE:
		return 0;
	}
	return 0;
}

const struct analysis_verdicts *analysis_watch_engine(const struct analysis_watch *watch)
{
	return watch->engine;
}

const struct analysis_classes *analysis_watch_classes(const struct analysis_watch *watch)
{
	return &watch->classes;
}

const uint64_t *analysis_watch_values(const struct analysis_watch *watch)
{
	return watch->values;
}

int analysis_watch_list(const struct analysis_watch *watch, struct analysis_verdict **ret_list)
{
	size_t max = watch->engine ? analysis_verdicts_classes(watch->engine) * ANALYSIS_AXIS_COUNT : 0, n = 0;
	*ret_list = NULL;
	if (max == 0)
		return 0;
	struct analysis_verdict *list = malloc(max * sizeof(*list));
	if (!list)
		return -ENOMEM;
	size_t n_all = analysis_verdicts_list(watch->engine, watch->look, list, max);
	for (size_t i = 0; i < n_all; i++) {
		if (!analysis_classes_is_echo(&watch->classes, list[i].class_index))
			list[n++] = list[i];
	}
	if (n == 0) {
		free(list);
		return 0;
	}
	struct analysis_verdict *fit = realloc(list, n * sizeof(*list));
	*ret_list = fit ? fit : list;
	return (int)n;
}
