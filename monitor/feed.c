// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Live processes into a model. What has gone is forgotten before anything else
// is applied, since its instance is gone too.

#include "feed.h"

#include <errno.h>

#include "../libtelemetry/banned.h"

int mon_feed_more(struct mon_live *live, struct mon_model *model, struct tele_error *ret_error)
{
	struct tele_record record;
	for (;;) {
		int got = tele_source_next(mon_live_source(live), &record, ret_error);
		if (got != 1)
			return got;
		int failed = mon_model_apply(model, &record);
		if (failed)
			return tele_fail(ret_error, failed, "out of memory");
	}
}

int mon_feed_live(struct mon_live *live, struct mon_model *model, struct mon_model *frozen,
		  struct tele_error *ret_error)
{
	uint32_t n_gone;
	int status = mon_live_refresh(live, ret_error);
	if (status < 0)
		return status;
	const uint64_t *gone = mon_live_gone(live, &n_gone);
	for (uint32_t i = 0; i < n_gone; i++) {
		mon_model_forget(model, gone[i]);
		if (frozen)
			mon_model_forget(frozen, gone[i]);
	}
	const struct tele_found_list *found = mon_live_found(live);
	mon_model_clear_unreadable(model);
	for (size_t i = 0; i < found->n_items; i++) {
		const struct tele_found *item = &found->items[i];
		if (item->attach || item->error.code == TELE_ENOTREADY)
			continue;
		if (mon_model_add_unreadable(model, item->path, item->error.text))
			return tele_fail(ret_error, -ENOMEM, "out of memory");
	}
	return mon_feed_more(live, model, ret_error);
}

const struct mon_process *mon_feed_first_opened(const struct mon_model *model, const char *select)
{
	const struct mon_process *only = NULL;
	if (select)
		return mon_model_select(model, select);
	for (uint32_t i = 0; i < model->n_processes; i++) {
		if (!mon_process_is_listed(model->processes[i]))
			continue;
		if (only)
			return NULL;
		only = model->processes[i];
	}
	return model->n_unreadable ? NULL : only;
}
