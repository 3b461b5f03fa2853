// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Strings by id, for readers: labels, phases, owners, device names. Ids are
// numbers the writer chose, never 0; a repeated definition changes nothing.

#ifndef TELE_STRINGS_H
#define TELE_STRINGS_H

#include "base.h"

struct tele_strings;

// NULL when there is no memory. tele_strings_free takes NULL.
struct tele_strings *tele_strings_new(void);
void tele_strings_free(struct tele_strings *strings);

// Defines id, copying len bytes. Returns 0, -ENOMEM, or TELE_ELIMIT beyond a
// million strings (a hostile writer).
int tele_strings_define(struct tele_strings *strings, uint64_t id, const char *text, size_t len);

// The text, NUL-terminated and owned by `strings`, or NULL. Stays valid until
// `strings` is freed.
const char *tele_strings_get(const struct tele_strings *strings, uint64_t id);

#endif
