// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The options, and the help that explains what there is to watch.

#include "options.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libtelemetry/rollcall.h"

const char *argp_program_version = "tilesearch " ROLLCALL_VERSION;

static const char about[] =
	"Searches for a fast way to multiply two matrices on this processor: loop order, tile sizes, "
	"unrolling, vectorising, instruction set, packing. Each candidate is C source that is generated, "
	"compiled, loaded, checked against a reference and timed; the fastest few are kept (the beam), and "
	"the others give back what they took."
	"\v"
	"Each candidate takes a working pool (its output and scratch memory), a context, and a module (its "
	"loaded code); the inputs are constant pools. --leak chooses what is not given back, which is what "
	"Rollcall is there to find:\n"
	"\n"
	"  rollcall run -- tilesearch --leak pools --pause-ms 200\n"
	"  rollcall top\n"
	"\n"
	"How a candidate can end:\n"
	"  declined          a tile does not divide the matrix or overflows the cache\n"
	"  link_failed       the compiler refused it: its frame is too large\n"
	"  non_dispatchable  this processor lacks its instructions\n"
	"  deduplicated      the compiler made the same code of an earlier one\n"
	"  failed            its result is wrong: 16 bits of B are too few\n"
	"  timed             measured, and dropped\n"
	"  kept              measured, and in the beam when its phase ended\n"
	"\n"
	"Phase A explores at random; its candidates depend on the seed alone. Phase B varies the beam on "
	"matrices twice as large, so its candidates depend on what was fast, except with --rank model.\n"
	"\n"
	"CC names the compiler (cc), TMPDIR the folder for temporary files (/tmp). Exit status: 0 when the "
	"search came to its end, 1 when it could not, 2 for a wrong command line.";

enum { KEY_LEAK = 0x100, KEY_BEAM, KEY_SIZE, KEY_RANK, KEY_PAUSE };

static const struct argp_option table[] = {
	{ "candidates", 'n', "N", 0, "Candidates to try, in both phases together (120)", 0 },
	{ "leak", KEY_LEAK, "WHAT", 0,
		"What is never given back: none, pools, contexts, modules, or failed: the pools of failed candidates only (none)", 0 },
	{ "seed", 's', "S", 0, "Seed of the search (1)", 0 },
	{ "beam", KEY_BEAM, "K", 0, "Candidates kept (4)", 0 },
	{ "size", KEY_SIZE, "ROWS", 0, "Rows of the matrices in phase A, 16 to 1024; phase B has twice as many (192)", 0 },
	{ "rank", KEY_RANK, "BY", 0, "What makes a candidate better: time, or model, an estimate that repeats exactly (time)", 0 },
	{ "jobs", 'j', "N", 0, "Compilers at work at a time; measuring is always done alone (1)", 0 },
	{ "pause-ms", KEY_PAUSE, "MS", 0, "Wait after each candidate, to be watched (0)", 0 },
	{ "quiet", 'q', NULL, 0, "Print the result only", 0 },
	{ 0 },
};

static uint64_t number(struct argp_state *state, const char *name, const char *text, uint64_t least, uint64_t most)
{
	char *end;

	errno = 0;
	unsigned long long value = strtoull(text, &end, 10);
	if (errno || end == text || *end || *text < '0' || *text > '9' || value < least || value > most)
		argp_error(state, "--%s takes a number from %llu to %llu, not '%s'", name, (unsigned long long)least,
				(unsigned long long)most, text);
	return value;
}

static unsigned word(struct argp_state *state, const char *name, const char *text, const char *const *words)
{
	for (unsigned i = 0; words[i]; i++)
		if (strcmp(text, words[i]) == 0)
			return i;
	argp_error(state, "--%s does not take '%s'", name, text);
	return 0;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
	static const char *const leaks[] = { "none", "pools", "contexts", "modules", "failed", NULL };
	static const char *const ranks[] = { "time", "model", NULL };
	struct tile_options *options = state->input;

	switch (key) {
	case 'n':
		options->candidates = (unsigned)number(state, "candidates", argument, 1, 1000000);
		return 0;
	case KEY_LEAK:
		options->leak = (enum tile_leak)word(state, "leak", argument, leaks);
		return 0;
	case 's':
		options->seed = number(state, "seed", argument, 0, UINT64_MAX);
		return 0;
	case KEY_BEAM:
		options->beam = (unsigned)number(state, "beam", argument, 1, TILE_BEAM_MAX);
		return 0;
	case KEY_SIZE:
		options->rows = (unsigned)number(state, "size", argument, 16, 1024);
		return 0;
	case KEY_RANK:
		options->rank = (enum tile_rank)word(state, "rank", argument, ranks);
		return 0;
	case 'j':
		options->jobs = (unsigned)number(state, "jobs", argument, 1, TILE_JOBS_MAX);
		return 0;
	case KEY_PAUSE:
		options->pause_ms = (unsigned)number(state, "pause-ms", argument, 0, 60000);
		return 0;
	case 'q':
		options->quiet = 1;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "there is no argument '%s'", argument);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

void tile_options_parse(int n_arguments, char **arguments, struct tile_options *ret_options)
{
	static const struct argp argp = { .options = table, .parser = parse, .doc = about };
	struct tile_options options = { .candidates = 120, .beam = 4, .rows = 192, .jobs = 1, .seed = 1 };

	argp_err_exit_status = 2;
	argp_parse(&argp, n_arguments, arguments, 0, NULL, &options);
	*ret_options = options;
}
