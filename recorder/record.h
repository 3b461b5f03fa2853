// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Recording of live (or dead) processes into a trace. The recorder reads rings
// and appends their sealed blocks as they are, unless it is to thin them; it
// holds no lock on them, and the recorded processes do not notice it.

#ifndef REC_RECORD_H
#define REC_RECORD_H

#include "../libtelemetry/base.h"
#include "../libtelemetry/error.h"
#include "../libtelemetry/source.h"

struct rec_recorder;

// Whether a process that was found is to be recorded. Asked once for each.
typedef bool (*rec_wants_fn)(void *context, const struct tele_instance *instance);

// A process that was wanted has ended, and nothing more of it can come.
typedef void (*rec_forget_fn)(void *context, uint64_t instance_id);

struct rec_settings {
	const char *path; // of the trace; "-": standard output
	bool replace;	  // an existing file
	uint64_t max_bytes; // of a piece of it (sink.h); 0: no limit
	uint64_t n_keep;    // full pieces; 0: all
	uint64_t every_ns;  // keep one row for each (thin.h); 0: all
	const char *directory; // of segments; NULL: this user's
	rec_wants_fn wants;
	rec_forget_fn forget; // may be NULL
	void *context;
};

struct rec_progress {
	uint64_t n_processes; // recorded so far
	uint64_t n_alive;     // of them, still publishing (or between two programs, in exec)
	uint64_t n_rows;
	uint64_t written_bytes;
	uint64_t lost; // records overwritten before they could be read
	uint64_t n_pieces, n_dropped; // of a recording in pieces: all, and those removed again
};

// Creates the trace. Nothing is read before the first step.
int rec_open(const struct rec_settings *settings, struct rec_recorder **ret_recorder,
	     struct tele_error *ret_error);

// Finds new processes and appends what is new of all; every 2 s, and when there
// is a new process, also brings it to the disk, with a provisional block of what
// is not sealed yet. To be called about twice a second. Never waits for a
// process. After an error (disk full) the recorder may only be closed; the trace
// is valid up to its last block.
int rec_step(struct rec_recorder *recorder, uint64_t now_ns, struct tele_error *ret_error);

void rec_get_progress(const struct rec_recorder *recorder, struct rec_progress *ret_progress);

// A last step that takes everything, the index and the trailer. Frees the
// recorder in every case. After a failed step it only closes, and returns 0.
// *ret_progress (may be NULL) is what there is in the end.
int rec_close(struct rec_recorder *recorder, struct rec_progress *ret_progress,
	      struct tele_error *ret_error);

#endif
