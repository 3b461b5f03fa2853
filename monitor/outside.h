// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What is asked about watched processes from outside of them: the device memory
// that the driver's management library says each has. The answers are rows of
// an observer's instance (section `outside`), which the live monitor feeds its
// model and the recorder its trace, so that a replay shows what was seen live.

#ifndef MON_OUTSIDE_H
#define MON_OUTSIDE_H

#include "../analysis/outside.h"
#include "../libtelemetry/attach.h"
#include "../libtelemetry/schema.h"
#include "model.h"

#define MON_OUTSIDE_SLOTS 64 // of processes times devices; more are not asked about
#define MON_OUTSIDE_FIELDS (MON_OUTSIDE_SLOTS * sizeof(struct tele_outside_values) / 8)

// Makes *ret_identity that of an observer here, called `label`, of its own; false
// when there is no randomness for it. It belongs to the machine and the namespace
// of the processes that it tells of: mon_observer_join.
bool mon_observer_identity(const char *label, struct tele_identity *ret_identity);
void mon_observer_join(struct tele_identity *observer, const struct tele_identity *process);

struct mon_outside;

// NULL when there is no memory. The library is opened when the first process
// with devices is seen. mon_outside_free takes NULL.
struct mon_outside *mon_outside_new(void);
void mon_outside_free(struct mon_outside *outside);

// Begins a row, then takes processes, then ends it. Begin answers false, and
// nothing is to follow, when the last row is less than a second old or there is
// no library. End answers whether there is a new row.
bool mon_outside_begin(struct mon_outside *outside, uint64_t now_ns);
void mon_outside_add(struct mon_outside *outside, struct tele_attach *attach);
bool mon_outside_end(struct mon_outside *outside);

// The observer; its schema grows by rows. Owned, and at one place until free.
struct tele_instance *mon_outside_instance(struct mon_outside *outside);
const uint8_t *mon_outside_schema_bytes(const struct mon_outside *outside, size_t *ret_bytes);
const struct tele_plan *mon_outside_plan(const struct mon_outside *outside);

// The last row: MON_OUTSIDE_FIELDS values, of which those beyond the schema are
// unknown; and its number.
const uint64_t *mon_outside_row(const struct mon_outside *outside, uint64_t *ret_seq);

// The residuals of one device, by the newest row of an observer in the model;
// unknown where none speaks of it.
void mon_outside_residuals(const struct mon_model *model, const struct mon_process *process, uint32_t device,
			   struct analysis_signed *ret_overhead, struct analysis_signed *ret_foreign);

// Fills the sums over all devices among what follows from the process's row.
void mon_outside_sum(const struct mon_model *model, struct mon_process *process);

#endif
