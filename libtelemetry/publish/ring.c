// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The writer of a segment. Everything is made in private memory first and then
// copied; what makes it visible is always one aligned word stored after it with
// release order:
//
//   open chunk   frames, then `used` (which carries the drained tickets too)
//   sealed ring  head past what will be overwritten, the block, then tail
//   next chunk   epoch 0, its header, then epoch
//   latest row   seq 0, the row, then its seq
//
// A reader copies, then looks at the word again: unchanged means that the copy
// is whole. The process may be killed between any two stores. The pairing reads
// are in attach.c, attach_blocks.c and attach_open.c.

#include "ring.h"

#include "../fence.h"
#include "../varint.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../banned.h"

// ---- Stores ---------------------------------------------------------------------

// Out of line, for what is rare.
void tele_ring_write_out(struct tele_ring *ring, size_t offset, size_t n_bytes)
{
	ssize_t done;
	if (ring->failed)
		return;
	do {
		done = pwrite(ring->file->fd, ring->file->bytes + offset, n_bytes, (off_t)offset);
	} while (done < 0 && errno == EINTR);
	if (done != (ssize_t)n_bytes)
		ring->failed = done < 0 ? -errno : -ENOSPC;
}

size_t tele_ring_chunk_offset(const struct tele_ring *ring)
{
	return ring->file->layout.chunk_offset + ring->chunk_index * ring->file->layout.chunk_bytes;
}

// ---- Chunks ---------------------------------------------------------------------

static uint64_t used_word(const struct tele_ring *ring)
{
	return ring->used_bytes | (uint64_t)ring->drained << 32;
}

static void open_chunk(struct tele_ring *ring)
{
	ring->chunk_index = (unsigned)(++ring->epoch & 1);
	ring->used_bytes = 0;
	ring->n_rows = ring->n_events = ring->n_strings = 0;
	ring->first_seq = ring->next_seq;
	ring->first_string = ring->next_string;
	size_t offset = tele_ring_chunk_offset(ring);
	uint64_t header[TELE_CHUNK_HEADER_WORDS] = {
		[TELE_CHUNK_USED] = used_word(ring),
		[TELE_CHUNK_FIRST_SEQ] = ring->first_seq,
		[TELE_CHUNK_FIELDS] = ring->n_fields,
		[TELE_CHUNK_SCHEMA_BYTES] = ring->schema_bytes,
	};
	tele_ring_store_alone(ring, offset, 0);
	tele_fence_release();
	tele_ring_store_bytes(ring, offset + 8, header + 1, sizeof(header) - 8);
	tele_codec_init(&ring->codec, ring->plan, ring->n_fields, ring->memory->codec_words);
	tele_ring_store_word(ring, offset, ring->epoch);
}

