// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Readers on bytes that the test serves: pread of this program is the test's
// own, so the real reader can be shown a segment as it was at one instant, or
// one that changes under it at any word that it reads.

#ifndef TESTS_PROOF_SERVED_H
#define TESTS_PROOF_SERVED_H

#include "libtelemetry/identity.h"

#include <stdbool.h>
#include <stdint.h>

struct proof_served {
	const uint8_t *before, *after; // a whole segment each
	uint64_t switch_at;	       // the word, or the call, from which `after` is read
	bool by_call;		       // which of them
	bool is_descending;	       // words of one call are read from the last to the first
	bool is_dead;		       // the process is gone; else it lives
	uint64_t words, calls;	       // read so far
};

// Two headers of that identity: one of a process that is gone, one of ours.
void proof_serve_init(const struct tele_identity *identity, const struct tele_layout *layout);

// What pread answers from now on; NULL: what the file holds.
void proof_serve(struct proof_served *served);

// Re-checks of the reader that a mutant leaves out: the answer is what the same
// word was when it was read before.
enum proof_omission { PROOF_OMITS_NOTHING, PROOF_OMITS_EPOCH, PROOF_OMITS_HEAD, PROOF_OMITS_LATEST };
void proof_omit(enum proof_omission omission);

#endif
