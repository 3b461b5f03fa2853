// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Live processes as one source: every segment of a directory, found again at
// each refresh. Of most processes only the latest row is read, one small read
// each; those that are followed tell their whole history.

#ifndef MON_LIVE_H
#define MON_LIVE_H

#include "../libtelemetry/discover.h"
#include "../libtelemetry/error.h"
#include "../libtelemetry/source.h"

struct mon_live;

// directory NULL: this user's. With follow_all every process is followed from
// the start. Finds nothing yet: refresh does.
int mon_live_open(const char *directory, bool follow_all, struct mon_live **ret_live,
		  struct tele_error *ret_error);

// Asks outside of the processes, too, at most once a second (outside.h): the
// source then tells an observer's instance. To be called before the first refresh.
int mon_live_ask_outside(struct mon_live *live, struct tele_error *ret_error);

// The observer's latest row, for who reads one process by mon_live_ring. False
// before there is one.
bool mon_live_outside_row(const struct mon_live *live, struct tele_record *ret_record);

// The merged source; 0 from it means nothing more until the next refresh.
// Closed by mon_live_close.
struct tele_source *mon_live_source(struct mon_live *live);
void mon_live_close(struct mon_live *live); // takes NULL

// Looks at the directory and all segments again. Instances that went away are
// gone when this returns: models must forget them (mon_live_gone) before
// anything else.
int mon_live_refresh(struct mon_live *live, struct tele_error *ret_error);

// The instance ids that the last refresh found gone, or in another file: those
// are told anew.
const uint64_t *mon_live_gone(const struct mon_live *live, uint32_t *ret_n_gone);

// Follows a process from its oldest record on; its INSTANCE record comes again.
// It stays followed until it goes away. Returns 1 when it was not followed
// before and is now, 0 when nothing changed, or TELE_ENOTFOUND.
int mon_live_follow(struct mon_live *live, uint64_t instance_id, struct tele_error *ret_error);

// A source of its own over the whole history of a process, for the caller to
// close. False where there is no ring to read.
bool mon_live_ring(const struct mon_live *live, uint64_t instance_id, struct tele_source **ret_source);

// Segments found; those with no `attach` are unreadable.
const struct tele_found_list *mon_live_found(const struct mon_live *live);

#endif
