// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The history of a segment as blocks. Sealed blocks are copied out, and the
// ring's head is read again afterwards: where it has passed the copy, the copy
// is thrown away and the loss is counted. What is not sealed yet is made into a
// provisional block here, which the sealed one of the same records supersedes.

#include "attach_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"

static int grow_bytes(uint8_t **bytes, size_t *capacity, size_t wanted)
{
	if (wanted <= *capacity)
		return 0;
	uint8_t *grown = realloc(*bytes, wanted);
	if (!grown)
		return -ENOMEM;
	*bytes = grown;
	*capacity = wanted;
	return 0;
}

// Catches up with the head where the writer has overtaken us. True when so.
static bool is_overtaken(struct tele_attach *attach)
{
	if (attach->control[TELE_CONTROL_HEAD] <= attach->ring_cursor)
		return false;
	attach->ring_cursor = attach->control[TELE_CONTROL_HEAD];
	return true;
}

static uint64_t ring_offset(const struct tele_attach *attach, uint64_t cursor)
{
	return attach->layout.ring_offset + (cursor & (attach->layout.ring_bytes - 1));
}

// Copies the block at the cursor, which lies before `tail`. Returns its bytes;
// 0 where the cursor was moved instead (a pad); TELE_EOVERRUN; an error.
static int64_t copy_block(struct tele_attach *attach, uint64_t tail, struct tele_block_header *header)
{
	const struct tele_layout *layout = &attach->layout;
	uint64_t cursor = attach->ring_cursor;
	uint64_t to_wrap = layout->ring_bytes - (cursor & (layout->ring_bytes - 1));
	uint8_t front[TELE_BLOCK_HEADER_BYTES];
	if (to_wrap < sizeof(front)) {
		attach->ring_cursor += to_wrap;
		return 0;
	}
	int failed = tele_attach_pread(attach, front, sizeof(front), ring_offset(attach, cursor));
	if (failed)
		return failed;
	int64_t n_bytes = tele_block_size(front, sizeof(front), header);
	bool is_pad = n_bytes > 0 && header->type == TELE_BLOCK_PAD;
	bool is_bad = n_bytes < 0 || (uint64_t)n_bytes > to_wrap || (uint64_t)n_bytes > tail - cursor;
	if (!is_bad && !is_pad) {
		failed = grow_bytes(&attach->block, &attach->block_capacity_bytes, (size_t)n_bytes);
		if (!failed)
			failed = tele_attach_pread(attach, attach->block, (size_t)n_bytes,
						   ring_offset(attach, cursor));
		if (failed)
			return failed;
		is_bad = tele_block_check(attach->block, (size_t)n_bytes, header) < 0 ||
			 header->type != TELE_BLOCK_DATA ||
			 header->instance_id != attach->instance.identity.instance_id;
	}
	failed = tele_attach_read_control(attach);
	if (failed)
		return failed;
	if (is_overtaken(attach))
		return TELE_EOVERRUN;
	if (is_bad)
		return TELE_EDAMAGED;
	attach->ring_cursor += is_pad ? to_wrap : (uint64_t)n_bytes;
	return is_pad ? 0 : n_bytes;
}

// Notes what is missing before a record `first_seq`: what was neither sealed
// nor in a provisional block that was given out.
static void note_gap(struct tele_attach *attach, uint64_t first_seq)
{
	uint64_t given = tele_max_u64(attach->next_seq, attach->provisional_end);
	attach->gap_from = attach->gap_to = first_seq;
	if (given && first_seq > given)
		attach->gap_from = given;
}

int tele_attach_next_sealed(struct tele_attach *attach, size_t *ret_block_bytes,
			    struct tele_error *ret_error)
{
	struct tele_block_header header;
	int failed = tele_attach_read_control(attach);
	if (failed)
		return tele_fail(ret_error, failed, "cannot read %s: %s", attach->path,
				 tele_strerror(failed));
	is_overtaken(attach);
	// A writer of ours cannot keep ahead of us for twice the ring; another one
	// that moves its words as fast as they are read must not hold us here.
	uint64_t budget_bytes = 2 * attach->layout.ring_bytes;
	while (budget_bytes > 0) {
		uint64_t tail = attach->control[TELE_CONTROL_TAIL];
		if (attach->ring_cursor >= tail)
			return 0;
		if (tail - attach->ring_cursor > attach->layout.ring_bytes) {
			// A tail that is newer than the head that was read with it?
			budget_bytes -= tele_min_u64(budget_bytes, TELE_BLOCK_HEADER_BYTES);
			failed = tele_attach_read_control(attach);
			if (failed)
				return tele_fail(ret_error, failed, "cannot read %s: %s", attach->path,
						 tele_strerror(failed));
			if (is_overtaken(attach))
				continue;
			attach->ring_cursor = tail; // impossible words: start over from here
			return 0;
		}
		int64_t n_bytes = copy_block(attach, tail, &header);
		uint64_t cost_bytes = n_bytes > 0 ? (uint64_t)n_bytes : TELE_BLOCK_HEADER_BYTES;
		budget_bytes -= tele_min_u64(budget_bytes, cost_bytes);
		if (n_bytes == TELE_EDAMAGED) {
			// Its length cannot be trusted, so neither can what follows.
			attach->ring_cursor = tail;
			return 0;
		}
		if (n_bytes == 0 || n_bytes == TELE_EOVERRUN)
			continue;
		if (n_bytes < 0)
			return tele_fail(ret_error, (int)n_bytes, "cannot read %s: %s", attach->path,
					 tele_strerror((int)n_bytes));
		uint64_t end = header.first_seq + header.n_rows + header.n_events;
		if (end <= attach->next_seq || end < header.first_seq)
			continue;
		failed = tele_attach_read_schema(attach, ret_error);
		if (failed < 0)
			return failed;
		note_gap(attach, header.first_seq);
		attach->next_seq = end;
		*ret_block_bytes = (size_t)n_bytes;
		return 1;
	}
	return 0;
}

