// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Seeded mistakes in the order of stores and looks, for the proof to find. The
// product knows none of them: see mutant_store.h.

#ifndef TESTS_PROOF_MUTANTS_H
#define TESTS_PROOF_MUTANTS_H

#include "libtelemetry/publish/ring.h"

#define PROOF_MUTANTS(X) \
	X(NONE, "as it is") \
	X(USED_BEFORE_FRAMES, "frames are committed before they are copied") \
	X(EPOCH_KEPT, "a chunk keeps its epoch while the next one is set up in it") \
	X(EPOCH_BEFORE_HEADER, "a chunk gets its epoch before its header") \
	X(OPENED_BEFORE_SEALED, "the next chunk is opened before the block is in the ring") \
	X(TAIL_BEFORE_BLOCK, "a block is committed before it is copied") \
	X(HEAD_AFTER_BLOCK, "the head moves after what it gives up is overwritten") \
	X(LATEST_NOT_CLEARED, "the latest row's slot keeps its seq while it is written") \
	X(LATEST_BEFORE_ROW, "the latest row is named before it is written") \
	X(SCHEMA_AFTER_LENGTH, "the schema's length is committed before its bytes") \
	X(ROWS_BEFORE_LATEST, "a row is counted before it is the latest") \
	X(SLOT_MARKED_EARLY, "a boundary slot is marked before it is filled") \
	X(DRAINED_LATE, "a commit does not tell the slot that it drained") \
	X(READER_KEEPS_EPOCH, "a reader does not look at the epoch again") \
	X(READER_KEEPS_HEAD, "a reader does not look at the head again") \
	X(READER_KEEPS_LATEST, "a reader does not look at the latest row's seq again")

enum proof_mutant {
#define X(name, text) PROOF_##name,
	PROOF_MUTANTS(X)
#undef X
	PROOF_MUTANT_COUNT
};

// The one that is on from now on.
void proof_set_mutant(enum proof_mutant mutant);
enum proof_mutant proof_get_mutant(void);

// Every store of such a writer.
void proof_mutant_store(struct tele_ring *ring, size_t offset, const void *bytes, size_t n_bytes);

#endif
