// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// See ring_readers.h.

#include "ring_readers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

struct tele_attach *test_attach_to(const struct test_ring *ring)
{
	struct tele_attach *attach;
	struct tele_error error = {0};
	if (tele_attach_open(ring->file.path, &attach, &error) != 0)
		fail_msg("%s", error.text);
	return attach;
}

void test_listen_start(struct test_listener *listener, const struct test_ring *ring, bool from_now)
{
	memset(listener, 0, sizeof(*listener));
	listener->ring = ring;
	assert_int_equal(tele_ring_source_open(test_attach_to(ring), from_now, &listener->source, NULL), 0);
}

void test_listen_take(struct test_listener *listener, const struct tele_record *record)
{
	listener->state = record->instance->state;
	switch (record->kind) {
	case TELE_RECORD_SCHEMA:
		listener->n_schemas++;
		break;
	case TELE_RECORD_GAP:
		assert_true(record->gap_from == (listener->next_seq ? listener->next_seq : 1));
		assert_true(record->gap_to > record->gap_from);
		listener->n_gaps++;
		listener->n_lost += record->gap_to - record->gap_from;
		listener->next_seq = record->gap_to;
		assert_true(record->instance->lost == listener->n_lost);
		break;
	case TELE_RECORD_ROW:
	case TELE_RECORD_EVENT:
		assert_true(listener->n_schemas > 0);
		if (!listener->skips_check || record->seq <= listener->ring->n_records)
			assert_true(test_ring_is_right(listener->ring, record));
		if (listener->next_seq)
			assert_true(record->seq == listener->next_seq);
		listener->next_seq = record->seq + 1;
		listener->n_rows += record->kind == TELE_RECORD_ROW;
		listener->n_events += record->kind == TELE_RECORD_EVENT;
		if (record->kind == TELE_RECORD_ROW) {
			assert_true(record->n_fields <= record->instance->schema->n_fields);
			listener->n_fields_last = record->n_fields;
		}
		break;
	default:
		break;
	}
}

void test_listen(struct test_listener *listener)
{
	struct tele_record record;
	struct tele_error error = {0};
	int more;
	while ((more = tele_source_next(listener->source, &record, &error)) > 0)
		test_listen_take(listener, &record);
	if (more < 0)
		fail_msg("%s", error.text);
}

void test_listen_stop(struct test_listener *listener)
{
	tele_source_close(listener->source);
}

void test_keep(struct tele_attach *attach, struct test_kept *kept, bool with_provisional)
{
	const uint8_t *block;
	size_t n_bytes;
	bool is_provisional;
	uint64_t from, to;
	struct tele_error error = {0};
	struct tele_block_header header;
	int got;
	while ((got = tele_attach_next_block(attach, with_provisional, &block, &n_bytes, &is_provisional,
					     &from, &to, &error)) != 0) {
		if (got < 0)
			fail_msg("%s", error.text);
		assert_true(tele_block_check(block, n_bytes, &header) == (int64_t)n_bytes);
		assert_int_equal((header.flags & TELE_BLOCK_PROVISIONAL) != 0, is_provisional);
		assert_true(!is_provisional || with_provisional);
		uint64_t end = header.first_seq + header.n_rows + header.n_events;
		uint64_t had = kept->sealed_end > kept->provisional_end ? kept->sealed_end :
									  kept->provisional_end;
		if (!kept->first_seq)
			kept->first_seq = header.first_seq;
		else if (to > from)
			assert_true(from == had && to == header.first_seq);
		else
			assert_true(header.first_seq <= had);
		kept->n_gaps += to > from;
		kept->n_lost += to - from;
		*(is_provisional ? &kept->n_provisional : &kept->n_sealed) += 1;
		*(is_provisional ? &kept->provisional_end : &kept->sealed_end) = end;
	}
	if (to > from)
		kept->n_lost += to - from;
	assert_true(tele_attach_instance(attach)->lost == kept->n_lost);
}
