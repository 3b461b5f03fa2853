// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The list is let grow to twice what is kept of it, and then cut: the newest
// stay, and of the older ones those that left most behind. So a search of a
// million candidates costs a sort for every few thousand.

#include "html_candidates.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../libtelemetry/banned.h"

// The first known one says how much a candidate left.
const char *const rec_delta_names[REC_DELTAS] = {"working_bytes", "working_pools", "contexts",
						 "modules", "heap_live_bytes", "rss_bytes"};
static const int ranking[] = {0, 4, 5, 1, 2, 3};

static void read_levels(struct rec_series *series, const struct rec_summary *summary, struct rec_levels *ret_levels)
{
	struct rec_series_state *state = series->state;
	const struct analysis_classes *classes = analysis_watch_classes(summary->watch);
	const uint64_t *values = analysis_watch_values(summary->watch);
	if (state->n_classes_looked_at != classes->n_items) {
		state->n_classes_looked_at = classes->n_items;
		for (int i = 0; i < REC_DELTAS; i++)
			state->positions[i] = analysis_classes_find(classes, rec_delta_names[i]) + 1;
	}
	*ret_levels = (struct rec_levels){0};
	for (int i = 0; i < REC_DELTAS; i++) {
		int at = state->positions[i] - 1;
		if (at < 0 || values[at] == TELE_UNKNOWN)
			continue;
		ret_levels->values[i] = (int64_t)values[at];
		ret_levels->known |= (uint8_t)(1u << i);
	}
}

static uint64_t rank_of(const struct rec_candidate *candidate)
{
	for (size_t i = 0; i < TELE_ARRAY_LEN(ranking); i++)
		if (candidate->known >> ranking[i] & 1) {
			int64_t left = candidate->deltas[ranking[i]];
			return left < 0 ? 0 : (uint64_t)left;
		}
	return 0;
}

