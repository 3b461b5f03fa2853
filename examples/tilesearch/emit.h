// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The C source of a schedule's kernel.

#ifndef TILE_EMIT_H
#define TILE_EMIT_H

#include <stddef.h>

#include "schedule.h"

// What the kernel is called in its module, and how it is called.
#define TILE_KERNEL_NAME "tile_kernel"
typedef void tile_kernel_fn(const float *a, const float *b, float *c, void *panel);

// Writes the kernel for matrices of n rows, NUL-terminated: it sets c to a * b;
// panel has room for n * n floats. Returns the length, or -EOVERFLOW where
// size_bytes is too small.
int tile_emit(const struct tile_schedule *schedule, unsigned n, char *ret_source, size_t size_bytes);

#endif
