// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Candidates are begun and finished in one order, however many compilers work
// at a time, so that the beam after candidate n is the same on every run that
// measures the same. What is live is the beam, what is under way, and what
// leaks: a candidate is dropped as soon as the beam has no place for it.

#include "search.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *const outcome_names[TILE_OUTCOMES] = {
	[ROLLCALL_DECLINED] = "declined",
	[ROLLCALL_LINK_FAILED] = "link_failed",
	[ROLLCALL_NON_DISPATCHABLE] = "non_dispatchable",
	[ROLLCALL_DEDUPLICATED] = "deduplicated",
	[ROLLCALL_FAILED] = "failed",
	[ROLLCALL_TIMED] = "timed",
	[ROLLCALL_KEPT] = "kept",
};

static int stopped(const struct tile_search *search)
{
	return *search->compiler->stop_signal != 0 || ferror(stdout);
}

static void log_outcome(const struct tile_search *search, const struct tile_candidate *candidate,
		enum rollcall_outcome outcome)
{
	if (search->options->quiet)
		return;
	if (outcome >= ROLLCALL_TIMED)
		printf("tilesearch: [%3u] %s: %s %.1f GFLOP/s\n", candidate->number, candidate->label,
				outcome_names[outcome], candidate->gflops);
	else
		printf("tilesearch: [%3u] %s: %s (%s)\n", candidate->number, candidate->label, outcome_names[outcome],
				candidate->why);
}

static void end_candidate(struct tile_search *search, const struct tile_candidate *candidate,
		enum rollcall_outcome outcome)
{
	search->outcomes[outcome]++;
	rollcall_candidate_end(candidate->handle, outcome);
	log_outcome(search, candidate, outcome);
}

static void drop(struct tile_search *search, struct tile_candidate *candidate, enum rollcall_outcome outcome)
{
	tile_candidate_drop(candidate, outcome, search->options->leak);
	free(candidate);
}

// Gives the candidate its place in the beam; what has none is dropped.
static void enter_beam(struct tile_search *search, struct tile_candidate *candidate)
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

static void drop_beam(struct tile_search *search)
{
	while (search->n_beam > 0)
		drop(search, search->beam[--search->n_beam], ROLLCALL_KEPT);
}

static int was_tried(const struct tile_search *search, const struct tile_schedule *schedule)
{
	for (size_t i = 0; i < search->n_tried; i++)
		if (memcmp(&search->tried[i], schedule, sizeof(*schedule)) == 0)
			return 1;
	return 0;
}

// The next schedule. Without parents it is a draw, one time in five the loops of
// an earlier one with other flags; with them, a variation of one in the beam,
// and one time in two a draw all the same, lest it turn in circles.
// Where new ones have become hard to find an old one will do: its digest tells.
static struct tile_schedule propose(struct tile_search *search, unsigned n, const struct tile_schedule *parents,
		unsigned n_parents)
{
	struct tile_schedule schedule;
	int patience = 64;

	do {
		if (n_parents && tile_random_below(&search->random, 2) == 0) {
			tile_schedule_draw(&search->random, n, &schedule);
			continue;
		}
		uint32_t which = n_parents ? tile_random_below(&search->random, n_parents) : 0;
		if (n_parents == 0 && search->n_tried > 0 && tile_random_below(&search->random, 5) == 0)
			tile_schedule_reflag(&search->random,
					&search->tried[tile_random_below(&search->random, (uint32_t)search->n_tried)], &schedule);
		else if (n_parents == 0)
			tile_schedule_draw(&search->random, n, &schedule);
		else if (which < search->n_beam)
			tile_schedule_vary(&search->random, &search->beam[which]->schedule, n, &schedule);
		else
			tile_schedule_vary(&search->random, &parents[which], n, &schedule);
	} while (was_tried(search, &schedule) && --patience > 0);
	return schedule;
}

static int begin(struct tile_search *search, const struct tile_schedule *schedule)
{
	const struct tile_problem *problem = &search->problems[search->n_problems - 1];
	struct tile_candidate *candidate = calloc(1, sizeof(*candidate));

	if (!candidate)
		return -ENOMEM;
	candidate->number = ++search->n_begun;
	candidate->schedule = *schedule;
	search->tried[search->n_tried++] = *schedule;
	tile_schedule_label(schedule, candidate->label);
	candidate->handle = rollcall_candidate_begin(candidate->label);
	enum rollcall_outcome outcome = tile_candidate_start(candidate, problem, search->compiler);
	if (outcome) {
		end_candidate(search, candidate, outcome);
		drop(search, candidate, outcome);
	} else {
		search->under_way[search->n_under_way++] = candidate;
	}
	return 0;
}

static void account(struct tile_search *search, const struct tile_candidate *candidate)
{
	rollcall_counter_add(search->compile_counter, candidate->compile_ns);
	if (candidate->gflops <= 0)
		return;
	rollcall_counter_add(search->runs_counter, 1);
	if (candidate->gflops > search->best_gflops) {
		search->best_gflops = candidate->gflops;
		memcpy(search->best_label, candidate->label, sizeof(search->best_label));
		rollcall_gauge_set(search->best_gauge, (uint64_t)(candidate->gflops * 1000.0));
	}
}

