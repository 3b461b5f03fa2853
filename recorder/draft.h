// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A file that appears only when it is whole: it is made beside its place and put
// there at the end. So a full disk, a damaged input or a signal leaves neither
// half a file under the name that was asked for, nor takes away what was there.

#ifndef REC_DRAFT_H
#define REC_DRAFT_H

#include "../libtelemetry/base.h"
#include "../libtelemetry/error.h"

struct rec_draft {
	const char *path; // where it shall be, the caller's; "-": standard output, by any name
	char *name;	  // of the draft; NULL: devices, pipes, "-", written in place
	char *place;	  // of the draft: path without links
	bool replace;
	uint32_t mode; // that it shall have, 0: the draft's
};

// What to open and write: the draft, or the path as it is.
static inline const char *rec_draft_written(const struct rec_draft *draft)
{
	return draft->name ? draft->name : draft->path;
}

// Makes the draft, an empty file of mode 0600. `input` is what it is made from
// (NULL or "-": not a file), which it may never be. An existing file is an error
// (-EEXIST) unless `replace`; so are a directory, a trace that is being recorded
// (-EBUSY), a link to nothing (-ENOENT), and the input itself (-EINVAL). A link is
// followed.
int rec_draft_open(struct rec_draft *draft, const char *path, const char *input, bool replace,
		   struct tele_error *ret_error);

// The same for what is to be copied to its place when it is whole: a file in
// TMPDIR, else /tmp. *draft is one that rec_draft_open() made none for.
int rec_draft_make_temporary(struct rec_draft *draft, struct tele_error *ret_error);

// The mode and, where that may be, the owner of the file that is replaced shall
// stay. Not for traces, which are for their maker alone.
void rec_draft_keep_mode(struct rec_draft *draft);

// Puts a whole draft in its place. A file that came into being meanwhile is left
// alone, unless it may be replaced. Does nothing where none was made.
int rec_draft_place(struct rec_draft *draft, struct tele_error *ret_error);

// Removes what was not put in place. May be called at any time, also twice.
void rec_draft_drop(struct rec_draft *draft);

// The draft that is being made, or NULL: for a handler of the signal that ends
// this process to unlink. One at a time.
const char *rec_draft_now(void);

#endif
