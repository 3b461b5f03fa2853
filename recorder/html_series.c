// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Buckets hold equally many rows; when all are full, neighbours are merged and
// each holds twice as many, so that lowest and highest values stay exact.

#include "html_series.h"

#include "html_candidates.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../libtelemetry/banned.h"

static void merge_ranges(struct rec_range *ranges)
{
	for (uint32_t i = 0; i < REC_BUCKETS_MAX / 2; i++) {
		struct rec_range a = ranges[2 * i], b = ranges[2 * i + 1];
		if (!a.is_known || !b.is_known) {
			ranges[i] = a.is_known ? a : b;
			continue;
		}
		a.low = b.low < a.low ? b.low : a.low;
		a.high = b.high > a.high ? b.high : a.high;
		a.last = b.last;
		ranges[i] = a;
	}
	memset(ranges + REC_BUCKETS_MAX / 2, 0, REC_BUCKETS_MAX / 2 * sizeof(*ranges));
}

static void merge_buckets(struct rec_series *series)
{
	for (uint32_t i = 0; i < REC_BUCKETS_MAX / 2; i++) {
		struct rec_bucket a = series->buckets[2 * i], b = series->buckets[2 * i + 1];
		a.n_rows += b.n_rows;
		a.last_at_ns = b.last_at_ns;
		memcpy(a.counts, b.counts, sizeof(a.counts));
		for (int k = 0; k < TELE_OUTCOME_COUNT; k++)
			a.outcomes[k] += b.outcomes[k];
		a.has_gap |= b.has_gap;
		series->buckets[i] = a;
	}
	for (size_t c = 0; c < series->n_classes; c++)
		merge_ranges(series->ranges[c]);
	series->n_buckets = REC_BUCKETS_MAX / 2;
	series->rows_per_bucket *= 2;
}

// The bucket for the next row.
static struct rec_bucket *next_bucket(struct rec_series *series, uint64_t at_ns)
{
	struct rec_bucket *last = series->n_buckets ? &series->buckets[series->n_buckets - 1] : NULL;
	if (last && last->n_rows < series->rows_per_bucket && !series->has_gap_ahead)
		return last;
	if (series->n_buckets == REC_BUCKETS_MAX)
		merge_buckets(series);
	last = &series->buckets[series->n_buckets++];
	*last = (struct rec_bucket){.first_at_ns = at_ns, .has_gap = series->has_gap_ahead};
	return last;
}

static int have_classes(struct rec_series *series, size_t n_classes)
{
	if (!series->buckets) {
		series->buckets = calloc(REC_BUCKETS_MAX, sizeof(*series->buckets));
		series->rows_per_bucket = 1;
		if (!series->buckets)
			return -ENOMEM;
	}
	if (n_classes <= series->n_classes)
		return 0;
	struct rec_range **ranges = realloc(series->ranges, n_classes * sizeof(struct rec_range *));
	if (!ranges)
		return -ENOMEM;
	series->ranges = ranges;
	for (; series->n_classes < n_classes; series->n_classes++) {
		ranges[series->n_classes] = calloc(REC_BUCKETS_MAX, sizeof(struct rec_range));
		if (!ranges[series->n_classes])
			return -ENOMEM;
	}
	return 0;
}

static int keep_row(struct rec_kept_row *kept, const struct tele_record *record)
{
	if (kept->n_fields < record->n_fields || !kept->values) {
		uint64_t *values = realloc(kept->values, (record->n_fields + 1) * sizeof(*values));
		if (!values)
			return -ENOMEM;
		kept->values = values;
	}
	memcpy(kept->values, record->row, record->n_fields * sizeof(*record->row));
	kept->n_fields = record->n_fields;
	kept->at_ns = record->row[0];
	return 0;
}

bool rec_is_pool_bytes(const struct tele_field *field)
{
	size_t len = strlen(field->name);
	return strcmp(field->section, "census") == 0 && strncmp(field->name, "live_", 5) == 0 && len > 11 &&
	       strcmp(field->name + len - 6, "_bytes") == 0;
}

static void look_for_pools(struct rec_series_state *state, const struct tele_schema *schema)
{
	for (; state->n_fields_looked_at < schema->n_fields; state->n_fields_looked_at++)
		if (state->n_pools < REC_POOL_FIELDS && rec_is_pool_bytes(&schema->fields[state->n_fields_looked_at]))
			state->pools[state->n_pools++] = state->n_fields_looked_at;
}

static uint64_t pools_bytes(const struct rec_series_state *state, const struct tele_record *record)
{
	uint64_t sum = TELE_UNKNOWN;
	for (uint32_t i = 0; i < state->n_pools; i++) {
		uint64_t bytes = state->pools[i] < record->n_fields ? record->row[state->pools[i]] : TELE_UNKNOWN;
		if (bytes != TELE_UNKNOWN)
			sum = sum == TELE_UNKNOWN ? bytes : sum + bytes;
	}
	return sum;
}

static int note_peaks(struct rec_series *series, const struct tele_record *record)
{
	const struct tele_schema *schema = record->instance->schema;
	look_for_pools(series->state, schema);
#define VALUE(id) tele_schema_value(schema, TELE_ID_##id, TELE_NO_INSTANCE, record->row, record->n_fields)
	const uint64_t sizes[REC_PEAK_COUNT] = {
		[REC_PEAK_BOOKS] = VALUE(heap_mapped_bytes),
		[REC_PEAK_POOLS] = pools_bytes(series->state, record),
		[REC_PEAK_RESIDENT] = VALUE(host_rss_bytes),
	};
#undef VALUE
	for (int i = 0; i < REC_PEAK_COUNT; i++) {
		if (sizes[i] == TELE_UNKNOWN || (series->peaks[i].values && sizes[i] <= series->peak_bytes[i]))
			continue;
		series->peak_bytes[i] = sizes[i];
		int failed = keep_row(&series->peaks[i], record);
		if (failed)
			return failed;
	}
	return 0;
}

