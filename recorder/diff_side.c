// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// One pass over a trace, which may be a pipe: every process in it is gathered,
// and at the end one is kept. A part of a run begins and ends at rows; the
// records before it are seen, so that the place is known, and not gathered.

#include "diff_side.h"

#include "../libtelemetry/trace.h"
#include "../monitor/model.h"

#include <errno.h>

#include "../libtelemetry/banned.h"

struct gathered {
	struct rec_side side;
	struct tele_instance *instance;
	uint64_t origin_at_ns; // of its first record
	uint64_t n_ended_now;  // candidates, over the whole run
	struct tele_event end; // of a candidate; the row behind it says whether its first
	bool has_end;
	bool is_again;	       // the last row counted no candidate more
	bool has_begun;	       // the part
};

struct reading {
	const struct rec_part *part;
	const struct rec_side *other;
	struct gathered **items;
	size_t n_items;
	uint64_t *values; // scratch
};

void rec_side_fini(struct rec_side *side)
{
	analysis_watch_free(side->watch);
	free(side->list);
	free(side->classes);
	rec_labels_fini(&side->labels);
	*side = (struct rec_side){0};
}

static struct gathered *gathered_of(struct reading *reading, struct tele_instance *instance)
{
	struct analysis_limits limits;
	for (size_t i = reading->n_items; i-- > 0;)
		if (reading->items[i]->instance == instance)
			return reading->items[i];
	void *items = realloc(reading->items, (reading->n_items + 1) * sizeof(reading->items[0]));
	if (!items)
		return NULL;
	reading->items = items;
	analysis_limits_init(&limits);
	struct gathered *item = calloc(1, sizeof(*item));
	if (item)
		item->side.watch = analysis_watch_new(ANALYSIS_FINAL, &limits);
	if (!item || !item->side.watch) {
		free(item);
		return NULL;
	}
	item->instance = instance;
	item->origin_at_ns = TELE_UNKNOWN;
	item->side.identity = instance->identity;
	reading->items[reading->n_items++] = item;
	return item;
}

static uint64_t time_of(const struct tele_record *record)
{
	if (record->kind == TELE_RECORD_EVENT)
		return record->event.at_ns;
	return record->kind == TELE_RECORD_ROW && record->n_fields ? record->row[0] : TELE_UNKNOWN;
}

// Whether a place lies at or before where the run is now.
static bool is_reached(const struct gathered *item, const struct mon_at *at, uint64_t at_ns)
{
	if (at->is_candidate)
		return item->n_ended_now >= at->candidate;
	return at_ns != TELE_UNKNOWN && at_ns >= item->origin_at_ns && at_ns - item->origin_at_ns >= at->offset_ns;
}

// Whether the run has gone beyond it.
static bool is_past(const struct gathered *item, const struct mon_at *at, uint64_t at_ns)
{
	if (at->is_candidate)
		return item->n_ended_now > at->candidate;
	return at_ns != TELE_UNKNOWN && at_ns >= item->origin_at_ns && at_ns - item->origin_at_ns > at->offset_ns;
}

static void note_place(struct gathered *item, const struct tele_record *record, uint64_t at_ns)
{
	if (item->origin_at_ns == TELE_UNKNOWN)
		item->origin_at_ns = at_ns;
	// A candidate's end goes before the row that counts it.
	if (record->kind == TELE_RECORD_EVENT)
		item->n_ended_now += record->event.type == TELE_EVENT_CANDIDATE_END;
	if (record->kind != TELE_RECORD_ROW)
		return;
#define COUNT(name) tele_schema_value(record->instance->schema, TELE_ID_search_##name, TELE_NO_INSTANCE, record->row, \
				      record->n_fields)
	uint64_t attempted = COUNT(candidates_attempted), n_open = COUNT(open_candidates);
	item->is_again = false;
	if (attempted != TELE_UNKNOWN && n_open != TELE_UNKNOWN && attempted >= n_open) {
		item->is_again = attempted - n_open < item->n_ended_now;
		item->n_ended_now = attempted - n_open;
	}
