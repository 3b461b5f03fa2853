// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The verb `list`: one line a process, from its latest row alone, without
// decoding any history. As JSON it is the same reading as `top --json`.

#include "clean.h"
#include "commands.h"
#include "text.h"

#include "../analysis/derived.h"
#include "../libtelemetry/discover.h"
#include "../monitor/monitor.h"

#include <unistd.h>

#include "../libtelemetry/banned.h"

enum { RECENT_S = 600, LABEL_COLUMNS = 60 };

// Whether a process is listed without --all.
static bool is_listed(const struct tele_attach *attach, const struct tele_instance *instance,
		      uint64_t now_ns)
{
	if (tele_state_is_alive(instance->state) || tele_attach_is_evidence(attach))
		return true;
	uint64_t heartbeat_ns = tele_attach_heartbeat_ns(attach);
	return heartbeat_ns + RECENT_S * 1000000000ull > now_ns;
}

// "82+1" for working pools and those of all other labels; "-" when it publishes
// no census.
static void count_pools(const struct tele_schema *schema, const uint64_t *row, uint32_t n_fields,
			char *buffer, size_t size)
{
	struct analysis_derived derived;
	uint64_t working = tele_schema_value(schema, TELE_ID_census_live_working_pools, TELE_NO_INSTANCE, row, n_fields);
	analysis_derived_read(schema, row, n_fields, &derived);
	if (derived.live_pools == TELE_UNKNOWN || working > derived.live_pools)
		snprintf(buffer, size, "-");
	else
		snprintf(buffer, size, "%llu+%llu", (unsigned long long)working,
			 (unsigned long long)(derived.live_pools - working));
}

static void count_text(uint64_t value, char *buffer, size_t size)
{
	if (value == TELE_UNKNOWN)
		snprintf(buffer, size, "-");
	else
		snprintf(buffer, size, "%llu", (unsigned long long)value);
}

// Returns whether it has pools.
static bool print_process(struct tele_attach *attach, uint64_t now_ns)
{
	static uint64_t row[TELE_FIELDS_MAX];
	const struct tele_instance *instance = tele_attach_instance(attach);
	const struct tele_identity *identity = &instance->identity;
	uint32_t n_fields = 0;
	uint64_t seq;
	char rss[CLI_SIZE_TEXT];
	char up[CLI_SIZE_TEXT];
	char pools[48];
	char candidates[24];
	char label[sizeof(identity->label)];
	bool is_alive = tele_state_is_alive(instance->state);
	if (tele_attach_latest(attach, row, TELE_ARRAY_LEN(row), &n_fields, &seq, NULL) < 0)
		n_fields = 0;
	uint64_t until_ns = is_alive ? now_ns : tele_attach_heartbeat_ns(attach);
	count_pools(instance->schema, row, n_fields, pools, sizeof(pools));
	count_text(tele_schema_value(instance->schema, TELE_ID_search_candidates_attempted, TELE_NO_INSTANCE, row, n_fields),
		   candidates, sizeof(candidates));
	snprintf(label, sizeof(label), "%s", identity->label[0] ? identity->label : identity->comm);
	cli_cut(cli_clean(label), LABEL_COLUMNS);
	printf("%7llu  %-13s %7s %11s %9s %6s  %s\n", (unsigned long long)identity->pid,
	       tele_state_name(instance->state),
	       cli_duration_text(until_ns > identity->created_at_ns ? until_ns - identity->created_at_ns : 0, up),
	       cli_bytes_text(tele_schema_value(instance->schema, TELE_ID_host_rss_bytes, TELE_NO_INSTANCE, row, n_fields), rss),
	       pools, candidates, label);
	return pools[0] != '-';
}

static int print_list(const struct cli_call *call)
{
	struct tele_found_list list = {0};
	struct tele_error error;
	uint64_t now_ns = cli_now_ns();
	unsigned n_printed = 0;
	unsigned n_hidden = 0;
	bool has_pools = false;
	unsigned n_unreadable = 0;
	if (tele_discover(NULL, &list, &error) < 0)
		return cli_fail_with(call, &error, "see `rollcall doctor`");
	for (size_t i = 0; i < list.n_items; i++) {
		struct tele_attach *attach = list.items[i].attach;
		if (!attach) {
			n_unreadable += list.items[i].error.code != TELE_ENOTREADY;
			continue;
		}
		if (!call->values[CLI_list_all] && !is_listed(attach, tele_attach_instance(attach), now_ns)) {
			n_hidden++;
			continue;
		}
		if (n_printed++ == 0)
			printf("%7s  %-13s %7s %11s %9s %6s  %s\n", "PID", "STATE", "UP", "RSS", "POOLS", "CAND",
			       "LABEL");
		has_pools |= print_process(attach, now_ns);
	}
	if (n_printed == 0)
		printf("Nothing publishes here. Start a program with:  rollcall run -- CMD\n");
	if (has_pools)
		printf("POOLS live now: labelled working + all others; CAND candidates attempted\n");
	if (n_hidden)
		printf("%u more that ended a while ago: rollcall list --all\n", n_hidden);
	for (size_t i = 0; i < list.n_items && n_unreadable; i++)
		if (!list.items[i].attach && list.items[i].error.code != TELE_ENOTREADY)
			cli_note(call, "cannot read a segment: %s", list.items[i].error.text);
	tele_found_list_close(&list);
	return cli_finish_output(call);
}

int cli_list(const struct cli_call *call)
{
	const struct mon_options options = {0};
	struct mon_out out = {0};
	struct tele_error error;
	int status = cli_expect_operands(call, 0, 0, "nothing");
	if (status != CLI_OK)
		return status;
	cli_clean_automatically();
	if (!call->values[CLI_list_json])
		return print_list(call);
	if (mon_top_json(&options, &out, &error) < 0) {
		mon_out_fini(&out);
		return cli_fail_with(call, &error, "see `rollcall doctor`");
	}
	if (mon_out_status(&out) == 0)
		fwrite(out.bytes, 1, out.n_bytes, stdout);
	mon_out_fini(&out);
	return cli_finish_output(call);
}
