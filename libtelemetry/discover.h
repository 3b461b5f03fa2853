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
// `error` says why.
struct tele_found {
	char path[512];
	struct tele_attach *attach;
	struct tele_error error;
};

struct tele_found_list {
	struct tele_found *items;
	size_t n_items, capacity;
};

// The directory this user publishes in: $ROLLCALL_DIR, else
// /dev/shm/rollcall-<euid>. Returns 0 or -ENAMETOOLONG.
int tele_default_directory(char *buffer, size_t size);

// Finds the segments of one directory (not NULL), or of this user's (NULL); for
// root without ROLLCALL_DIR, of all users. Segments that are open in *list
// already are kept and refreshed, vanished ones closed, new ones opened; the
// order is by creation time. A missing directory is an empty list. Returns the
// number of changes, or an error for a directory that cannot be read or is not
// safe.
int tele_discover(const char *directory, struct tele_found_list *list,
		  struct tele_error *ret_error);

void tele_found_list_close(struct tele_found_list *list);

// Whether a segment may be removed by the rules of its format: its lock is
// free, its process gone (or another boot), its heartbeat old.
bool tele_is_removable(struct tele_attach *attach);

#endif
