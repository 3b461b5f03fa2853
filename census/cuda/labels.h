// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Labels for programs that were never changed, by rules of the environment:
//
//   ROLLCALL_LABELS=size>=64M:constant,caller=libfoo.so:staging
//
// A rule is CONDITION:LABEL; the first that holds decides. Conditions: size with
// >=, <=, >, < or = and a number with K, M or G; caller= and the beginning of the
// name of the object that made the call. Labels: working, constant, staging.

#ifndef CENSUS_CUDA_LABELS_H
#define CENSUS_CUDA_LABELS_H

#include "../../libtelemetry/base.h"

// Reads the rules. Once, before the first call is counted.
void cuda_labels_read(const char *text);

// The label of an allocation by these rules, 0 for none. Any thread.
unsigned cuda_label_of(uint64_t bytes, const void *caller);

// How many rules there are, and how many were not understood.
unsigned cuda_labels_known(void);
unsigned cuda_labels_refused(void);

#endif