int tele_ring_init(struct tele_ring *ring, struct tele_segment_file *file,
		   const struct tele_plan *plan, uint64_t instance_id, uint32_t schema_bytes)
{
	memset(ring, 0, sizeof(*ring));
	size_t rows_bytes = 8 * (size_t)TELE_SEGMENT_FIELDS_MAX * TELE_CHUNK_ROWS_MAX;
	ring->scratch_bytes = tele_block_scratch_bytes(TELE_SEGMENT_FIELDS_MAX);
	ring->block_capacity_bytes = file->layout.block_bytes_max;
	ring->memory_bytes = tele_align_up(sizeof(*ring->memory) + rows_bytes, TELE_PAGE_BYTES) +
			     tele_align_up(ring->scratch_bytes, TELE_PAGE_BYTES) +
			     ring->block_capacity_bytes;
	void *memory = mmap(NULL, ring->memory_bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		return -ENOMEM;
	madvise(memory, ring->memory_bytes, MADV_DONTFORK);
	madvise(memory, ring->memory_bytes, MADV_NOHUGEPAGE);
	ring->memory = memory;
	ring->scratch = (uint8_t *)memory +
			tele_align_up(sizeof(*ring->memory) + rows_bytes, TELE_PAGE_BYTES);
	ring->block = ring->scratch + tele_align_up(ring->scratch_bytes, TELE_PAGE_BYTES);
	ring->file = file;
	ring->plan = plan;
	ring->instance_id = instance_id;
	ring->schema_bytes = schema_bytes;
	ring->n_fields = plan->n_fields;
	ring->next_seq = 1;
	ring->next_string = TELE_STRING_TRANSIENT;
	tele_ring_control(ring, TELE_CONTROL_SCHEMA_BYTES, schema_bytes);
	tele_ring_note(ring, TELE_CONTROL_FIELDS, plan->n_fields);
	open_chunk(ring);
	return 0;
}

void tele_ring_fini(struct tele_ring *ring)
{
	if (ring->memory)
		munmap(ring->memory, ring->memory_bytes);
	ring->memory = NULL;
}

// ---- Sealing ----------------------------------------------------------------------

static size_t ring_position(const struct tele_ring *ring, uint64_t offset)
{
	return (size_t)(offset & (ring->file->layout.ring_bytes - 1));
}

// Makes room for n_bytes in one piece at the tail: drops the oldest blocks, and
// pads up to the wrap. Readers learn of it before a byte is overwritten.
static void make_room(struct tele_ring *ring, size_t n_bytes)
{
	const struct tele_layout *layout = &ring->file->layout;
	size_t to_wrap = (size_t)layout->ring_bytes - ring_position(ring, ring->tail);
	size_t pad = to_wrap < n_bytes ? to_wrap : 0;
	uint64_t new_tail = ring->tail + pad + n_bytes;
	while (ring->n_blocks && (new_tail - ring->head > layout->ring_bytes ||
				  ring->n_blocks + 2 > TELE_RING_BLOCKS_MAX)) {
		ring->first_block = (ring->first_block + 1) % TELE_RING_BLOCKS_MAX;
		ring->n_blocks--;
		ring->head = ring->n_blocks ? ring->memory->block_offsets[ring->first_block]
					    : ring->tail + pad;
	}
	if (!ring->n_blocks)
		ring->head = ring->tail + pad;
	tele_ring_note(ring, TELE_CONTROL_HEAD, ring->head);
	tele_fence_release();
	if (pad >= TELE_BLOCK_HEADER_BYTES) {
		struct tele_block_header header = {
			.magic = TELE_BLOCK_MAGIC,
			.type = TELE_BLOCK_PAD,
			.stored_bytes = (uint32_t)(pad - TELE_BLOCK_HEADER_BYTES),
			.raw_bytes = (uint32_t)(pad - TELE_BLOCK_HEADER_BYTES),
		};
		tele_ring_store_bytes(ring, layout->ring_offset + ring_position(ring, ring->tail), &header,
			    sizeof(header));
	}
	ring->tail += pad;
}

static void append_block(struct tele_ring *ring, size_t n_bytes)
{
	make_room(ring, n_bytes);
	tele_ring_store_bytes(ring, ring->file->layout.ring_offset + ring_position(ring, ring->tail),
		    ring->block, n_bytes);
	uint32_t slot = (ring->first_block + ring->n_blocks) % TELE_RING_BLOCKS_MAX;
	ring->memory->block_offsets[slot] = ring->tail;
	ring->n_blocks++;
	ring->tail += n_bytes;
	tele_ring_control(ring, TELE_CONTROL_TAIL, ring->tail);
}

// The strings that a block of these events needs: of the transient ones only
// those that its events name, so that half a chunk takes half the room.
static uint32_t pick_strings(struct tele_ring *ring, const struct tele_event *events,
			     uint32_t n_events)
{
	bool is_named[TELE_CHUNK_STRINGS_MAX] = {false};
	uint64_t first = ring->first_string; // transient ids count on from here
	for (uint32_t i = 0; i < n_events; i++)
		if (events[i].string_id >= first && events[i].string_id - first < TELE_CHUNK_STRINGS_MAX)
			is_named[events[i].string_id - first] = true;
	uint32_t n_picked = 0;
	for (uint32_t i = 0; i < ring->n_strings; i++) {
		const struct tele_block_string *string = &ring->memory->strings[i];
		if (string->id < TELE_STRING_TRANSIENT || is_named[string->id - first])
			ring->memory->picked[n_picked++] = *string;
	}
	return n_picked;
}

// Records first_row.. and first_event.. as one block. Where that is too large
// for the ring, as two halves.
static void seal_range(struct tele_ring *ring, uint64_t first_seq, uint32_t first_row,
		       uint32_t n_rows, uint32_t first_event, uint32_t n_events)
{
	const uint64_t *rows = ring->memory->rows + (size_t)first_row * ring->n_fields;
	const struct tele_event *events = ring->memory->events + first_event;
	uint64_t first_at = UINT64_MAX;
	uint64_t last_at = 0;
	for (uint32_t i = 0; i < n_rows; i++) {
		first_at = tele_min_u64(first_at, rows[(size_t)i * ring->n_fields]);
		last_at = tele_max_u64(last_at, rows[(size_t)i * ring->n_fields]);
	}
	for (uint32_t i = 0; i < n_events; i++) {
		first_at = tele_min_u64(first_at, events[i].at_ns);
		last_at = tele_max_u64(last_at, events[i].at_ns);
	}
	uint32_t n_strings = pick_strings(ring, events, n_events);
	struct tele_block_input input = {
		.instance_id = ring->instance_id,
		.plan = ring->plan,
		.n_fields = ring->n_fields,
		.schema_bytes = ring->schema_bytes,
		.first_seq = first_seq,
		.first_at_ns = first_at,
		.last_at_ns = last_at,
		.rows = rows,
		.row_stride = ring->n_fields,
		.n_rows = n_rows,
		.events = events,
		.n_events = n_events,
		.strings = ring->memory->picked,
		.n_strings = n_strings,
	};
	int64_t n_bytes = tele_block_encode(&input, ring->scratch, ring->scratch_bytes, ring->block,
					    ring->block_capacity_bytes);
	if (n_bytes > 0) {
		append_block(ring, (size_t)n_bytes);
		return;
	}
	if (n_rows + n_events < 2) {
		ring->rows_dropped += n_rows;
		return;
	}
	uint64_t middle_seq = first_seq + (n_rows + n_events) / 2;
	uint32_t events_before = 0;
	while (events_before < n_events && events[events_before].seq < middle_seq)
		events_before++;
	uint32_t rows_before = (uint32_t)(middle_seq - first_seq) - events_before;
	seal_range(ring, first_seq, first_row, rows_before, first_event, events_before);
	seal_range(ring, middle_seq, first_row + rows_before, n_rows - rows_before,
		   first_event + events_before, n_events - events_before);
}

void tele_ring_seal(struct tele_ring *ring)
{
	if (ring->n_rows + ring->n_events == 0)
		return;
	seal_range(ring, ring->first_seq, 0, ring->n_rows, 0, ring->n_events);
	tele_ring_note(ring, TELE_CONTROL_SEALED_SEQ, ring->next_seq);
	open_chunk(ring);
}

void tele_ring_grow(struct tele_ring *ring, const uint8_t *schema, uint32_t schema_bytes)
{
	TELE_ASSERT(schema_bytes >= ring->schema_bytes);
	if (ring->n_rows + ring->n_events)
		seal_range(ring, ring->first_seq, 0, ring->n_rows, 0, ring->n_events);
	tele_ring_note(ring, TELE_CONTROL_SEALED_SEQ, ring->next_seq);
	tele_ring_store_bytes(ring, ring->file->layout.schema_offset + ring->schema_bytes,
		    schema + ring->schema_bytes, schema_bytes - ring->schema_bytes);
	tele_ring_control(ring, TELE_CONTROL_SCHEMA_BYTES, schema_bytes);
	tele_ring_note(ring, TELE_CONTROL_FIELDS, ring->plan->n_fields);
	ring->schema_bytes = schema_bytes;
	ring->n_fields = ring->plan->n_fields;
	open_chunk(ring);
}
