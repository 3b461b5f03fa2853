// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The stores by which a segment changes; nothing else touches it but the threads
// that fill boundary slots. What order they need is in docs/proof.md, whose
// model is made from the calls in the sources. In write mode the order of the
// pwrite calls is the order of the stores. Included by ring.h.

#ifndef TELE_STORE_H
#define TELE_STORE_H

#include <stdatomic.h>
#include <string.h>

static inline void tele_ring_store_bytes(struct tele_ring *ring, size_t offset, const void *bytes,
					 size_t n_bytes)
{
	memcpy(ring->file->bytes + offset, bytes, n_bytes);
	if (TELE_UNLIKELY(ring->file->is_written))
		tele_ring_write_out(ring, offset, n_bytes);
}

// One aligned word, seen after everything that was stored before: pairs with the
// fence behind the readers' read of it.
static inline void tele_ring_store_word(struct tele_ring *ring, size_t offset, uint64_t value)
{
	_Atomic uint64_t *word = (_Atomic uint64_t *)(void *)(ring->file->bytes + offset);
	atomic_store_explicit(word, value, memory_order_release);
	if (TELE_UNLIKELY(ring->file->is_written))
		tele_ring_write_out(ring, offset, sizeof(value));
}

// One aligned word that says nothing of others.
static inline void tele_ring_store_alone(struct tele_ring *ring, size_t offset, uint64_t value)
{
	_Atomic uint64_t *word = (_Atomic uint64_t *)(void *)(ring->file->bytes + offset);
	atomic_store_explicit(word, value, memory_order_relaxed);
	if (TELE_UNLIKELY(ring->file->is_written))
		tele_ring_write_out(ring, offset, sizeof(value));
}

static inline size_t tele_ring_control_offset(const struct tele_ring *ring, enum tele_control word)
{
	return ring->file->layout.control_offset + 8 * (size_t)word;
}

// A word of the control page, seen after everything that was stored before.
static inline void tele_ring_control(struct tele_ring *ring, enum tele_control word, uint64_t value)
{
	tele_ring_store_word(ring, tele_ring_control_offset(ring, word), value);
}

// One that says nothing of other words: counts, signs of life.
static inline void tele_ring_note(struct tele_ring *ring, enum tele_control word, uint64_t value)
{
	tele_ring_store_alone(ring, tele_ring_control_offset(ring, word), value);
}

#endif
