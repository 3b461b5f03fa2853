// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What happens once: the constructor reads the knobs and registers with the
// publisher. Blocks may have been given out long before. A fork
// waits for every lock, so that the child copies no half-done slow path; what a
// thread of the parent was doing on its fast path is at most one slot, which
// the child then holds as live or cached for ever.

#include "alloc.h"

#include <stdlib.h>

#include "central.h"
#include "collect.h"
#include "config.h"
#include "directory.h"
#include "index.h"
#include "large.h"
#include "meta.h"
#include "reclaim.h"
#include "thread.h"

#include "../libtelemetry/banned.h"

void alloc_start(void)
{
	const char *knobs = getenv("ROLLCALL_MALLOC");
	if (knobs)
		alloc_config_parse(&alloc_config, knobs);
	alloc_thread_has_heap(); // the tables, before there is a second thread
	alloc_collect_register();
}

void alloc_before_fork(void)
{
	alloc_lock_fork_take(&alloc_reclaim_lock); // one fork at a time
	alloc_lock_fork_begin();
	alloc_lock_fork_take(&alloc_shared_gate);
	alloc_lock_fork_take(&alloc_heaps_lock);
	for (struct alloc_heap *heap = atomic_load(&alloc_heaps); heap; heap = atomic_load(&heap->next))
		alloc_lock_fork_take(&heap->lock);
	alloc_lock_fork_take(&alloc_central_lock);
	alloc_lock_fork_take(&alloc_large_lock);
	alloc_lock_fork_take(&alloc_index_lock);
	alloc_lock_fork_take(&alloc_map_lock);
	alloc_lock_fork_take(&alloc_meta_lock);
}

void alloc_after_fork_parent(void)
{
	alloc_lock_fork_drop(&alloc_meta_lock);
	alloc_lock_fork_drop(&alloc_map_lock);
	alloc_lock_fork_drop(&alloc_index_lock);
	alloc_lock_fork_drop(&alloc_large_lock);
	alloc_lock_fork_drop(&alloc_central_lock);
	for (struct alloc_heap *heap = atomic_load(&alloc_heaps); heap; heap = atomic_load(&heap->next))
		alloc_lock_fork_drop(&heap->lock);
	alloc_lock_fork_drop(&alloc_heaps_lock);
	alloc_lock_fork_drop(&alloc_shared_gate);
	alloc_lock_fork_end();
	alloc_lock_fork_drop(&alloc_reclaim_lock);
}

void alloc_after_fork_child(void)
{
	alloc_lock_reset(&alloc_meta_lock);
	alloc_lock_reset(&alloc_map_lock);
	alloc_lock_reset(&alloc_index_lock);
	alloc_lock_reset(&alloc_large_lock);
	alloc_lock_reset(&alloc_central_lock);
	for (struct alloc_heap *heap = atomic_load(&alloc_heaps); heap; heap = atomic_load(&heap->next))
		alloc_lock_reset(&heap->lock);
	// The shared heap goes on being shared.
	alloc_heaps_orphan_all(alloc_self, alloc_shared_heap());
	alloc_lock_reset(&alloc_heaps_lock);
	alloc_lock_reset(&alloc_shared_gate);
	alloc_lock_fork_end();
	alloc_lock_reset(&alloc_reclaim_lock);
}
