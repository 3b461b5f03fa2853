// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The mark is a share of the row it was set at, so that it stays when the model
// has long forgotten the row, or goes back behind it.

#include "lens.h"

#include "../libtelemetry/banned.h"

#define CANDIDATES_MIN 8 // a search with fewer is drawn along time

void mon_lens_set_mark(struct mon_lens *lens, const struct mon_process *process)
{
	const struct mon_row *row = process ? mon_process_latest(process) : NULL;
	struct mon_row before = {.values = lens->mark.values};
	mon_row_drop(&before);
	lens->mark = (struct mon_mark_point){0};
	if (!row)
		return;
	mon_row_hold(row);
	lens->mark = (struct mon_mark_point){
		.instance_id = process->identity.instance_id,
		.at_ns = row->at_ns,
		.candidate = mon_process_field(process, TELE_ID_search_candidates_attempted),
		.values = row->values,
		.n_fields = row->n_fields,
	};
}

bool mon_lens_has_difference(const struct mon_lens *lens, const struct mon_process *process)
{
	return lens->is_difference && lens->mark.values &&
	       lens->mark.instance_id == process->identity.instance_id;
}

enum analysis_axis mon_lens_axis(const struct mon_lens *lens, const struct mon_process *process)
{
	uint64_t attempted = mon_process_field(process, TELE_ID_search_candidates_attempted);
	uint64_t linked = mon_process_field(process, TELE_ID_search_candidates_linked);
	if (lens->has_axis)
		return lens->axis;
	if (linked != TELE_UNKNOWN && linked >= CANDIDATES_MIN)
		return ANALYSIS_LINKED;
	if (process->identity.is_untimed || (attempted != TELE_UNKNOWN && attempted >= CANDIDATES_MIN))
		return ANALYSIS_ATTEMPTED;
	return ANALYSIS_TIME;
}
