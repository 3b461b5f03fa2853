// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Records in, processes out. Everything here follows from the records alone, in
// the order they came; records with a number that was taken in already are
// dropped, so that feeding a row twice changes nothing. What grows is bounded:
// rows are thinned towards the past, candidates and log entries are rings.

#include "model_events.h"
#include "outside.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../libtelemetry/banned.h"

void mon_model_init(struct mon_model *model, uint32_t history_max)
{
	TELE_ASSERT(history_max >= MON_HISTORY_MIN);
	*model = (struct mon_model){.realtime_offset_ns = TELE_UNKNOWN, .history_max = history_max};
	analysis_limits_init(&model->limits);
}

// Everything but the identity of a process: it starts over.
static void empty_process(struct mon_process *process)
{
	for (uint32_t i = 0; i < process->n_history; i++)
		mon_row_drop(&process->history[i]);
	free(process->history);
	free(process->candidates);
	free(process->log);
	free(process->phases);
	analysis_watch_free(process->watch);
	mon_process_forget_verdicts(process);
	*process = (struct mon_process){.history_max = process->history_max};
}

static void free_process(struct mon_process *process)
{
	empty_process(process);
	free(process);
}

void mon_model_clear(struct mon_model *model)
{
	for (uint32_t i = 0; i < model->n_processes; i++)
		free_process(model->processes[i]);
	model->n_processes = 0;
	model->now_ns = 0;
	model->realtime_offset_ns = TELE_UNKNOWN;
	mon_model_clear_unreadable(model);
	model->n_changes++;
}

void mon_model_fini(struct mon_model *model)
{
	mon_model_clear(model);
	free(model->processes);
	free(model->unreadable);
	*model = (struct mon_model){0};
}

struct mon_process *mon_model_find(const struct mon_model *model, uint64_t instance_id)
{
	for (uint32_t i = 0; i < model->n_processes; i++)
		if (model->processes[i]->identity.instance_id == instance_id)
			return model->processes[i];
	return NULL;
}

void mon_model_forget(struct mon_model *model, uint64_t instance_id)
{
	struct mon_process *process = mon_model_find(model, instance_id);
	if (!process)
		return;
	uint32_t at = 0;
	while (model->processes[at] != process)
		at++;
	free_process(process);
	model->n_processes--;
	memmove(model->processes + at, model->processes + at + 1,
		(model->n_processes - at) * sizeof(*model->processes));
	model->n_changes++;
}

void mon_model_clear_unreadable(struct mon_model *model)
{
	model->n_changes += model->n_unreadable > 0;
	model->n_unreadable = 0;
}

int mon_model_add_unreadable(struct mon_model *model, const char *path, const char *why)
{
	if (model->n_unreadable == model->unreadable_capacity) {
		uint32_t capacity = model->unreadable_capacity ? model->unreadable_capacity * 2 : 4;
		void *grown = realloc(model->unreadable, capacity * sizeof(*model->unreadable));
		if (!grown)
			return -ENOMEM;
		model->unreadable = grown;
		model->unreadable_capacity = capacity;
	}
	struct mon_unreadable *entry = &model->unreadable[model->n_unreadable++];
	snprintf(entry->path, sizeof(entry->path), "%s", path);
	snprintf(entry->why, sizeof(entry->why), "%s", why);
	model->n_changes++;
	return 0;
}

static struct mon_process *add_process(struct mon_model *model)
{
	if (model->n_processes == model->capacity) {
		uint32_t capacity = model->capacity ? model->capacity * 2 : 16;
		void *grown = realloc(model->processes, capacity * sizeof(*model->processes));
		if (!grown)
			return NULL;
		model->processes = grown;
		model->capacity = capacity;
	}
	struct mon_process *process = calloc(1, sizeof(*process));
	if (process) {
		process->history_max = model->history_max;
		model->processes[model->n_processes++] = process;
	}
	return process;
}

static int take_instance(struct mon_model *model, const struct tele_record *record)
{
	const struct tele_instance *instance = record->instance;
	struct mon_process *process = mon_model_find(model, instance->identity.instance_id);
	uint64_t told[TELE_ARRAY_LEN(process->told)] = {0};
	if (process) {
		// It is told again with more history; nobody is to hear of it twice.
		memcpy(told, process->told, sizeof(told));
		empty_process(process);
	} else {
		process = add_process(model);
	}
	if (!process)
		return -ENOMEM;
	memcpy(process->told, told, sizeof(told));
	process->identity = instance->identity;
	process->instance = instance;
	process->state = instance->state;
	process->lost = instance->lost;
	if (instance->identity.is_observer) {
		process->history_max = MON_HISTORY_MIN; // only its latest row is asked for
		return 0;
	}
	process->watch = analysis_watch_new(model->look, &model->limits);
	return process->watch ? 0 : -ENOMEM;
}

