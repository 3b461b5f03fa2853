// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Picking one process. The list of segments is in order of creation, so that of
// equals the last is the newest.

#include "pick.h"

#include "../libtelemetry/discover.h"
#include "../monitor/model.h"

#include "../libtelemetry/banned.h"

int cli_pick_process(const char *word, struct tele_attach **ret_attach, struct tele_error *ret_error)
{
	struct tele_found_list list = {0};
	struct tele_found *best = NULL;
	unsigned best_score = 0;
	int result = tele_discover(NULL, &list, ret_error);
	for (size_t i = 0; result >= 0 && i < list.n_items; i++) {
		if (!list.items[i].attach)
			continue;
		const struct tele_instance *instance = tele_attach_instance(list.items[i].attach);
		unsigned match = mon_identity_match(&instance->identity, word);
		unsigned score = match ? 2 * match + tele_state_is_alive(instance->state) : 0;
		if (score == 0 || score < best_score)
			continue;
		best = &list.items[i];
		best_score = score;
	}
	if (result >= 0 && !best)
		result = tele_fail(ret_error, TELE_ENOTFOUND, "no process %s publishes", word);
	if (result >= 0) {
		*ret_attach = best->attach;
		best->attach = NULL;
	}
	tele_found_list_close(&list);
	return result < 0 ? result : 0;
}
