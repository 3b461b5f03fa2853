// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What is not sealed yet: the frames of the open chunk, and, once the process
// is dead, the boundary slots that nobody drained any more. A chunk is copied
// and its epoch read again; then its frames are decoded from the copy. One word
// of the chunk carries both how much is committed and how many slots that
// drained, so no boundary is taken twice or forgotten.

#include "attach_private.h"
#include "codec.h"
#include "varint.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"

#define CHUNK_TRIES	16
#define KEPT_WORDS_MAX (512u << 10)

void tele_open_rows_free(struct tele_open_rows *open)
{
	free(open->rows);
	free(open->row_seqs);
	free(open->events);
	free(open->strings);
	free(open->bytes);
	free(open->slots);
	free(open->codec_words);
	memset(open, 0, sizeof(*open));
}

void tele_open_rows_trim(struct tele_open_rows *open)
{
	if (open->rows_capacity_words <= KEPT_WORDS_MAX)
		return;
	free(open->rows);
	open->rows = NULL;
	open->rows_capacity_words = 0;
	open->n_rows = open->n_events = open->n_strings = 0;
}

// Storage for one chunk of rows of n_fields; kept from call to call.
static int reserve(struct tele_attach *attach, uint32_t n_fields)
{
	struct tele_open_rows *open = &attach->open;
	const struct tele_layout *layout = &attach->layout;
	size_t words = ((size_t)TELE_BLOCK_ROWS_MAX + layout->n_slots) * n_fields;
	if (!open->bytes) {
		open->bytes = malloc(layout->chunk_bytes + 16);
		open->slots = malloc(layout->n_slots * layout->slot_bytes + 1);
		open->row_seqs = malloc((TELE_BLOCK_ROWS_MAX + layout->n_slots) * sizeof(*open->row_seqs));
		open->events = malloc((TELE_BLOCK_EVENTS_MAX + layout->n_slots) * sizeof(*open->events));
		open->strings = malloc((TELE_BLOCK_STRINGS_MAX + layout->n_slots) * sizeof(*open->strings));
		open->codec_words = malloc(8 * TELE_CODEC_WORDS(TELE_FIELDS_MAX));
	}
	if (words > open->rows_capacity_words) {
		free(open->rows);
		open->rows = malloc(8 * words);
		open->rows_capacity_words = open->rows ? words : 0;
	}
	bool is_complete = open->bytes && open->slots && open->row_seqs && open->events &&
			   open->strings && open->codec_words && open->rows;
	return is_complete ? 0 : -ENOMEM;
}

// Copies the newest chunk into open->bytes. Returns its used bytes, 0 when
// there is none just now, or an error.
static int64_t copy_chunk(struct tele_attach *attach, uint64_t header[TELE_CHUNK_HEADER_WORDS])
{
	const struct tele_layout *layout = &attach->layout;
	for (int tries = 0; tries < CHUNK_TRIES; tries++) {
		uint64_t epochs[2], epoch;
		int failed = 0;
		for (unsigned i = 0; i < 2 && !failed; i++)
			failed = tele_attach_pread(attach, &epochs[i], sizeof(epochs[i]),
						   layout->chunk_offset + i * layout->chunk_bytes);
		if (failed)
			return failed;
		unsigned newest = epochs[1] > epochs[0];
		uint64_t offset = layout->chunk_offset + newest * layout->chunk_bytes;
		header[TELE_CHUNK_EPOCH] = epochs[newest];
		if (epochs[newest] == 0)
			return 0;
		// Read after the epoch, so that the words are of that chunk or a later.
		failed = tele_attach_pread(attach, header + 1, TELE_CHUNK_HEADER_BYTES - 8, offset + 8);
		if (failed)
			return failed;
		uint64_t used = header[TELE_CHUNK_USED] & UINT32_MAX;
		bool is_too_long = used > layout->chunk_bytes - TELE_CHUNK_HEADER_BYTES;
		if (!is_too_long)
			failed = tele_attach_pread(attach, attach->open.bytes, used,
						   offset + TELE_CHUNK_HEADER_BYTES);
		if (!failed)
			failed = tele_attach_pread(attach, &epoch, sizeof(epoch), offset);
		if (failed)
			return failed;
		if (epoch == header[TELE_CHUNK_EPOCH])
			return is_too_long ? TELE_EDAMAGED : (int64_t)used;
	}
	header[TELE_CHUNK_EPOCH] = 0; // the words are of several chunks
	return 0;
}

// ---- Frames -----------------------------------------------------------------------

struct frames {
	const uint8_t *bytes;
	size_t n_bytes, at;
	uint64_t seq;
};

static bool take_number(struct frames *frames, uint64_t *ret_value)
{
	size_t len = tele_varint_get(frames->bytes + frames->at, frames->n_bytes - frames->at, ret_value);
	frames->at += len;
	return len != 0;
}

