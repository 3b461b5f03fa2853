// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What is said when a program misuses the heap.

#ifndef ALLOC_MISUSE_H
#define ALLOC_MISUSE_H

#include "../libtelemetry/base.h"

// Writes `rollcall: WHAT: 0xADDRESS` as one line and aborts, or returns where
// the knob abort=no is set. Takes no lock; async-signal safe.
void alloc_misuse(const char *what, const void *address);

#endif
