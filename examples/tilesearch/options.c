// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The options, and the help that explains what there is to watch.

#include "options.h"

#include <argp.h>

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

enum { KEY_SIZE = 0x100, KEY_RANK };

static const struct argp_option table[] = {
	{ "size", KEY_SIZE, "ROWS", 0, "Rows of the matrices in phase A, 16 to 1024; phase B has twice as many (192)", 0 },
	{ "rank", KEY_RANK, "BY", 0, "What makes a candidate better: time, or model, an estimate that repeats exactly (time)", 0 },
	{ "jobs", 'j', "N", 0, "Compilers at work at a time; measuring is always done alone (1)", 0 },
	{ 0 },
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
	static const char *const ranks[] = { "time", "model", NULL };
	struct tile_options *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options->common;
		return 0;
	case KEY_SIZE:
		options->rows = (unsigned)common_number(state, "size", argument, 16, 1024);
		return 0;
	case KEY_RANK:
		options->rank = (enum tile_rank)common_word(state, "rank", argument, ranks);
		return 0;
	case 'j':
		options->jobs = (unsigned)common_number(state, "jobs", argument, 1, TILE_JOBS_MAX);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

void tile_options_parse(int n_arguments, char **arguments, struct tile_options *ret_options)
{
	static const struct argp_child children[] = { { &common_options_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = { .options = table, .parser = parse, .doc = about, .children = children };
	struct tile_options options = { .common = COMMON_OPTIONS_DEFAULT, .rows = 192, .jobs = 1 };

	argp_err_exit_status = 2;
	argp_parse(&argp, n_arguments, arguments, 0, NULL, &options);
	*ret_options = options;
}
