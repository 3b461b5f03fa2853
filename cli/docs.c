// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Generated documents: docs/fields.md from the schema tables, docs/rollcall.1
// from the table of verbs. `make docs` writes them, lint compares.

#include "commands.h"
#include "text.h"

#include "../libtelemetry/event.h"
#include "../libtelemetry/fields.h"
#include "../libtelemetry/rollcall.h"
#include "../libtelemetry/source.h"
#include "../monitor/keys.h"

#include "../libtelemetry/banned.h"

// ---- docs/fields.md ---------------------------------------------------------------

static void print_field(const struct tele_builtin_field *field)
{
	const struct tele_builtin_field *age = &tele_builtin_fields[field->age_id];
	printf("| `%s` | %s | %s | %s | %s | %s | %s | `%s` | %u | %s |\n", field->name,
	       tele_kind_name(field->kind), tele_unit_name(field->unit),
	       field->bucket ? tele_bucket_name(field->bucket) : "",
	       tele_memory_name(field->memory), tele_resident_name(field->resident), field->label,
	       age->name, (unsigned)field->since, field->help);
}

static void print_section(const struct tele_builtin_section *section)
{
	printf("\n## %s%s\n\n%c%s.\n\n"
	       "| field | kind | unit | bucket | memory | resident | label | age | since | meaning |\n"
	       "|---|---|---|---|---|---|---|---|---|---|\n",
	       section->name, section->scope == TELE_SCOPE_PROCESS ? "" : "[N]",
	       section->help[0] >= 'a' && section->help[0] <= 'z' ? section->help[0] - 'a' + 'A'
								     : section->help[0],
	       section->help + 1);
	for (unsigned i = 0; i < section->n_fields; i++)
		print_field(&tele_builtin_fields[section->first_id + i]);
}

static void print_invariants(void)
{
	printf("\n## Invariants\n\n"
	       "Each holds in every row in which all its fields are known; the monitor checks them on\n"
	       "every frame.\n\n");
	for (size_t i = 0; i < tele_builtin_invariants_count; i++) {
		const struct tele_builtin_invariant *invariant = &tele_builtin_invariants[i];
		printf("- `%s`: `%s` =", tele_builtin_sections[invariant->section].name,
		       tele_builtin_fields[invariant->target_id].name);
		for (unsigned t = 0; t < TELE_INVARIANT_TERMS_MAX && invariant->terms[t].sign; t++)
			printf(" %s`%s`", invariant->terms[t].sign < 0 ? "- " : t ? "+ " : "",
			       tele_builtin_fields[invariant->terms[t].id].name);
		putchar('\n');
	}
}

static void print_vocabulary(void)
{
	printf("\n## Outcomes of a candidate\n\n| number | name | linked | timed |\n|---|---|---|---|\n");
	for (unsigned i = 1; i < TELE_OUTCOME_COUNT; i++)
		printf("| %u | `%s` | %s | %s |\n", i, tele_outcome_name(i),
		       tele_outcome_is_linked(i) ? "yes" : "no", tele_outcome_is_timed(i) ? "yes" : "no");
	printf("\n## Events\n\n| number | name |\n|---|---|\n");
#define X(name, value, text) printf("| %d | `%s` |\n", value, text);
	TELE_EVENT_MAP(X)
#undef X
	printf("\n## States of a process\n\n| number | name |\n|---|---|\n");
#define X(name, value, text) printf("| %d | `%s` |\n", value, text);
	TELE_STATE_MAP(X)
#undef X
}

void cli_print_fields(void)
{
	printf("# Fields\n\n"
	       "Made by `rollcall docs --fields` from `libtelemetry/schema/*.def`; schema version %d.\n\n"
	       "Every value is an unsigned 64-bit number; all ones is *unknown*, never 0. A name is\n"
	       "`section.field`, with a number where a section has several instances:\n"
	       "`device[0].used_bytes`. `age` names the field that says when the value was read.\n",
	       TELE_SCHEMA_VERSION);
	for (unsigned i = 0; i < TELE_SECTION_COUNT; i++)
		print_section(&tele_builtin_sections[i]);
	print_invariants();
	print_vocabulary();
}

// ---- docs/rollcall.1 ----------------------------------------------------------------

// Prints text with roff's own characters escaped; \(oq..\(cq are not needed, a
// leading dot or quote would be a request.
static void print_roff(const char *text)
{
	if (*text == '.' || *text == '\'')
		printf("\\&");
	for (; *text; text++) {
		if (*text == '\\')
			printf("\\e");
		else if (*text == '-')
			printf("\\-");
		else if (*text == '`')
			printf("\\(ga");
		else if (*text == '\'')
			printf("\\(aq");
		else
			putchar(*text);
	}
}

static void print_roff_line(const char *before, const char *text, const char *after)
{
	printf("%s", before);
	print_roff(text);
	printf("%s", after);
}

