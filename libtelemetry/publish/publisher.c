// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The life of the publisher: who starts it, when, and how it stops, parks and
// survives a fork. There is one thread. It blocks all signals and, before it
// opens anything, takes a descriptor table of its own, so that the program's
// descriptors are never touched, not even by number. In its steady state it
// makes these system calls: futex, pread, getrusage, clock_gettime (of thread
// time), mincore, and what the malloc's collector needs (madvise). Now and then:
// pwrite where the segment is no mapping, tgkill where a boundary slot stands
// half filled, and what tells the last thread, once the main one has left.

#include "publisher.h"

#include "fork_mark.h"
#include "futex.h"
#include "process.h"
#include "sample.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../banned.h"
#include "../rollcall.h"

#define LAZY_START_NS UINT64_C(2000000000)
#define START_WAIT_NS 200000000u
#define STOP_WAIT_NS 100000000u
#define STACK_BYTES (256u << 10)

enum phase {
	PHASE_NEW,	// the constructor has not run
	PHASE_OFF,	// switched off, or may not publish
	PHASE_WAITING,	// the thread waits for a reason to publish
	PHASE_IDLE,	// the same without a thread: only a call of ours is a reason
	PHASE_STARTING,
	PHASE_RUNNING,
	PHASE_PARKED,	// the thread is gone for a while
	PHASE_STOPPED,	// the process is ending
	PHASE_FAILED,
};

enum {
	COMMAND_START = 1,
	COMMAND_STOP = 2,
	COMMAND_PARK = 4,
	COMMAND_FLUSH = 8,
	COMMAND_DRAIN = 16,
	COMMAND_TEND = 32,
};

static _Atomic uint32_t phase;	  // enum phase; a futex for those who wait for it
static _Atomic uint32_t commands; // bits; a futex for the thread
static _Atomic uint32_t flushes_asked, flushes_done; // the latter a futex
static _Atomic int thread_id;
static struct tele_settings settings;
static struct tele_sampler sampler;
static uint64_t instance_id, parent_instance_id;
static pid_t owner_pid;
static pthread_t thread;
static bool is_parked_waiting; // parked before it had started to publish
static bool is_filtered;       // a system call filter is in force: no call is safe any more
static pthread_mutex_t park_lock = PTHREAD_MUTEX_INITIALIZER;
static struct stat first_stderr; // what descriptor 2 was when we were loaded
static const char *failed_step;
static int failed_code;

// ---- Waiting ------------------------------------------------------------------------

static void set_phase(enum phase value)
{
	atomic_store_explicit(&phase, value, memory_order_release);
	tele_futex_wake(&phase);
}

static enum phase get_phase(void)
{
	return (enum phase)atomic_load_explicit(&phase, memory_order_acquire);
}

static void command(uint32_t bits)
{
	atomic_fetch_or_explicit(&commands, bits, memory_order_release);
	tele_futex_wake(&commands);
}

// Waits while the phase is `while_a` or `while_b`, at most for_ns.
static enum phase wait_phase(enum phase while_a, enum phase while_b, uint64_t for_ns)
{
	uint64_t until = tele_monotonic_ns() + for_ns;
	for (;;) {
		enum phase now = get_phase();
		if ((now != while_a && now != while_b) || tele_monotonic_ns() >= until)
			return now;
		tele_futex_wait_until(&phase, now, until);
	}
}

__attribute__((destructor)) static void publisher_fini(void);

// ---- The thread ---------------------------------------------------------------------

// Takes and clears what was asked for by `at_ns`, or 0 at that time.
static uint32_t next_commands(uint64_t at_ns)
{
	for (;;) {
		uint32_t told = atomic_exchange_explicit(&commands, 0, memory_order_acq_rel);
		uint64_t now = tele_monotonic_ns();
		if (told || now >= at_ns)
			return told;
		tele_futex_wait_until(&commands, 0, at_ns);
	}
}

