// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// One commit to the open chunk: strings, event and row are encoded into a
// scratch buffer, copied behind what is committed, and become visible with one
// store of `used`. That word also says how many boundary tickets are drained,
// so a boundary is never in the chunk and in its slot at the same time.

#include "ring.h"

#include "../fence.h"
#include "../varint.h"

#include <string.h>
#include <sys/mman.h>

#include "../banned.h"

void tele_ring_set_texts(struct tele_ring *ring, tele_ring_text_fn text_of,
			 const uint32_t *string_fields, const uint32_t *n_string_fields)
{
	ring->text_of = text_of;
	ring->string_fields = string_fields;
	ring->n_string_fields = n_string_fields;
}

static size_t put_string(uint8_t *out, uint64_t id, const char *text, size_t len)
{
	size_t used = 0;
	out[used++] = TELE_FRAME_STRING;
	used += tele_varint_put(out + used, id);
	used += tele_varint_put(out + used, len);
	memcpy(out + used, text, len);
	return used + len;
}

static const struct tele_block_string *find_string(const struct tele_ring *ring, uint64_t id)
{
	for (uint32_t i = 0; i < ring->n_strings; i++)
		if (ring->memory->strings[i].id == id)
			return &ring->memory->strings[i];
	return NULL;
}

// The transient string of this chunk with that text: a candidate's begin and
// end share one. Looks at the newest few only.
static uint64_t find_text(const struct tele_ring *ring, const char *text, size_t len)
{
	uint32_t oldest = ring->n_strings > 64 ? ring->n_strings - 64 : 0;
	for (uint32_t i = ring->n_strings; i-- > oldest;) {
		const struct tele_block_string *string = &ring->memory->strings[i];
		if (string->id >= TELE_STRING_TRANSIENT && string->len == len &&
		    memcmp(string->text, text, len) == 0)
			return string->id;
	}
	return 0;
}

// What a commit is made of while it is encoded; nothing of it shows before
// publish().
struct pending {
	size_t bytes;
	uint32_t n_strings;
	struct {
		uint64_t id;
		size_t text_at; // in frames
		uint32_t len;
	} strings[TELE_RING_STRINGS_PER_COMMIT];
};

static void define(struct tele_ring *ring, struct pending *pending, uint64_t id, const char *text,
		   size_t len)
{
	if (len > TELE_STRING_BYTES_MAX)
		len = TELE_STRING_BYTES_MAX;
	TELE_ASSERT(pending->n_strings < TELE_RING_STRINGS_PER_COMMIT);
	pending->bytes += put_string(ring->memory->frames + pending->bytes, id, text, len);
	pending->strings[pending->n_strings].id = id;
	pending->strings[pending->n_strings].text_at = pending->bytes - len;
	pending->strings[pending->n_strings].len = (uint32_t)len;
	pending->n_strings++;
}

static void define_row_strings(struct tele_ring *ring, struct pending *pending, const uint64_t *row)
{
	uint32_t n_string_fields = ring->n_string_fields ? *ring->n_string_fields : 0;
	for (uint32_t i = 0; i < n_string_fields; i++) {
		uint32_t position = ring->string_fields[i];
		size_t len;
		if (position >= ring->n_fields || row[position] == TELE_UNKNOWN ||
		    find_string(ring, row[position]) ||
		    pending->n_strings + 1 >= TELE_RING_STRINGS_PER_COMMIT)
			continue;
		bool is_pending = false;
		for (uint32_t k = 0; k < pending->n_strings; k++)
			is_pending |= pending->strings[k].id == row[position];
		const char *text = ring->text_of(row[position], &len);
		if (text && !is_pending)
			define(ring, pending, row[position], text, len);
	}
}

static void put_event(struct tele_ring *ring, struct pending *pending, struct tele_event *event,
		      const struct tele_commit *commit)
{
	uint8_t *frames = ring->memory->frames;
	if (commit->text && commit->text_len) {
		event->string_id = find_text(ring, commit->text, commit->text_len);
		if (!event->string_id) {
			event->string_id = ring->next_string++;
			define(ring, pending, event->string_id, commit->text, commit->text_len);
		}
	}
	frames[pending->bytes++] = TELE_FRAME_EVENT;
	pending->bytes += tele_varint_put(frames + pending->bytes, event->type);
	pending->bytes += tele_varint_put(frames + pending->bytes, event->at_ns >> TELE_TIME_SHIFT);
	pending->bytes += tele_varint_put(frames + pending->bytes, event->subject);
	pending->bytes += tele_varint_put(frames + pending->bytes, event->value);
	pending->bytes += tele_varint_put(frames + pending->bytes, event->string_id);
}

// A commit never needs more than this beside its row.
#define STRING_FRAME_BYTES (1 + 2 * TELE_VARINT_BYTES_MAX + TELE_STRING_BYTES_MAX)
#define COMMIT_BYTES_MAX(n_fields)                                             \
	(TELE_RING_STRINGS_PER_COMMIT * (size_t)STRING_FRAME_BYTES + 64 + 16 + \
	 TELE_ROW_BYTES_MAX(n_fields))
