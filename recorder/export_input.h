// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The trace that an export reads.

#ifndef REC_EXPORT_INPUT_H
#define REC_EXPORT_INPUT_H

#include "../libtelemetry/trace.h"

// Opens it to be read once. With `needs_file`, standard input is read to its
// end into a file without a name first. 0, or an error as tele_trace_open.
int rec_export_input(const char *path, bool needs_file, struct tele_source **ret_source,
		     struct tele_error *ret_error);

#endif