#undef COUNT
}

// A part that begins at a candidate begins with the row of its end, not with
// the end, which belongs to the part before.
static bool is_inside(const struct reading *reading, struct gathered *item, const struct tele_record *record,
		      uint64_t at_ns)
{
	const struct rec_part *part = reading->part;
	bool may_begin = record->kind == TELE_RECORD_ROW || !part->begin.is_candidate;
	item->has_begun = item->has_begun || !part->has_begin || (may_begin && is_reached(item, &part->begin, at_ns));
	return item->has_begun && !(part->has_end && is_past(item, &part->end, at_ns));
}

static int take_values(const struct reading *reading, struct rec_side *side, const struct tele_record *record)
{
	const struct analysis_classes *classes = analysis_watch_classes(side->watch);
	if (side->n_classes < classes->n_items) {
		void *grown = realloc(side->classes, classes->n_items * sizeof(side->classes[0]));
		if (!grown)
			return -ENOMEM;
		side->classes = grown;
		memset(side->classes + side->n_classes, 0, (classes->n_items - side->n_classes) * sizeof(side->classes[0]));
		side->n_classes = classes->n_items;
	}
	analysis_classes_read(classes, record->instance->schema, record->row, record->n_fields, reading->values);
	for (size_t i = 0; i < side->n_classes; i++) {
		struct rec_diff_class *class = &side->classes[i];
		int64_t value = (int64_t)reading->values[i];
		if (reading->values[i] == TELE_UNKNOWN)
			continue;
		class->peak = class->is_known && class->peak > value ? class->peak : value;
		class->last = value;
		class->is_known = true;
	}
	return 0;
}

// Counts the end that waits. One that was timed may end again, as kept: it is no
// other candidate, and is matched by how it ended first.
static int take_end(const struct reading *reading, struct gathered *item, bool is_again)
{
	struct rec_side *side = &item->side;
	const struct tele_event *event = &item->end;
	if (!item->has_end)
		return 0;
	item->has_end = false;
	unsigned outcome = event->value < TELE_OUTCOME_COUNT ? (unsigned)event->value : TELE_OUTCOME_FAILED;
	const char *label = event->string_id ? tele_instance_string(item->instance, event->string_id) : NULL;
	uint64_t key;
	if (is_again) {
		// Of a candidate of the part before there may be nothing to move here.
		bool is_ours = side->outcomes[TELE_OUTCOME_TIMED] > 0;
		side->outcomes[TELE_OUTCOME_TIMED] -= is_ours;
		side->outcomes[outcome] += is_ours;
		return 0;
	}
	side->n_ended++;
	side->outcomes[outcome]++;
	if (!label)
		return 0;
	int result = rec_labels_add(&side->labels, label, outcome, &key);
	if (result <= 0 || !reading->other)
		return result;
	unsigned before = rec_labels_find(&reading->other->labels, key);
	side->n_matched += before != TELE_OUTCOME_OPEN;
	if (before == TELE_OUTCOME_OPEN || before == outcome)
		return 0;
	if (side->n_changed++ < REC_CHANGED_MAX) {
		struct rec_changed *changed = &side->changed[side->n_changed - 1];
		snprintf(changed->label, sizeof(changed->label), "%s", label);
		changed->before = before;
		changed->after = outcome;
	}
	return 0;
}

static int take_record(struct reading *reading, const struct tele_record *record)
{
	if (record->instance->identity.is_observer)
		return 0;
	struct gathered *item = gathered_of(reading, record->instance);
	if (!item)
		return -ENOMEM;
	uint64_t at_ns = time_of(record);
	if (at_ns == TELE_UNKNOWN)
		return record->kind == TELE_RECORD_GAP ? analysis_watch_take(item->side.watch, record) : 0;
	note_place(item, record, at_ns);
	struct rec_side *side = &item->side;
	side->lost = record->instance->lost;
	if (!is_inside(reading, item, record, at_ns))
		return 0;
	int result = analysis_watch_take(side->watch, record);
	if (result < 0)
		return result;
	if (record->kind == TELE_RECORD_EVENT && record->event.type != TELE_EVENT_CANDIDATE_END)
		return 0;
	result = take_end(reading, item, record->kind == TELE_RECORD_ROW && item->is_again);
	if (result < 0)
		return result;
	if (record->kind == TELE_RECORD_EVENT) {
		item->end = record->event;
		item->has_end = true;
		return 0;
	}
	if (side->n_rows++ == 0)
		side->first_at_ns = at_ns;
	side->last_at_ns = at_ns;
	return take_values(reading, side, record);
}

