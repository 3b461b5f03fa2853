// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Candidates are begun and finished in one order, however many compilers work
// at a time, so that the beam after candidate n is the same on every run that
// measures the same (examples/common/search.h).

#include "search.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int stopped(const struct tile_search *search)
{
	return *search->compiler->stop_signal != 0 || ferror(stdout);
}

static struct tile_candidate *candidate_of(struct common_candidate *common)
{
	return (struct tile_candidate *)common;
}

static void drop(struct common_candidate *common, enum rollcall_outcome outcome, enum common_leak leak)
{
	tile_candidate_drop(candidate_of(common), outcome, leak);
	free(common);
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
		if (n_parents && common_random_below(&search->random, 2) == 0) {
			tile_schedule_draw(&search->random, n, &schedule);
			continue;
		}
		uint32_t which = n_parents ? common_random_below(&search->random, n_parents) : 0;
		if (n_parents == 0 && search->n_tried > 0 && common_random_below(&search->random, 5) == 0)
			tile_schedule_reflag(&search->random,
					&search->tried[common_random_below(&search->random, (uint32_t)search->n_tried)], &schedule);
		else if (n_parents == 0)
			tile_schedule_draw(&search->random, n, &schedule);
		else if (which < search->common.n_beam)
			tile_schedule_vary(&search->random, &candidate_of(search->common.beam[which])->schedule, n, &schedule);
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
	candidate->schedule = *schedule;
	search->tried[search->n_tried++] = *schedule;
	tile_schedule_label(schedule, candidate->common.label);
	common_begin(&search->common, &candidate->common);
	enum rollcall_outcome outcome = tile_candidate_start(candidate, problem, search->compiler);
	if (outcome)
		common_end(&search->common, &candidate->common, outcome);
	else
		search->under_way[search->n_under_way++] = candidate;
	return 0;
}

static void account(struct tile_search *search, const struct tile_candidate *candidate)
{
	double gflops = candidate->common.gflops;

	rollcall_counter_add(search->compile_counter, candidate->compile_ns);
	if (gflops <= 0)
		return;
	rollcall_counter_add(search->runs_counter, 1);
	if (gflops > search->best_gflops) {
		search->best_gflops = gflops;
		memcpy(search->best_label, candidate->common.label, sizeof(search->best_label));
		rollcall_gauge_set(search->best_gauge, (uint64_t)(gflops * 1000.0));
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
	candidate->common.score = search->options->rank == TILE_RANK_TIME ? candidate->common.gflops :
			tile_schedule_model(&candidate->schedule);
	common_end(&search->common, &candidate->common, outcome);
	return 0;
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
		common_pause(&search->options->common);
	}
	return 0;
}

static int run_phase(struct tile_search *search, const char *name, unsigned n, unsigned count)
{
	struct tile_schedule parents[BEAM_MAX];
	unsigned n_parents = search->common.n_beam;

	rollcall_phase(name);
	if (!search->options->common.quiet)
		printf("tilesearch: phase %s: %u candidates, matrices of %u rows\n", name, count, n);
	for (unsigned i = 0; i < n_parents; i++)
		parents[i] = candidate_of(search->common.beam[i])->schedule;
	common_drop_beam(&search->common);
	tile_digests_clear(&search->digests);
	search->n_tried = 0;
	search->best_gflops = 0;
	search->best_label[0] = '\0';
	int r = tile_problem_open(&search->problems[search->n_problems], n, search->options->common.seed);
	if (r < 0)
		return r;
	search->n_problems++;
	r = run_candidates(search, n, count, parents, n_parents);
	if (r < 0)
		return r;
	common_keep_beam(&search->common);
	return 0;
}

int tile_search_run(struct tile_search *search, const struct tile_options *options, struct tile_compiler *compiler)
{
	unsigned candidates = options->common.candidates, explored = candidates - (unsigned)(candidates * 2ull / 5);

	memset(search, 0, sizeof(*search));
	search->common = (struct common_search){ .program = "tilesearch", .options = &options->common, .drop = drop };
	search->options = options;
	search->compiler = compiler;
	search->random.state = options->common.seed;
	search->tried = calloc(candidates, sizeof(*search->tried));
	if (!search->tried)
		return -ENOMEM;
	rollcall_device_name(TILE_DEVICE, "cpu", NULL);
	search->best_gauge = rollcall_gauge("best_gflops_milli", ROLLCALL_COUNT);
	search->compile_counter = rollcall_counter("compile_ns", ROLLCALL_NS);
	search->runs_counter = rollcall_counter("kernels_measured", ROLLCALL_COUNT);
	int r = run_phase(search, "A explore", options->rows, explored);
	if (r == 0 && explored < candidates)
		r = run_phase(search, "B refine around the beam", 2 * options->rows, candidates - explored);
	return r;
}

void tile_search_report(const struct tile_search *search)
{
	if (search->best_gflops > 0)
		printf("tilesearch: best %s: %.1f GFLOP/s, %u rows, seed %" PRIu64 "\n", search->best_label,
				search->best_gflops, search->problems[search->n_problems - 1].n, search->options->common.seed);
	else
		printf("tilesearch: best: none, no candidate was timed\n");
	common_print_outcomes(&search->common);
}

void tile_search_close(struct tile_search *search)
{
	while (search->n_under_way > 0) {
		struct tile_candidate *candidate = search->under_way[--search->n_under_way];
		tile_compiler_cancel(candidate->compiler);
		drop(&candidate->common, (enum rollcall_outcome)0, search->options->common.leak);
	}
	common_drop_beam(&search->common);
	while (search->n_problems > 0) {
		struct tile_problem *problem = &search->problems[--search->n_problems];
		// A program that frees no pools frees none at its end either.
		if (search->options->common.leak == LEAK_POOLS)
			tile_problem_abandon(problem);
		else
			tile_problem_close(problem);
	}
	tile_digests_clear(&search->digests);
	free(search->tried);
	search->tried = NULL;
}
