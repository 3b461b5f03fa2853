// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The publisher's inner parts, for each other: its one state, the settings
// read at the start, the boundary slots, and the host's readings.

#ifndef TELE_PROCESS_H
#define TELE_PROCESS_H

#include "../base.h"
#include "../source.h"
#include "ring.h"

// What the environment said when the library was loaded. Copied, since the
// program may change its environment at any time.
struct tele_settings {
	bool is_off;
	bool is_root;	     // named by ROLLCALL_ROOT: publishes at once
	enum { TELE_CHILDREN_LAZY, TELE_CHILDREN_NO, TELE_CHILDREN_ALL } children;
	bool is_helper;	     // a browser's: may have no thread that it did not start
	bool has_cmdline;    // ROLLCALL_CMDLINE is not "no"
	uint64_t period_ns;
	size_t ring_bytes;
	char directory[400];
	char label[128];
};
void tele_settings_read(struct tele_settings *ret_settings);

// Whether this is a helper process of a browser built on Chromium (an argument
// that starts with --type=). Such a process counts its threads before it goes
// into its sandbox, and aborts when there are more than its own.
bool tele_is_browser_helper(int argc, char **argv);

// Fills the identity of this process: pid, start ticks, boot id, comm, label.
// Opens files: to be called by the publisher thread.
void tele_identity_of_self(const struct tele_settings *settings, uint64_t instance_id,
			   uint64_t parent_instance_id, struct tele_identity *ret_identity);

// 64 random bits, never 0.
uint64_t tele_random_id(void);

// Whether the publisher thread has a descriptor table of its own.
extern bool tele_has_own_table;

// Gives the calling thread such a table, where the kernel can.
void tele_take_own_table(void);

// open(2) for the publisher thread, close-on-exec and without a controlling
// terminal: a descriptor of 3 or above, and of 512 or above where the table is
// the program's. Returns it, or -errno.
int tele_open(int directory_fd, const char *path, int flags, unsigned mode);

// ---- Boundary slots (slots.c) ----------------------------------------------------

// Where slots are claimed: words of the segment's control page and slots, or
// NULL while nothing is published.
void tele_slots_attach(uint8_t *control, uint8_t *slots);
void tele_slots_detach(void);

// That the program goes into exec, or came back from one that failed. Harmless
// in a child of vfork, and where nothing is published.
void tele_slots_note_exec(bool is_in_exec);

// The publisher's side: the oldest slot that is filled and not drained, or NULL.
// A slot whose thread died before filling it is skipped and counted.
const uint64_t *tele_slots_front(void);

// Drained so far, as the ring's chunks carry it; counts the front one as drained.
uint64_t tele_slots_drained(void);
void tele_slots_pop(void);

// Whether every slot that was claimed is drained.
bool tele_slots_are_drained(void);

uint64_t tele_boundaries_dropped(void);
uint64_t tele_registrations_refused(void);

// In the child of a fork: both start at 0.
void tele_reset_counts(void);

// ---- Host (host.c) -----------------------------------------------------------------

struct tele_host {
	int statm_fd, status_fd, smaps_fd;
	int cgroup_current_fd, cgroup_max_fd, cgroup_peak_fd, cgroup_events_fd;
	uint64_t page_bytes;
	uint64_t status_due_at_ns, smaps_due_at_ns, cgroup_due_at_ns;
};

// Opens what it reads, once, in the publisher thread's own table.
void tele_host_open(struct tele_host *host);

// Fills struct tele_host_values at values.
void tele_host_collect(struct tele_host *host, uint64_t *values);

// ---- Parking (publisher.c) ------------------------------------------------------------

// Stops the publisher thread and waits until the kernel has let go of it, so
// that the process is single-threaded as far as we are concerned. Returns true
// when there was one, to be given to tele_unpark.
bool tele_park(void);

// Starts publishing again into the same segment.
void tele_unpark(bool was_parked);

// A filter of system calls is in force: from now on nothing of ours, here and
// in forked children, makes one.
void tele_stay_parked(void);

// Wakes the publisher to drain the boundary slots before its next tick.
void tele_ask_drain(void);

// Parks for good when the first thread ends by pthread_exit (first_thread.c):
// the one that calls watch, be it main's or the one a fork left. Watch makes no
// system call, which a filter might forbid.
void tele_first_thread_init(void);
void tele_first_thread_watch(void);

// Writes the last row and state `exited`; for _exit.
void tele_publisher_stop(void);

// The pid that the publisher belongs to, or 0 when there is none.
int tele_publisher_pid(void);

#endif
