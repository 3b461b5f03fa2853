// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Strings by id, for readers: labels, phases, owners, device names. Ids are
// numbers the writer chose, never 0. Ids below 2^32 mean the same as long as
// the instance lives, and a repeated definition changes nothing; ids from there
// on are transient: a block defines those it uses, and its reader forgets them
// when it goes on to the next.

#ifndef TELE_STRINGS_H
#define TELE_STRINGS_H

#include "base.h"

#define TELE_STRING_IS_TRANSIENT(id) ((id) >> 32 != 0)

struct tele_strings;

// NULL when there is no memory. tele_strings_free takes NULL.
struct tele_strings *tele_strings_new(void);
void tele_strings_free(struct tele_strings *strings);

// Defines id, copying len bytes. Returns 0, -ENOMEM, TELE_EDAMAGED for id 0, or
// TELE_ELIMIT beyond a million strings (a hostile writer).
int tele_strings_define(struct tele_strings *strings, uint64_t id, const char *text, size_t len);

// Forgets all transient ids; their texts are gone.
void tele_strings_forget_transient(struct tele_strings *strings);

// The text, NUL-terminated and owned by `strings`, or NULL. Stays valid until
// `strings` is freed, or the id is transient and forgotten.
const char *tele_strings_get(const struct tele_strings *strings, uint64_t id);

#endif