static int finish_oldest(struct tile_search *search)
{
	const struct tile_problem *problem = &search->problems[search->n_problems - 1];
	struct tile_candidate *candidate = search->under_way[0];

	enum rollcall_outcome outcome = tile_candidate_measure(candidate, problem, search->compiler, &search->digests);
	if (!outcome)
		return -EINTR;
	search->n_under_way--;
	memmove(&search->under_way[0], &search->under_way[1], search->n_under_way * sizeof(search->under_way[0]));
	account(search, candidate);
	if (outcome != ROLLCALL_TIMED) {
		end_candidate(search, candidate, outcome);
		drop(search, candidate, outcome);
		return 0;
	}
	candidate->score = search->options->rank == TILE_RANK_TIME ? candidate->gflops :
			tile_schedule_model(&candidate->schedule);
	end_candidate(search, candidate, ROLLCALL_TIMED);
	enter_beam(search, candidate);
	return 0;
}

static void pause_ms(unsigned ms)
{
	struct timespec rest = { .tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000 };
	// Cut short by a signal, and rightly so.
	nanosleep(&rest, NULL);
}

static int run_candidates(struct tile_search *search, unsigned n, unsigned count, const struct tile_schedule *parents,
		unsigned n_parents)
{
	unsigned begun = 0;

	while (begun < count || search->n_under_way > 0) {
		if (stopped(search))
			return -EINTR;
		if (begun < count && search->n_under_way < search->options->jobs) {
			struct tile_schedule schedule = begun < n_parents ? parents[begun] :
					propose(search, n, parents, n_parents);
			int r = begin(search, &schedule);
			if (r < 0)
				return r;
			begun++;
			if (search->n_under_way > 0 && search->n_under_way < search->options->jobs && begun < count)
				continue;
		}
		int r = search->n_under_way > 0 ? finish_oldest(search) : 0;
		if (r < 0)
			return r;
		if (search->options->pause_ms)
			pause_ms(search->options->pause_ms);
	}
	return 0;
}

static int run_phase(struct tile_search *search, const char *name, unsigned n, unsigned count)
{
	struct tile_schedule parents[TILE_BEAM_MAX];
	unsigned n_parents = search->n_beam;

	rollcall_phase(name);
	if (!search->options->quiet)
		printf("tilesearch: phase %s: %u candidates, matrices of %u rows\n", name, count, n);
	for (unsigned i = 0; i < n_parents; i++)
		parents[i] = search->beam[i]->schedule;
	drop_beam(search);
	tile_digests_clear(&search->digests);
	search->n_tried = 0;
	search->best_gflops = 0;
	search->best_label[0] = '\0';
	int r = tile_problem_open(&search->problems[search->n_problems], n, search->options->seed);
	if (r < 0)
		return r;
	search->n_problems++;
	r = run_candidates(search, n, count, parents, n_parents);
	if (r < 0)
		return r;
	for (unsigned i = 0; i < search->n_beam; i++) {
		search->outcomes[ROLLCALL_TIMED]--;
		end_candidate(search, search->beam[i], ROLLCALL_KEPT);
	}
	return 0;
}

int tile_search_run(struct tile_search *search, const struct tile_options *options, struct tile_compiler *compiler)
{
	unsigned explored = options->candidates - (unsigned)(options->candidates * 2ull / 5);

	memset(search, 0, sizeof(*search));
	search->options = options;
	search->compiler = compiler;
	search->random.state = options->seed;
	search->tried = calloc(options->candidates, sizeof(*search->tried));
	if (!search->tried)
		return -ENOMEM;
	rollcall_device_name(TILE_DEVICE, "cpu", NULL);
	search->best_gauge = rollcall_gauge("best_gflops_milli", ROLLCALL_COUNT);
	search->compile_counter = rollcall_counter("compile_ns", ROLLCALL_NS);
	search->runs_counter = rollcall_counter("kernels_measured", ROLLCALL_COUNT);
	int r = run_phase(search, "A explore", options->rows, explored);
	if (r == 0 && explored < options->candidates)
		r = run_phase(search, "B refine around the beam", 2 * options->rows, options->candidates - explored);
	return r;
}

void tile_search_report(const struct tile_search *search)
{
	const struct tile_options *options = search->options;
	unsigned attempted = 0;

	if (search->best_gflops > 0)
		printf("tilesearch: best %s: %.1f GFLOP/s, %u rows, seed %" PRIu64 "\n", search->best_label,
				search->best_gflops, search->problems[search->n_problems - 1].n, options->seed);
	else
		printf("tilesearch: best: none, no candidate was timed\n");
	for (int outcome = ROLLCALL_DECLINED; outcome < TILE_OUTCOMES; outcome++)
		attempted += search->outcomes[outcome];
	printf("tilesearch: outcomes: attempted=%u", attempted);
	for (int outcome = ROLLCALL_DECLINED; outcome < TILE_OUTCOMES; outcome++)
		printf(" %s=%u", outcome_names[outcome], search->outcomes[outcome]);
	putchar('\n');
}

void tile_search_close(struct tile_search *search)
{
	while (search->n_under_way > 0) {
		struct tile_candidate *candidate = search->under_way[--search->n_under_way];
		tile_compiler_cancel(candidate->compiler);
		drop(search, candidate, (enum rollcall_outcome)0);
	}
	drop_beam(search);
	while (search->n_problems > 0) {
		struct tile_problem *problem = &search->problems[--search->n_problems];
		// A program that frees no pools frees none at its end either.
		if (search->options->leak == TILE_LEAK_POOLS)
			tile_problem_abandon(problem);
		else
			tile_problem_close(problem);
	}
	tile_digests_clear(&search->digests);
	free(search->tried);
	search->tried = NULL;
}
