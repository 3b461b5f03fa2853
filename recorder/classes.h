// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The classes of a row, by the names verdicts and reports use.

#ifndef REC_CLASSES_H
#define REC_CLASSES_H

#include "../libtelemetry/schema.h"

struct rec_class_value {
	char name[96];
	unsigned unit; // enum tele_unit
	bool is_known;
	int64_t value;
};

typedef int (*rec_class_fn)(void *context, const struct rec_class_value *value);

// Calls `take` for every class that the schema has, in a fixed order: those of
// the process, of each device, of the heap and the host, the program's own.
// Ends at the first negative answer and returns it.
int rec_each_class(const struct tele_schema *schema, const uint64_t *row, uint32_t n_fields,
		   rec_class_fn take, void *context);

#endif
