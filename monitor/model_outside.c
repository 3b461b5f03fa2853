// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What observers told of a process, from the model and nothing else. Where
// several spoke, as in a trace of two recordings, the newest is believed.

#include "outside.h"

#include <string.h>

#include "../libtelemetry/banned.h"

static bool find_in(const struct mon_process *observer, uint64_t subject, uint32_t device,
		    struct tele_outside_values *ret_values)
{
	const struct tele_schema *schema = observer->instance->schema;
	const struct mon_row *row = mon_process_latest(observer);
	uint32_t n_values = sizeof(*ret_values) / 8;
	for (uint32_t i = 0; row && i < schema->n_fields && i + n_values <= row->n_fields; i++) {
		if (schema->fields[i].builtin != TELE_ID_outside_captured_at_ns)
			continue;
		uint32_t slot = schema->fields[i].instance;
#define VALUE(name) mon_process_value(observer, TELE_ID_outside_##name, slot)
		if (VALUE(subject) != subject || VALUE(device) != device)
			continue;
		*ret_values = (struct tele_outside_values){
			.captured_at_ns = VALUE(captured_at_ns),
			.subject = subject,
			.device = device,
			.process_bytes = VALUE(process_bytes),
			.used_bytes = VALUE(used_bytes),
			.total_bytes = VALUE(total_bytes),
			.all_processes_bytes = VALUE(all_processes_bytes),
		};
#undef VALUE
		return true;
	}
	return false;
}

bool mon_outside_find(const struct mon_model *model, const struct mon_process *process, uint32_t device,
		      struct tele_outside_values *ret_values)
{
	struct tele_outside_values values;
	bool is_found = false;
	for (uint32_t i = 0; i < model->n_processes; i++) {
		const struct mon_process *observer = model->processes[i];
		if (!observer->identity.is_observer ||
		    !find_in(observer, process->identity.instance_id, device, &values) ||
		    (is_found && values.captured_at_ns < ret_values->captured_at_ns))
			continue;
		*ret_values = values;
		is_found = true;
	}
	return is_found;
}

void mon_outside_residuals(const struct mon_model *model, const struct mon_process *process, uint32_t device,
			   struct mon_residuals *ret_residuals)
{
	struct tele_outside_values told;
	*ret_residuals = (struct mon_residuals){0};
	if (!mon_outside_find(model, process, device, &told))
		return;
	ret_residuals->overhead = analysis_difference(
		told.process_bytes, mon_process_value(process, TELE_ID_driver_live_bytes, device));
	// In a container, where processes go by other numbers, their sum says nothing.
	if (told.process_bytes != TELE_UNKNOWN)
		ret_residuals->foreign = analysis_difference(told.used_bytes, told.all_processes_bytes);
}

static void add(struct analysis_signed *sum, struct analysis_signed value)
{
	if (!value.is_known)
		return;
	sum->is_known = !__builtin_add_overflow(sum->value, value.value, &sum->value);
}

void mon_outside_sum(const struct mon_model *model, const struct mon_process *process,
		     struct mon_residuals *ret_residuals)
{
	*ret_residuals = (struct mon_residuals){0};
	if (!mon_process_latest(process) || process->identity.is_observer)
		return;
	const struct tele_schema *schema = process->instance->schema;
	for (uint32_t i = 0; i < schema->n_fields; i++) {
		struct mon_residuals residuals;
		if (schema->fields[i].builtin != TELE_ID_driver_live_bytes)
			continue;
		mon_outside_residuals(model, process, schema->fields[i].instance, &residuals);
		add(&ret_residuals->overhead, residuals.overhead);
		add(&ret_residuals->foreign, residuals.foreign);
	}
}