static int take_event(struct tele_open_rows *open, struct frames *frames)
{
	uint64_t type, at;
	struct tele_event event = {0};
	if (open->n_events == TELE_BLOCK_EVENTS_MAX)
		return TELE_ELIMIT;
	if (!take_number(frames, &type) || !take_number(frames, &at) ||
	    !take_number(frames, &event.subject) || !take_number(frames, &event.value) ||
	    !take_number(frames, &event.string_id) || type > UINT32_MAX)
		return TELE_EDAMAGED;
	event.type = (uint32_t)type;
	event.at_ns = at << TELE_TIME_SHIFT;
	event.seq = frames->seq++;
	open->events[open->n_events++] = event;
	return 0;
}

static int take_string(struct tele_open_rows *open, struct frames *frames)
{
	uint64_t id, len;
	if (open->n_strings == TELE_BLOCK_STRINGS_MAX)
		return TELE_ELIMIT;
	if (!take_number(frames, &id) || !take_number(frames, &len) || id == 0 ||
	    len > TELE_STRING_BYTES_MAX || len > frames->n_bytes - frames->at)
		return TELE_EDAMAGED;
	open->strings[open->n_strings++] = (struct tele_block_string){
		.id = id,
		.text = (const char *)frames->bytes + frames->at,
		.len = (uint32_t)len,
	};
	frames->at += len;
	return 0;
}

static int take_row(struct tele_open_rows *open, struct frames *frames, struct tele_codec *codec)
{
	if (open->n_rows == TELE_BLOCK_ROWS_MAX)
		return TELE_ELIMIT;
	int64_t used = tele_codec_decode(codec, frames->bytes + frames->at,
					 frames->n_bytes - frames->at,
					 open->rows + (size_t)open->n_rows * open->n_fields);
	if (used < 0)
		return (int)used;
	frames->at += (size_t)used;
	open->row_seqs[open->n_rows++] = frames->seq++;
	return 0;
}

static int decode_frames(struct tele_attach *attach, size_t n_bytes)
{
	struct tele_open_rows *open = &attach->open;
	struct frames frames = {.bytes = open->bytes, .n_bytes = n_bytes, .seq = open->first_seq};
	struct tele_codec codec;
	tele_codec_init(&codec, attach->instance.schema->plan, open->n_fields, open->codec_words);
	while (frames.at < n_bytes) {
		uint8_t frame = frames.bytes[frames.at++];
		int failed = frame == TELE_FRAME_ROW	  ? take_row(open, &frames, &codec)
			     : frame == TELE_FRAME_EVENT  ? take_event(open, &frames)
			     : frame == TELE_FRAME_STRING ? take_string(open, &frames)
							  : TELE_EDAMAGED;
		if (failed)
			return failed;
	}
	return 0;
}

// ---- Slots of a dead process ---------------------------------------------------------

// The sections that a boundary captured, over a copy of the last row.
static bool take_parts(const struct tele_attach *attach, const uint64_t *slot, size_t n_words,
		       uint64_t *row, uint32_t n_fields)
{
	const struct tele_schema *schema = attach->instance.schema;
	bool has_parts = false;
	for (size_t at = TELE_SLOT_PARTS; at < n_words;) {
		unsigned section = slot[at] & 0xffff;
		uint32_t n_values = slot[at] >> 16 & 0xffff;
		uint32_t instance = (uint32_t)(slot[at] >> 32);
		at++;
		if (n_values > n_words - at)
			break;
		// The writer's section number: the section of that name here.
		if (section < TELE_SECTION_COUNT) {
			int64_t position = tele_schema_position(
				schema, (enum tele_field_id)tele_builtin_sections[section].first_id,
				instance);
			if (position >= 0 && (uint64_t)position + n_values <= n_fields) {
				memcpy(row + position, slot + at, 8 * (size_t)n_values);
				has_parts = true;
			}
		}
		at += n_values;
	}
	return has_parts;
}

// The row that a boundary is laid over: the last one, which may be sealed.
static bool copy_last_row(struct tele_attach *attach, uint64_t *ret_row)
{
	const struct tele_open_rows *open = &attach->open;
	uint32_t n_fields = 0;
	uint64_t seq;
	if (open->n_rows) {
		memcpy(ret_row, ret_row - open->n_fields, 8 * (size_t)open->n_fields);
		return true;
	}
	// Not tele_attach_latest: of a dead process that comes here again.
	if (tele_attach_latest_stored(attach, ret_row, open->n_fields, &n_fields, &seq))
		return false;
	memset(ret_row + n_fields, 0xff, 8 * (size_t)(open->n_fields - n_fields));
	return true;
}