static void publish_until_told(void)
{
	uint64_t next = tele_monotonic_ns() + settings.period_ns;
	for (;;) {
		uint32_t told = next_commands(next);
		uint32_t asked = atomic_load_explicit(&flushes_asked, memory_order_acquire);
		if (told & COMMAND_TEND)
			tele_registry_tend();
		bool is_row_due = !told || (told & ~(uint32_t)(COMMAND_DRAIN | COMMAND_TEND));
		if (is_row_due)
			tele_sampler_tick(&sampler);
		else if (told & COMMAND_DRAIN)
			tele_sampler_drain(&sampler);
		if (sampler.ring.failed) {
			tele_sampler_set_state(&sampler, TELE_DISABLED);
			tele_slots_detach();
			set_phase(PHASE_FAILED);
			return;
		}
		if (told & COMMAND_FLUSH) {
			atomic_store_explicit(&flushes_done, asked, memory_order_release);
			tele_futex_wake(&flushes_done);
		}
		if (told & COMMAND_STOP) {
			tele_sampler_set_state(&sampler, TELE_EXITED);
			tele_slots_detach();
			set_phase(PHASE_STOPPED);
			return;
		}
		if (told & COMMAND_PARK) {
			tele_sampler_set_state(&sampler, TELE_PARKED);
			return;
		}
		uint64_t now = tele_monotonic_ns();
		if (now >= next)
			next = now - next > settings.period_ns ? now + settings.period_ns
							       : next + settings.period_ns;
	}
}

static void *thread_main(void *resumed)
{
	atomic_store_explicit(&thread_id, (int)syscall(SYS_gettid), memory_order_release);
	tele_has_own_table = false; // that was the thread's before
	prctl(PR_SET_NAME, "rollcall");
	if (resumed) {
		tele_take_own_table();
		tele_sampler_resume(&sampler);
		set_phase(PHASE_RUNNING);
		publish_until_told();
		return NULL;
	}
	if (get_phase() == PHASE_WAITING) {
		uint32_t told = next_commands(tele_monotonic_ns() + LAZY_START_NS);
		if (told & (COMMAND_STOP | COMMAND_PARK))
			return NULL;
		set_phase(PHASE_STARTING);
	}
	tele_take_own_table();
	failed_code = tele_sampler_start(&sampler, &settings, instance_id, parent_instance_id,
					 &failed_step);
	if (failed_code) {
		set_phase(PHASE_FAILED);
		return NULL;
	}
	set_phase(PHASE_RUNNING);
	publish_until_told();
	return NULL;
}

static void launch(bool is_resumed)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	void *argument = is_resumed ? &sampler : NULL;
	int failed = pthread_attr_init(&attributes);
	if (!failed) {
		pthread_attr_setstacksize(&attributes, STACK_BYTES);
		sigfillset(&all);
		pthread_sigmask(SIG_SETMASK, &all, &before);
		failed = pthread_create(&thread, &attributes, thread_main, argument);
		// Thread-local storage of the program is part of a stack, and may not fit.
		if (failed == EINVAL)
			failed = pthread_create(&thread, NULL, thread_main, argument);
		pthread_sigmask(SIG_SETMASK, &before, NULL);
		pthread_attr_destroy(&attributes);
	}
	if (!failed)
		return;
	failed_step = "start a thread to publish";
	failed_code = -failed;
	set_phase(PHASE_FAILED);
}

// ---- Starting -------------------------------------------------------------------------

// One line, by the thread of the program that asked, since ours has no
// descriptors of the program's.
static void say_failed(void)
{
	char line[256];
	static _Atomic bool is_said;
	struct stat now;
	if (!failed_step || atomic_exchange(&is_said, true))
		return;
	// The program may have put a file of its own there since.
	if (fstat(2, &now) < 0 || now.st_dev != first_stderr.st_dev || now.st_ino != first_stderr.st_ino)
		return;
	int len = snprintf(line, sizeof(line),
			   "rollcall: cannot %s in %.100s: %s; the program runs on, unwatched\n",
			   failed_step, settings.directory, tele_strerror(failed_code));
	ssize_t ignored = write(2, line, (size_t)len < sizeof(line) ? (size_t)len : sizeof(line) - 1);
	(void)ignored;
}

