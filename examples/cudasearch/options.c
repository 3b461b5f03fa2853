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

enum { KEY_LEAK = 0x100, KEY_BEAM, KEY_SIZE, KEY_PAUSE };

static const struct argp_option table[] = {
	{ "candidates", 'n', "N", 0, "Candidates to try (120)", 0 },
	{ "leak", KEY_LEAK, "WHAT", 0,
		"What is never given back: none, pools, contexts, modules, or failed: the pools of failed candidates only (none)", 0 },
	{ "seed", 's', "S", 0, "Seed of the search (1)", 0 },
	{ "beam", KEY_BEAM, "K", 0, "Candidates kept (4)", 0 },
	{ "size", KEY_SIZE, "ROWS", 0, "Rows of the matrices, a multiple of 64 up to 8192 (512)", 0 },
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

static enum search_leak leak_of(struct argp_state *state, const char *text)
{
	static const char *const leaks[] = { "none", "pools", "contexts", "modules", "failed" };

	for (unsigned i = 0; i < sizeof(leaks) / sizeof(leaks[0]); i++)
		if (strcmp(text, leaks[i]) == 0)
			return (enum search_leak)i;
	argp_error(state, "--leak does not take '%s'", text);
	return LEAK_NONE;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
	struct search_options *options = state->input;

	switch (key) {
	case 'n':
		options->candidates = (unsigned)number(state, "candidates", argument, 1, 1000000);
		return 0;
	case KEY_LEAK:
		options->leak = leak_of(state, argument);
		return 0;
	case 's':
		options->seed = number(state, "seed", argument, 0, UINT64_MAX);
		return 0;
	case KEY_BEAM:
		options->beam = (unsigned)number(state, "beam", argument, 1, BEAM_MAX);
		return 0;
	case KEY_SIZE:
		options->rows = (unsigned)number(state, "size", argument, 64, 8192);
		if (options->rows % 64)
			argp_error(state, "--size takes a multiple of 64, not '%s'", argument);
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

void search_options_parse(int n_arguments, char **arguments, struct search_options *ret_options)
{
	static const struct argp argp = { .options = table, .parser = parse, .doc = about };
	struct search_options options = { .candidates = 120, .beam = 4, .rows = 512, .seed = 1 };

	argp_err_exit_status = 2;
	argp_parse(&argp, n_arguments, arguments, 0, NULL, &options);
	*ret_options = options;
}
