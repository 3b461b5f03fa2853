// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The verbs of the command as arrays, from commands.def, and a parsed call of
// one. Every verb is a function `int cli_NAME(const struct cli_call *)` that
// returns the exit status: 0 ok, 1 failure, 2 usage.

#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "../libtelemetry/base.h"

enum { CLI_OK = 0, CLI_FAILED = 1, CLI_USAGE = 2 };

enum cli_verb_id {
#define CLI_VERB(id, words, visibility, summary, usage, text) CLI_VERB_##id,
#include "commands.def"
	CLI_VERB_COUNT
};

enum cli_option_id {
#define CLI_OPTION(verb, id, short_name, long_name, argument, help) CLI_##verb##_##id,
#include "commands.def"
	CLI_OPTION_COUNT
};

enum cli_words { CLI_WORDS_FREE, CLI_WORDS_COMMAND, CLI_WORDS_SPLIT };

struct cli_call;

struct cli_verb {
	const char *name;
	enum cli_words words;
	bool is_hidden;
	const char *summary;
	const char *usage;
	const char *text;
	int (*call)(const struct cli_call *call);
};

struct cli_option {
	enum cli_verb_id verb;
	char short_name; // or 0
	const char *long_name;
	const char *argument; // or NULL
	const char *help;
};

struct cli_example {
	enum cli_verb_id verb;
	const char *line;
	const char *what;
};

struct cli_variable {
	const char *name;
	const char *help;
};

extern const struct cli_verb cli_verbs[CLI_VERB_COUNT];
extern const struct cli_option cli_options[CLI_OPTION_COUNT];
extern const struct cli_example cli_examples[];
extern const size_t cli_examples_count;
extern const struct cli_variable cli_variables[];
extern const size_t cli_variables_count;

#define CLI_GIVEN_MAX 64

// A verb with its options and operands. Strings are the caller's argv.
struct cli_call {
	const struct cli_verb *verb;
	const char *values[CLI_OPTION_COUNT]; // NULL: not given; "" for a flag; the last of several
	// All of them in the order they were given, for verbs that take one often.
	struct cli_given {
		enum cli_option_id option;
		const char *value;
	} given[CLI_GIVEN_MAX];
	int n_given;
	char **operands;
	int n_operands;
	char **command; // NULL-terminated; NULL when there is none
};

#define CLI_VERB(id, words, visibility, summary, usage, text) \
	int cli_##id(const struct cli_call *call);
#include "commands.def"

// Parses argv[0 .. argc) (argv[0] is the verb's name) into *ret_call. Returns
// CLI_OK; CLI_USAGE after having said what is wrong; or -1 when --help was asked
// for and printed. May reorder argv.
int cli_parse(const struct cli_verb *verb, int argc, char **argv, struct cli_call *ret_call);

// The verb of that name, or NULL; *ret_nearest (may be NULL) is then the name
// of the most similar one, or NULL when nothing is.
const struct cli_verb *cli_find_verb(const char *name, const char **ret_nearest);

// A decimal number given as an option. *ret_value is untouched when it was not
// given. Returns CLI_OK, or CLI_USAGE after having said what is wrong.
int cli_number(const struct cli_call *call, enum cli_option_id option, uint64_t lowest,
	       uint64_t highest, uint64_t *ret_value);

// The same of a duration: 90 or 90s, 1.5s, 500ms, 5m, 2h, 7d.
int cli_duration(const struct cli_call *call, enum cli_option_id option, uint64_t lowest_ns,
		 uint64_t highest_ns, uint64_t *ret_ns);

// Checks the number of operands. CLI_OK, or CLI_USAGE after having said so.
int cli_expect_operands(const struct cli_call *call, int at_least, int at_most, const char *what);

// Help to standard output: all verbs, or one.
void cli_print_help(void);
void cli_print_verb_help(const struct cli_verb *verb);

// The generated documents, to standard output.
void cli_print_fields(void);
void cli_print_man(void);

#endif
