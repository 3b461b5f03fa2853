// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// See search.h.

#include "search.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static const char *const outcome_names[OUTCOMES] = {
	[ROLLCALL_DECLINED] = "declined",
	[ROLLCALL_LINK_FAILED] = "link_failed",
	[ROLLCALL_NON_DISPATCHABLE] = "non_dispatchable",
	[ROLLCALL_DEDUPLICATED] = "deduplicated",
	[ROLLCALL_FAILED] = "failed",
	[ROLLCALL_TIMED] = "timed",
	[ROLLCALL_KEPT] = "kept",
};

void common_begin(struct common_search *search, struct common_candidate *candidate)
{
	candidate->number = ++search->n_begun;
	candidate->handle = rollcall_candidate_begin(candidate->label);
}

static void drop(struct common_search *search, struct common_candidate *candidate, enum rollcall_outcome outcome)
{
	search->drop(candidate, outcome, search->options->leak);
}

static void tell(struct common_search *search, const struct common_candidate *candidate, enum rollcall_outcome outcome)
{
	search->outcomes[outcome]++;
	rollcall_candidate_end(candidate->handle, outcome);
	if (search->options->quiet)
		return;
	printf("%s: [%3u] %s: %s ", search->program, candidate->number, candidate->label, outcome_names[outcome]);
	if (outcome >= ROLLCALL_TIMED)
		printf("%.1f GFLOP/s\n", candidate->gflops);
	else
		printf("(%s)\n", candidate->why);
}

static void enter_beam(struct common_search *search, struct common_candidate *candidate)
{
	unsigned at = search->n_beam;

	while (at > 0 && search->beam[at - 1]->score < candidate->score)
		at--;
	if (at == search->options->beam) {
		drop(search, candidate, ROLLCALL_TIMED);
		return;
	}
	if (search->n_beam == search->options->beam)
		drop(search, search->beam[--search->n_beam], ROLLCALL_TIMED);
	memmove(&search->beam[at + 1], &search->beam[at], (search->n_beam - at) * sizeof(search->beam[0]));
	search->beam[at] = candidate;
	search->n_beam++;
}

void common_end(struct common_search *search, struct common_candidate *candidate, enum rollcall_outcome outcome)
{
	tell(search, candidate, outcome);
	if (outcome == ROLLCALL_TIMED)
		enter_beam(search, candidate);
	else
		drop(search, candidate, outcome);
}

void common_keep_beam(struct common_search *search)
{
	for (unsigned i = 0; i < search->n_beam; i++) {
		search->outcomes[ROLLCALL_TIMED]--;
		tell(search, search->beam[i], ROLLCALL_KEPT);
	}
}

void common_drop_beam(struct common_search *search)
{
	while (search->n_beam > 0)
		drop(search, search->beam[--search->n_beam], ROLLCALL_KEPT);
}

void common_print_outcomes(const struct common_search *search)
{
	unsigned attempted = 0;

	for (int outcome = ROLLCALL_DECLINED; outcome < OUTCOMES; outcome++)
		attempted += search->outcomes[outcome];
	printf("%s: outcomes: attempted=%u", search->program, attempted);
	for (int outcome = ROLLCALL_DECLINED; outcome < OUTCOMES; outcome++)
		printf(" %s=%u", outcome_names[outcome], search->outcomes[outcome]);
	putchar('\n');
}

void common_pause(const struct common_options *options)
{
	struct timespec rest = { .tv_sec = options->pause_ms / 1000, .tv_nsec = (long)(options->pause_ms % 1000) * 1000000 };

	if (options->pause_ms)
		nanosleep(&rest, NULL);
}
