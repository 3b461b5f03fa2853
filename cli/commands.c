// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The table of verbs as arrays, and help made from it. The table is included
// once for each array; a row that lacks a column is a compile error on its own
// line.

#include "commands.h"

#include "../libtelemetry/rollcall.h"

#include <limits.h>

#include "../libtelemetry/banned.h"

enum { PUBLIC = false, HIDDEN = true };

const struct cli_verb cli_verbs[CLI_VERB_COUNT] = {
#define CLI_VERB(id, words_, visibility, summary_, usage_, text_) \
	[CLI_VERB_##id] = {                                       \
		.name = #id,                                      \
		.words = CLI_WORDS_##words_,                      \
		.is_hidden = visibility,                          \
		.summary = summary_,                              \
		.usage = usage_,                                  \
		.text = text_,                                    \
		.call = cli_##id,                                 \
	},
#include "commands.def"
};

const struct cli_option cli_options[CLI_OPTION_COUNT] = {
#define CLI_OPTION(verb_, id, short_name_, long_name_, argument_, help_) \
	[CLI_##verb_##_##id] = {                                         \
		.verb = CLI_VERB_##verb_,                                \
		.short_name = short_name_,                               \
		.long_name = long_name_,                                 \
		.argument = argument_,                                   \
		.help = help_,                                           \
	},
#include "commands.def"
};

const struct cli_example cli_examples[] = {
#define CLI_EXAMPLE(verb_, line_, what_) {CLI_VERB_##verb_, line_, what_},
#include "commands.def"
};
const size_t cli_examples_count = TELE_ARRAY_LEN(cli_examples);

const struct cli_variable cli_variables[] = {
#define CLI_VARIABLE(name_, help_) {name_, help_},
#include "commands.def"
};
const size_t cli_variables_count = TELE_ARRAY_LEN(cli_variables);

// Edits (insert, delete, replace, swap of neighbours) between two short words.
static unsigned distance_between(const char *a, const char *b)
{
	enum { LEN_MAX = 24 };
	unsigned rows[LEN_MAX + 1][LEN_MAX + 1];
	size_t a_len = strlen(a);
	size_t b_len = strlen(b);
	if (a_len > LEN_MAX || b_len > LEN_MAX)
		return UINT_MAX;
	for (size_t i = 0; i <= a_len; i++)
		for (size_t j = 0; j <= b_len; j++) {
			if (i == 0 || j == 0) {
				rows[i][j] = (unsigned)(i + j);
				continue;
			}
			unsigned best = rows[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
			if (rows[i - 1][j] + 1 < best)
				best = rows[i - 1][j] + 1;
			if (rows[i][j - 1] + 1 < best)
				best = rows[i][j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    rows[i - 2][j - 2] + 1 < best)
				best = rows[i - 2][j - 2] + 1;
			rows[i][j] = best;
		}
	return rows[a_len][b_len];
}

const struct cli_verb *cli_find_verb(const char *name, const char **ret_nearest)
{
	const char *nearest = NULL;
	unsigned nearest_distance = 3;
	for (size_t i = 0; i < CLI_VERB_COUNT; i++) {
		if (strcmp(name, cli_verbs[i].name) == 0)
			return &cli_verbs[i];
		if (cli_verbs[i].is_hidden)
			continue;
		unsigned distance = distance_between(name, cli_verbs[i].name);
		if (distance < nearest_distance && distance < strlen(cli_verbs[i].name)) {
			nearest = cli_verbs[i].name;
			nearest_distance = distance;
		}
	}
	if (ret_nearest)
		*ret_nearest = nearest;
	return NULL;
}

// Prints words wrapped at 78 columns; the cursor stands at column `at`, further
// lines begin at column `indent`.
static void print_wrapped(const char *text, unsigned at, unsigned indent)
{
	enum { WIDTH = 78 };
	while (*text) {
		size_t len = strcspn(text, " ");
		if (at > indent && at + 1 + len > WIDTH) {
			printf("\n%*s", (int)indent, "");
			at = indent;
		} else if (at > indent) {
			putchar(' ');
			at++;
		}
		printf("%.*s", (int)len, text);
		at += (unsigned)len;
		text += len;
		text += strspn(text, " ");
	}
	putchar('\n');
}

static void print_option(char short_name, const char *long_name, const char *argument,
			 const char *help)
{
	enum { COLUMN = 30 };
	int width;
	if (short_name)
		width = printf("  -%c, --%s", short_name, long_name);
	else
		width = printf("      --%s", long_name);
	if (argument)
		width += printf("=%s", argument);
	if (width >= COLUMN - 1) {
		putchar('\n');
		width = 0;
	}
	printf("%*s", COLUMN - width, "");
	print_wrapped(help, COLUMN, COLUMN);
}

void cli_print_verb_help(const struct cli_verb *verb)
{
	enum cli_verb_id id = (enum cli_verb_id)(verb - cli_verbs);
	printf("rollcall %s: %s\n\n  rollcall %s %s\n\n", verb->name, verb->summary, verb->name,
	       verb->usage);
	print_wrapped(verb->text, 0, 0);
	printf("\nOptions:\n");
	for (size_t i = 0; i < CLI_OPTION_COUNT; i++)
		if (cli_options[i].verb == id)
			print_option(cli_options[i].short_name, cli_options[i].long_name,
				     cli_options[i].argument, cli_options[i].help);
	print_option('h', "help", NULL, "print this and end");
	bool has_example = false;
	for (size_t i = 0; i < cli_examples_count; i++)
		if (cli_examples[i].verb == id) {
			printf("%s  %s\n        %s\n", has_example ? "" : "\nExamples:\n",
			       cli_examples[i].line, cli_examples[i].what);
			has_example = true;
		}
}

void cli_print_help(void)
{
	printf("rollcall %s: watches the memory of running programs, and of searches above all\n\n"
	       "  rollcall [VERB] [OPTION...]        `rollcall` alone is `rollcall top`\n"
	       "  rollcall VERB --help               options and examples of a verb\n\n"
	       "Verbs:\n",
	       ROLLCALL_VERSION);
	for (size_t i = 0; i < CLI_VERB_COUNT; i++)
		if (!cli_verbs[i].is_hidden)
			printf("  %-9s %s\n", cli_verbs[i].name, cli_verbs[i].summary);
	printf("\nEnvironment:\n");
	for (size_t i = 0; i < cli_variables_count; i++) {
		int width = printf("  %-21s ", cli_variables[i].name);
		print_wrapped(cli_variables[i].help, (unsigned)width, (unsigned)width);
	}
	printf("\nTo begin:\n"
	       "  rollcall run -- CMD       start a program so that it can be seen\n"
	       "  rollcall                  watch it, in another terminal\n");
}