// ---- Rows ---------------------------------------------------------------------

// The word before the values counts who shares them.
static uint64_t *new_values(uint32_t n_fields)
{
	uint64_t *block = malloc((n_fields + 1) * sizeof(*block));
	if (!block)
		return NULL;
	block[0] = 1;
	return block + 1;
}

void mon_row_hold(const struct mon_row *row)
{
	row->values[-1]++;
}

void mon_row_drop(struct mon_row *row)
{
	if (row->values && --row->values[-1] == 0)
		free(row->values - 1);
	row->values = NULL;
}

// Drops every other row of the older half. A gap before a dropped row is one
// before the next.
static void thin(struct mon_process *process)
{
	uint32_t older = process->n_history / 2, kept = 0;
	bool is_after_gap = false;
	for (uint32_t i = 0; i < process->n_history; i++) {
		struct mon_row *row = &process->history[i];
		is_after_gap |= row->is_after_gap;
		if (i < older && i % 2 == 1) {
			mon_row_drop(row);
			continue;
		}
		row->is_after_gap = is_after_gap;
		is_after_gap = false;
		process->history[kept++] = *row;
	}
	process->n_history = kept;
}

int mon_model_want_history(struct mon_model *model, uint64_t instance_id)
{
	struct mon_process *process = mon_model_find(model, instance_id);
	if (!process || process->history_max >= MON_HISTORY_FULL)
		return 0;
	process->history_max = MON_HISTORY_FULL;
	process->is_settled = false;
	return 0;
}

// Of a process without a search or a census, as long as nobody opens it, only
// the latest row is wanted.
static bool is_latest_enough(const struct mon_process *process)
{
	return process->n_history == 1 && process->history_max < MON_HISTORY_FULL &&
	       mon_process_field(process, TELE_ID_search_candidates_attempted) == TELE_UNKNOWN &&
	       mon_process_field(process, TELE_ID_census_contexts_created) == TELE_UNKNOWN;
}

// Room for one more row of n_fields, whose values the caller fills.
static struct mon_row *add_row(struct mon_process *process, uint32_t n_fields)
{
	if (is_latest_enough(process)) {
		struct mon_row *row = &process->history[0];
		if (row->n_fields == n_fields && row->values[-1] == 1)
			return row;
		uint64_t *values = new_values(n_fields);
		if (!values)
			return NULL;
		mon_row_drop(row);
		row->values = values;
		return row;
	}
	if (process->n_history == process->history_capacity) {
		uint32_t capacity = process->history_capacity ? process->history_max : 1;
		void *grown = realloc(process->history, capacity * sizeof(*process->history));
		if (!grown)
			return NULL;
		process->history = grown;
		process->history_capacity = capacity;
	}
	uint64_t *values = new_values(n_fields);
	if (!values)
		return NULL;
	struct mon_row *row = &process->history[process->n_history++];
	row->values = values;
	return row;
}

static int take_row(struct mon_model *model, struct mon_process *process,
		    const struct tele_record *record)
{
	if (record->n_fields == 0 || record->row[0] == TELE_UNKNOWN)
		return 0;
	if (process->n_history == process->history_max)
		thin(process);
	struct mon_row *row = add_row(process, record->n_fields);
	if (!row)
		return -ENOMEM;
	memcpy(row->values, record->row, record->n_fields * sizeof(*record->row));
	row->seq = record->seq;
	row->at_ns = record->row[0];
	row->n_fields = record->n_fields;
	row->is_after_gap = process->is_after_gap;
	process->is_after_gap = false;
	process->n_rows++;
	mon_events_row(process);
	mon_trend_take(&process->trend, row->at_ns, mon_process_course_bytes(process, row));
	if (row->at_ns >= model->now_ns && !process->identity.is_observer) {
		uint64_t offset_ns = mon_process_field(process, TELE_ID_self_realtime_offset_ns);
		model->now_ns = row->at_ns;
		if (offset_ns != TELE_UNKNOWN)
			model->realtime_offset_ns = offset_ns;
	}
	return 0;
}

