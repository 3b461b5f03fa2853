// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A deep copy of a model: all that it owns is copied, and instances, which it
// does not own, are shared.

#include "model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../libtelemetry/banned.h"

// Replaces *block by a copy of it. NULL stays NULL.
static bool copy_block(void **block, size_t n_items, size_t item_bytes)
{
	if (!*block)
		return true;
	void *copy = calloc(n_items ? n_items : 1, item_bytes);
	if (copy && n_items)
		memcpy(copy, *block, n_items * item_bytes);
	*block = copy;
	return copy != NULL;
}

// The history of `process`, which is a shallow copy so far. Values are shared.
static bool copy_history(struct mon_process *process)
{
	const struct mon_row *rows = process->history;
	uint32_t n_rows = process->n_history;
	process->n_history = 0;
	if (!rows)
		return true;
	process->history = calloc(n_rows ? n_rows : 1, sizeof(*process->history));
	process->history_capacity = n_rows;
	if (!process->history)
		return false;
	memcpy(process->history, rows, n_rows * sizeof(*rows));
	for (uint32_t i = 0; i < n_rows; i++)
		mon_row_hold(&rows[i]);
	process->n_history = n_rows;
	return true;
}

static bool copy_process(const struct mon_process *process, bool with_watch, struct mon_process *copy)
{
	void *candidates = process->candidates, *log = process->log, *phases = process->phases;
	void *verdicts = process->verdicts, *judged = process->judged;
	*copy = *process;
	copy->watch = NULL;
	bool is_whole = copy_history(copy);
	is_whole &= copy_block(&candidates, MON_CANDIDATES_MAX, sizeof(*process->candidates));
	is_whole &= copy_block(&log, MON_LOG_MAX, sizeof(*process->log));
	is_whole &= copy_block(&phases, MON_PHASES_MAX, sizeof(*process->phases));
	is_whole &= copy_block(&verdicts, process->n_verdicts, sizeof(*process->verdicts));
	is_whole &= copy_block(&judged, process->n_judged, sizeof(*process->judged));
	copy->candidates = candidates;
	copy->log = log;
	copy->phases = phases;
	copy->verdicts = verdicts;
	copy->judged = judged;
	if (!with_watch || !process->watch)
		return is_whole;
	copy->watch = analysis_watch_copy(process->watch);
	return is_whole && copy->watch;
}

static int copy_model(const struct mon_model *model, bool with_watches, struct mon_model *ret_copy)
{
	struct mon_model copy = *model;
	void *unreadable = model->unreadable;
	copy.n_processes = 0;
	copy.processes = calloc(model->capacity ? model->capacity : 1, sizeof(*copy.processes));
	copy_block(&unreadable, model->unreadable_capacity, sizeof(*copy.unreadable));
	copy.unreadable = unreadable;
	if (!copy.processes || (model->unreadable && !copy.unreadable))
		goto failed;
	for (uint32_t i = 0; i < model->n_processes; i++) {
		struct mon_process *process = calloc(1, sizeof(*process));
		if (!process)
			goto failed;
		copy.processes[copy.n_processes++] = process;
		if (!copy_process(model->processes[i], with_watches, process))
			goto failed;
	}
	*ret_copy = copy;
	return 0;
failed:
	mon_model_fini(&copy);
	return -ENOMEM;
}

// What is shown is copied; a picture that stands still judges nothing.
int mon_model_copy(const struct mon_model *model, struct mon_model *ret_copy)
{
	return copy_model(model, false, ret_copy);
}

int mon_model_fork(const struct mon_model *model, struct mon_model *ret_copy)
{
	return copy_model(model, true, ret_copy);
}
