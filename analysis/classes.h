// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The classes that verdicts, reports and rules speak of, by name, from any
// schema and row: working_pools, working_bytes (constant, staging, unlabelled
// likewise), contexts (created - released), modules (loaded - unloaded),
// heap_live_bytes, heap_mapped_bytes, rss_bytes, residual_bytes,
// device_used_bytes (the sum over all devices), device[N]. before a name for
// one device, and app.NAME for each gauge of the program. Counters of the
// program are no classes: they rise by nature.
//
// A set belongs to one thread and allocates when it is extended.

#ifndef ANALYSIS_CLASSES_H
#define ANALYSIS_CLASSES_H

#include "../libtelemetry/schema.h"
#include "verdict.h"

struct analysis_class_source; // where its values come from; private

struct analysis_classes {
	// Indices stay what they are: a schema that grows adds at the end.
	struct analysis_class *items;
	struct analysis_class_source *sources;
	size_t n_items, capacity;
	uint32_t n_fields; // of the schema, seen so far
	uint32_t n_devices;
	bool is_full;	   // ANALYSIS_CLASSES_MAX reached: later ones are left out
};

// All zero is an empty set.
void analysis_classes_fini(struct analysis_classes *classes);

// Makes *ret_copy (not initialised) a set of its own. Returns 0 or -ENOMEM.
int analysis_classes_copy(const struct analysis_classes *classes, struct analysis_classes *ret_copy);

// Adds the classes of the fields that the schema has beyond those seen so far.
// Returns how many came, or -ENOMEM with none added.
int analysis_classes_extend(struct analysis_classes *classes, const struct tele_schema *schema);

// The value of each class in a row of that schema: n_items words, signed ones
// (residual, contexts, modules) as two's complement, TELE_UNKNOWN for unknown;
// a signed value of -1 cannot be told from unknown and is.
void analysis_classes_read(const struct analysis_classes *classes, const struct tele_schema *schema,
			   const uint64_t *row, uint32_t n_fields, uint64_t *ret_values);

// One class of it.
uint64_t analysis_classes_value(const struct analysis_classes *classes, size_t index, const struct tele_schema *schema,
				const uint64_t *row, uint32_t n_fields);

// The class of that name, or -1.
int analysis_classes_find(const struct analysis_classes *classes, const char *name);

// The device a class is of, or TELE_NO_INSTANCE.
uint32_t analysis_classes_device(const struct analysis_classes *classes, size_t index);

// Whether it is a class of the only device, which says nothing that the
// process's own class does not say.
bool analysis_classes_is_echo(const struct analysis_classes *classes, size_t index);

#endif
