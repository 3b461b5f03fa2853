// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// cudasearch: a search for a fast matrix multiplication on a GPU, to be watched.
//
// Two phases: at random, then around the beam. A candidate is dropped as soon as
// the beam has no place for it, so what is live is the beam, what is under way,
// and what leaks. The ledger printed at the end is the program's own count.

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "candidate.h"
#include "driver.h"
#include "options.h"

enum { OUTCOMES = ROLLCALL_KEPT + 1 };

static const char *const outcome_names[OUTCOMES] = {
	[ROLLCALL_DECLINED] = "declined",	  [ROLLCALL_LINK_FAILED] = "link_failed",
	[ROLLCALL_NON_DISPATCHABLE] = "non_dispatchable", [ROLLCALL_DEDUPLICATED] = "deduplicated",
	[ROLLCALL_FAILED] = "failed",		  [ROLLCALL_TIMED] = "timed",
	[ROLLCALL_KEPT] = "kept",
};

struct search {
	const struct search_options *options;
	struct search_inputs inputs;
	struct search_random random;
	struct search_candidate *beam[BEAM_MAX]; // best first
	unsigned n_beam, n_begun;
	uint64_t *digests; // of all loaded ones
	unsigned n_digests;
	unsigned outcomes[OUTCOMES];
};

static void end(struct search *search, const struct search_candidate *candidate, enum rollcall_outcome outcome)
{
	search->outcomes[outcome]++;
	rollcall_candidate_end(candidate->handle, outcome);
	if (search->options->quiet)
		return;
	if (outcome >= ROLLCALL_TIMED)
		printf("cudasearch: [%3u] %s: %s %.0f GFLOP/s\n", candidate->number, candidate->label,
				outcome_names[outcome], candidate->gflops);
	else
		printf("cudasearch: [%3u] %s: %s (%s)\n", candidate->number, candidate->label,
				outcome_names[outcome], candidate->why);
}

static void drop(struct search *search, struct search_candidate *candidate, enum rollcall_outcome outcome)
{
	search_candidate_drop(candidate, outcome, search->options->leak);
	free(candidate);
}

static void enter_beam(struct search *search, struct search_candidate *candidate)
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

static int was_seen(struct search *search, uint64_t digest)
{
	for (unsigned i = 0; i < search->n_digests; i++)
		if (search->digests[i] == digest)
			return 1;
	search->digests[search->n_digests++] = digest;
	return 0;
}

static int try_one(struct search *search, int is_refining)
{
	struct search_candidate *candidate = calloc(1, sizeof(*candidate));

	if (!candidate)
		return -1;
	candidate->number = ++search->n_begun;
	if (is_refining && search->n_beam > 0 && search_random_below(&search->random, 3) > 0)
		search_kernel_vary(&search->random,
				&search->beam[search_random_below(&search->random, search->n_beam)]->kernel,
				&candidate->kernel);
	else
		search_kernel_draw(&search->random, &candidate->kernel);
	search_kernel_label(&candidate->kernel, candidate->label);
	candidate->handle = rollcall_candidate_begin(candidate->label);
	enum rollcall_outcome outcome = search_candidate_try(candidate, &search->inputs);
	if (outcome == ROLLCALL_TIMED && was_seen(search, candidate->digest)) {
		snprintf(candidate->why, sizeof(candidate->why), "the same text as an earlier one");
		outcome = ROLLCALL_DEDUPLICATED;
	}
	candidate->score = candidate->gflops;
	end(search, candidate, outcome);
	if (outcome == ROLLCALL_TIMED)
		enter_beam(search, candidate);
	else
		drop(search, candidate, outcome);
	size_t free_bytes, total_bytes; // looked at, so that Rollcall knows it too
	driver.info(&free_bytes, &total_bytes);
	return 0;
}

static void pause_ms(unsigned ms)
{
	struct timespec rest = { .tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000 };

	nanosleep(&rest, NULL);
}

static int run(struct search *search)
{
	const struct search_options *options = search->options;
	unsigned explored = options->candidates - options->candidates * 2 / 5;

	for (unsigned i = 0; i < options->candidates; i++) {
		if (i == 0 || i == explored)
			rollcall_phase(i == 0 ? "A explore" : "B refine around the beam");
		if (try_one(search, i >= explored) < 0)
			return -1;
		if (options->pause_ms)
			pause_ms(options->pause_ms);
	}
	for (unsigned i = 0; i < search->n_beam; i++) {
		search->outcomes[ROLLCALL_TIMED]--;
		end(search, search->beam[i], ROLLCALL_KEPT);
	}
	return 0;
}

static void report(const struct search *search)
{
	if (search->n_beam > 0)
		printf("cudasearch: best %s: %.0f GFLOP/s on %s, %u rows, seed %" PRIu64 "%s\n", search->beam[0]->label,
				search->beam[0]->gflops, driver.device_name, search->inputs.n, search->options->seed,
				driver.is_fake ? " (by a model: this driver runs nothing)" : "");
	printf("cudasearch: outcomes: attempted=%u", search->n_begun);
	for (int outcome = ROLLCALL_DECLINED; outcome < OUTCOMES; outcome++)
		printf(" %s=%u", outcome_names[outcome], search->outcomes[outcome]);
	putchar('\n');
}

static void print_ledger(const char *when)
{
	printf("cudasearch: ledger %s: live_working_pools=%" PRIu64 " live_constant_pools=%" PRIu64
		" contexts_created=%" PRIu64 " contexts_released=%" PRIu64 " modules_loaded=%" PRIu64
		" modules_unloaded=%" PRIu64 "\n", when, ledger.live_working_pools, ledger.live_constant_pools,
		ledger.contexts_created, ledger.contexts_released, ledger.modules_loaded, ledger.modules_unloaded);
}

int main(int n_arguments, char **arguments)
{
	struct search_options options;
	struct search search = { .options = &options };

	search_options_parse(n_arguments, arguments, &options);
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (search_driver_open() < 0)
		return 1;
	search.random.state = options.seed;
	search.digests = calloc(options.candidates, sizeof(*search.digests));
	unsigned result = search.digests ? search_inputs_open(&search.inputs, options.rows, options.seed) : 2;
	if (result != 0) {
		fprintf(stderr, "cudasearch: the inputs: %s\n", search_driver_text(result));
		return 1;
	}
	int failed = run(&search);
	report(&search);
	print_ledger("after the search");
	while (search.n_beam > 0)
		drop(&search, search.beam[--search.n_beam], ROLLCALL_KEPT);
	search_inputs_close(&search.inputs);
	print_ledger("at exit");
	// A program that leaks leaves the rest to its end, too.
	if (options.leak == LEAK_NONE)
		search_driver_close();
	free(search.digests);
	return failed < 0 || ferror(stdout) || fflush(stdout) != 0;
}
