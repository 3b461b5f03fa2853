// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The automatic rule and the verb `gc`. That a process is gone is decided by
// tele_is_removable alone, and what goes is the file that it judged, whatever
// its path leads to by then.

#include "clean.h"

#include "commands.h"
#include "text.h"

#include <errno.h>

#include "../libtelemetry/banned.h"

// Age of a dead segment: since its last sign of life.
static uint64_t dead_ns(const struct tele_attach *attach, uint64_t now_ns)
{
	uint64_t heartbeat_ns = tele_attach_heartbeat_ns(attach);
	return heartbeat_ns < now_ns ? now_ns - heartbeat_ns : 0;
}

void cli_clean_automatically(void)
{
	struct tele_found_list list = {0};
	uint64_t dead_bytes = 0;
	uint64_t now_ns = cli_now_ns();
	if (tele_discover(NULL, &list, NULL) < 0)
		return;
	for (size_t i = 0; i < list.n_items; i++)
		if (list.items[i].attach &&
		    !tele_state_is_alive(tele_attach_instance(list.items[i].attach)->state))
			dead_bytes += tele_attach_segment_bytes(list.items[i].attach);
	// Oldest first: the list is in order of creation.
	for (size_t i = 0; i < list.n_items; i++) {
		struct tele_attach *attach = list.items[i].attach;
		if (!attach || tele_attach_is_evidence(attach) || !tele_is_removable(attach))
			continue;
		if (dead_bytes <= CLI_DEAD_BYTES_MAX && dead_ns(attach, now_ns) <= CLI_DEAD_AGE_NS_MAX)
			continue;
		uint64_t bytes = tele_attach_segment_bytes(attach);
		if (tele_found_remove(&list.items[i], NULL) == 0)
			dead_bytes -= bytes < dead_bytes ? bytes : dead_bytes;
	}
	tele_found_list_close(&list);
}

static int remove_one(const struct cli_call *call, const struct tele_found *found, bool is_dry,
		      uint64_t bytes, uint64_t *total_bytes)
{
	char size[CLI_SIZE_TEXT];
	char label[128] = "unreadable";
	if (found->attach)
		snprintf(label, sizeof(label), "%s", tele_attach_instance(found->attach)->identity.label);
	struct tele_error error;
	int failed = is_dry ? 0 : tele_found_remove(found, &error);
	if (failed == -ENOENT)
		return CLI_OK;
	if (failed)
		return cli_fail(call, CLI_FAILED, "%s; check who owns it", error.text);
	*total_bytes += bytes;
	printf("%s %s (%s, %s)\n", is_dry ? "would remove" : "removed", found->path,
	       cli_cut(cli_clean(label), 40), cli_bytes_text(bytes, size));
	return CLI_OK;
}

// What stays although it is dead or cannot be read, and why.
struct kept {
	unsigned n_fresh, n_unreadable;
};

static void count_kept(const struct tele_found *found, struct kept *kept)
{
	if (!found->attach)
		kept->n_unreadable += found->error.code != TELE_ENOTREADY;
	else
		kept->n_fresh += !tele_state_is_alive(tele_attach_instance(found->attach)->state);
}

static void explain_kept(const struct kept *kept)
{
	if (kept->n_fresh)
		printf("%u dead kept for now: the last sign of life is too young to be sure; try again in "
		       "a few seconds\n",
		       kept->n_fresh);
	if (kept->n_unreadable)
		printf("%u unreadable kept: `rollcall gc --force` removes those that nobody writes to\n",
		       kept->n_unreadable);
}

int cli_gc(const struct cli_call *call)
{
	struct tele_found_list list = {0};
	struct tele_error error;
	bool is_dry = call->values[CLI_gc_dry_run];
	uint64_t n_removed = 0;
	uint64_t total_bytes = 0;
	struct kept kept = {0};
	int status = cli_expect_operands(call, 0, 0, "nothing");
	if (status != CLI_OK)
		return status;
	if (tele_discover(NULL, &list, &error) < 0)
		return cli_fail_with(call, &error, "see `rollcall doctor`");
	for (size_t i = 0; i < list.n_items; i++) {
		struct tele_found *found = &list.items[i];
		uint64_t bytes = found->attach ? tele_attach_segment_bytes(found->attach) : 0;
		bool may_go = found->attach ? tele_is_removable(found->attach)
					    : call->values[CLI_gc_force] && tele_found_is_abandoned(found, &bytes);
		if (!may_go) {
			count_kept(found, &kept);
			continue;
		}
		if (remove_one(call, found, is_dry, bytes, &total_bytes) == CLI_OK)
			n_removed++;
		else
			status = CLI_FAILED;
	}
	tele_found_list_close(&list);
	char size[CLI_SIZE_TEXT];
	printf("%llu segment%s, %s\n", (unsigned long long)n_removed, n_removed == 1 ? "" : "s",
	       cli_bytes_text(total_bytes, size));
	explain_kept(&kept);
	int written = cli_finish_output(call);
	return status == CLI_OK ? written : status;
}
