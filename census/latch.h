// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A latch: a few words kept twice, so that readers without a lock always find
// one copy that nobody is writing, even when the writer is preempted or killed
// in the middle of a change. While `seq` is even readers use copy 0, while it
// is odd copy 1. A change steps seq, alters copy 0, steps seq, alters copy 1.
//
// A read that was overtaken by a step is taken again, so it fails only while
// writers make progress. There are no fences: data is stored with release and
// loaded with acquire, so that whoever sees a new word also sees the step of
// seq before it.

#ifndef CENSUS_LATCH_H
#define CENSUS_LATCH_H

#include "../libtelemetry/base.h"

#include <stdatomic.h>

#define CENSUS_LATCH_TRIES 4096

// Copies `n_words` words that belong together to ret_words and gives the seq
// they were read at. `copies` is two times n_words. Takes no lock. False when
// writers overtook it CENSUS_LATCH_TRIES times; ret_words is garbage then.
static inline bool census_latch_read(const _Atomic uint64_t *seq, const _Atomic uint64_t *copies,
				     size_t n_words, uint64_t *ret_words, uint64_t *ret_seq)
{
	for (unsigned tries = 0; tries < CENSUS_LATCH_TRIES; tries++) {
		// Pairs with the store in census_latch_step.
		uint64_t at = atomic_load_explicit(seq, memory_order_acquire);
		const _Atomic uint64_t *copy = copies + (at & 1) * n_words;
		for (size_t i = 0; i < n_words; i++)
			ret_words[i] = atomic_load_explicit(&copy[i], memory_order_acquire);
		// Ordered after the data by the acquire loads above.
		if (TELE_LIKELY(atomic_load_explicit(seq, memory_order_relaxed) == at)) {
			*ret_seq = at;
			return true;
		}
	}
	return false;
}

// Moves readers to the other copy. The caller is the only writer (it holds the
// lock of what the latch guards), calls this twice a change and alters copy 0
// after the first call, copy 1 after the second.
static inline void census_latch_step(_Atomic uint64_t *seq)
{
	uint64_t at = atomic_load_explicit(seq, memory_order_relaxed);
	atomic_store_explicit(seq, at + 1, memory_order_release);
}

// Stores to, or adds to, one word of the copy that no reader uses. Pairs with
// the data loads of census_latch_read.
static inline void census_word_set(_Atomic uint64_t *word, uint64_t value)
{
	atomic_store_explicit(word, value, memory_order_release);
}

static inline void census_word_add(_Atomic uint64_t *word, uint64_t delta)
{
	census_word_set(word, atomic_load_explicit(word, memory_order_relaxed) + delta);
}

#endif
