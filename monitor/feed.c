// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Live processes into a model. What has gone is forgotten before anything else
// is applied, since its instance is gone too.

#include "feed.h"

#include <errno.h>
#include <string.h>

#include "../libtelemetry/banned.h"

void mon_feed_init(struct mon_model *model, uint32_t history_max, const struct mon_options *options)
{
	mon_model_init(model, history_max);
	model->look = options->is_final ? ANALYSIS_FINAL : ANALYSIS_LIVE;
	if (options->limits)
		model->limits = *options->limits;
	else
		mon_limits_init(&model->limits);
}

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

static bool has_app(const struct mon_process *process, const struct mon_row *row)
{
	const struct tele_schema *schema = process->instance->schema;
	for (uint32_t i = 0; i < schema->n_fields && i < row->n_fields; i++)
		if (schema->fields[i].builtin < 0 && strcmp(schema->fields[i].section, "app") == 0 &&
		    row->values[i] != TELE_UNKNOWN)
			return true;
	return false;
}

static bool is_worth_following(const struct mon_process *process, enum mon_follow follow)
{
	const struct mon_row *row = mon_process_latest(process);
	if (!row || process->identity.is_observer)
		return false;
	if (follow == MON_FOLLOW_HEAPS && mon_process_field(process, TELE_ID_heap_mapped_bytes) != TELE_UNKNOWN)
		return true;
	return mon_process_field(process, TELE_ID_search_candidates_attempted) != TELE_UNKNOWN ||
	       mon_process_field(process, TELE_ID_census_contexts_created) != TELE_UNKNOWN || has_app(process, row);
}

// Follows what is worth it and takes in its history.
static int follow_more(struct mon_live *live, struct mon_model *model, enum mon_follow follow,
		       struct tele_error *ret_error)
{
	bool is_any = false;
	for (uint32_t i = 0; i < model->n_processes; i++) {
		const struct mon_process *process = model->processes[i];
		if (is_worth_following(process, follow))
			is_any |= mon_live_follow(live, process->identity.instance_id, NULL) == 1;
	}
	return is_any ? mon_feed_more(live, model, ret_error) : 0;
}

int mon_feed_live(struct mon_live *live, struct mon_model *model, struct mon_model *frozen,
		  enum mon_follow follow, struct tele_error *ret_error)
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
	status = mon_feed_more(live, model, ret_error);
	return status < 0 ? status : follow_more(live, model, follow, ret_error);
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
