// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What makes two modules the same.

#ifndef TILE_DIGEST_H
#define TILE_DIGEST_H

#include <stdint.h>

// Digests the code and constants of the shared object at `path`, and nothing
// else of it. Returns 0, -EINVAL for a file that is not one, or -errno.
int tile_digest(const char *path, uint64_t *ret_digest);

#endif