static void read_place(const struct tele_record *record, struct rec_place *ret_place)
{
	const struct tele_schema *schema = record->instance->schema;
#define COUNT(name) tele_schema_value(schema, TELE_ID_search_##name, TELE_NO_INSTANCE, record->row, record->n_fields)
	*ret_place = (struct rec_place){
		.at_ns = record->row[0],
		.counts = {
			[ANALYSIS_TIME] = TELE_UNKNOWN,
			[ANALYSIS_ATTEMPTED] = COUNT(candidates_attempted),
			[ANALYSIS_LINKED] = COUNT(candidates_linked),
			[ANALYSIS_TIMED] = COUNT(candidates_timed),
			[ANALYSIS_KEPT] = COUNT(candidates_kept),
		},
	};
#undef COUNT
}

static void add_values(struct rec_series *series, const uint64_t *values)
{
	for (size_t c = 0; c < series->n_classes; c++) {
		struct rec_range *range = &series->ranges[c][series->n_buckets - 1];
		int64_t value = (int64_t)values[c];
		if (values[c] == TELE_UNKNOWN)
			continue;
		if (!range->is_known)
			*range = (struct rec_range){value, value, value, true};
		range->low = value < range->low ? value : range->low;
		range->high = value > range->high ? value : range->high;
		range->last = value;
	}
}

static int take_gap_end(struct rec_series *series, const struct rec_place *before)
{
	if (series->n_gaps == REC_HTML_GAPS_MAX) {
		series->n_gaps_left_out++;
		return 0;
	}
	if (!series->gaps) {
		series->gaps = malloc(REC_HTML_GAPS_MAX * sizeof(*series->gaps));
		if (!series->gaps)
			return -ENOMEM;
	}
	series->gaps[series->n_gaps++] = (struct rec_html_gap){*before, series->place, series->state->lost};
	return 0;
}

static int take_row(struct rec_series *series, const struct rec_summary *summary, const struct tele_record *record)
{
	const struct analysis_classes *classes = analysis_watch_classes(summary->watch);
	if (record->n_fields == 0 || record->row[0] == TELE_UNKNOWN)
		return 0;
	int failed = have_classes(series, classes->n_items);
	if (failed)
		return failed;
	const struct rec_place before = series->place;
	bool is_first = series->n_buckets == 0;
	read_place(record, &series->place);
	if (is_first)
		series->first_at_ns = record->row[0];
	struct rec_bucket *bucket = next_bucket(series, record->row[0]);
	if (series->has_gap_ahead && !is_first)
		failed = take_gap_end(series, &before);
	series->has_gap_ahead = false;
	series->state->lost = 0;
	bucket->n_rows++;
	bucket->last_at_ns = record->row[0];
	memcpy(bucket->counts, series->place.counts, sizeof(bucket->counts));
	add_values(series, analysis_watch_values(summary->watch));
	if (!failed)
		failed = rec_candidates_row(series, summary, record);
	if (!failed)
		failed = note_peaks(series, record);
	if (!failed)
		failed = keep_row(&series->last, record);
	return failed;
}

static int take_phase(struct rec_series *series, const struct rec_summary *summary, const struct tele_event *event)
{
	if (series->n_phases == REC_HTML_PHASES_MAX) {
		series->n_phases_left_out++;
		return 0;
	}
	if (!series->phases) {
		series->phases = malloc(REC_HTML_PHASES_MAX * sizeof(*series->phases));
		if (!series->phases)
			return -ENOMEM;
	}
	struct rec_html_phase *phase = &series->phases[series->n_phases++];
	const char *name = event->string_id ? tele_instance_string(summary->instance, event->string_id) : NULL;
	snprintf(phase->name, sizeof(phase->name), "%s", name ? name : "");
	phase->begin = series->place;
	phase->begin.at_ns = event->at_ns;
	if (series->n_buckets == 0)
		for (int axis = 0; axis < ANALYSIS_AXIS_COUNT; axis++)
			phase->begin.counts[axis] = 0;
	return 0;
}

int rec_series_take(struct rec_series *series, const struct rec_summary *summary,
		    const struct tele_record *record)
{
	if (!series->state) {
		series->state = calloc(1, sizeof(*series->state));
		if (!series->state)
			return -ENOMEM;
		series->state->boundary_seq = UINT64_MAX;
	}
	switch (record->kind) {
	case TELE_RECORD_ROW:
		return take_row(series, summary, record);
	case TELE_RECORD_GAP:
		series->has_gap_ahead = true;
		series->state->lost += record->gap_to - record->gap_from;
		rec_candidates_gap(series);
		return 0;
	case TELE_RECORD_EVENT:
		if (record->event.type == TELE_EVENT_PHASE)
			return take_phase(series, summary, &record->event);
		return rec_candidates_event(series, summary, record);
	default:
		return 0;
	}
}

void rec_series_fini(struct rec_series *series)
{
	for (size_t c = 0; c < series->n_classes; c++)
		free(series->ranges[c]);
	for (int i = 0; i < REC_PEAK_COUNT; i++)
		free(series->peaks[i].values);
	rec_candidates_fini(series);
	free(series->last.values);
	free(series->ranges);
	free(series->buckets);
	free(series->phases);
	free(series->gaps);
	free(series->state);
	*series = (struct rec_series){0};
}