_Static_assert(COMMIT_BYTES_MAX(TELE_SEGMENT_FIELDS_MAX) <= TELE_CHUNK_BYTES - TELE_CHUNK_HEADER_BYTES,
	       "a chunk holds the largest commit");

static bool has_room(const struct tele_ring *ring)
{
	return ring->used_bytes + COMMIT_BYTES_MAX(ring->n_fields) <=
		       TELE_CHUNK_BYTES - TELE_CHUNK_HEADER_BYTES &&
	       ring->n_rows < TELE_CHUNK_ROWS_MAX && ring->n_events < TELE_CHUNK_EVENTS_MAX &&
	       ring->n_strings + TELE_RING_STRINGS_PER_COMMIT <= TELE_CHUNK_STRINGS_MAX;
}

static void publish_latest(struct tele_ring *ring, const uint64_t *row, uint64_t seq)
{
	const struct tele_layout *layout = &ring->file->layout;
	unsigned slot = (unsigned)(ring->rows_published & 1);
	size_t offset = layout->latest_offset + slot * layout->latest_slot_bytes;
	uint64_t n_fields = ring->n_fields;
	tele_ring_store_alone(ring, offset, 0);
	tele_fence_release();
	tele_ring_store_bytes(ring, offset + 8, &n_fields, 8);
	tele_ring_store_bytes(ring, offset + 16, row, 8 * (size_t)n_fields);
	tele_ring_store_word(ring, offset, seq);
	// Who sees it early finds the slot cleared, and looks again.
	tele_ring_note(ring, TELE_CONTROL_LATEST, seq * 2 + slot);
}

// Copies the frames behind the committed ones and makes them visible.
static void publish(struct tele_ring *ring, const struct pending *pending)
{
	size_t offset = tele_ring_chunk_offset(ring);
	size_t at = ring->used_bytes;
	if (pending->n_strings) // what is kept of a chunk is the texts
		memcpy(ring->memory->chunk + at, ring->memory->frames, pending->bytes);
	for (uint32_t i = 0; i < pending->n_strings; i++)
		ring->memory->strings[ring->n_strings++] = (struct tele_block_string){
			.id = pending->strings[i].id,
			.text = (const char *)ring->memory->chunk + at + pending->strings[i].text_at,
			.len = pending->strings[i].len,
		};
	tele_ring_store_bytes(ring, offset + TELE_CHUNK_HEADER_BYTES + at, ring->memory->frames,
			      pending->bytes);
	ring->used_bytes += pending->bytes;
	tele_ring_store_word(ring, offset + 8 * TELE_CHUNK_USED,
			     ring->used_bytes | (uint64_t)ring->drained << 32);
}

int tele_ring_commit(struct tele_ring *ring, const struct tele_commit *commit)
{
	struct pending pending;
	if (ring->failed) {
		ring->rows_dropped += commit->row != NULL;
		return ring->failed;
	}
	if (!has_room(ring))
		tele_ring_seal(ring);
	pending.bytes = 0;
	pending.n_strings = 0;
	uint64_t row_seq = 0;
	if (commit->event) {
		struct tele_event *event = &ring->memory->events[ring->n_events];
		*event = *commit->event;
		event->seq = ring->next_seq++;
		event->string_id = 0;
		put_event(ring, &pending, event, commit);
		ring->n_events++;
	}
	if (commit->row) {
		define_row_strings(ring, &pending, commit->row);
		row_seq = ring->next_seq++;
		ring->memory->frames[pending.bytes++] = TELE_FRAME_ROW;
		pending.bytes += tele_codec_encode(&ring->codec, commit->row,
						   ring->memory->frames + pending.bytes);
		memcpy(ring->memory->rows + (size_t)ring->n_rows * ring->n_fields, commit->row,
		       8 * (size_t)ring->n_fields);
		ring->n_rows++;
	}
	ring->drained = commit->drained;
	publish(ring, &pending);
	if (commit->row) {
		publish_latest(ring, commit->row, row_seq);
		ring->rows_published++;
		tele_ring_note(ring, TELE_CONTROL_ROWS, ring->rows_published);
	}
	return ring->failed;
}

uint64_t tele_resident_bytes_of(const void *memory, size_t n_bytes)
{
	uint8_t resident[256];
	uint64_t pages = 0;
	uintptr_t end = (uintptr_t)memory + n_bytes;
	uintptr_t at = (uintptr_t)memory & ~(uintptr_t)(TELE_PAGE_BYTES - 1);
	while (at < end) {
		size_t n_pages = (end - at + TELE_PAGE_BYTES - 1) / TELE_PAGE_BYTES;
		n_pages = tele_min_u64(n_pages, sizeof(resident));
		if (mincore((void *)at, n_pages * TELE_PAGE_BYTES, resident) < 0)
			return TELE_UNKNOWN;
		for (size_t i = 0; i < n_pages; i++)
			pages += resident[i] & 1;
		at += n_pages * TELE_PAGE_BYTES;
	}
	return pages * TELE_PAGE_BYTES;
}