static bool tells_more(const struct rec_side *a, const struct rec_side *b)
{
	return a->n_ended != b->n_ended ? a->n_ended > b->n_ended : a->n_rows > b->n_rows;
}

static struct gathered *choose(const struct reading *reading, const char *select)
{
	struct gathered *best = NULL;
	for (size_t i = 0; i < reading->n_items; i++) {
		struct gathered *item = reading->items[i];
		if (item->side.n_rows == 0 || (select && !mon_identity_match(&item->side.identity, select)))
			continue;
		if (!best || tells_more(&item->side, &best->side))
			best = item;
	}
	return best;
}

static int keep(const struct reading *reading, const struct tele_source *source, const char *path, const char *select,
		struct rec_side *ret_side, struct tele_error *ret_error)
{
	struct tele_trace_info info;
	struct gathered *chosen = choose(reading, select);
	if (!chosen && select)
		return tele_fail(ret_error, TELE_ENOTFOUND, "%s: no process in it is called '%s'", path, select);
	if (!chosen)
		return tele_fail(ret_error, TELE_ENOTFOUND, "%s: no row of any process lies there", path);
	*ret_side = chosen->side;
	chosen->side = (struct rec_side){0};
	tele_trace_get_info(source, &info);
	ret_side->is_complete = info.is_complete;
	snprintf(ret_side->damage, sizeof(ret_side->damage), "%s", info.damage);
	const struct analysis_verdicts *engine = analysis_watch_engine(ret_side->watch);
	if (!engine)
		return 0;
	size_t max = analysis_verdicts_classes(engine) * ANALYSIS_AXIS_COUNT;
	ret_side->list = calloc(max, sizeof(*ret_side->list));
	if (!ret_side->list)
		return tele_fail(ret_error, -ENOMEM, "out of memory for verdicts");
	ret_side->n_list = analysis_verdicts_list(engine, ANALYSIS_FINAL, ret_side->list, max);
	return 0;
}

int rec_side_read(struct rec_side *side, const char *path, const struct rec_part *part, const char *select,
		  const struct rec_side *other, struct tele_error *ret_error)
{
	struct reading reading = {.part = part, .other = other};
	struct tele_source *source;
	struct tele_record record;
	*side = (struct rec_side){0};
	int result = tele_trace_open(path, &source, ret_error);
	if (result < 0)
		return result;
	reading.values = calloc(ANALYSIS_CLASSES_MAX, sizeof(*reading.values));
	if (!reading.values)
		result = tele_fail(ret_error, -ENOMEM, "out of memory for a row");
	while (result >= 0 && (result = tele_source_next(source, &record, ret_error)) > 0) {
		result = take_record(&reading, &record);
		if (result < 0)
			tele_fail(ret_error, result, "out of memory for %zu processes", reading.n_items);
	}
	for (size_t i = 0; i < reading.n_items && result >= 0; i++)
		if ((result = take_end(&reading, reading.items[i], false)) < 0)
			tele_fail(ret_error, result, "out of memory for labels");
	if (result >= 0)
		result = keep(&reading, source, path, select, side, ret_error);
	for (size_t i = 0; i < reading.n_items; i++) {
		rec_side_fini(&reading.items[i]->side);
		free(reading.items[i]);
	}
	free(reading.items);
	free(reading.values);
	tele_source_close(source);
	if (result < 0)
		rec_side_fini(side);
	return result < 0 ? result : 0;
}
