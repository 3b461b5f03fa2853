// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The command: finds the verb, parses its words, calls it. Everything a verb
// has to say on standard error is one line; the exit status is 0, 1 (failed) or
// 2 (used wrongly), and for `run` that of the command.

#include "commands.h"
#include "text.h"

#include "../libtelemetry/rollcall.h"

#include <locale.h>

#include "../libtelemetry/banned.h"

static int call_verb(const struct cli_verb *verb, int argc, char **argv)
{
	struct cli_call call;
	int status = cli_parse(verb, argc, argv, &call);
	if (status < 0)
		return cli_finish_output(&call);
	return status == CLI_OK ? verb->call(&call) : status;
}

static int print_version(void)
{
	printf("rollcall %s\n", ROLLCALL_VERSION);
	return cli_finish_output(NULL);
}

static int print_help(int argc, char **argv)
{
	if (argc > 0) {
		const struct cli_verb *verb = cli_find_verb(argv[0], NULL);
		if (!verb)
			return cli_fail(NULL, CLI_USAGE, "no verb '%s'; `rollcall --help` lists them",
					argv[0]);
		cli_print_verb_help(verb);
	} else {
		cli_print_help();
	}
	return cli_finish_output(NULL);
}

int main(int argc, char **argv)
{
	setlocale(LC_CTYPE, "");
	const struct cli_verb *top = &cli_verbs[CLI_VERB_top];
	if (argc < 1)
		return CLI_USAGE;
	if (argc < 2)
		return call_verb(top, argc, argv);
	const char *word = argv[1];
	if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0)
		return print_version();
	if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0)
		return print_help(argc - 2, argv + 2);
	if (word[0] == '-')
		return call_verb(top, argc, argv);
	const char *nearest;
	const struct cli_verb *verb = cli_find_verb(word, &nearest);
	if (verb && argc == 3 && strcmp(argv[2], "--version") == 0)
		return print_version();
	if (!verb && nearest)
		return cli_fail(NULL, CLI_USAGE, "no verb '%s'; did you mean '%s'? `rollcall --help` lists them",
				word, nearest);
	if (!verb)
		return cli_fail(NULL, CLI_USAGE, "no verb '%s'; `rollcall --help` lists them", word);
	return call_verb(verb, argc - 1, argv + 1);
}
