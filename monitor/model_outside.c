// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What observers told of a process, from the latest rows of a model and nothing
// else.

#include "outside.h"

#include "../libtelemetry/banned.h"

static void find(const void *context, uint64_t subject, uint32_t device, struct tele_outside_values *ret_values)
{
	const struct mon_model *model = context;
	for (uint32_t i = 0; i < model->n_processes; i++) {
		const struct mon_process *observer = model->processes[i];
		const struct mon_row *row = mon_process_latest(observer);
		if (row && observer->identity.is_observer)
			analysis_outside_find(observer->instance->schema, row->values, row->n_fields, subject,
					      device, ret_values);
	}
}

void mon_outside_residuals(const struct mon_model *model, const struct mon_process *process, uint32_t device,
			   struct analysis_signed *ret_overhead, struct analysis_signed *ret_foreign)
{
	struct tele_outside_values told = {0};
	find(model, process->identity.instance_id, device, &told);
	analysis_outside_residuals(&told, mon_process_value(process, TELE_ID_driver_live_bytes, device),
				   ret_overhead, ret_foreign);
}

void mon_outside_sum(const struct mon_model *model, struct mon_process *process)
{
	const struct mon_row *row = mon_process_latest(process);
	if (row && !process->identity.is_observer)
		analysis_outside_sum(find, model, process->identity.instance_id, process->instance->schema,
				     row->values, row->n_fields, &process->derived.overhead,
				     &process->derived.foreign);
}
