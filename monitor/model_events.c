// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Candidates, phases and the log. All three are rings: what is forgotten is the
// oldest. What a candidate left behind is told by the rows at its boundaries,
// row s + 1 for event s, so that a lost row is an unknown figure and not a
// wrong one.

#include "model_events.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../libtelemetry/banned.h"

#define OPEN_LOOKED_AT 64 // of the newest candidates, for those that are open

static void copy_text(char *buffer, size_t size, const char *text)
{
	snprintf(buffer, size, "%s", text ? text : "");
}

// Holds a ring of n_items, made when it is first used. NULL: no memory.
static void *ring_of(void *ring_pointer, size_t n_items, size_t item_bytes)
{
	void **ring = ring_pointer;
	if (!*ring)
		*ring = calloc(n_items, item_bytes);
	return *ring;
}

// ---- Candidates -----------------------------------------------------------------

static struct mon_candidate *newest_of(struct mon_process *process, uint64_t back)
{
	if (back >= process->n_candidates || back >= MON_CANDIDATES_MAX)
		return NULL;
	return &process->candidates[(process->n_candidates - 1 - back) % MON_CANDIDATES_MAX];
}

static struct mon_candidate *find_candidate(struct mon_process *process, uint64_t handle,
					    uint64_t *ret_number)
{
	struct mon_candidate *candidate;
	for (uint64_t back = 0; (candidate = newest_of(process, back)) != NULL; back++) {
		if (candidate->handle != handle)
			continue;
		*ret_number = process->n_candidates - 1 - back;
		return candidate;
	}
	return NULL;
}

static const struct mon_holdings unknown_holdings = {TELE_UNKNOWN, TELE_UNKNOWN, TELE_UNKNOWN,
						     TELE_UNKNOWN};

static struct mon_candidate *add_candidate(struct mon_process *process, uint64_t handle)
{
	bool is_shared = false;
	for (uint64_t back = 0; back < OPEN_LOOKED_AT; back++) {
		struct mon_candidate *other = newest_of(process, back);
		if (!other)
			break;
		if (other->outcome == TELE_OUTCOME_OPEN)
			is_shared = other->is_shared = true;
	}
	struct mon_candidate *candidate =
		&process->candidates[process->n_candidates++ % MON_CANDIDATES_MAX];
	*candidate = (struct mon_candidate){
		.handle = handle,
		.number = TELE_UNKNOWN,
		.begin_at_ns = TELE_UNKNOWN,
		.end_at_ns = TELE_UNKNOWN,
		.phase = (unsigned)process->n_phases,
		.is_shared = is_shared,
		.at_begin = unknown_holdings,
		.at_end = unknown_holdings,
		.least_after = unknown_holdings,
	};
	return candidate;
}

static int take_candidate(struct mon_process *process, const struct tele_record *record,
			  const char *text)
{
	const struct tele_event *event = &record->event;
	uint64_t number = process->n_candidates;
	if (!ring_of(&process->candidates, MON_CANDIDATES_MAX, sizeof(*process->candidates)))
		return -ENOMEM;
	bool is_begin = event->type == TELE_EVENT_CANDIDATE_BEGIN;
	struct mon_candidate *candidate = find_candidate(process, event->subject, &number);
	if (!candidate)
		candidate = add_candidate(process, event->subject);
	// One that ends again (timed, and at last kept) left nothing more.
	if (is_begin || candidate->outcome == TELE_OUTCOME_OPEN) {
		process->boundary_seq = record->seq + 1;
		process->boundary_candidate = number;
		process->boundary_is_end = !is_begin;
	}
	if (is_begin) {
		candidate->begin_at_ns = event->at_ns;
	} else {
		if (candidate->end_at_ns == TELE_UNKNOWN)
			candidate->end_at_ns = event->at_ns;
		// An outcome of a later version has failed as far as we can tell.
		candidate->outcome = event->value > 0 && event->value < TELE_OUTCOME_COUNT
					     ? (unsigned)event->value
					     : TELE_OUTCOME_FAILED;
	}
	if (text && !candidate->label[0])
		copy_text(candidate->label, sizeof(candidate->label), text);
	return 0;
}

// ---- What is held ---------------------------------------------------------------

static uint64_t difference(uint64_t a, uint64_t b)
{
	return a == TELE_UNKNOWN || b == TELE_UNKNOWN ? TELE_UNKNOWN : a - b;
}

static uint64_t sum_of(const struct mon_process *process, const enum tele_field_id ids[4])
{
	uint64_t sum = 0;
	for (size_t i = 0; i < 4; i++) {
		uint64_t value = mon_process_field(process, ids[i]);
		if (value == TELE_UNKNOWN || __builtin_add_overflow(sum, value, &sum))
			return TELE_UNKNOWN;
	}
	return sum;
}