static void begin_life(void)
{
	owner_pid = getpid();
	instance_id = tele_random_id();
	tele_fork_mark_set();
	if (settings.is_off || (settings.children == TELE_CHILDREN_NO && !settings.is_root)) {
		set_phase(PHASE_OFF);
		return;
	}
	bool at_once = settings.is_root || settings.children == TELE_CHILDREN_ALL;
	if (!settings.is_root && settings.is_helper) {
		set_phase(PHASE_IDLE);
		return;
	}
	set_phase(at_once ? PHASE_STARTING : PHASE_WAITING);
	launch(false);
	if (settings.is_root &&
	    wait_phase(PHASE_STARTING, PHASE_STARTING, START_WAIT_NS) == PHASE_FAILED)
		say_failed();
}

// A child starts anew: no thread, no segment, an empty registry of values.
static void begin_child(void)
{
	enum phase before = get_phase();
	bool had_segment = before == PHASE_STARTING || before == PHASE_RUNNING ||
			   before == PHASE_PARKED || before == PHASE_STOPPED;
	uint64_t parent = had_segment ? instance_id : 0;
	tele_slots_detach();
	if (is_filtered) {
		atomic_store_explicit(&phase, PHASE_OFF, memory_order_relaxed);
		return;
	}
	sampler.ring.memory = NULL; // neither it nor the segment was inherited
	sampler.file.bytes = NULL;
	atomic_store(&commands, 0);
	atomic_store(&thread_id, 0);
	parent_instance_id = parent;
	settings.is_root = false;
	tele_registry_reset_values();
	tele_reset_counts();
	begin_life();
}

static void before_fork(void)
{
	pthread_mutex_lock(&park_lock);
	tele_registry_lock();
	tele_intern_lock();
}

static void after_fork_in_parent(void)
{
	tele_intern_unlock();
	tele_registry_unlock();
	pthread_mutex_unlock(&park_lock);
}

static void after_fork_in_child(void)
{
	after_fork_in_parent();
	if (get_phase() == PHASE_NEW || get_phase() == PHASE_OFF)
		return;
	tele_first_thread_watch();
	begin_child();
}

// The libc gives constructors what main gets.
__attribute__((constructor)) static void publisher_init(int argc, char **argv)
{
	tele_settings_read(&settings);
	settings.is_helper = tele_is_browser_helper(argc, argv);
	if (settings.is_off) {
		set_phase(PHASE_OFF);
		return;
	}
	tele_fork_mark_make();
	fstat(2, &first_stderr);
	at_quick_exit(publisher_fini);
	tele_first_thread_init();
	if (syscall(SYS_gettid) == getpid())
		tele_first_thread_watch();
	pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
	begin_life();
}

void tele_publisher_touch(void)
{
	enum phase now = get_phase();
	if (TELE_LIKELY(now == PHASE_RUNNING && !tele_is_foreign_process()))
		return;
	if (now == PHASE_NEW || now == PHASE_OFF || now == PHASE_FAILED || now == PHASE_STOPPED)
		return;
	if (tele_is_foreign_process())
		begin_child();
	else if (now == PHASE_PARKED)
		return; // in the strict sandbox not even the clock may be read
	uint32_t idle = PHASE_IDLE;
	if (get_phase() == PHASE_WAITING)
		command(COMMAND_START);
	else if (atomic_compare_exchange_strong(&phase, &idle, PHASE_STARTING))
		launch(false);
	if (wait_phase(PHASE_WAITING, PHASE_STARTING, START_WAIT_NS) == PHASE_FAILED)
		say_failed();
}

bool tele_publisher_is_active(void)
{
	return get_phase() == PHASE_RUNNING && !tele_is_foreign_process();
}

int tele_publisher_pid(void)
{
	return owner_pid;
}

// ---- Stopping and parking ----------------------------------------------------------------

// The last row was written when the thread went. The state is a store; where it
// would be a pwrite it cannot be made, since the descriptor went with the thread.
static void stop_parked(void)
{
	if (is_parked_waiting || sampler.file.is_written)
		return;
	if (!is_filtered && getpid() != owner_pid)
		return;
	tele_sampler_set_state(&sampler, TELE_EXITED);
}

