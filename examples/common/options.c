// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// See options.h.

#include "options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_LEAK = 0x200, KEY_BEAM, KEY_PAUSE };

static const struct argp_option table[] = {
	{ "candidates", 'n', "N", 0, "Candidates to try (120)", 0 },
	{ "leak", KEY_LEAK, "WHAT", 0,
		"What is never given back: none, pools, contexts, modules, or failed: the pools of failed candidates only (none)", 0 },
	{ "seed", 's', "S", 0, "Seed of the search (1)", 0 },
	{ "beam", KEY_BEAM, "K", 0, "Candidates kept (4)", 0 },
	{ "pause-ms", KEY_PAUSE, "MS", 0, "Wait after each candidate, to be watched (0)", 0 },
	{ "quiet", 'q', NULL, 0, "Print the result only", 0 },
	{ 0 },
};

uint64_t common_number(struct argp_state *state, const char *name, const char *text, uint64_t least, uint64_t most)
{
	char *end;

	errno = 0;
	unsigned long long value = strtoull(text, &end, 10);
	if (errno || end == text || *end || *text < '0' || *text > '9' || value < least || value > most)
		argp_error(state, "--%s takes a number from %llu to %llu, not '%s'", name, (unsigned long long)least,
				(unsigned long long)most, text);
	return value;
}

unsigned common_word(struct argp_state *state, const char *name, const char *text, const char *const *words)
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
	struct common_options *options = state->input;

	switch (key) {
	case 'n':
		options->candidates = (unsigned)common_number(state, "candidates", argument, 1, 1000000);
		return 0;
	case KEY_LEAK:
		options->leak = (enum common_leak)common_word(state, "leak", argument, leaks);
		return 0;
	case 's':
		options->seed = common_number(state, "seed", argument, 0, UINT64_MAX);
		return 0;
	case KEY_BEAM:
		options->beam = (unsigned)common_number(state, "beam", argument, 1, BEAM_MAX);
		return 0;
	case KEY_PAUSE:
		options->pause_ms = (unsigned)common_number(state, "pause-ms", argument, 0, 60000);
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

const struct argp common_options_argp = { .options = table, .parser = parse };
