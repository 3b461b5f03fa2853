// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Numbers as text, exactly.

#ifndef REC_IMPORT_NUMBER_H
#define REC_IMPORT_NUMBER_H

#include "../libtelemetry/base.h"

// A whole number from 0 to 2^64 - 1; zeros behind a decimal point are allowed,
// as spreadsheets write them. False: it is none.
bool rec_parse_whole(const char *text, uint64_t *ret_value);

// Decimal seconds as nanoseconds, digits beyond them cut off; an exponent is
// allowed. False: not a number, below 0, or beyond 580 years.
bool rec_parse_seconds(const char *text, uint64_t *ret_ns);

// A decimal number and a unit (B, KiB, MiB, GiB, TiB; one space may stand
// between) at the beginning of a text, rounded to a whole byte. Returns what
// follows it, or NULL.
const char *rec_scan_bytes(const char *text, uint64_t *ret_bytes);

#endif