const struct mon_row *mon_process_latest(const struct mon_process *process)
{
	return process->n_history ? &process->history[process->n_history - 1] : NULL;
}

uint64_t mon_process_value(const struct mon_process *process, enum tele_field_id id,
			   uint32_t instance)
{
	const struct mon_row *row = mon_process_latest(process);
	if (!row)
		return TELE_UNKNOWN;
	return tele_schema_value(process->instance->schema, id, instance, row->values,
				 row->n_fields);
}

uint64_t mon_process_field(const struct mon_process *process, enum tele_field_id id)
{
	return mon_process_value(process, id, TELE_NO_INSTANCE);
}

// ---- One record ---------------------------------------------------------------

static int take_numbered(struct mon_model *model, struct mon_process *process,
			 const struct tele_record *record, const char *text)
{
	if (record->seq < process->next_seq)
		return 0;
	process->next_seq = record->seq + 1;
	int watched = process->watch ? analysis_watch_take(process->watch, record) : 0;
	if (watched < 0)
		return watched;
	int failed = record->kind == TELE_RECORD_ROW ? take_row(model, process, record)
						     : mon_events_take(process, record, text);
	return !failed && watched > 0 ? mon_events_turned(process) : failed;
}

int mon_model_apply_told(struct mon_model *model, const struct tele_record *record,
			 const struct mon_told *told)
{
	model->n_changes++;
	if (record->kind == TELE_RECORD_INSTANCE) {
		int failed = take_instance(model, record);
		if (failed)
			return failed;
	}
	struct mon_process *process = mon_model_find(model, record->instance->identity.instance_id);
	if (!process)
		return 0;
	process->is_settled = false;
	process->state = told->state;
	process->lost = told->lost;
	if (record->kind == TELE_RECORD_ROW || record->kind == TELE_RECORD_EVENT)
		return take_numbered(model, process, record, told->text);
	return record->kind == TELE_RECORD_GAP ? mon_events_gap(process, record) : 0;
}

int mon_model_apply(struct mon_model *model, const struct tele_record *record)
{
	struct mon_told told = {.state = record->instance->state, .lost = record->instance->lost};
	if (record->kind == TELE_RECORD_EVENT && record->event.string_id)
		told.text = tele_instance_string(record->instance, record->event.string_id);
	return mon_model_apply_told(model, record, &told);
}

// ---- What follows -------------------------------------------------------------

static bool is_above_zero(const struct mon_process *process, enum tele_field_id id)
{
	uint64_t value = mon_process_field(process, id);
	return value != TELE_UNKNOWN && value > 0;
}

static void settle_process(struct mon_process *process)
{
	const struct mon_row *row = mon_process_latest(process);
	process->is_settled = true;
	if (!row)
		return;
	const struct tele_schema *schema = process->instance->schema;
	analysis_derived_read(schema, row->values, row->n_fields, &process->derived);
	process->n_broken =
		analysis_invariants_check(schema, row->values, row->n_fields, process->broken,
					  TELE_ARRAY_LEN(process->broken));
	process->has_evidence = process->n_candidates > 0 ||
				is_above_zero(process, TELE_ID_search_candidates_attempted) ||
				is_above_zero(process, TELE_ID_census_peak_pool_bytes) ||
				is_above_zero(process, TELE_ID_census_contexts_created) ||
				is_above_zero(process, TELE_ID_census_modules_loaded);
	mon_process_judge(process);
}

static bool is_same_process(const struct tele_identity *a, const struct tele_identity *b)
{
	return a->pid == b->pid && a->start_ticks == b->start_ticks &&
	       a->boot_id[0] == b->boot_id[0] && a->boot_id[1] == b->boot_id[1] &&
	       a->pid_namespace == b->pid_namespace;
}

static bool has_successor(const struct mon_model *model, const struct mon_process *process)
{
	for (uint32_t i = 0; i < model->n_processes; i++) {
		const struct tele_identity *other = &model->processes[i]->identity;
		if (other->created_at_ns > process->identity.created_at_ns &&
		    is_same_process(other, &process->identity))
			return true;
	}
	return false;
}

void mon_model_settle(struct mon_model *model)
{
	for (uint32_t i = 0; i < model->n_processes; i++) {
		struct mon_process *process = model->processes[i];
		if (!process->is_settled)
			settle_process(process);
		process->is_superseded =
			process->state == TELE_REPLACED && has_successor(model, process);
		mon_outside_sum(model, process);
	}
}