static void print_man_verb(enum cli_verb_id id)
{
	const struct cli_verb *verb = &cli_verbs[id];
	printf(".SS rollcall %s", verb->name);
	if (*verb->usage)
		print_roff_line(" ", verb->usage, "");
	putchar('\n');
	print_roff_line("", verb->text, "\n");
	for (size_t i = 0; i < CLI_OPTION_COUNT; i++) {
		const struct cli_option *option = &cli_options[i];
		if (option->verb != id)
			continue;
		printf(".TP\n.B ");
		if (option->short_name)
			printf("\\-%c, ", option->short_name);
		print_roff_line("\\-\\-", option->long_name, "");
		if (option->argument)
			print_roff_line("=", option->argument, "");
		print_roff_line("\n", option->help, "\n");
	}
	for (size_t i = 0; i < cli_examples_count; i++)
		if (cli_examples[i].verb == id) {
			print_roff_line(".PP\n", cli_examples[i].what, ":\n");
			print_roff_line(".PP\n.RS 4\n.nf\n", cli_examples[i].line, "\n.fi\n.RE\n");
		}
}

// One paragraph a key, from the table that the monitor reads keys by.
static void print_man_keys(void)
{
	printf(".SH KEYS\nIn \\fBtop\\fR, \\fBreplay\\fR and \\fBrun \\-\\-top\\fR. A key means the same in "
	       "every view; where it means nothing the foot says so.\n");
	for (int group = 0; group < MON_GROUP_COUNT; group++) {
		print_roff_line(".SS ", mon_key_group_title((enum mon_key_group)group), "\n");
		for (int key = 0; key < MON_KEY_COUNT; key++) {
			const struct mon_key_row *row = mon_key_row((enum mon_key)key);
			if (!row || (int)row->group != group)
				continue;
			print_roff_line(".TP\n.B ", row->shown, "\n");
			print_roff_line("", row->help, "\n");
		}
	}
}

void cli_print_man(void)
{
	printf(".\\\" Made by `rollcall docs --man` from cli/commands.def.\n"
	       ".TH ROLLCALL 1 \"\" \"rollcall %s\" \"User Commands\"\n"
	       ".SH NAME\nrollcall \\- watches the memory of running programs, and of searches above all\n"
	       ".SH SYNOPSIS\n.B rollcall\n[\\fIVERB\\fR] [\\fIOPTION\\fR...]\n"
	       ".SH DESCRIPTION\n"
	       "Programs started by \\fBrollcall run\\fR, or linked with librollcall, publish what they hold "
	       "in a shared segment: the books of the heap, a census of pools, contexts and modules, what "
	       "the kernel says of the process, and the progress of a search in candidates. The other "
	       "verbs watch, record and replay it. A process that has ended can still be read.\n"
	       ".PP\n\\fBrollcall\\fR alone is \\fBrollcall top\\fR. Every verb knows \\fB\\-\\-help\\fR and "
	       "\\fB\\-\\-version\\fR.\n.SH VERBS\n",
	       ROLLCALL_VERSION);
	for (int id = 0; id < CLI_VERB_COUNT; id++)
		if (!cli_verbs[id].is_hidden)
			print_man_verb((enum cli_verb_id)id);
	print_man_keys();
	printf(".SH ENVIRONMENT\n");
	for (size_t i = 0; i < cli_variables_count; i++) {
		print_roff_line(".TP\n.B ", cli_variables[i].name, "\n");
		print_roff_line("", cli_variables[i].help, "\n");
	}
	printf(".SH FILES\n.TP\n.I /dev/shm/rollcall\\-UID/PID.RANDOM.rcs\n"
	       "Segment of a process, dead or alive. \\fBrollcall gc\\fR removes those of dead ones.\n"
	       ".TP\n.I $XDG_CONFIG_HOME/rollcall/config\n"
	       "Settings of the screens (\\fI~/.config\\fR without the variable), as lines "
	       "\\fINAME\\fR = \\fIVALUE\\fR and comments after #. Written by the key W and by "
	       "\\fBtop \\-\\-save\\fR, and never else.\n"
	       ".SH EXIT STATUS\n0 when all went well, 1 when something failed, 2 when the command was used "
	       "wrongly. \\fBrollcall run\\fR ends with the status of its command.\n");
}

int cli_docs(const struct cli_call *call)
{
	int status = cli_expect_operands(call, 0, 0, "nothing");
	if (status != CLI_OK)
		return status;
	if (!call->values[CLI_docs_fields] == !call->values[CLI_docs_man])
		return cli_fail(call, CLI_USAGE, "say --fields or --man");
	if (call->values[CLI_docs_fields])
		cli_print_fields();
	else
		cli_print_man();
	return cli_finish_output(call);
}
