// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Parsing of a verb's words with getopt_long, from the table. All options of
// the verb land in one array by id, so that a verb only looks up what it knows.

#include "commands.h"
#include "text.h"

#include <errno.h>
#include <getopt.h>

#include "../libtelemetry/banned.h"

enum { HELP = CLI_OPTION_COUNT + 256 };

struct getopt_tables {
	char short_names[2 * CLI_OPTION_COUNT + 8];
	struct option long_options[CLI_OPTION_COUNT + 2];
};

static void build_tables(const struct cli_verb *verb, struct getopt_tables *ret_tables)
{
	enum cli_verb_id id = (enum cli_verb_id)(verb - cli_verbs);
	char *at = ret_tables->short_names;
	struct option *option = ret_tables->long_options;
	if (verb->words == CLI_WORDS_COMMAND)
		*at++ = '+';
	*at++ = ':';
	for (int i = 0; i < CLI_OPTION_COUNT; i++) {
		if (cli_options[i].verb != id)
			continue;
		if (cli_options[i].short_name) {
			*at++ = cli_options[i].short_name;
			if (cli_options[i].argument)
				*at++ = ':';
		}
		*option++ = (struct option){
			.name = cli_options[i].long_name,
			.has_arg = cli_options[i].argument ? required_argument : no_argument,
			.val = 256 + i,
		};
	}
	*at++ = 'h';
	*at = '\0';
	*option++ = (struct option){.name = "help", .val = HELP};
	*option = (struct option){0};
}

// The option that getopt's answer means, or -1.
static int option_of(const struct cli_verb *verb, int answer)
{
	if (answer >= 256)
		return answer - 256;
	for (int i = 0; i < CLI_OPTION_COUNT; i++)
		if (&cli_verbs[cli_options[i].verb] == verb && cli_options[i].short_name == answer)
			return i;
	return -1;
}

static int fail_option(const struct cli_call *call, int answer, char **argv)
{
	const char *word = argv[optind - 1];
	if (answer == ':')
		return cli_fail(call, CLI_USAGE, "option %s lacks its argument; see `rollcall %s --help`",
				word, call->verb->name);
	if (optopt > 0 && optopt < 256)
		return cli_fail(call, CLI_USAGE, "no option -%c; see `rollcall %s --help`", optopt,
				call->verb->name);
	if (optopt >= 256)
		return cli_fail(call, CLI_USAGE, "option %s takes no argument; see `rollcall %s --help`",
				word, call->verb->name);
	return cli_fail(call, CLI_USAGE, "no option %s, or it is not unique; see `rollcall %s --help`",
			word, call->verb->name);
}

// Cuts argv at the first "--": the words after it are the command.
static int split_words(struct cli_call *call, int argc, char **argv)
{
	if (call->verb->words != CLI_WORDS_SPLIT)
		return argc;
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--") == 0) {
			call->command = argv + i + 1;
			argv[i] = NULL;
			return i;
		}
	return argc;
}

int cli_parse(const struct cli_verb *verb, int argc, char **argv, struct cli_call *ret_call)
{
	struct getopt_tables tables;
	*ret_call = (struct cli_call){.verb = verb};
	build_tables(verb, &tables);
	argc = split_words(ret_call, argc, argv);

	opterr = 0;
	optind = 0;
	int answer;
	while ((answer = getopt_long(argc, argv, tables.short_names, tables.long_options, NULL)) != -1) {
		if (answer == HELP || answer == 'h') {
			cli_print_verb_help(verb);
			return -1;
		}
		if (answer == '?' || answer == ':')
			return fail_option(ret_call, answer, argv);
		int option = option_of(verb, answer);
		TELE_ASSERT(option >= 0);
		ret_call->values[option] = cli_options[option].argument ? optarg : "";
		if (ret_call->n_given == CLI_GIVEN_MAX)
			return cli_fail(ret_call, CLI_USAGE, "more than %d options", CLI_GIVEN_MAX);
		ret_call->given[ret_call->n_given++] =
			(struct cli_given){(enum cli_option_id)option, ret_call->values[option]};
	}
	ret_call->operands = argv + optind;
	ret_call->n_operands = argc - optind;
	if (verb->words == CLI_WORDS_COMMAND && ret_call->n_operands > 0)
		ret_call->command = ret_call->operands;
	return CLI_OK;
}

int cli_number(const struct cli_call *call, enum cli_option_id option, uint64_t lowest,
	       uint64_t highest, uint64_t *ret_value)
{
	const char *text = call->values[option];
	if (!text)
		return CLI_OK;
	char *end;
	errno = 0;
	unsigned long long value = strtoull(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end || errno || value < lowest || value > highest)
		return cli_fail(call, CLI_USAGE, "--%s %s is not a number from %llu to %llu",
				cli_options[option].long_name, text, (unsigned long long)lowest,
				(unsigned long long)highest);
	*ret_value = value;
	return CLI_OK;
}

// The nanoseconds of a unit, or 0.
static double unit_ns(const char *unit)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"", 1e9}, {"s", 1e9}, {"ms", 1e6}, {"m", 60e9}, {"min", 60e9}, {"h", 3600e9}, {"d", 86400e9}};
	for (size_t i = 0; i < TELE_ARRAY_LEN(units); i++)
		if (strcmp(unit, units[i].name) == 0)
			return units[i].ns;
	return 0;
}

int cli_duration(const struct cli_call *call, enum cli_option_id option, uint64_t lowest_ns,
		 uint64_t highest_ns, uint64_t *ret_ns)
{
	const char *text = call->values[option];
	char *end;
	if (!text)
		return CLI_OK;
	double ns = strspn(text, "0123456789.") ? strtod(text, &end) : -1;
	ns = ns >= 0 ? ns * unit_ns(end) : -1;
	if (!(ns >= (double)lowest_ns && ns <= (double)highest_ns))
		return cli_fail(call, CLI_USAGE, "--%s %s is not a time like 90s, 500ms, 5m or 2h",
				cli_options[option].long_name, text);
	*ret_ns = (uint64_t)ns;
	return CLI_OK;
}

int cli_expect_operands(const struct cli_call *call, int at_least, int at_most, const char *what)
{
	if (call->n_operands < at_least)
		return cli_fail(call, CLI_USAGE, "%s is missing; see `rollcall %s --help`", what,
				call->verb->name);
	if (call->n_operands > at_most)
		return cli_fail(call, CLI_USAGE, "'%s' is one word too many; see `rollcall %s --help`",
				call->operands[at_most], call->verb->name);
	return CLI_OK;
}