static void stop_running(void)
{
	if (getpid() != owner_pid)
		return;
	command(COMMAND_STOP);
	enum phase reached = wait_phase(PHASE_STARTING, PHASE_RUNNING, STOP_WAIT_NS);
	if (reached == PHASE_STOPPED)
		pthread_detach(thread);
	// Our thread did not get its turn on a busy machine. The last row is lost,
	// but nobody killed this process. A store only, as in stop_parked.
	if (reached == PHASE_RUNNING && !sampler.file.is_written)
		tele_ring_control(&sampler.ring, TELE_CONTROL_STATE, TELE_EXITED);
}

void tele_publisher_stop(void)
{
	// _exit may come anywhere: where the lock is taken, a thread is parking us.
	if (tele_is_foreign_process() || pthread_mutex_trylock(&park_lock))
		return;
	enum phase now = get_phase();
	if (now == PHASE_PARKED)
		stop_parked();
	if (now == PHASE_STARTING || now == PHASE_RUNNING)
		stop_running();
	pthread_mutex_unlock(&park_lock);
}

static void publisher_fini(void)
{
	tele_publisher_stop();
}

// Waits until the kernel counts the thread no more: pthread_join returns a
// little earlier, and unshare(CLONE_NEWUSER) would still see two threads.
static void wait_until_gone(int tid)
{
	uint64_t until = tele_monotonic_ns() + 1000000000u;
	while (tid > 0 && tele_monotonic_ns() < until) {
		if (syscall(SYS_tgkill, owner_pid, tid, 0) < 0 && errno == ESRCH)
			return;
		sched_yield();
	}
}

bool tele_park(void)
{
	enum phase now = get_phase();
	if (now == PHASE_NEW || now == PHASE_OFF || tele_is_foreign_process() || getpid() != owner_pid)
		return false;
	pthread_mutex_lock(&park_lock);
	if (get_phase() == PHASE_STARTING)
		wait_phase(PHASE_STARTING, PHASE_STARTING, STOP_WAIT_NS);
	now = get_phase();
	if (now != PHASE_WAITING && now != PHASE_RUNNING) {
		pthread_mutex_unlock(&park_lock);
		return false;
	}
	command(COMMAND_PARK);
	pthread_join(thread, NULL);
	is_parked_waiting = sampler.ring.memory == NULL;
	wait_until_gone(atomic_load_explicit(&thread_id, memory_order_acquire));
	set_phase(PHASE_PARKED);
	pthread_mutex_unlock(&park_lock);
	return true;
}

void tele_stay_parked(void)
{
	is_filtered = true;
}

void tele_ask_drain(void)
{
	command(COMMAND_DRAIN);
}

void tele_unpark(bool was_parked)
{
	if (!was_parked || tele_is_foreign_process())
		return;
	pthread_mutex_lock(&park_lock);
	if (get_phase() == PHASE_PARKED) {
		// A thread that failed meanwhile has not taken what it was told.
		atomic_store_explicit(&commands, 0, memory_order_relaxed);
		set_phase(is_parked_waiting ? PHASE_WAITING : PHASE_STARTING);
		launch(!is_parked_waiting);
	}
	pthread_mutex_unlock(&park_lock);
}

// ---- The public calls -----------------------------------------------------------------------

TELE_EXPORT int rollcall_flush(void)
{
	tele_publisher_touch();
	if (!tele_publisher_is_active())
		return -ENODATA;
	uint64_t until = tele_monotonic_ns() + STOP_WAIT_NS;
	uint32_t mine = atomic_fetch_add_explicit(&flushes_asked, 1, memory_order_acq_rel) + 1;
	command(COMMAND_FLUSH);
	for (;;) {
		uint32_t done = atomic_load_explicit(&flushes_done, memory_order_acquire);
		if ((int32_t)(done - mine) >= 0)
			return 0;
		if (tele_monotonic_ns() >= until)
			return -EAGAIN;
		tele_futex_wait_until(&flushes_done, done, until);
	}
}

TELE_EXPORT void rollcall_tend(void)
{
	if (tele_publisher_is_active())
		command(COMMAND_TEND);
}

TELE_EXPORT const char *rollcall_segment_path(void)
{
	return tele_publisher_is_active() ? sampler.file.path : NULL;
}