static struct mon_holdings holdings_of(const struct mon_process *process)
{
	static const enum tele_field_id pools[4] = {
		TELE_ID_census_live_working_pools, TELE_ID_census_live_constant_pools,
		TELE_ID_census_live_staging_pools, TELE_ID_census_live_unlabelled_pools};
	static const enum tele_field_id bytes[4] = {
		TELE_ID_census_live_working_bytes, TELE_ID_census_live_constant_bytes,
		TELE_ID_census_live_staging_bytes, TELE_ID_census_live_unlabelled_bytes};
	return (struct mon_holdings){
		.pools = sum_of(process, pools),
		.pool_bytes = sum_of(process, bytes),
		.contexts = difference(mon_process_field(process, TELE_ID_census_contexts_created),
				       mon_process_field(process, TELE_ID_census_contexts_released)),
		.modules = difference(mon_process_field(process, TELE_ID_census_modules_loaded),
				      mon_process_field(process, TELE_ID_census_modules_unloaded)),
	};
}

// The lesser of two differences; what is unknown does not count.
static uint64_t lesser(uint64_t a, uint64_t b)
{
	if (a == TELE_UNKNOWN || b == TELE_UNKNOWN)
		return a == TELE_UNKNOWN ? b : a;
	return (int64_t)a < (int64_t)b ? a : b;
}

static void note_least(struct mon_holdings *least, const struct mon_holdings *now)
{
	least->pools = lesser(least->pools, now->pools);
	least->pool_bytes = lesser(least->pool_bytes, now->pool_bytes);
	least->contexts = lesser(least->contexts, now->contexts);
	least->modules = lesser(least->modules, now->modules);
}

static struct mon_candidate *candidate_number(struct mon_process *process, uint64_t number)
{
	return number < process->n_candidates
		       ? newest_of(process, process->n_candidates - 1 - number)
		       : NULL;
}

void mon_events_row(struct mon_process *process)
{
	const struct mon_row *row = mon_process_latest(process);
	bool is_boundary = process->boundary_seq == row->seq;
	if (!is_boundary && !process->after_candidate)
		return;
	const struct mon_holdings now = holdings_of(process);
	struct mon_candidate *after = process->after_candidate
					      ? candidate_number(process, process->after_candidate - 1)
					      : NULL;
	if (after)
		note_least(&after->least_after, &now);
	if (!is_boundary)
		return;
	struct mon_candidate *candidate = candidate_number(process, process->boundary_candidate);
	process->boundary_seq = 0;
	process->after_candidate = process->boundary_is_end ? process->boundary_candidate + 1 : 0;
	if (!candidate)
		return;
	if (process->boundary_is_end) {
		candidate->at_end = candidate->least_after = now;
		candidate->end_seq = row->seq;
		return;
	}
	candidate->at_begin = now;
	candidate->begin_seq = row->seq;
	candidate->number = mon_process_field(process, TELE_ID_search_candidates_attempted);
}

static struct analysis_signed left_of(uint64_t begin, uint64_t end, uint64_t least)
{
	uint64_t at = lesser(end, least);
	if (begin == TELE_UNKNOWN || at == TELE_UNKNOWN)
		return (struct analysis_signed){false, 0};
	return (struct analysis_signed){true, (int64_t)(at - begin)};
}

void mon_candidate_left(const struct mon_process *process, const struct mon_candidate *candidate,
			struct mon_left *ret_left)
{
	const struct mon_holdings *begin = &candidate->at_begin;
	struct mon_holdings end = candidate->at_end, least = candidate->least_after;
	*ret_left = (struct mon_left){0};
	if (candidate->is_shared)
		return;
	if (candidate->outcome == TELE_OUTCOME_OPEN && mon_process_latest(process))
		end = least = holdings_of(process);
	ret_left->pools = left_of(begin->pools, end.pools, least.pools);
	ret_left->pool_bytes = left_of(begin->pool_bytes, end.pool_bytes, least.pool_bytes);
	ret_left->contexts = left_of(begin->contexts, end.contexts, least.contexts);
	ret_left->modules = left_of(begin->modules, end.modules, least.modules);
}

const struct mon_candidate *mon_process_candidate_at(const struct mon_process *process, uint64_t n)
{
	if (n >= process->n_candidates || process->n_candidates - n > MON_CANDIDATES_MAX)
		return NULL;
	return &process->candidates[n % MON_CANDIDATES_MAX];
}

// ---- The log --------------------------------------------------------------------

static struct mon_log_entry *add_log_entry(struct mon_process *process)
{
	if (!ring_of(&process->log, MON_LOG_MAX, sizeof(*process->log)))
		return NULL;
	struct mon_log_entry *entry = &process->log[process->n_log++ % MON_LOG_MAX];
	*entry = (struct mon_log_entry){
		.candidate = mon_process_field(process, TELE_ID_search_candidates_attempted)};
	return entry;
}

static bool is_frequent(uint32_t type)
{
	return type == TELE_EVENT_FORK || type == TELE_EVENT_OWNER_CLOSED;
}

// Children and owners that closed come with every candidate: with nothing else
// between, those of a kind are one line with how many there were and the last of
// them. NULL when a line of its own is due.
static struct mon_log_entry *line_to_join(struct mon_process *process, uint32_t type)
{
	for (uint64_t n = process->n_log; n > 0 && process->n_log - n < MON_LOG_MAX; n--) {
		struct mon_log_entry *entry = &process->log[(n - 1) % MON_LOG_MAX];
		if (!is_frequent(entry->type))
			break;
		if (entry->type == type)
			return entry;
	}
	return NULL;
}

