// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Every call that takes or gives back something is here, and beside it the call
// that tells Rollcall. A pool belongs to the owner of its context; one that is
// still live when that owner closes has outlived it. What is leaked on purpose
// stays reachable from a list, so that leak checkers can tell it from mistakes.

#include "resource.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE_BYTES = 4096 };

static struct tile_ledger ledger;
static void *abandoned_pools;
static struct tile_context *abandoned_contexts;

const struct tile_ledger *tile_ledger(void)
{
	return &ledger;
}

void tile_ledger_print(FILE *to, const char *title)
{
#define ENTRY(name) { #name, ledger.name }
	const struct {
		const char *name;
		uint64_t value;
	} entries[] = {
		ENTRY(live_working_pools), ENTRY(live_working_bytes),
		ENTRY(live_constant_pools), ENTRY(live_constant_bytes),
		ENTRY(working_pools_allocated), ENTRY(constant_pools_allocated),
		ENTRY(pools_freed),
		ENTRY(contexts_created), ENTRY(contexts_released),
		ENTRY(modules_loaded), ENTRY(modules_unloaded),
		ENTRY(peak_pool_bytes),
		ENTRY(outlived_pools), ENTRY(outlived_bytes),
	};
#undef ENTRY
	_Static_assert(sizeof(entries) / sizeof(entries[0]) == sizeof(ledger) / sizeof(uint64_t), "every entry is printed");

	fprintf(to, "%s", title);
	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
		fprintf(to, " %s=%" PRIu64, entries[i].name, entries[i].value);
	fputc('\n', to);
}

int tile_pool_open(struct tile_pool *ret_pool, enum rollcall_label label, size_t bytes, struct tile_context *context)
{
	struct tile_pool pool = { .label = label, .context = context };

	pool.bytes = (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
	pool.memory = aligned_alloc(PAGE_BYTES, pool.bytes);
	if (!pool.memory)
		return -ENOMEM;
	memset(pool.memory, 0, pool.bytes);
	if (context) {
		context->owned_pools++;
		context->owned_bytes += pool.bytes;
		rollcall_label_push(label, context->owner);
	}
	rollcall_record_pool(TILE_DEVICE, (uintptr_t)pool.memory, context ? ROLLCALL_UNLABELLED : label, pool.bytes);
	if (context)
		rollcall_label_pop();
	if (label == ROLLCALL_WORKING) {
		ledger.working_pools_allocated++;
		ledger.live_working_pools++;
		ledger.live_working_bytes += pool.bytes;
	} else {
		ledger.constant_pools_allocated++;
		ledger.live_constant_pools++;
		ledger.live_constant_bytes += pool.bytes;
	}
	if (ledger.live_working_bytes + ledger.live_constant_bytes > ledger.peak_pool_bytes)
		ledger.peak_pool_bytes = ledger.live_working_bytes + ledger.live_constant_bytes;
	*ret_pool = pool;
	return 0;
}

void tile_pool_close(struct tile_pool *pool)
{
	if (!pool->memory)
		return;
	rollcall_forget_pool(TILE_DEVICE, (uintptr_t)pool->memory);
	ledger.pools_freed++;
	if (pool->label == ROLLCALL_WORKING) {
		ledger.live_working_pools--;
		ledger.live_working_bytes -= pool->bytes;
	} else {
		ledger.live_constant_pools--;
		ledger.live_constant_bytes -= pool->bytes;
	}
	if (pool->context) {
		pool->context->owned_pools--;
		pool->context->owned_bytes -= pool->bytes;
	}
	free(pool->memory);
	pool->memory = NULL;
}

void tile_pool_abandon(struct tile_pool *pool)
{
	if (!pool->memory)
		return;
	memcpy(pool->memory, &abandoned_pools, sizeof(abandoned_pools));
	abandoned_pools = pool->memory;
	pool->memory = NULL;
}

struct tile_context *tile_context_open(const char *label)
{
	struct tile_context *context = calloc(1, sizeof(*context));

	if (!context)
		return NULL;
	snprintf(context->label, sizeof(context->label), "%s", label);
	context->owner = rollcall_owner_open(context->label);
	rollcall_context_created(TILE_DEVICE);
	ledger.contexts_created++;
	return context;
}

void tile_context_close(struct tile_context *context)
{
	if (!context)
		return;
	ledger.outlived_pools += context->owned_pools;
	ledger.outlived_bytes += context->owned_bytes;
	rollcall_owner_close(context->owner);
	rollcall_context_released(TILE_DEVICE);
	ledger.contexts_released++;
	free(context);
}

void tile_context_abandon(struct tile_context *context)
{
	if (!context)
		return;
	context->next = abandoned_contexts;
	abandoned_contexts = context;
}

void *tile_module_open(const char *path)
{
	void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (module) {
		rollcall_module_loaded(TILE_DEVICE);
		ledger.modules_loaded++;
	}
	return module;
}

void tile_module_close(void *module)
{
	if (!module)
		return;
	dlclose(module);
	rollcall_module_unloaded(TILE_DEVICE);
	ledger.modules_unloaded++;
}
