// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What a candidate costs: a pool, a context, a module. Each is told to Rollcall
// and counted in a ledger of the program's own, so that one can be held against
// the other. One thread only.

#ifndef TILE_RESOURCE_H
#define TILE_RESOURCE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "examples/common/search.h"
#include "libtelemetry/rollcall.h"
#include "schedule.h"

// The processor that the search runs on.
enum { TILE_DEVICE = 0 };

// Named as the members of struct rollcall_census.
struct tile_ledger {
	uint64_t live_working_pools, live_working_bytes;
	uint64_t live_constant_pools, live_constant_bytes;
	uint64_t working_pools_allocated, constant_pools_allocated;
	uint64_t pools_freed;
	uint64_t contexts_created, contexts_released;
	uint64_t modules_loaded, modules_unloaded;
	uint64_t peak_pool_bytes;
	uint64_t outlived_pools, outlived_bytes;
};

const struct tile_ledger *tile_ledger(void);

// One line of name=value after `title`.
void tile_ledger_print(FILE *to, const char *title);

// What a candidate works in: its source, what its compiler said, its owner.
struct tile_context {
	struct tile_context *next; // of those never released
	uint64_t owner;
	uint64_t owned_pools, owned_bytes;
	char label[LABEL_BYTES];
	char source[8192];
	char compiler_log[4096];
	double run_ns[16];
};

struct tile_pool {
	void *memory; // NULL: no pool
	size_t bytes;
	enum rollcall_label label;
	struct tile_context *context; // whose it is, or NULL
};

// Allocates whole pages and touches them all. Returns 0 or -ENOMEM. The context
// must not be released before the pool is closed or abandoned.
int tile_pool_open(struct tile_pool *ret_pool, enum rollcall_label label, size_t bytes, struct tile_context *context);

// Frees it. A pool that is not open is left alone.
void tile_pool_close(struct tile_pool *pool);

// Forgets it without freeing it: the leak.
void tile_pool_abandon(struct tile_pool *pool);

// Returns NULL where memory is short.
struct tile_context *tile_context_open(const char *label);
void tile_context_close(struct tile_context *context);
void tile_context_abandon(struct tile_context *context);

// Loads a module; NULL where that fails, and dlerror() says why.
void *tile_module_open(const char *path);
void tile_module_close(void *module);

#endif
