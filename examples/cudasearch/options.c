// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The options, and the help that explains what there is to watch.

#include "options.h"

#include <argp.h>

#include "libtelemetry/rollcall.h"

const char *argp_program_version = "cudasearch " ROLLCALL_VERSION;

static const char about[] =
	"Searches for a fast way to multiply two matrices on a GPU: shape of the blocks, work of a thread, "
	"unrolling, kind of loads. Each candidate is PTX that is generated, compiled by the driver, loaded, "
	"checked against a reference and timed; the fastest few are kept (the beam)."
	"\v"
	"Each candidate takes a working pool (cuMemAlloc, for its result), a context of its own, in which the "
	"driver compiles it, and a module (cuModuleLoadData); the inputs are constant pools. --leak chooses "
	"what is not given back. Rollcall sees all of it at the driver's calls:\n"
	"\n"
	"  rollcall run --cuda -- cudasearch --leak modules --pause-ms 200\n"
	"  rollcall top\n"
	"\n"
	"How a candidate can end:\n"
	"  declined          its blocks do not fit the matrix or the device\n"
	"  link_failed       the driver did not compile or load it\n"
	"  non_dispatchable  it is for a newer architecture than the device's\n"
	"  deduplicated      its text is the same as an earlier one's\n"
	"  failed            its result is wrong: 16 bits of B are too few\n"
	"  timed, kept       measured, and dropped or in the beam at the end\n"
	"\n"
	"Exit status: 0 when the search came to its end, 1 when it could not, 2 for a wrong command line.";

enum { KEY_SIZE = 0x100 };

static const struct argp_option table[] = {
	{ "size", KEY_SIZE, "ROWS", 0, "Rows of the matrices, a multiple of 64 up to 8192 (512)", 0 },
	{ 0 },
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
	struct search_options *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options->common;
		return 0;
	case KEY_SIZE:
		options->rows = (unsigned)common_number(state, "size", argument, 64, 8192);
		if (options->rows % 64)
			argp_error(state, "--size takes a multiple of 64, not '%s'", argument);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

void search_options_parse(int n_arguments, char **arguments, struct search_options *ret_options)
{
	static const struct argp_child children[] = { { &common_options_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = { .options = table, .parser = parse, .doc = about, .children = children };
	struct search_options options = { .common = COMMON_OPTIONS_DEFAULT, .rows = 512 };

	argp_err_exit_status = 2;
	argp_parse(&argp, n_arguments, arguments, 0, NULL, &options);
	*ret_options = options;
}
