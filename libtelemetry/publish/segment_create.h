// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Making a segment: a file that is complete before it has a name.

#ifndef TELE_SEGMENT_CREATE_H
#define TELE_SEGMENT_CREATE_H

#include "../base.h"
#include "../identity.h"
#include "../schema.h"

struct tele_segment_file {
	uint8_t *bytes; // mapped shared; in write mode a private copy
	struct tele_layout layout;
	char path[512];
	int fd;		// in the publisher thread's descriptor table; carries the lock
	bool is_written; // write mode: off tmpfs, every change goes out by pwrite
};

// Makes, fills, maps, locks and names the segment of `identity` in `directory`
// (created 0700 when missing; refused when it is not ours alone). The ring is
// halved down to 64 KiB where the file system has no more room. On tmpfs the
// file is mapped; elsewhere it is written, since a store into the mapping of a
// file that somebody truncates would kill the program. The memory is kept out of
// forked children. `schema` is what the schema area starts with. To be called by
// the publisher thread, whose descriptor table is its own. Returns 0, or a negative errno value or
// TELE_EUNSAFE, with *ret_what naming the step that failed (static text).
int tele_segment_create(const struct tele_identity *identity, const char *directory,
			size_t ring_bytes, const uint8_t *schema, size_t schema_bytes,
			struct tele_segment_file *ret_file, const char **ret_what);

// Opens the file and takes the lock anew after the thread that held it has gone
// (parking). Returns 0, or a negative value when the file cannot be reached any
// more; a mapped one can still be published to then.
int tele_segment_relock(struct tele_segment_file *file);

#endif
