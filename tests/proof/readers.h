// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What every reader of the proof does: attach, the latest row, the records.

#ifndef TESTS_PROOF_READERS_H
#define TESTS_PROOF_READERS_H

#include "script.h"
#include "served.h"

// Attaches to what is served (NULL: to the file), reads the latest row, then
// everything (or, from_now, what is now), and of a living writer once more, when
// all is `after`. Returns NULL, or what is wrong.
const char *proof_read(const struct proof_script *script, struct proof_served *served,
		       struct proof_found *found, struct proof_found *ret_latest, bool from_now);

// Whether that latest row is one that a living writer left: NULL, or what is wrong.
const char *proof_check_latest(const struct proof_script *script, const struct proof_found *latest);

#endif
