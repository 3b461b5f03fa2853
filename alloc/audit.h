// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A full recount of the books from the states of the slots, for tests.

#ifndef ALLOC_AUDIT_H
#define ALLOC_AUDIT_H

#include "walk.h"

// Recounts every slot of every span, every page bit and every mapping, and
// compares with the walk. Only while no thread allocates or frees. Returns 0,
// or the number of things that differ, the first one described in
// *ret_difference.
uint64_t alloc_audit(const char **ret_difference);

#endif
