// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Questions that screens and JSON put to the model. Answers come from the
// latest row where the row has them, since a late reader may have missed the
// events; events give only what no row holds.

#include "model.h"

#include <stdio.h>
#include <string.h>

#include "../libtelemetry/banned.h"

unsigned mon_identity_match(const struct tele_identity *identity, const char *text)
{
	char pid[24];
	snprintf(pid, sizeof(pid), "%llu", (unsigned long long)identity->pid);
	if (strcmp(pid, text) == 0)
		return 3;
	if (strcmp(identity->label, text) == 0 || strcmp(identity->comm, text) == 0)
		return 2;
	return text[0] && strstr(identity->label, text) ? 1 : 0;
}

static bool is_better(const struct mon_process *a, const struct mon_process *b, const char *text)
{
	unsigned match_a = mon_identity_match(&a->identity, text);
	unsigned match_b = mon_identity_match(&b->identity, text);
	if (match_a != match_b)
		return match_a > match_b;
	bool is_alive_a = tele_state_is_alive(a->state), is_alive_b = tele_state_is_alive(b->state);
	if (is_alive_a != is_alive_b)
		return is_alive_a;
	return a->identity.created_at_ns > b->identity.created_at_ns;
}

struct mon_process *mon_model_select(const struct mon_model *model, const char *text)
{
	struct mon_process *best = NULL;
	for (uint32_t i = 0; i < model->n_processes; i++) {
		struct mon_process *process = model->processes[i];
		if (process->identity.is_observer ||
		    mon_identity_match(&process->identity, text) == 0)
			continue;
		if (!best || is_better(process, best, text))
			best = process;
	}
	return best;
}

bool mon_process_is_listed(const struct mon_process *process)
{
	return !process->identity.is_observer &&
	       !(process->is_superseded && !process->has_evidence);
}

const char *mon_process_string(const struct mon_process *process, enum tele_field_id id,
			       uint32_t instance)
{
	uint64_t value = mon_process_value(process, id, instance);
	return value == TELE_UNKNOWN ? NULL : tele_instance_string(process->instance, value);
}

double mon_process_rate(const struct mon_process *process, enum tele_field_id id, uint32_t instance)
{
	const struct mon_row *latest = mon_process_latest(process);
	int64_t position = tele_schema_position(process->instance->schema, id, instance);
	if (!latest || position < 0 || position >= latest->n_fields || process->identity.is_untimed)
		return -1;
	uint64_t last = latest->values[position];
	// The recent half alone is exact, whatever the source is.
	uint32_t oldest = process->n_history > process->history_max / 2
				  ? process->n_history - process->history_max / 2
				  : 0;
	const struct mon_row *first = NULL;
	for (uint32_t i = process->n_history - 1; i > oldest; i--) {
		const struct mon_row *row = &process->history[i - 1];
		if (row->n_fields <= position || row->values[position] == TELE_UNKNOWN ||
		    (row->at_ns < latest->at_ns && latest->at_ns - row->at_ns > MON_RATE_WINDOW_NS))
			break;
		first = row;
	}
	if (!first || last == TELE_UNKNOWN || latest->at_ns <= first->at_ns ||
	    last < first->values[position])
		return -1;
	return (double)(last - first->values[position]) * 1e9 /
	       (double)(latest->at_ns - first->at_ns);
}

uint32_t mon_process_instances(const struct mon_process *process, enum tele_section section,
			       uint32_t *ret_instances, uint32_t capacity)
{
	const struct tele_schema *schema = process->instance->schema;
	int first_id = tele_builtin_sections[section].first_id;
	const struct mon_row *row = mon_process_latest(process);
	uint32_t n_instances = 0;
	for (uint32_t i = 0; row && i < schema->n_fields && i < row->n_fields; i++) {
		if (schema->fields[i].builtin != first_id)
			continue;
		if (n_instances < capacity)
			ret_instances[n_instances] = schema->fields[i].instance;
		n_instances++;
	}
	return n_instances;
}

const struct mon_candidate *mon_process_candidate(const struct mon_process *process)
{
	uint64_t n = process->n_candidates;
	uint64_t oldest = n > MON_CANDIDATES_MAX ? n - MON_CANDIDATES_MAX : 0;
	for (uint64_t i = n; i > oldest; i--) {
		const struct mon_candidate *candidate =
			&process->candidates[(i - 1) % MON_CANDIDATES_MAX];
		if (candidate->outcome == TELE_OUTCOME_OPEN)
			return candidate;
	}
	return n ? &process->candidates[(n - 1) % MON_CANDIDATES_MAX] : NULL;
}

uint64_t mon_process_outcomes(const struct mon_process *process, unsigned outcome)
{
#define VALUE(name) mon_process_field(process, TELE_ID_search_##name)
	switch (outcome) {
	case TELE_OUTCOME_OPEN:
		return VALUE(open_candidates);
	case TELE_OUTCOME_DECLINED:
		return VALUE(candidates_declined);
	case TELE_OUTCOME_LINK_FAILED:
		return VALUE(candidates_link_failed);
	case TELE_OUTCOME_NON_DISPATCHABLE:
		return VALUE(candidates_non_dispatchable);
	case TELE_OUTCOME_DEDUPLICATED:
		return VALUE(candidates_deduplicated);
	case TELE_OUTCOME_FAILED:
		return VALUE(candidates_failed);
	case TELE_OUTCOME_KEPT:
		return VALUE(candidates_kept);
	case TELE_OUTCOME_TIMED: {
		uint64_t timed = VALUE(candidates_timed), kept = VALUE(candidates_kept);
		if (timed == TELE_UNKNOWN || kept == TELE_UNKNOWN || kept > timed)
			return timed;
		return timed - kept;
	}
	default:
		return TELE_UNKNOWN;
	}
#undef VALUE
}

const char *mon_process_phase(const struct mon_process *process)
{
	const char *phase = mon_process_string(process, TELE_ID_search_phase, TELE_NO_INSTANCE);
	if (phase)
		return phase;
	const struct mon_phase *last = mon_process_phase_at(process, process->n_phases);
	return last && last->name[0] ? last->name : NULL;
}
