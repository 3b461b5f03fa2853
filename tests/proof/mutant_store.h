// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Included by force into a second build of ring.c and ring_commit.c, where it
// stands in for publish/store.h: each store goes through mutants.c.

#ifndef TESTS_PROOF_MUTANT_STORE_H
#define TESTS_PROOF_MUTANT_STORE_H

#define TELE_STORE_H // not that one
#include "tests/proof/mutants.h"

static inline void tele_ring_store_bytes(struct tele_ring *ring, size_t offset, const void *bytes, size_t n_bytes)
{
	proof_mutant_store(ring, offset, bytes, n_bytes);
}

static inline void tele_ring_store_word(struct tele_ring *ring, size_t offset, uint64_t value)
{
	proof_mutant_store(ring, offset, &value, sizeof(value));
}

static inline void tele_ring_store_alone(struct tele_ring *ring, size_t offset, uint64_t value)
{
	proof_mutant_store(ring, offset, &value, sizeof(value));
}

static inline void tele_ring_control(struct tele_ring *ring, enum tele_control word, uint64_t value)
{
	proof_mutant_store(ring, ring->file->layout.control_offset + 8 * (size_t)word, &value, sizeof(value));
}

static inline void tele_ring_note(struct tele_ring *ring, enum tele_control word, uint64_t value)
{
	tele_ring_control(ring, word, value);
}

#endif
