// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The beginning in a process, the beginning in a forked child, and the frame
// around every call. A child has no driver state of its own until it initialises
// the driver itself, so it starts with nothing; a child of a raw fork, which
// runs no handlers, is told by a page that the kernel wipes.

#include "frame.h"
#include "labels.h"
#include "ledger.h"
#include "lookup.h"
#include "objects.h"
#include "place.h"
#include "report.h"

#include "../driver.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../libtelemetry/banned.h"

_Thread_local struct cuda_thread cuda_self;

static _Atomic uint32_t threads;
static pthread_key_t key; // of thread_ends
static bool has_key;
static _Atomic uint32_t always = 1; // where there is no page to be wiped
static _Atomic uint32_t *is_ours = &always;

// ---- Calls ------------------------------------------------------------------------

static void forget_parent(void)
{
	cuda_self = (struct cuda_thread){.depth = cuda_self.depth, .frame = cuda_self.frame};
	cuda_ledger_reset();
	cuda_places_reset();
	cuda_report_reset();
	atomic_store_explicit(is_ours, 1, memory_order_relaxed);
}

// In a child whose fork nobody told us of: other threads may have held locks.
static void find_ourselves_forked(void)
{
	cuda_ledger_renew_locks();
	cuda_places_renew_lock();
	forget_parent();
}

static void enter(struct cuda_thread *self, const void *caller, const char *frame, bool *ret_is_counted)
{
	cuda_count_call(self->number);
	self->caller = caller;
	self->frame = frame;
	self->depth = 1;
	*ret_is_counted = true;
}

// ---- Calls that never come back ---------------------------------------------------

static void give_up(struct cuda_thread *self)
{
	self->depth = 0;
	cuda_object_put_back();
}

// Whether the counted call under way was left by a jump: what is called within
// it lies below it on the stack. A handler's own stack lies anywhere.
static bool is_abandoned(const struct cuda_thread *self, const char *frame)
{
	stack_t of_signals;
	if (!self->frame || frame < self->frame)
		return false;
	return sigaltstack(NULL, &of_signals) == 0 && !(of_signals.ss_flags & SS_ONSTACK);
}

static void thread_ends(void *value)
{
	(void)value;
	if (cuda_self.frame && cuda_self.depth > 0)
		give_up(&cuda_self);
}

static void number_thread(struct cuda_thread *self)
{
	self->number = atomic_fetch_add_explicit(&threads, 1, memory_order_relaxed) + 1;
	// A key of the first few has its place in every thread: nothing is allocated.
	if (has_key)
		(void)pthread_setspecific(key, &has_key);
}

// The first call of a thread, of a row, or of a child; one that does not count.
static __attribute__((noinline)) void *begin_slowly(enum cuda_row row, const void *caller, const char *frame,
						       bool *ret_is_counted)
{
	struct cuda_thread *self = &cuda_self;
	bool is_driver;
	*ret_is_counted = false;
	void *function = cuda_driver_function(row, caller, &is_driver);
	if (!function || !is_driver || cuda_is_off() || cuda_is_inside_driver(caller))
		return function;
	if (self->depth > 0) {
		if (!is_abandoned(self, frame))
			return function;
		give_up(self);
	}
	if (!atomic_load_explicit(is_ours, memory_order_relaxed))
		find_ourselves_forked();
	if (self->number == 0)
		number_thread(self);
	cuda_note_called(row);
	enter(self, caller, frame, ret_is_counted);
	return function;
}

// A thread has a number only where calls count at all.
void *cuda_begin(enum cuda_row row, const void *caller, const char *frame, bool *ret_is_counted)
{
	struct cuda_thread *self = &cuda_self;
	void *function = atomic_load_explicit(&cuda_functions[row], memory_order_acquire);
	if (TELE_UNLIKELY(!function || self->depth > 0 || self->number == 0 ||
			  !atomic_load_explicit(is_ours, memory_order_relaxed) ||
			  !atomic_load_explicit(&cuda_is_handed_out[row], memory_order_relaxed) ||
			  cuda_is_inside_driver(caller)))
		return begin_slowly(row, caller, frame, ret_is_counted);
	enter(self, caller, frame, ret_is_counted);
	return function;
}

unsigned cuda_end(unsigned result)
{
	cuda_self.depth = 0;
	cuda_self.frame = NULL;
	if (TELE_UNLIKELY(result != CUDA_OK)) {
		cuda_tally(CUDA_FAILURES);
		atomic_store_explicit(&cuda_last_failure, result, memory_order_relaxed);
	}
	return result;
}

unsigned cuda_absent(enum cuda_row row)
{
	return row == CUDA_ROW_cuInit ? CUDA_NO_DEVICE : CUDA_NOT_INITIALIZED;
}

// ---- fork ---------------------------------------------------------------------------

// Not the lock of the places, which is held while the driver is asked: the driver
// may fork meanwhile, in this thread or in one that this one waits for.
static void before_fork(void)
{
	cuda_ledger_lock();
}

static void after_fork(void)
{
	cuda_ledger_unlock();
}

static void after_fork_in_child(void)
{
	cuda_places_renew_lock();
	forget_parent();
	after_fork();
}

static void make_wiped_page(void)
{
	long bytes = sysconf(_SC_PAGESIZE);
	void *page = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		return;
	if (madvise(page, (size_t)bytes, MADV_WIPEONFORK) < 0) {
		munmap(page, (size_t)bytes);
		return;
	}
	is_ours = page;
	atomic_store_explicit(is_ours, 1, memory_order_relaxed);
}

// ---- The beginning ----------------------------------------------------------------------

// Before constructors without a priority, so that a program's fork finds us ready.
__attribute__((constructor(210))) static void start(void)
{
	const char *off = getenv("ROLLCALL");
	cuda_find_dlsym();
	if (off && strcmp(off, "off") == 0) {
		cuda_lookup_off();
		return;
	}
	cuda_labels_read(getenv("ROLLCALL_LABELS"));
	make_wiped_page();
	has_key = pthread_key_create(&key, thread_ends) == 0;
	(void)pthread_atfork(before_fork, after_fork, after_fork_in_child);
	rollcall_driver_finder(cuda_object_find_pool);
}
