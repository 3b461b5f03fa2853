// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// One pass over a source. Counts of candidates are those of the last row that
// knows them: the publisher counted each boundary, also those whose events are
// lost.

#include "summary.h"

#include <errno.h>

#include "../libtelemetry/banned.h"

enum { PHASES_MAX = 4096 };

static int grow(void **items, size_t n_items, size_t *capacity, size_t item_bytes)
{
	if (n_items < *capacity)
		return 0;
	size_t wanted = *capacity ? 2 * *capacity : 16;
	void *grown = realloc(*items, wanted * item_bytes);
	if (!grown)
		return -ENOMEM;
	*items = grown;
	*capacity = wanted;
	return 0;
}

static struct rec_summary *summary_of(struct rec_summaries *summaries, struct tele_instance *instance)
{
	// Records of an instance come in runs.
	if (summaries->latest < summaries->n_items && summaries->items[summaries->latest].instance == instance)
		return &summaries->items[summaries->latest];
	for (size_t i = summaries->n_items; i-- > 0;)
		if (summaries->items[i].instance == instance) {
			summaries->latest = i;
			return &summaries->items[i];
		}
	void *items = summaries->items;
	if (grow(&items, summaries->n_items, &summaries->capacity, sizeof(summaries->items[0])) < 0)
		return NULL;
	summaries->items = items;
	struct rec_summary *summary = &summaries->items[summaries->n_items++];
	struct analysis_limits none;
	analysis_limits_init(&none);
	*summary = (struct rec_summary){
		.instance = instance,
		.watch = analysis_watch_new(ANALYSIS_FINAL, summaries->limits ? summaries->limits : &none),
		.first_at_ns = TELE_UNKNOWN,
		.n_attempted = TELE_UNKNOWN,
		.n_linked = TELE_UNKNOWN,
		.residuals = {{.name = "overhead_bytes", .unit = TELE_BYTES},
			      {.name = "foreign_bytes", .unit = TELE_BYTES}},
	};
	for (int i = 0; i < TELE_OUTCOME_COUNT; i++)
		summary->outcomes[i] = TELE_UNKNOWN;
	return summary;
}

static void note_value(struct rec_class *class, bool is_known, int64_t value)
{
	class->is_last_known = is_known;
	if (!is_known)
		return;
	if (!class->is_known)
		class->first = class->peak = value;
	class->is_known = true;
	class->last = value;
	if (value > class->peak)
		class->peak = value;
}

// The watch has read the row before.
static int take_classes(struct rec_summary *summary)
{
	const struct analysis_classes *set = analysis_watch_classes(summary->watch);
	const uint64_t *values = analysis_watch_values(summary->watch);
	if (summary->n_classes < set->n_items) {
		void *classes = realloc(summary->classes, set->n_items * sizeof(summary->classes[0]));
		if (!classes)
			return -ENOMEM;
		summary->classes = classes;
		for (; summary->n_classes < set->n_items; summary->n_classes++)
			summary->classes[summary->n_classes] = (struct rec_class){0};
		for (size_t i = 0; i < set->n_items; i++) {
			summary->classes[i].name = set->items[i].name;
			summary->classes[i].unit = set->items[i].unit;
		}
	}
	for (size_t i = 0; i < summary->n_classes; i++)
		note_value(&summary->classes[i], values[i] != TELE_UNKNOWN, (int64_t)values[i]);
	return 0;
}

static void take_search(struct rec_summary *summary, const uint64_t *row, uint32_t n_fields)
{
	const struct tele_schema *schema = summary->instance->schema;
#define COUNT(name) tele_schema_value(schema, TELE_ID_search_##name, TELE_NO_INSTANCE, row, n_fields)
	uint64_t attempted = COUNT(candidates_attempted);
	if (attempted == TELE_UNKNOWN)
		return;
	uint64_t timed = COUNT(candidates_timed);
	uint64_t kept = COUNT(candidates_kept);
	summary->n_attempted = attempted;
	summary->n_linked = COUNT(candidates_linked);
	summary->outcomes[TELE_OUTCOME_OPEN] = COUNT(open_candidates);
	summary->outcomes[TELE_OUTCOME_DECLINED] = COUNT(candidates_declined);
	summary->outcomes[TELE_OUTCOME_LINK_FAILED] = COUNT(candidates_link_failed);
	summary->outcomes[TELE_OUTCOME_NON_DISPATCHABLE] = COUNT(candidates_non_dispatchable);
	summary->outcomes[TELE_OUTCOME_DEDUPLICATED] = COUNT(candidates_deduplicated);
	summary->outcomes[TELE_OUTCOME_FAILED] = COUNT(candidates_failed);
	summary->outcomes[TELE_OUTCOME_KEPT] = kept;
	bool is_known = timed != TELE_UNKNOWN && kept != TELE_UNKNOWN && timed >= kept;
	summary->outcomes[TELE_OUTCOME_TIMED] = is_known ? timed - kept : TELE_UNKNOWN;
#undef COUNT
}

