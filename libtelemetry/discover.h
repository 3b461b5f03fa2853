// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Finding segments: the directories in which processes publish, and what lies
// there. Directories and files whose owner or mode is not safe are refused, and
// named as such.

#ifndef TELE_DISCOVER_H
#define TELE_DISCOVER_H

#include "attach.h"
#include "base.h"
#include "error.h"

// One segment found. Either `attach` is open, or it could not be read and
// `error` says why. What a directory holds beyond its owner's share is one such
// item, by the path of the directory.
struct tele_found {
	char path[512];
	struct tele_attach *attach;
	struct tele_error error;
	bool is_seen; // by the scan at hand
};

struct tele_found_list {
	struct tele_found *items;
	size_t n_items, capacity;
	struct tele_schema_pool *schemas; // that they share
};

// The directory this user publishes in: $ROLLCALL_DIR, else
// /dev/shm/rollcall-<euid>. Returns 0 or -ENAMETOOLONG.
int tele_default_directory(char *buffer, size_t size);

// Finds the segments of one directory (not NULL), or of this user's (NULL); for
// root without ROLLCALL_DIR, of all users. Segments that are open in *list
// already are kept and refreshed, vanished ones closed, new ones opened; the
// order is by creation time. No more are opened than the process may have
// descriptors, nor more than TELE_SEGMENTS_OF_OWNER of a user among many; where
// that is not enough for all, those of the user who has most are left out first.
// A missing directory is an empty list. Returns the number of changes, or an
// error for a directory that cannot be read or is not safe.
#define TELE_SEGMENTS_OF_OWNER 1024
int tele_discover(const char *directory, struct tele_found_list *list,
		  struct tele_error *ret_error);

void tele_found_list_close(struct tele_found_list *list);

// The most that each may have where n_wants users want that much of a budget:
// who wants less than it gets all, and the sum stays within the budget.
uint32_t tele_fair_share(const uint32_t *wants, size_t n_wants, uint32_t budget);

// Whether a segment may be removed by the rules of its format: its lock is
// free, its process gone (or another boot), its heartbeat old.
bool tele_is_removable(struct tele_attach *attach);

// Whether an unreadable segment holds no lock and was not written to for a
// minute: enough to remove it on demand.
bool tele_found_is_abandoned(const struct tele_found *found, uint64_t *ret_bytes);

// Removes the file that was found, and no other: its directory must still be
// safe to read, and the name in it lead to the file that is open, or, of an
// unreadable one, to a file of the directory's owner. Returns 0, -ENOENT,
// TELE_EUNSAFE, -errno.
int tele_found_remove(const struct tele_found *found, struct tele_error *ret_error);

#endif
