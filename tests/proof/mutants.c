// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// See mutants.h. A mutant withholds the stores of one kind until one of another
// kind has been made, or leaves them out. The kind follows from the place.

#include "mutants.h"

#include "served.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define HELD_MAX 64

enum kind {
	OTHER, HEAD, TAIL, LATEST, SCHEMA_BYTES, ROWS, SCHEMA, SLOT_SEQ, SLOT_ROW,
	EPOCH_ZERO, EPOCH, USED, CHUNK_HEADER, FRAMES, BLOCK,
};

// What is done with the stores of a kind.
struct rule {
	enum proof_mutant mutant;
	unsigned held;	      // bits of kinds that are withheld
	enum kind until;      // the store after which they are made, or before which
	bool before;
	unsigned left_out;    // bits of kinds
};

#define BIT(kind) (1u << (kind))
static const struct rule rules[] = {
	{.mutant = PROOF_USED_BEFORE_FRAMES, .held = BIT(FRAMES), .until = USED},
	{.mutant = PROOF_EPOCH_KEPT, .left_out = BIT(EPOCH_ZERO)},
	{.mutant = PROOF_EPOCH_BEFORE_HEADER, .held = BIT(CHUNK_HEADER), .until = EPOCH},
	{.mutant = PROOF_OPENED_BEFORE_SEALED, .held = BIT(BLOCK) | BIT(TAIL), .until = EPOCH},
	{.mutant = PROOF_TAIL_BEFORE_BLOCK, .held = BIT(BLOCK), .until = TAIL},
	{.mutant = PROOF_HEAD_AFTER_BLOCK, .held = BIT(HEAD), .until = TAIL, .before = true},
	{.mutant = PROOF_LATEST_NOT_CLEARED, .left_out = BIT(SLOT_SEQ)},
	{.mutant = PROOF_LATEST_BEFORE_ROW, .held = BIT(SLOT_SEQ) | BIT(SLOT_ROW), .until = LATEST},
	{.mutant = PROOF_SCHEMA_AFTER_LENGTH, .held = BIT(SCHEMA), .until = SCHEMA_BYTES},
	{.mutant = PROOF_ROWS_BEFORE_LATEST, .held = BIT(LATEST), .until = ROWS},
};

static enum proof_mutant current;
static struct {
	size_t offset, n_bytes, at;
} held[HELD_MAX];
static unsigned n_held;
static uint8_t held_bytes[1u << 20];
static size_t n_held_bytes;

void proof_set_mutant(enum proof_mutant mutant)
{
	current = mutant;
	n_held = 0;
	n_held_bytes = 0;
	proof_omit(mutant == PROOF_READER_KEEPS_EPOCH  ? PROOF_OMITS_EPOCH
		   : mutant == PROOF_READER_KEEPS_HEAD ? PROOF_OMITS_HEAD
		   : mutant == PROOF_READER_KEEPS_LATEST ? PROOF_OMITS_LATEST
							 : PROOF_OMITS_NOTHING);
}

enum proof_mutant proof_get_mutant(void)
{
	return current;
}

static enum kind kind_of_control(uint64_t word)
{
	return word == TELE_CONTROL_HEAD	   ? HEAD
	       : word == TELE_CONTROL_TAIL	   ? TAIL
	       : word == TELE_CONTROL_LATEST	   ? LATEST
	       : word == TELE_CONTROL_SCHEMA_BYTES ? SCHEMA_BYTES
	       : word == TELE_CONTROL_ROWS	   ? ROWS
						   : OTHER;
}

static enum kind kind_of(const struct tele_layout *layout, size_t offset, const void *bytes, size_t n_bytes)
{
	uint64_t value = 0;
	if (n_bytes == 8)
		memcpy(&value, bytes, 8);
	if (offset >= layout->ring_offset)
		return BLOCK;
	if (offset >= layout->chunk_offset) {
		size_t within = (offset - layout->chunk_offset) % layout->chunk_bytes;
		if (within == 0)
			return value ? EPOCH : EPOCH_ZERO;
		if (within >= TELE_CHUNK_HEADER_BYTES)
			return FRAMES;
		return within == 8 && n_bytes == 8 ? USED : CHUNK_HEADER;
	}
	if (offset >= layout->slots_offset)
		return OTHER;
	if (offset >= layout->latest_offset) {
		size_t within = (offset - layout->latest_offset) % layout->latest_slot_bytes;
		return within == 0 && value == 0 ? SLOT_SEQ : SLOT_ROW;
	}
	if (offset >= layout->schema_offset)
		return SCHEMA;
	return kind_of_control((offset - layout->control_offset) / 8);
}

static void make_held(struct tele_ring *ring)
{
	for (unsigned i = 0; i < n_held; i++)
		memcpy(ring->file->bytes + held[i].offset, held_bytes + held[i].at, held[i].n_bytes);
	n_held = 0;
	n_held_bytes = 0;
}

void proof_mutant_store(struct tele_ring *ring, size_t offset, const void *bytes, size_t n_bytes)
{
	enum kind kind = kind_of(&ring->file->layout, offset, bytes, n_bytes);
	const struct rule *rule = NULL;
	for (size_t i = 0; i < TELE_ARRAY_LEN(rules); i++)
		if (rules[i].mutant == current)
			rule = &rules[i];
	if (rule && (rule->left_out & BIT(kind)))
		return;
	if (rule && (rule->held & BIT(kind))) {
		assert_true(n_held < HELD_MAX && n_held_bytes + n_bytes <= sizeof(held_bytes));
		held[n_held].offset = offset;
		held[n_held].n_bytes = n_bytes;
		held[n_held++].at = n_held_bytes;
		memcpy(held_bytes + n_held_bytes, bytes, n_bytes);
		n_held_bytes += n_bytes;
		return;
	}
	bool is_time = rule && rule->held && rule->until == kind;
	if (is_time && rule->before)
		make_held(ring);
	memcpy(ring->file->bytes + offset, bytes, n_bytes);
	if (is_time && !rule->before)
		make_held(ring);
}