// Into a line for many of a kind.
static void join(struct mon_process *process, struct mon_log_entry *line, const struct tele_event *event,
		 const char *text)
{
	line->at_ns = event->at_ns;
	line->subject = event->subject;
	line->value = event->type == TELE_EVENT_FORK ? 0 : line->value + event->value;
	line->n_joined++;
	line->candidate = mon_process_field(process, TELE_ID_search_candidates_attempted);
	copy_text(line->text, sizeof(line->text), text);
}

static int take_phase(struct mon_process *process, uint64_t at_ns, const char *text)
{
	if (!ring_of(&process->phases, MON_PHASES_MAX, sizeof(*process->phases)))
		return -ENOMEM;
	struct mon_phase *phase = &process->phases[++process->n_phases % MON_PHASES_MAX];
	phase->at_ns = at_ns;
	copy_text(phase->name, sizeof(phase->name), text);
	return 0;
}

const struct mon_phase *mon_process_phase_at(const struct mon_process *process, uint64_t n)
{
	if (n == 0 || n > process->n_phases || process->n_phases - n >= MON_PHASES_MAX)
		return NULL;
	return &process->phases[n % MON_PHASES_MAX];
}

int mon_events_take(struct mon_process *process, const struct tele_record *record, const char *text)
{
	const struct tele_event *event = &record->event;
	if (event->type == TELE_EVENT_CANDIDATE_BEGIN || event->type == TELE_EVENT_CANDIDATE_END)
		return take_candidate(process, record, text);
	if (event->type == TELE_EVENT_PHASE && take_phase(process, event->at_ns, text))
		return -ENOMEM;
	struct mon_log_entry *line = is_frequent(event->type) ? line_to_join(process, event->type) : NULL;
	if (line) {
		join(process, line, event, text);
		return 0;
	}
	struct mon_log_entry *entry = add_log_entry(process);
	if (!entry)
		return -ENOMEM;
	entry->at_ns = event->at_ns;
	entry->type = event->type;
	entry->subject = event->subject;
	entry->value = event->value;
	copy_text(entry->text, sizeof(entry->text), text);
	return 0;
}

int mon_events_gap(struct mon_process *process, const struct tele_record *record)
{
	const struct mon_row *latest = mon_process_latest(process);
	if (record->gap_to <= record->gap_from || record->gap_to <= process->next_seq)
		return 0;
	process->next_seq = record->gap_to;
	process->is_after_gap = true;
	process->n_gaps++;
	process->after_candidate = 0;
	if (process->watch)
		analysis_watch_take(process->watch, record);
	struct mon_log_entry *entry = add_log_entry(process);
	if (!entry)
		return -ENOMEM;
	entry->at_ns = latest ? latest->at_ns : process->identity.created_at_ns;
	entry->type = TELE_EVENT_GAP;
	entry->subject = record->gap_from;
	entry->value = record->gap_to - record->gap_from;
	return 0;
}

// ---- Verdicts that turned -------------------------------------------------------

// "working pools grow: +1.00 per linked candidate"; the evidence is on the
// screen, and changes with every row.
static void turned_text(const struct analysis_verdicts *engine, const struct analysis_verdict *verdict,
			bool is_growing, char *buffer, size_t size)
{
	char sentence[ANALYSIS_SENTENCE_MAX];
	analysis_sentence(engine, verdict, sentence, sizeof(sentence));
	char *end = strpbrk(sentence, ",;(");
	if (end)
		*end = '\0';
	snprintf(buffer, size, "%s%.200s", is_growing ? "" : "taken back: ", sentence);
}

static int note_turned(struct mon_process *process, const struct analysis_verdict *verdict)
{
	uint64_t bit = UINT64_C(1) << verdict->class_index % 64;
	uint64_t *word = &process->grown[verdict->class_index / 64];
	bool is_growing = analysis_shape_grows(verdict->growth.shape);
	// Bytes whose count says it all are told with it.
	if (!verdict->is_headline || verdict->is_covered || is_growing == ((*word & bit) != 0))
		return 0;
	*word ^= bit;
	struct mon_log_entry *entry = add_log_entry(process);
	if (!entry)
		return -ENOMEM;
	entry->at_ns = mon_process_latest(process)->at_ns;
	entry->type = TELE_EVENT_VERDICT;
	entry->subject = verdict->class_index;
	entry->value = verdict->growth.shape;
	turned_text(analysis_watch_engine(process->watch), verdict, is_growing, entry->text,
		    sizeof(entry->text));
	return 0;
}

int mon_events_turned(struct mon_process *process)
{
	struct analysis_verdict *list;
	int n = analysis_watch_list(process->watch, &list), failed = 0;
	if (n < 0)
		return n;
	for (int i = 0; i < n && !failed && mon_process_latest(process); i++)
		failed = note_turned(process, &list[i]);
	free(list);
	return failed;
}
