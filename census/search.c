// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Candidates, phases and their boundaries. Handles are serial numbers. State is
// kept of the open ones, and of the timed ones for as long as they may still be
// kept: 65,536 candidates long; the others are counts. Labels of the last 512
// are remembered, for the event that ends them.
//
// Counts follow the axes: `timed` contains `kept`, so that a timed candidate
// which is kept in the end raises one count and lowers none. A call counts,
// claims its boundary slot and captures the readings under one lock, that only
// candidates and phases take: cumulative counts rise in the order of the slots.

#include "census.h"

#include <errno.h>
#include <string.h>

#include "../libtelemetry/publish/publisher.h"

#include "../libtelemetry/banned.h"

#define LABELS 512
#define SWEEP_AT_LEAST (2 * CENSUS_TIMED_WINDOW)

// The counts in the order of their section, without its time.
#define WORDS (sizeof(struct tele_search_values) / sizeof(uint64_t) - 1)
#define WORD(member) (offsetof(struct tele_search_values, member) / sizeof(uint64_t) - 1)

enum { STATE_OPEN, STATE_TIMED };

struct label {
	uint64_t candidate;
	char text[TELE_SLOT_TEXT_BYTES];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic bool is_used;
static _Atomic uint64_t seq;
static _Atomic uint64_t copies[2][WORDS];
// Under the lock.
static uint64_t last_candidate;
static struct census_map states;
static size_t sweep_at = SWEEP_AT_LEAST;
static struct label labels[LABELS];

static void use(void)
{
	if (TELE_LIKELY(atomic_load_explicit(&is_used, memory_order_relaxed)))
		return;
	if (!atomic_exchange_explicit(&is_used, true, memory_order_relaxed))
		census_section_search();
}

bool census_search_read(struct tele_search_values *ret_values)
{
	uint64_t words[1 + WORDS];
	uint64_t at;
	words[0] = rollcall_clock_ns();
	if (!atomic_load_explicit(&is_used, memory_order_relaxed))
		memset(words, 0xff, sizeof(words));
	else if (!census_latch_read(&seq, copies[0], WORDS, words + 1, &at))
		return false;
	if (words[1 + WORD(phase)] == 0)
		words[1 + WORD(phase)] = TELE_UNKNOWN;
	memcpy(ret_values, words, sizeof(*ret_values));
	return true;
}

// Publishes what happened, with the readings as they are now.
static void publish(uint32_t type, uint64_t subject, uint64_t value, const char *text)
{
	struct tele_slot slot;
	if (tele_slot_claim(&slot, type, subject, value, text) < 0)
		return; // counted by the publisher; nobody waits
	census_fill_slot(&slot);
	tele_slot_publish(&slot);
}

// ---- Candidates --------------------------------------------------------------------

static bool is_worth_keeping(uint64_t candidate, uint64_t state, uint64_t last)
{
	return state == STATE_OPEN || last - candidate < CENSUS_TIMED_WINDOW;
}

// Forgets timed candidates that can no longer be kept, each time the number of
// states has doubled.
static void sweep(void)
{
	if (states.n < sweep_at)
		return;
	census_map_sweep(&states, is_worth_keeping, last_candidate);
	sweep_at = states.n * 2 > SWEEP_AT_LEAST ? states.n * 2 : SWEEP_AT_LEAST;
}

uint64_t rollcall_candidate_begin(const char *label)
{
	tele_publisher_touch();
	use();
	pthread_mutex_lock(&lock);
	sweep();
	uint64_t candidate = last_candidate + 1;
	if (census_map_insert(&states, candidate, STATE_OPEN) < 0) {
		pthread_mutex_unlock(&lock);
		tele_count_refused();
		return 0;
	}
	last_candidate = candidate;
	struct label *kept = &labels[candidate % LABELS];
	kept->candidate = candidate;
	census_copy_text(kept->text, sizeof(kept->text), label);
	for (unsigned side = 0; side < 2; side++) {
		census_latch_step(&seq);
		census_word_add(&copies[side][WORD(candidates_attempted)], 1);
		census_word_add(&copies[side][WORD(open_candidates)], 1);
	}
	publish(TELE_EVENT_CANDIDATE_BEGIN, candidate, 0, kept->text[0] ? kept->text : NULL);
	pthread_mutex_unlock(&lock);
	return candidate;
}

// The count of its own that an outcome has, or WORDS for `timed`, which is an
// axis.
static size_t word_of(unsigned outcome)
{
	static const uint8_t words[TELE_OUTCOME_COUNT] = {
		[TELE_OUTCOME_DECLINED] = WORD(candidates_declined),
		[TELE_OUTCOME_LINK_FAILED] = WORD(candidates_link_failed),
		[TELE_OUTCOME_NON_DISPATCHABLE] = WORD(candidates_non_dispatchable),
		[TELE_OUTCOME_DEDUPLICATED] = WORD(candidates_deduplicated),
		[TELE_OUTCOME_FAILED] = WORD(candidates_failed),
		[TELE_OUTCOME_TIMED] = WORDS,
		[TELE_OUTCOME_KEPT] = WORD(candidates_kept),
	};
	return words[outcome];
}

// Counts the end of an open candidate, or of a timed one that is kept.
static void count_end(unsigned outcome, bool was_open)
{
	for (unsigned side = 0; side < 2; side++) {
		_Atomic uint64_t *copy = copies[side];
		census_latch_step(&seq);
		if (word_of(outcome) < WORDS)
			census_word_add(&copy[word_of(outcome)], 1);
		if (!was_open)
			continue;
		census_word_add(&copy[WORD(open_candidates)], UINT64_MAX);
		if (tele_outcome_is_linked(outcome))
			census_word_add(&copy[WORD(candidates_linked)], 1);
		if (tele_outcome_is_timed(outcome))
			census_word_add(&copy[WORD(candidates_timed)], 1);
	}
}

// Under the lock: ends a candidate if it can be ended like that.
static bool end(uint64_t candidate, unsigned outcome)
{
	uint64_t *state = census_map_find(&states, candidate);
	if (!state)
		return false;
	bool was_open = *state == STATE_OPEN;
	if (!was_open && (outcome != TELE_OUTCOME_KEPT ||
			  !is_worth_keeping(candidate, *state, last_candidate)))
		return false;
	if (outcome == TELE_OUTCOME_TIMED)
		*state = STATE_TIMED;
	else
		census_map_remove(&states, candidate);
	count_end(outcome, was_open);
	return true;
}

int rollcall_candidate_end(uint64_t candidate, enum rollcall_outcome outcome)
{
	tele_publisher_touch();
	unsigned ended_as = (unsigned)outcome;
	if (ended_as == TELE_OUTCOME_OPEN || ended_as >= TELE_OUTCOME_COUNT)
		return -EINVAL;
	use();
	pthread_mutex_lock(&lock);
	bool found = end(candidate, ended_as);
	if (found) {
		const struct label *label = &labels[candidate % LABELS];
		bool is_its_own = label->candidate == candidate && label->text[0];
		publish(TELE_EVENT_CANDIDATE_END, candidate, ended_as, is_its_own ? label->text : NULL);
	}
	pthread_mutex_unlock(&lock);
	return found ? 0 : -ENOENT;
}

int rollcall_phase(const char *name)
{
	tele_publisher_touch();
	use();
	char text[TELE_SLOT_TEXT_BYTES];
	census_copy_text(text, sizeof(text), name);
	uint64_t id = text[0] ? tele_intern(text) : 0;
	pthread_mutex_lock(&lock);
	for (unsigned side = 0; side < 2; side++) {
		census_latch_step(&seq);
		census_word_set(&copies[side][WORD(phase)], id);
	}
	publish(TELE_EVENT_PHASE, 0, 0, text[0] ? text : NULL);
	pthread_mutex_unlock(&lock);
	return id == TELE_UNKNOWN && tele_publisher_is_active() ? -ENOSPC : 0;
}

// ---- fork ------------------------------------------------------------------------------

void census_search_lock(void)
{
	pthread_mutex_lock(&lock);
}

void census_search_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

// The child's handles go on where its parent's were: one that it inherited is
// never taken for one of its own.
void census_search_reset(void)
{
	census_map_clear(&states);
	sweep_at = SWEEP_AT_LEAST;
	for (size_t i = 0; i < WORDS; i++) {
		atomic_store_explicit(&copies[0][i], 0, memory_order_relaxed);
		atomic_store_explicit(&copies[1][i], 0, memory_order_relaxed);
	}
	atomic_store_explicit(&seq, 0, memory_order_relaxed);
	atomic_store_explicit(&is_used, false, memory_order_relaxed);
}
