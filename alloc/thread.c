// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A thread's heap is given up by a pthread key's destructor. Other destructors
// may allocate after it, so it puts itself off until the last round but one that
// POSIX promises (the last is the sanitizers'); what comes after that goes
// through one shared heap behind a gate.

#include "thread.h"

#include <limits.h>
#include <pthread.h>

#include "alloc.h"
#include "remote.h"

#include "../libtelemetry/banned.h"

struct alloc_lock alloc_shared_gate;
static struct alloc_lock setup_lock;
static _Atomic bool setup_done;
static struct alloc_heap *shared_heap;
static pthread_key_t exit_key;
static _Atomic bool exit_key_ready;
static __thread unsigned exit_rounds __attribute__((tls_model("initial-exec")));

static void on_exit_round(void *value)
{
	if (++exit_rounds < PTHREAD_DESTRUCTOR_ITERATIONS - 1 && pthread_setspecific(exit_key, value) == 0)
		return;
	alloc_thread_exit();
}

void alloc_thread_exit(void)
{
	struct alloc_heap *heap = alloc_self;
	if (heap == &alloc_heap_none || heap == &alloc_heap_exited)
		return;
	alloc_self = &alloc_heap_exited;
	alloc_heap_release(heap);
}

static bool set_up(void)
{
	if (atomic_load_explicit(&setup_done, memory_order_acquire))
		return true;
	alloc_lock_take(&setup_lock);
	if (!atomic_load_explicit(&setup_done, memory_order_relaxed)) {
		alloc_classes_init();
		shared_heap = alloc_heap_create();
		if (shared_heap)
			atomic_store_explicit(&setup_done, true, memory_order_release);
	}
	alloc_lock_drop(&setup_lock);
	return shared_heap != NULL;
}

struct alloc_heap *alloc_shared_heap(void)
{
	return shared_heap;
}

void alloc_thread_prepare(void)
{
	static struct alloc_lock key_lock;
	static bool has_handlers;
	alloc_lock_take(&key_lock);
	// With the first block: handlers that were registered before ours may
	// allocate while ours hold all locks, so ours had better be the oldest.
	if (!has_handlers)
		has_handlers = pthread_atfork(alloc_before_fork, alloc_after_fork_parent, alloc_after_fork_child) == 0;
	if (!atomic_load_explicit(&exit_key_ready, memory_order_relaxed) &&
	    pthread_key_create(&exit_key, on_exit_round) == 0)
		atomic_store_explicit(&exit_key_ready, true, memory_order_release);
	alloc_lock_drop(&key_lock);
}

bool alloc_thread_has_heap(void)
{
	if (alloc_self == &alloc_heap_exited)
		return false;
	if (alloc_self != &alloc_heap_none)
		return true;
	if (!set_up())
		return false;
	struct alloc_heap *heap = alloc_heap_acquire();
	if (!heap)
		return false;
	alloc_self = heap;
	// Allocates for a key beyond the first 32: the heap is in place already.
	if (!atomic_load_explicit(&exit_key_ready, memory_order_acquire))
		alloc_thread_prepare();
	if (atomic_load_explicit(&exit_key_ready, memory_order_acquire))
		pthread_setspecific(exit_key, heap);
	return true;
}

bool alloc_thread_enter(bool *ret_shared)
{
	*ret_shared = false;
	if (TELE_LIKELY(alloc_thread_has_heap()))
		return true;
	if (alloc_self != &alloc_heap_exited)
		return false;
	alloc_lock_take(&alloc_shared_gate);
	alloc_self = shared_heap;
	*ret_shared = true;
	return true;
}

void alloc_thread_leave(bool shared)
{
	if (TELE_LIKELY(!shared))
		return;
	alloc_self = &alloc_heap_exited;
	alloc_lock_drop(&alloc_shared_gate);
}