static int compare_rank(const void *left, const void *right)
{
	const struct rec_candidate *a = left, *b = right;
	uint64_t rank_a = rank_of(a), rank_b = rank_of(b);
	if (rank_a != rank_b)
		return rank_a > rank_b ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

static int compare_number(const void *left, const void *right)
{
	const struct rec_candidate *a = left, *b = right;
	return a->number < b->number ? -1 : a->number > b->number;
}

// Keeps the newest, and of the others those that left most.
static void cut(struct rec_series *series)
{
	if (series->n_candidates <= 2 * REC_HTML_CANDIDATES_KEPT)
		return;
	size_t n_old = series->n_candidates - REC_HTML_CANDIDATES_KEPT;
	qsort(series->candidates, n_old, sizeof(series->candidates[0]), compare_rank);
	for (size_t i = REC_HTML_CANDIDATES_KEPT; i < n_old; i++)
		free(series->candidates[i].label);
	memmove(series->candidates + REC_HTML_CANDIDATES_KEPT, series->candidates + n_old,
		REC_HTML_CANDIDATES_KEPT * sizeof(series->candidates[0]));
	series->n_candidates = 2 * REC_HTML_CANDIDATES_KEPT;
	qsort(series->candidates, REC_HTML_CANDIDATES_KEPT, sizeof(series->candidates[0]), compare_number);
}

static struct rec_candidate *append(struct rec_series *series)
{
	if (series->n_candidates == 4 * REC_HTML_CANDIDATES_KEPT)
		cut(series);
	if (series->n_candidates == series->candidates_capacity) {
		size_t capacity = series->candidates_capacity ? 2 * series->candidates_capacity : 128;
		void *grown = realloc(series->candidates, capacity * sizeof(series->candidates[0]));
		if (!grown)
			return NULL;
		series->candidates = grown;
		series->candidates_capacity = capacity;
	}
	return &series->candidates[series->n_candidates];
}

// A candidate that ends again (timed, and at last kept) is no other one.
static bool is_again(struct rec_series *series, const struct tele_event *end)
{
	size_t n = series->n_candidates, look = n < 256 ? n : 256;
	for (size_t i = n; i-- > n - look;)
		if (series->candidates[i].handle == end->subject) {
			series->candidates[i].outcome = (uint8_t)tele_min_u64(end->value, TELE_OUTCOME_COUNT);
			return true;
		}
	return false;
}

static void begin(struct rec_series_state *state, const struct rec_levels *levels)
{
	uint32_t at = state->next_open++ % REC_OPEN_CANDIDATES;
	state->open[at].is_open = true;
	state->open[at].handle = state->boundary.subject;
	state->open[at].begin_at_ns = state->boundary.at_ns;
	state->open[at].levels = *levels;
}

static int end(struct rec_series *series, const struct rec_summary *summary, const struct rec_levels *levels)
{
	struct rec_series_state *state = series->state;
	const struct rec_levels *from = state->has_levels && !summary->has_begins ? &state->levels : NULL;
	uint64_t begin_at_ns = TELE_UNKNOWN;
	for (int i = 0; i < REC_OPEN_CANDIDATES; i++)
		if (state->open[i].is_open && state->open[i].handle == state->boundary.subject) {
			from = &state->open[i].levels;
			begin_at_ns = state->open[i].begin_at_ns;
			state->open[i].is_open = false;
		}
	if (begin_at_ns == TELE_UNKNOWN && is_again(series, &state->boundary))
		return 0;
	struct rec_candidate *candidate = append(series);
	if (!candidate)
		return -ENOMEM;
	*candidate = (struct rec_candidate){
		.number = ++series->n_ended,
		.handle = state->boundary.subject,
		.label = strdup(state->label),
		.phase = (uint16_t)series->n_phases,
		.outcome = (uint8_t)tele_min_u64(state->boundary.value, TELE_OUTCOME_COUNT),
		.begin_at_ns = begin_at_ns,
		.end_at_ns = state->boundary.at_ns,
		.known = from ? from->known & levels->known : 0,
	};
	if (!candidate->label)
		return -ENOMEM;
	for (int i = 0; i < REC_DELTAS; i++)
		if (candidate->known >> i & 1)
			candidate->deltas[i] = (int64_t)((uint64_t)levels->values[i] - (uint64_t)from->values[i]);
	series->n_candidates++;
	if (candidate->outcome < TELE_OUTCOME_COUNT && series->n_buckets)
		series->buckets[series->n_buckets - 1].outcomes[candidate->outcome]++;
	return 0;
}

int rec_candidates_row(struct rec_series *series, const struct rec_summary *summary,
		       const struct tele_record *record)
{
	struct rec_series_state *state = series->state;
	struct rec_levels levels;
	int failed = 0;
	if (state->boundary_seq != record->seq)
		return 0;
	read_levels(series, summary, &levels);
	if (state->boundary.type == TELE_EVENT_CANDIDATE_BEGIN)
		begin(state, &levels);
	else
		failed = end(series, summary, &levels);
	state->levels = levels;
	state->has_levels = true;
	state->boundary_seq = UINT64_MAX;
	return failed;
}

int rec_candidates_event(struct rec_series *series, const struct rec_summary *summary,
			 const struct tele_record *record)
{
	const struct tele_event *event = &record->event;
	struct rec_series_state *state = series->state;
	if (event->type != TELE_EVENT_CANDIDATE_BEGIN && event->type != TELE_EVENT_CANDIDATE_END)
		return 0;
	const char *label = event->string_id ? tele_instance_string(summary->instance, event->string_id) : NULL;
	snprintf(state->label, sizeof(state->label), "%s", label ? label : "");
	state->boundary = *event;
	state->boundary_seq = record->seq + 1;
	return 0;
}

void rec_candidates_gap(struct rec_series *series)
{
	struct rec_series_state *state = series->state;
	for (int i = 0; i < REC_OPEN_CANDIDATES; i++)
		state->open[i].is_open = false;
	state->has_levels = false;
	state->boundary_seq = UINT64_MAX;
}

void rec_series_settle(struct rec_series *series)
{
	cut(series);
}

void rec_candidates_fini(struct rec_series *series)
{
	for (size_t i = 0; i < series->n_candidates; i++)
		free(series->candidates[i].label);
	free(series->candidates);
}
