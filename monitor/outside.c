// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// One instance of the section for each process and device of a reading, in the
// order they come: instances are slots, and say themselves of whom they speak.
// A slot without a subject is unknown but for its time, since the time of the
// first is the row's.

#include "outside.h"

#include "nvml.h"

#include "../libtelemetry/strings.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "../libtelemetry/banned.h"

#define PERIOD_NS UINT64_C(1000000000)
#define RETRY_NS (60 * PERIOD_NS) // where there is no library

enum { N_VALUES = sizeof(struct tele_outside_values) / 8, SCHEMA_BYTES = 16 << 10 };

struct mon_outside {
	struct mon_nvml *nvml;
	struct tele_instance instance;
	struct tele_strings *strings;
	struct tele_plan plan;
	struct tele_schema_writer writer;
	uint8_t schema[SCHEMA_BYTES];
	uint64_t asked_at_ns, next_at_ns, next_seq;
	uint32_t n_slots, n_used; // of the schema; of the row
	bool was_used;		  // by the row before
	uint64_t row[MON_OUTSIDE_FIELDS];
	uint64_t theirs[TELE_FIELDS_MAX];
};

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

bool mon_observer_identity(const char *label, struct tele_identity *ret_identity)
{
	struct tele_identity identity = {
		.pid = (uint64_t)getpid(),
		.parent_pid = (uint64_t)getppid(),
		.euid = geteuid(),
		.created_at_ns = clock_ns(CLOCK_MONOTONIC),
		.created_realtime_ns = clock_ns(CLOCK_REALTIME),
		.is_observer = true,
	};
	if (getrandom(&identity.instance_id, sizeof(identity.instance_id), 0) != (ssize_t)sizeof(identity.instance_id))
		return false;
	identity.instance_id |= 1; // 0 is none
	snprintf(identity.comm, sizeof(identity.comm), "rollcall");
	snprintf(identity.label, sizeof(identity.label), "%s", label);
	*ret_identity = identity;
	return true;
}

void mon_observer_join(struct tele_identity *observer, const struct tele_identity *process)
{
	observer->boot_id[0] = process->boot_id[0];
	observer->boot_id[1] = process->boot_id[1];
	observer->pid_namespace = process->pid_namespace;
}

struct mon_outside *mon_outside_new(void)
{
	struct mon_outside *outside = calloc(1, sizeof(*outside));
	if (!outside)
		return NULL;
	outside->instance.schema = tele_schema_new();
	outside->strings = tele_strings_new();
	outside->instance.strings = outside->strings;
	outside->instance.state = TELE_LIVE;
	int failed = tele_schema_write_start_observer(&outside->writer, outside->schema, SCHEMA_BYTES,
						      &outside->plan);
	if (failed || !outside->instance.schema || !outside->instance.strings ||
	    !mon_observer_identity("outside", &outside->instance.identity)) {
		mon_outside_free(outside);
		return NULL;
	}
	return outside;
}

void mon_outside_free(struct mon_outside *outside)
{
	if (!outside)
		return;
	mon_nvml_close(outside->nvml);
	tele_schema_free(outside->instance.schema);
	tele_strings_free(outside->strings);
	free(outside);
}

bool mon_outside_begin(struct mon_outside *outside, uint64_t now_ns)
{
	if (now_ns < outside->next_at_ns)
		return false;
	outside->asked_at_ns = now_ns & TELE_TIME_MASK;
	outside->next_at_ns = now_ns + PERIOD_NS;
	outside->was_used = outside->n_used > 0;
	outside->n_used = 0;
	return true;
}

// A slot for one more; false when there is none.
static bool claim_slot(struct mon_outside *outside)
{
	if (outside->n_used < outside->n_slots)
		return true;
	if (outside->n_slots == MON_OUTSIDE_SLOTS ||
	    tele_schema_write_instance(&outside->writer, TELE_SECTION_OUTSIDE, outside->n_slots,
				       outside->n_slots ? 0 : UINT32_MAX) < 0)
		return false;
	outside->n_slots++;
	return tele_schema_parse(outside->instance.schema, outside->schema, outside->writer.used_bytes, NULL) == 0;
}

static bool has_library(struct mon_outside *outside)
{
	const char *why;
	if (!outside->nvml)
		outside->nvml = mon_nvml_open(&why);
	if (!outside->nvml)
		outside->next_at_ns = outside->asked_at_ns + RETRY_NS;
	return outside->nvml != NULL;
}

static void add_device(struct mon_outside *outside, const struct tele_instance *instance, uint32_t device,
		       uint32_t n_fields)
{
	struct mon_nvml_device told;
	uint64_t uuid = tele_schema_value(instance->schema, TELE_ID_device_uuid, device, outside->theirs, n_fields);
	uint64_t captured = tele_schema_value(instance->schema, TELE_ID_driver_captured_at_ns, device,
					      outside->theirs, n_fields);
	const char *text = uuid == TELE_UNKNOWN ? NULL : tele_instance_string(instance, uuid);
	if (captured == TELE_UNKNOWN || !text || !has_library(outside) ||
	    !mon_nvml_read(outside->nvml, text, &instance->identity, &told) || !claim_slot(outside))
		return;
	const struct tele_outside_values values = {
		.captured_at_ns = outside->asked_at_ns,
		.subject = instance->identity.instance_id,
		.device = device,
		.process_bytes = told.process_bytes,
		.used_bytes = told.used_bytes,
		.total_bytes = told.total_bytes,
		.all_processes_bytes = told.all_processes_bytes,
	};
	memcpy(outside->row + (size_t)outside->n_used++ * N_VALUES, &values, sizeof(values));
}

void mon_outside_add(struct mon_outside *outside, struct tele_attach *attach)
{
	const struct tele_instance *instance = tele_attach_instance(attach);
	uint32_t n_fields = 0;
	uint64_t seq;
	mon_observer_join(&outside->instance.identity, &instance->identity);
	if (!tele_state_is_alive(instance->state) ||
	    tele_schema_position(instance->schema, TELE_ID_driver_captured_at_ns, 0) < 0 ||
	    tele_attach_latest(attach, outside->theirs, TELE_FIELDS_MAX, &n_fields, &seq, NULL))
		return;
	for (uint32_t i = 0; i < instance->schema->n_fields; i++)
		if (instance->schema->fields[i].builtin == TELE_ID_driver_captured_at_ns)
			add_device(outside, instance, instance->schema->fields[i].instance, n_fields);
}

bool mon_outside_end(struct mon_outside *outside)
{
	if (outside->n_used == 0 && !outside->was_used)
		return false;
	for (size_t i = (size_t)outside->n_used * N_VALUES; i < MON_OUTSIDE_FIELDS; i++)
		outside->row[i] = TELE_UNKNOWN;
	outside->row[0] = outside->asked_at_ns;
	outside->next_seq++;
	return true;
}

struct tele_instance *mon_outside_instance(struct mon_outside *outside)
{
	return &outside->instance;
}

const uint8_t *mon_outside_schema_bytes(const struct mon_outside *outside, size_t *ret_bytes)
{
	*ret_bytes = outside->writer.used_bytes;
	return outside->schema;
}

const struct tele_plan *mon_outside_plan(const struct mon_outside *outside)
{
	return &outside->plan;
}

const uint64_t *mon_outside_row(const struct mon_outside *outside, uint64_t *ret_seq)
{
	*ret_seq = outside->next_seq - 1;
	return outside->row;
}
