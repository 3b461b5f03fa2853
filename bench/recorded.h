// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The rows of a recording, for benchmarks: those of the process that comes
// first, from where its rows have their last length.

#ifndef BENCH_RECORDED_H
#define BENCH_RECORDED_H

#include "libtelemetry/schema.h"
#include "libtelemetry/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct recorded {
	struct tele_source *source; // keeps the plan; to be closed at the end
	const struct tele_plan *plan;
	uint32_t n_fields;
	size_t n_rows, capacity;
	uint64_t *rows;
};

static inline void *must(void *pointer)
{
	if (!pointer) {
		fprintf(stderr, "bench: no memory\n");
		exit(1);
	}
	return pointer;
}

// Ends the program when the trace cannot be read.
static inline struct recorded recorded_read(const char *path)
{
	struct recorded self = {0};
	struct tele_record record;
	struct tele_error error;
	const struct tele_instance *instance = NULL;
	int more = tele_trace_open(path, &self.source, &error);
	while (more >= 0 && (more = tele_source_next(self.source, &record, &error)) > 0) {
		if (record.kind != TELE_RECORD_ROW || record.instance->identity.is_observer ||
		    (instance && record.instance != instance))
			continue;
		if (record.n_fields != self.n_fields) { // grown: begin again
			self.n_rows = self.capacity = 0;
			free(self.rows);
			self.rows = NULL;
		}
		instance = record.instance;
		self.plan = instance->schema->plan;
		self.n_fields = record.n_fields;
		if (self.n_rows == self.capacity) {
			self.capacity = self.capacity ? self.capacity * 2 : 1024;
			self.rows = must(realloc(self.rows, self.capacity * self.n_fields * sizeof(uint64_t)));
		}
		memcpy(self.rows + self.n_rows++ * self.n_fields, record.row, self.n_fields * sizeof(uint64_t));
	}
	if (more < 0) {
		fprintf(stderr, "bench: %s\n", error.text);
		exit(1);
	}
	return self;
}

#endif