static int take_row(struct rec_summary *summary, const struct tele_record *record,
		    const struct analysis_outside *outside)
{
	struct analysis_signed overhead, foreign;
	analysis_outside_read(outside, record, &overhead, &foreign);
	note_value(&summary->residuals[0], overhead.is_known, overhead.value);
	note_value(&summary->residuals[1], foreign.is_known, foreign.value);
	summary->n_rows++;
	if (record->n_fields > 0 && record->row[0] != TELE_UNKNOWN) {
		summary->first_at_ns = tele_min_u64(summary->first_at_ns, record->row[0]);
		summary->last_at_ns = tele_max_u64(summary->last_at_ns, record->row[0]);
	}
	take_search(summary, record->row, record->n_fields);
	return take_classes(summary);
}

// An id may mean something else by the next block, so the text is copied.
static void copy_text(const struct rec_summary *summary, uint64_t id, char text[TELE_STRING_BYTES_MAX + 1])
{
	const char *found = id ? tele_instance_string(summary->instance, id) : NULL;
	snprintf(text, TELE_STRING_BYTES_MAX + 1, "%s", found ? found : "");
}

static int take_event(struct rec_summary *summary, const struct tele_event *event)
{
	summary->n_events++;
	summary->first_at_ns = tele_min_u64(summary->first_at_ns, event->at_ns);
	summary->last_at_ns = tele_max_u64(summary->last_at_ns, event->at_ns);
	struct rec_phase *phase = summary->n_phases ? &summary->phases[summary->n_phases - 1] : NULL;
	if (event->type == TELE_EVENT_CANDIDATE_BEGIN || event->type == TELE_EVENT_CANDIDATE_END) {
		bool is_begin = event->type == TELE_EVENT_CANDIDATE_BEGIN;
		summary->has_begins |= is_begin;
		if (phase) {
			phase->n_candidates += is_begin;
			phase->n_ended += !is_begin;
		}
		copy_text(summary, event->string_id, summary->last_candidate);
		summary->last_candidate_event = event->type;
	}
	if (event->type != TELE_EVENT_PHASE || summary->n_phases == PHASES_MAX)
		return 0;
	if (phase)
		phase->end_at_ns = event->at_ns;
	void *phases = summary->phases;
	if (grow(&phases, summary->n_phases, &summary->phases_capacity, sizeof(summary->phases[0])) < 0)
		return -ENOMEM;
	summary->phases = phases;
	summary->phases[summary->n_phases++] = (struct rec_phase){
		.begin_at_ns = event->at_ns,
		.end_at_ns = TELE_UNKNOWN,
	};
	copy_text(summary, event->string_id, summary->phases[summary->n_phases - 1].name);
	return 0;
}

int rec_summaries_take(struct rec_summaries *summaries, const struct tele_record *record,
		       struct rec_summary **ret_summary)
{
	*ret_summary = NULL;
	if (record->instance->identity.is_observer)
		return analysis_outside_take(&summaries->outside, record);
	struct rec_summary *summary = summary_of(summaries, record->instance);
	if (!summary)
		return -ENOMEM;
	*ret_summary = summary;
	int watched = summary->watch ? analysis_watch_take(summary->watch, record) : -ENOMEM;
	if (watched < 0)
		return watched;
	switch (record->kind) {
	case TELE_RECORD_ROW:
		return take_row(summary, record, &summaries->outside);
	case TELE_RECORD_EVENT:
		return take_event(summary, &record->event);
	case TELE_RECORD_GAP:
		summary->n_gaps++;
		return 0;
	default:
		return 0;
	}
}

void rec_summaries_settle(struct rec_summaries *summaries)
{
	for (size_t i = 0; i < summaries->n_items; i++) {
		struct rec_summary *summary = &summaries->items[i];
		if (summary->n_phases)
			summary->phases[summary->n_phases - 1].end_at_ns = summary->last_at_ns;
		for (size_t k = 0; k < summary->n_phases && !summary->has_begins; k++)
			summary->phases[k].n_candidates = summary->phases[k].n_ended;
	}
}

int rec_summarise(struct tele_source *source, struct rec_summaries *summaries,
		  struct tele_error *ret_error)
{
	struct tele_record record;
	struct rec_summary *summary;
	int got;
	while ((got = tele_source_next(source, &record, ret_error)) > 0) {
		int result = rec_summaries_take(summaries, &record, &summary);
		if (result < 0)
			return tele_fail(ret_error, result, "out of memory for a summary of %zu processes",
					 summaries->n_items);
	}
	rec_summaries_settle(summaries);
	return got;
}

void rec_summaries_fini(struct rec_summaries *summaries)
{
	for (size_t i = 0; i < summaries->n_items; i++) {
		free(summaries->items[i].phases);
		free(summaries->items[i].classes);
		analysis_watch_free(summaries->items[i].watch);
	}
	free(summaries->items);
	analysis_outside_fini(&summaries->outside);
	*summaries = (struct rec_summaries){0};
}