static void take_slot(struct tele_attach *attach, const uint64_t *slot, uint64_t *seq)
{
	struct tele_open_rows *open = &attach->open;
	size_t n_words = attach->layout.slot_bytes / 8;
	size_t used = tele_min_u64(slot[TELE_SLOT_TYPE] >> 32, n_words);
	size_t text_len = tele_min_u64(slot[TELE_SLOT_TEXT_LEN], TELE_STRING_BYTES_MAX);
	struct tele_event event = {
		.type = (uint32_t)slot[TELE_SLOT_TYPE],
		.at_ns = slot[TELE_SLOT_AT] & TELE_TIME_MASK,
		.subject = slot[TELE_SLOT_SUBJECT],
		.value = slot[TELE_SLOT_VALUE],
		.seq = (*seq)++,
	};
	if (text_len) {
		event.string_id = UINT64_MAX - open->n_strings;
		open->strings[open->n_strings++] = (struct tele_block_string){
			.id = event.string_id,
			.text = (const char *)(slot + TELE_SLOT_TEXT),
			.len = (uint32_t)text_len,
		};
	}
	open->events[open->n_events++] = event;
	uint64_t *row = open->rows + (size_t)open->n_rows * open->n_fields;
	if (!copy_last_row(attach, row) || !take_parts(attach, slot, used, row, open->n_fields))
		return;
	row[0] = event.at_ns;
	open->row_seqs[open->n_rows++] = (*seq)++;
}

static int take_slots(struct tele_attach *attach)
{
	const struct tele_layout *layout = &attach->layout;
	struct tele_open_rows *open = &attach->open;
	uint64_t claimed = attach->control[TELE_CONTROL_CLAIMED];
	// More than there are slots where the publisher passed over one that was
	// never filled, which it tells with its next record only.
	int32_t behind = (int32_t)((uint32_t)claimed - open->drained);
	uint64_t seq = open->first_seq + open->n_rows + open->n_events;
	if (behind <= 0 || layout->n_slots == 0)
		return 0;
	uint64_t waiting = tele_min_u64((uint64_t)behind, layout->n_slots);
	int failed = tele_attach_pread(attach, open->slots, layout->n_slots * layout->slot_bytes,
				       layout->slots_offset);
	if (failed)
		return failed;
	for (uint64_t ticket = claimed - waiting; ticket != claimed; ticket++) {
		const uint64_t *slot = (const uint64_t *)(const void *)(
			open->slots + (ticket % layout->n_slots) * layout->slot_bytes);
		// One that was claimed and never filled is gone; later ones are not.
		if (slot[TELE_SLOT_FILLED] == ticket + 1)
			take_slot(attach, slot, &seq);
	}
	return 0;
}

int tele_attach_read_open(struct tele_attach *attach, struct tele_error *ret_error)
{
	uint64_t header[TELE_CHUNK_HEADER_WORDS] = {0};
	struct tele_open_rows *open = &attach->open;
	int failed = reserve(attach, attach->instance.schema->n_fields);
	int64_t used = failed ? failed : copy_chunk(attach, header);
	if (used < 0)
		return tele_fail(ret_error, (int)used, "open rows of %s: %s", attach->path,
				 tele_strerror((int)used));
	open->n_rows = open->n_events = open->n_strings = 0;
	if (header[TELE_CHUNK_EPOCH] == 0)
		return 0;
	if (header[TELE_CHUNK_FIELDS] > attach->instance.schema->n_fields) {
		failed = tele_attach_read_control(attach);
		if (!failed)
			failed = tele_attach_read_schema(attach, ret_error);
		if (failed < 0)
			return failed;
		if (header[TELE_CHUNK_FIELDS] > attach->instance.schema->n_fields)
			return 0; // not committed yet
		failed = reserve(attach, attach->instance.schema->n_fields);
		if (failed)
			return tele_fail(ret_error, failed, "no memory");
	}
	open->epoch = header[TELE_CHUNK_EPOCH];
	open->first_seq = header[TELE_CHUNK_FIRST_SEQ];
	open->n_fields = (uint32_t)header[TELE_CHUNK_FIELDS];
	open->schema_bytes = (uint32_t)header[TELE_CHUNK_SCHEMA_BYTES];
	open->drained = (uint32_t)(header[TELE_CHUNK_USED] >> 32);
	if (open->n_fields == 0 || open->first_seq > INT64_MAX)
		return tele_fail(ret_error, TELE_EDAMAGED, "open rows of %s: impossible header", attach->path);
	failed = decode_frames(attach, (size_t)used);
	open->n_chunk_rows = open->n_rows;
	open->n_chunk_events = open->n_events;
	if (!failed && !tele_state_is_alive(attach->instance.state))
		failed = take_slots(attach);
	if (failed)
		return tele_fail(ret_error, failed, "open rows of %s: %s", attach->path,
				 tele_strerror(failed));
	return 1;
}
