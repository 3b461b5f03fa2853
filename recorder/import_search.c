// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Candidates are told apart by label while they are open: the same label once
// more, after its end, is another candidate. A file may begin candidates and
// never end them, so what is remembered of open ones is bounded.

#include "import_search.h"

#include <errno.h>

#include "../libtelemetry/banned.h"

int rec_search_init(struct rec_search *search)
{
	*search = (struct rec_search){.values.phase = TELE_UNKNOWN, .next_handle = 1};
	search->open = calloc(REC_OPEN_MAX, sizeof(*search->open));
	return search->open ? 0 : -ENOMEM;
}

void rec_search_fini(struct rec_search *search)
{
	free(search->open);
	search->open = NULL;
}

static uint64_t hash_of(const char *label)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	for (; *label; label++)
		hash = (hash ^ (uint8_t)*label) * UINT64_C(0x100000001b3);
	return hash | 1; // 0 is none
}

static struct rec_open *find_open(struct rec_search *search, uint64_t hash)
{
	if (search->values.open_candidates == 0)
		return NULL;
	// The newest first.
	for (uint32_t k = 1; k <= REC_OPEN_MAX; k++) {
		struct rec_open *open = &search->open[(search->next_open - k) % REC_OPEN_MAX];
		if (open->hash == hash)
			return open;
	}
	return NULL;
}

static uint64_t begin(struct rec_search *search, uint64_t hash)
{
	struct rec_open *open = &search->open[search->next_open++ % REC_OPEN_MAX];
	*open = (struct rec_open){.hash = hash, .handle = search->next_handle++};
	search->values.candidates_attempted++;
	search->values.open_candidates++;
	search->last_ended_hash = 0;
	return open->handle;
}

static void count(struct tele_search_values *values, unsigned outcome)
{
	uint64_t *const counts[TELE_OUTCOME_COUNT] = {
		[TELE_OUTCOME_DECLINED] = &values->candidates_declined,
		[TELE_OUTCOME_LINK_FAILED] = &values->candidates_link_failed,
		[TELE_OUTCOME_NON_DISPATCHABLE] = &values->candidates_non_dispatchable,
		[TELE_OUTCOME_DEDUPLICATED] = &values->candidates_deduplicated,
		[TELE_OUTCOME_FAILED] = &values->candidates_failed,
		[TELE_OUTCOME_KEPT] = &values->candidates_kept,
	};
	values->candidates_linked += tele_outcome_is_linked(outcome);
	values->candidates_timed += tele_outcome_is_timed(outcome);
	if (counts[outcome])
		++*counts[outcome];
}

void rec_search_take(struct rec_search *search, const char *label, unsigned outcome, bool is_new,
		     struct rec_boundary *ret_boundary)
{
	TELE_ASSERT(outcome < TELE_OUTCOME_COUNT);
	uint64_t hash = hash_of(label);
	struct rec_open *open = is_new ? NULL : find_open(search, hash);
	*ret_boundary = (struct rec_boundary){.is_none = true};
	search->has_begun = true;
	if (outcome == TELE_OUTCOME_OPEN) {
		if (!open)
			*ret_boundary = (struct rec_boundary){.handle = begin(search, hash)};
		return;
	}
	if (!open && !is_new && search->last_ended_hash == hash && search->last_outcome == outcome)
		return;
	if (open) {
		ret_boundary->handle = open->handle;
		open->hash = 0;
		search->values.open_candidates--;
	} else {
		ret_boundary->handle = search->next_handle++;
		search->values.candidates_attempted++;
	}
	ret_boundary->is_none = false;
	search->last_ended_hash = hash;
	search->last_outcome = outcome;
	count(&search->values, outcome);
}
