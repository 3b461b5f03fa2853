// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// See served.h. Between two calls of pread a reader works on its own memory, so
// an instant at which the segment changes under it is one between two words of
// what it reads, and nothing else: going through those is going through every
// instruction.

#include "served.h"

#include "libtelemetry/segment.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct tele_layout layout;
static uint64_t headers[2][TELE_HEADER_WORDS]; // alive, dead
static struct proof_served *current;
static enum proof_omission omitted;

void proof_serve_init(const struct tele_identity *identity, const struct tele_layout *of)
{
	struct tele_identity gone = *identity;
	gone.start_ticks = 1;
	layout = *of;
	tele_header_encode(identity, of, headers[0]);
	tele_header_encode(&gone, of, headers[1]);
}

void proof_serve(struct proof_served *served)
{
	current = served;
}

void proof_omit(enum proof_omission omission)
{
	omitted = omission;
}

// One word, or what is left of it, from the side that is on by then.
static void serve_word(const struct proof_served *served, uint8_t *out, size_t n, uint64_t offset,
		       uint64_t now)
{
	if (offset + n <= sizeof(headers[0])) {
		memcpy(out, (const uint8_t *)headers[served->is_dead] + offset, n);
		return;
	}
	memcpy(out, (now < served->switch_at ? served->before : served->after) + offset, n);
	// A sign of life that never grows old.
	uint64_t always = UINT64_MAX / 2;
	if (offset == layout.control_offset + 8 * TELE_CONTROL_HEARTBEAT)
		memcpy(out, &always, n);
}

static bool is_inside(uint64_t offset, uint64_t from, uint64_t n_bytes)
{
	return offset >= from && offset < from + n_bytes;
}

// What protects the bytes that were read just before: where a reader looks again.
static uint64_t guard_of(uint64_t offset)
{
	if (omitted == PROOF_OMITS_EPOCH && is_inside(offset, layout.chunk_offset, 2 * layout.chunk_bytes))
		return offset - (offset - layout.chunk_offset) % layout.chunk_bytes;
	if (omitted == PROOF_OMITS_HEAD && is_inside(offset, layout.ring_offset, layout.ring_bytes))
		return layout.control_offset + 8 * TELE_CONTROL_HEAD;
	if (omitted == PROOF_OMITS_LATEST && is_inside(offset, layout.latest_offset, 2 * layout.latest_slot_bytes))
		return offset - (offset - layout.latest_offset) % layout.latest_slot_bytes;
	return 0;
}

// A reader that does not look again finds what it found at first.
static void leave_out(uint8_t *bytes, size_t n_bytes, uint64_t offset)
{
	static uint64_t offset_before, first_at, first;
	uint64_t guard = guard_of(offset_before);
	if (guard && guard != offset_before && is_inside(guard, offset, n_bytes) && first_at == guard)
		memcpy(bytes + (guard - offset), &first, 8);
	uint64_t own = omitted == PROOF_OMITS_HEAD && offset == layout.control_offset ?
			       layout.control_offset + 8 * TELE_CONTROL_HEAD :
			       guard_of(offset);
	if (own && is_inside(own, offset, n_bytes) && (own == offset || omitted == PROOF_OMITS_HEAD)) {
		first_at = own;
		memcpy(&first, bytes + (own - offset), 8);
	}
	offset_before = offset;
}

// In the place of the C library's for the whole program.
ssize_t pread(int fd, void *bytes, size_t n_bytes, off_t at)
{
	uint64_t offset = (uint64_t)at;
	if (!current)
		return (ssize_t)syscall(SYS_pread64, fd, bytes, n_bytes, at);
	uint64_t n_words = (n_bytes + 7) / 8;
	for (uint64_t i = 0; i < n_words; i++) {
		uint64_t word = current->words + (current->is_descending ? n_words - 1 - i : i);
		serve_word(current, (uint8_t *)bytes + 8 * i, tele_min_u64(8, n_bytes - 8 * i), offset + 8 * i,
			   current->by_call ? current->calls : word);
	}
	current->words += n_words;
	current->calls++;
	if (omitted)
		leave_out(bytes, n_bytes, offset);
	return (ssize_t)n_bytes;
}
