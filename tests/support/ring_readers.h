// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Readers of a ring_fixture that check everything they are told: one takes
// records as a monitor does, one takes blocks as a recorder does.

#ifndef TESTS_SUPPORT_RING_READERS_H
#define TESTS_SUPPORT_RING_READERS_H

#include "libtelemetry/attach.h"
#include "tests/support/ring_fixture.h"

// Attaches to the segment; fails the test where it cannot. To be closed.
struct tele_attach *test_attach_to(const struct test_ring *ring);

struct test_listener {
	const struct test_ring *ring;
	struct tele_source *source;
	uint64_t next_seq; // 0: nothing told yet
	uint64_t n_rows, n_events, n_gaps, n_lost, n_schemas;
	uint32_t n_fields_last;
	enum tele_state state;
	bool skips_check; // records from slots are not of the fixture
};

void test_listen_start(struct test_listener *listener, const struct test_ring *ring, bool from_now);

// Takes one record; test_listen takes all there are.
void test_listen_take(struct test_listener *listener, const struct tele_record *record);
void test_listen(struct test_listener *listener);

void test_listen_stop(struct test_listener *listener);

struct test_kept {
	uint64_t sealed_end, provisional_end, first_seq; // numbers
	uint64_t n_sealed, n_provisional, n_gaps, n_lost;
};

// Takes all blocks there are.
void test_keep(struct tele_attach *attach, struct test_kept *kept, bool with_provisional);

#endif
