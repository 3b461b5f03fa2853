// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A watch over one instance: records of a source go in, and its engine of
// verdicts comes out filled. Screens, reports and rules all go through here, so
// that the same rows give the same verdicts.
//
// A watch belongs to one thread. It allocates when the schema brings classes
// and when the first row with something to judge comes, and then costs at most
// 41 KB a class, ANALYSIS_CLASSES_MAX of them: 10.5 MB at the very most, 1 MB
// for a search on one device, however many rows come. Pages are paid as they
// fill: of a server with the books alone one or two for each of its classes.

#ifndef ANALYSIS_WATCH_H
#define ANALYSIS_WATCH_H

#include "../libtelemetry/source.h"
#include "classes.h"
#include "verdict.h"

// What a person or the machine knows of limits beyond what rows tell.
struct analysis_limit {
	char name[ANALYSIS_CLASS_NAME_MAX]; // "device", "device[1]", or a class in bytes
	uint64_t bytes;
};

#define ANALYSIS_LIMITS_MAX 16

struct analysis_limits {
	struct analysis_limit items[ANALYSIS_LIMITS_MAX];
	size_t n_items;
	// Memory of the machine that booted as this; TELE_UNKNOWN: not known.
	// Rows from another boot may be of another machine.
	uint64_t machine_bytes;
	uint64_t boot_id[2];
};

// Nothing known.
void analysis_limits_init(struct analysis_limits *limits);

// Adds "NAME=SIZE", SIZE in bytes or with KiB, MiB, GiB, TiB (K, M, G, T too).
// Returns 0, -EINVAL, or -ENOSPC after ANALYSIS_LIMITS_MAX.
int analysis_limits_add(struct analysis_limits *limits, const char *text);

// A size as above, the whole text. Returns 0 or -EINVAL.
int analysis_size_parse(const char *text, uint64_t *ret_bytes);

struct analysis_watch;

// `look` says how it will be listed: a watch for ANALYSIS_FINAL makes no
// judgements on the way. The limits are copied. Returns NULL without memory.
struct analysis_watch *analysis_watch_new(enum analysis_look look, const struct analysis_limits *limits);
void analysis_watch_free(struct analysis_watch *watch); // takes NULL

// A watch of its own that goes on from there with the same answers, or NULL
// without memory.
struct analysis_watch *analysis_watch_copy(const struct analysis_watch *watch);

// Takes in one record of the instance, in order; an INSTANCE record starts over.
// Returns how many classes turned (to growing, or back), or -ENOMEM. Pointers
// into the record are not kept.
int analysis_watch_take(struct analysis_watch *watch, const struct tele_record *record);

// The engine, or NULL while no row had a known class. It may be read until the
// next record.
const struct analysis_verdicts *analysis_watch_engine(const struct analysis_watch *watch);
const struct analysis_classes *analysis_watch_classes(const struct analysis_watch *watch);

// The values of the last row, one for each of the classes; NULL before the first.
const uint64_t *analysis_watch_values(const struct analysis_watch *watch);

// The verdicts, ranked, as analysis_verdicts_list with the watch's look, in an
// array of the caller's to free. Where the process has one device, that
// device's own classes say nothing new and are left out. Returns how many, or
// -ENOMEM; 0 leaves *ret_list NULL.
int analysis_watch_list(const struct analysis_watch *watch, struct analysis_verdict **ret_list);

#endif
