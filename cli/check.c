// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The verb `check`. Its exit status is the contract of a CI gate: 2 used
// wrongly or unreadable, 1 broken, 3 not enough data, 0 all rules kept.

#include "commands.h"
#include "limits.h"
#include "pick.h"
#include "text.h"

#include "../libtelemetry/trace.h"
#include "../monitor/monitor.h"
#include "../recorder/check.h"

#include "../libtelemetry/banned.h"

enum { CLI_NOT_TOLD = 3 };

static int parse_rules(const struct cli_call *call, struct rec_rule *rules, size_t *ret_n_rules)
{
	static const struct {
		enum cli_option_id option;
		enum rec_rule_kind kind;
	} kinds[] = {
		{CLI_check_max_growth, REC_RULE_MAX_GROWTH},
		{CLI_check_max, REC_RULE_MAX},
		{CLI_check_balanced, REC_RULE_BALANCED},
		{CLI_check_no_growing, REC_RULE_NO_GROWING},
	};
	struct tele_error error;
	size_t n = 0;
	for (int i = 0; i < call->n_given; i++)
		for (size_t k = 0; k < TELE_ARRAY_LEN(kinds); k++) {
			if (call->given[i].option != kinds[k].option)
				continue;
			const char *text = cli_options[kinds[k].option].argument ? call->given[i].value : NULL;
			if (rec_rule_parse(kinds[k].kind, text, &rules[n++], &error) < 0)
				return cli_fail(call, CLI_USAGE, "%s", error.text);
		}
	*ret_n_rules = n;
	if (n == 0)
		return cli_fail(call, CLI_USAGE, "a rule is missing; see `rollcall check --help`");
	return CLI_OK;
}

// A process by its PID, with its whole history.
static int open_process(const char *word, struct tele_source **ret_source, struct tele_error *ret_error)
{
	struct tele_attach *attach;
	int failed = cli_pick_process(word, &attach, ret_error);
	return failed ? failed : tele_ring_source_open(attach, false, ret_source, ret_error);
}

static const char *advice(int code)
{
	switch (code) {
	case TELE_ENOTFOUND:
		return "`rollcall list` shows which do, and `rollcall info FILE` what a trace holds";
	case TELE_EMAGIC:
		return "name a trace, or a PID";
	case TELE_ESYNTAX:
		return "see `rollcall check --help`, and `rollcall report` for the classes";
	default:
		return "check the name and the permissions";
	}
}

int cli_check(const struct cli_call *call)
{
	struct rec_rule rules[CLI_GIVEN_MAX];
	struct analysis_limits limits;
	struct tele_source *source = NULL;
	struct tele_error error = {0};
	struct mon_out out = {0};
	enum rec_rule_status status = REC_RULE_OK;
	struct rec_check_options options = {
		.rules = rules,
		.limits = &limits,
		.select = call->values[CLI_check_process],
		.is_json = call->values[CLI_check_json],
		.is_quiet = call->values[CLI_check_quiet],
		.is_ascii = !mon_is_utf8_locale(),
	};
	if (cli_expect_operands(call, 1, 1, "the trace or PID") != CLI_OK ||
	    parse_rules(call, rules, &options.n_rules) != CLI_OK || cli_limits(call, CLI_check_capacity, &limits) != CLI_OK)
		return CLI_USAGE;
	const char *word = call->operands[0];
	bool is_pid = *word && word[strspn(word, "0123456789")] == '\0';
	options.is_trace = !is_pid;
	int result = is_pid ? open_process(word, &source, &error) : tele_trace_open(word, &source, &error);
	if (result >= 0)
		result = rec_check(source, &options, &out, &status, &error);
	tele_source_close(source);
	if (result < 0) {
		mon_out_fini(&out);
		cli_fail_with(call, &error, advice(result));
		return CLI_USAGE;
	}
	fwrite(out.bytes, 1, out.n_bytes, stdout);
	mon_out_fini(&out);
	if (cli_finish_output(call) != CLI_OK)
		return CLI_USAGE;
	return status == REC_RULE_BROKEN ? CLI_FAILED : status == REC_RULE_NOT_TOLD ? CLI_NOT_TOLD : CLI_OK;
}