// ---- Provisional blocks ----------------------------------------------------------

// A run of open records: what stood in the chunk, or what came from slots.
struct open_part {
	uint64_t first_seq;
	uint32_t first_row, n_rows;
	uint32_t first_event, n_events;
};

static int encode_part(struct tele_attach *attach, const struct open_part *part,
		       size_t *ret_block_bytes)
{
	const struct tele_open_rows *open = &attach->open;
	const uint64_t *rows = open->rows + (size_t)part->first_row * open->n_fields;
	const struct tele_event *events = open->events + part->first_event;
	size_t scratch_bytes = tele_block_scratch_bytes(TELE_FIELDS_MAX);
	size_t capacity = tele_block_bytes_max(open->n_fields, part->n_rows, part->n_events,
					       open->n_strings);
	uint64_t first_at = UINT64_MAX;
	uint64_t last_at = 0;
	if (!attach->scratch)
		attach->scratch = malloc(scratch_bytes);
	if (!attach->scratch ||
	    grow_bytes(&attach->provisional, &attach->provisional_capacity_bytes, capacity))
		return -ENOMEM;
	for (uint32_t i = 0; i < part->n_rows; i++) {
		first_at = tele_min_u64(first_at, rows[(size_t)i * open->n_fields]);
		last_at = tele_max_u64(last_at, rows[(size_t)i * open->n_fields]);
	}
	for (uint32_t i = 0; i < part->n_events; i++) {
		first_at = tele_min_u64(first_at, events[i].at_ns);
		last_at = tele_max_u64(last_at, events[i].at_ns);
	}
	struct tele_block_input input = {
		.instance_id = attach->instance.identity.instance_id,
		.plan = attach->instance.schema->plan,
		.n_fields = open->n_fields,
		.schema_bytes = open->schema_bytes,
		.flags = TELE_BLOCK_PROVISIONAL,
		.first_seq = part->first_seq,
		.first_at_ns = first_at,
		.last_at_ns = last_at,
		.rows = rows,
		.row_stride = open->n_fields,
		.n_rows = part->n_rows,
		.events = events,
		.n_events = part->n_events,
		.strings = open->strings,
		.n_strings = open->n_strings,
	};
	int64_t n_bytes = tele_block_encode(&input, attach->scratch, scratch_bytes,
					    attach->provisional, attach->provisional_capacity_bytes);
	if (n_bytes < 0)
		return (int)n_bytes;
	*ret_block_bytes = (size_t)n_bytes;
	return 1;
}

static int next_provisional(struct tele_attach *attach, size_t *ret_block_bytes,
			    struct tele_error *ret_error)
{
	const struct tele_open_rows *open = &attach->open;
	int found = tele_attach_read_open(attach, ret_error);
	if (found <= 0)
		return found;
	if (attach->next_seq && open->first_seq > attach->next_seq)
		return -EAGAIN; // it was sealed in between
	uint64_t given = tele_max_u64(attach->provisional_end, attach->next_seq);
	struct open_part part = {
		.first_seq = open->first_seq,
		.n_rows = open->n_chunk_rows,
		.n_events = open->n_chunk_events,
	};
	uint64_t end = part.first_seq + part.n_rows + part.n_events;
	if (end <= given) {
		part = (struct open_part){
			.first_seq = end,
			.first_row = open->n_chunk_rows,
			.n_rows = open->n_rows - open->n_chunk_rows,
			.first_event = open->n_chunk_events,
			.n_events = open->n_events - open->n_chunk_events,
		};
		end += part.n_rows + part.n_events;
	}
	if (end <= given || part.n_rows + part.n_events == 0)
		return 0;
	attach->gap_from = attach->gap_to = part.first_seq;
	found = encode_part(attach, &part, ret_block_bytes);
	if (found < 0)
		return tele_fail(ret_error, found, "cannot encode the open rows of %s: %s",
				 attach->path, tele_strerror(found));
	attach->provisional_end = end;
	return 1;
}

int tele_attach_next_block(struct tele_attach *attach, bool with_provisional,
			   const uint8_t **ret_block, size_t *ret_block_bytes,
			   bool *ret_is_provisional, uint64_t *ret_gap_from, uint64_t *ret_gap_to,
			   struct tele_error *ret_error)
{
	for (int tries = 0; tries < 3; tries++) {
		attach->gap_from = attach->gap_to = 0;
		int found = tele_attach_next_sealed(attach, ret_block_bytes, ret_error);
		*ret_is_provisional = false;
		*ret_block = attach->block;
		if (found == 0 && with_provisional) {
			found = next_provisional(attach, ret_block_bytes, ret_error);
			*ret_is_provisional = true;
			*ret_block = attach->provisional;
		}
		if (found == -EAGAIN && tries < 2)
			continue;
		if (found == -EAGAIN) {
			// Not in the ring either: those records are lost.
			note_gap(attach, attach->open.first_seq);
			attach->next_seq = attach->open.first_seq;
			found = 0;
		}
		tele_open_rows_trim(&attach->open);
		*ret_gap_from = attach->gap_from;
		*ret_gap_to = attach->gap_to;
		attach->instance.lost += attach->gap_to - attach->gap_from;
		return found;
	}
	return 0;
}
