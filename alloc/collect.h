// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The books on their way to the publisher.

#ifndef ALLOC_COLLECT_H
#define ALLOC_COLLECT_H

// Registers the collector of section `heap`; those of the size classes follow as
// classes are used. Refusal leaves the malloc as it is.
void alloc_collect_register(void);

#endif
