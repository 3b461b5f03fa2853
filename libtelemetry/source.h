// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Sources: where records come from, be it live rings, a trace or an array in a
// test. Everything that looks at telemetry (model, verdicts, recorder, exports)
// reads a source and cannot tell which kind it is.

#ifndef TELE_SOURCE_H
#define TELE_SOURCE_H

#include "base.h"
#include "error.h"
#include "event.h"
#include "schema.h"

// One list for all: design states of a process as a reader sees it. Wire
// numbers up to PARKED; the others are derived by the reader.
#define TELE_STATE_MAP(X)                            \
	X(TELE_STARTING, 0, "starting")              \
	X(TELE_LIVE, 1, "live")                      \
	X(TELE_EXITED, 2, "exited")                  \
	X(TELE_REPLACED, 3, "replaced")              \
	X(TELE_DISABLED, 4, "disabled")              \
	X(TELE_PARKED, 5, "parked")                  \
	X(TELE_LIVE_UNLOCKED, 6, "live_unlocked")    \
	X(TELE_STALE, 7, "stale")                    \
	X(TELE_KILLED, 8, "killed")                  \
	X(TELE_UNREADABLE, 9, "unreadable")

enum tele_state {
#define X(name, value, text) name = (value),
	TELE_STATE_MAP(X)
#undef X
};

// "live", ...; "?" for a number of a later version.
const char *tele_state_name(unsigned state);

// Whether the process can still publish: live, live_unlocked, starting, stale,
// parked.
bool tele_state_is_alive(unsigned state);

// Who the process is. Fixed at its start. Strings are foreign bytes: filter
// them before a terminal sees them.
struct tele_identity {
	uint64_t instance_id;
	uint64_t parent_instance_id; // fork, or 0
	uint64_t boot_id[2];
	uint64_t pid;
	uint64_t parent_pid;
	uint64_t start_ticks; // field 22 of /proc/PID/stat
	uint64_t pid_namespace;
	uint64_t euid;
	uint64_t created_at_ns; // monotonic
	uint64_t created_realtime_ns;
	uint64_t period_ns;	// of publishing
	bool is_observer;	// what a reader measured itself: no process
	bool is_untimed;	// imported without a time: records have an order, and no clock
	char comm[32];
	char label[128];	// ROLLCALL_LABEL, else the command line, else comm
};

// An instance of a source: one process (or observer) from start to end. Owned
// by the source; its address stays the same while the source is open.
struct tele_instance {
	struct tele_identity identity;
	struct tele_schema *schema;
	const struct tele_strings *strings;
	enum tele_state state;
	uint64_t lost; // records that are known to be missing so far
};

enum tele_record_kind {
	TELE_RECORD_INSTANCE, // a new instance; its schema may still be empty
	TELE_RECORD_SCHEMA,   // its schema has grown
	TELE_RECORD_ROW,
	TELE_RECORD_EVENT,
	TELE_RECORD_GAP,   // records [gap_from, gap_to) are missing
	TELE_RECORD_STATE, // instance->state has changed
};

// One record. What it points at stays valid until the next call.
struct tele_record {
	enum tele_record_kind kind;
	struct tele_instance *instance;
	uint64_t seq;	     // ROW, EVENT
	const uint64_t *row; // ROW: n_fields values; values[0] is the row's time
	uint32_t n_fields;
	struct tele_event event; // EVENT
	uint64_t gap_from, gap_to;
};

struct tele_source;

struct tele_source_ops {
	// 1: *ret_record is the next record; 0: none now (live) or no more
	// (trace); negative: an error, after which the source may only be closed.
	// Records of one instance come in order of seq.
	int (*next)(struct tele_source *source, struct tele_record *ret_record,
		    struct tele_error *ret_error);
	void (*close)(struct tele_source *source);
};

// Every kind of source starts with this.
struct tele_source {
	const struct tele_source_ops *ops;
	bool is_live; // 0 from next means "wait", not "end"
};

static inline int tele_source_next(struct tele_source *source, struct tele_record *ret_record,
				   struct tele_error *ret_error)
{
	return source->ops->next(source, ret_record, ret_error);
}

// Takes NULL.
static inline void tele_source_close(struct tele_source *source)
{
	if (source)
		source->ops->close(source);
}

// The text of a string id, or NULL when the source has not seen it.
const char *tele_instance_string(const struct tele_instance *instance, uint64_t id);

#endif
