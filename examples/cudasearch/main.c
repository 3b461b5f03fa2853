// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// cudasearch: a search for a fast matrix multiplication on a GPU, to be watched.
//
// Two phases: at random, then around the beam (examples/common/search.h). The
// ledger printed at the end is the program's own count.

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "candidate.h"
#include "driver.h"
#include "options.h"

struct search {
	struct common_search common;
	struct search_inputs inputs;
	struct common_random random;
	uint64_t *digests; // of all loaded ones
	unsigned n_digests;
};

static struct search_candidate *candidate_of(struct common_candidate *common)
{
	return (struct search_candidate *)common;
}

static void drop(struct common_candidate *common, enum rollcall_outcome outcome, enum common_leak leak)
{
	search_candidate_drop(candidate_of(common), outcome, leak);
	free(common);
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
	struct common_search *common = &search->common;

	if (!candidate)
		return -1;
	if (is_refining && common->n_beam > 0 && common_random_below(&search->random, 3) > 0)
		search_kernel_vary(&search->random,
				&candidate_of(common->beam[common_random_below(&search->random, common->n_beam)])->kernel,
				&candidate->kernel);
	else
		search_kernel_draw(&search->random, &candidate->kernel);
	search_kernel_label(&candidate->kernel, candidate->common.label);
	common_begin(common, &candidate->common);
	enum rollcall_outcome outcome = search_candidate_try(candidate, &search->inputs);
	if (outcome == ROLLCALL_TIMED && was_seen(search, candidate->digest)) {
		snprintf(candidate->common.why, WHY_BYTES, "the same text as an earlier one");
		outcome = ROLLCALL_DEDUPLICATED;
	}
	candidate->common.score = candidate->common.gflops;
	common_end(common, &candidate->common, outcome);
	size_t free_bytes, total_bytes; // looked at, so that Rollcall knows it too
	driver.info(&free_bytes, &total_bytes);
	return 0;
}

static int run(struct search *search)
{
	const struct common_options *options = search->common.options;
	unsigned explored = options->candidates - options->candidates * 2 / 5;

	for (unsigned i = 0; i < options->candidates; i++) {
		if (i == 0 || i == explored)
			rollcall_phase(i == 0 ? "A explore" : "B refine around the beam");
		if (try_one(search, i >= explored) < 0)
			return -1;
		common_pause(options);
	}
	common_keep_beam(&search->common);
	return 0;
}

static void report(const struct search *search)
{
	if (search->common.n_beam > 0)
		printf("cudasearch: best %s: %.0f GFLOP/s on %s, %u rows, seed %" PRIu64 "%s\n",
				search->common.beam[0]->label, search->common.beam[0]->gflops, driver.device_name,
				search->inputs.n, search->common.options->seed,
				driver.is_fake ? " (by a model: this driver runs nothing)" : "");
	common_print_outcomes(&search->common);
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
	struct search search = { .common = { .program = "cudasearch", .options = &options.common, .drop = drop } };

	search_options_parse(n_arguments, arguments, &options);
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (search_driver_open() < 0)
		return 1;
	search.random.state = options.common.seed;
	search.digests = calloc(options.common.candidates, sizeof(*search.digests));
	unsigned result = search.digests ? search_inputs_open(&search.inputs, options.rows, options.common.seed) : 2;
	if (result != 0) {
		fprintf(stderr, "cudasearch: the inputs: %s\n", search_driver_text(result));
		return 1;
	}
	int failed = run(&search);
	report(&search);
	print_ledger("after the search");
	common_drop_beam(&search.common);
	search_inputs_close(&search.inputs);
	print_ledger("at exit");
	// A program that leaks leaves the rest to its end, too.
	if (options.common.leak == LEAK_NONE)
		search_driver_close();
	free(search.digests);
	return failed < 0 || ferror(stdout) || fflush(stdout) != 0;
}
