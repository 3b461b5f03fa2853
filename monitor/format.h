// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Numbers as screens show them: every number has its unit and a known width,
// so that columns never jump. Each function fills `buffer` and returns it.

#ifndef MON_FORMAT_H
#define MON_FORMAT_H

#include "../analysis/wide.h"
#include "../libtelemetry/base.h"
#include "monitor.h"

#define MON_NUMBER_BYTES 32 // room for any of them

// Columns that a size takes at most: 7, or 15 in plain units.
int mon_bytes_columns(enum mon_units units);

// "+28.9M", "-6.4M", "+0B"; "n/a".
char *mon_format_signed_bytes(struct analysis_signed bytes, enum mon_units units, char *buffer,
			      size_t size);

// At most 6 columns: "999999", "1.23M", "n/a".
char *mon_format_count(uint64_t count, char *buffer, size_t size);

// A difference of counts: "86", "-1", "n/a".
char *mon_format_signed_count(struct analysis_signed count, char *buffer, size_t size);

// At most 6 columns: "58s", "2m11s", "3h02m", "4d03h"; "n/a".
char *mon_format_duration(uint64_t ns, char *buffer, size_t size);

// Time spent, which may be short: "0ns", "371us", "1.65ms", "2.46s"; from a
// minute on as above.
char *mon_format_elapsed(uint64_t ns, char *buffer, size_t size);

// A duration that was calculated; below 0 it is 0.
char *mon_format_seconds(double seconds, char *buffer, size_t size);

// Events per second from a count over a time: "2.1/s", "12.4/min"; "n/a" for no time.
char *mon_format_rate(double per_second, char *buffer, size_t size);

// The local time of day, "12:04:31", of a wall clock in ns since the epoch.
char *mon_format_clock(uint64_t realtime_ns, char *buffer, size_t size);

// A share in per cent, "59.7%"; "" when it cannot be told.
char *mon_format_share(uint64_t part, uint64_t whole, char *buffer, size_t size);

#endif
