// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The books on their way to the publisher.

#ifndef ALLOC_COLLECT_H
#define ALLOC_COLLECT_H

// Registers the collectors of section `heap` and of every size class. Refusal
// leaves the malloc as it is.
void alloc_collect_register(void);

#endif
