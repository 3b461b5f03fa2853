// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Chunks of bytes. A record is its kind, the number of its instance and, for a
// row, the fields that differ from the instance's row before: how many fields
// are passed over, and the difference. Writer and readers keep the same head
// for each instance, so that a place is all that is needed to read on, and a
// record never lies across two chunks.

#include "tape.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../libtelemetry/varint.h"

#include "../libtelemetry/banned.h"

#define CHUNK_BYTES 65536
#define TEXT_BYTES  256 // of an event; the model keeps no more

// What a row is told against, and what the model is told with it.
struct mon_tape_head {
	uint64_t seq, at_ns, lost;
	uint64_t *row;
	uint32_t n_fields, capacity;
	enum tele_state state;
};

struct chunk {
	uint8_t *bytes; // NULL: forgotten
	size_t used_bytes;
};

struct mon_tape {
	struct chunk *chunks;
	size_t n_chunks, chunks_capacity, n_forgotten;
	struct tele_instance **instances;
	struct mon_place end; // where the writer stands: its heads
	uint64_t first_at_ns, last_at_ns;
};

struct mon_tape *mon_tape_new(void)
{
	struct mon_tape *tape = calloc(1, sizeof(*tape));
	if (tape)
		tape->first_at_ns = TELE_UNKNOWN;
	return tape;
}

void mon_tape_free(struct mon_tape *tape)
{
	if (!tape)
		return;
	for (size_t i = 0; i < tape->n_chunks; i++)
		free(tape->chunks[i].bytes);
	free(tape->chunks);
	free(tape->instances);
	mon_place_fini(&tape->end);
	free(tape);
}

uint64_t mon_tape_records(const struct mon_tape *tape)
{
	return tape->end.n_records;
}

size_t mon_tape_bytes(const struct mon_tape *tape)
{
	return (tape->n_chunks - tape->n_forgotten) * CHUNK_BYTES;
}

uint64_t mon_tape_first_at_ns(const struct mon_tape *tape)
{
	return tape->first_at_ns;
}

uint64_t mon_tape_last_at_ns(const struct mon_tape *tape)
{
	return tape->last_at_ns;
}

// ---- Places -----------------------------------------------------------------------

void mon_place_fini(struct mon_place *place)
{
	for (uint32_t i = 0; i < place->n_heads; i++)
		free(place->heads[i].row);
	free(place->heads);
	*place = (struct mon_place){0};
}

static int reserve_row(struct mon_tape_head *head, uint32_t n_fields)
{
	if (n_fields <= head->capacity)
		return 0;
	uint64_t *row = realloc(head->row, n_fields * sizeof(*row));
	if (!row)
		return -ENOMEM;
	memset(row + head->capacity, 0, (n_fields - head->capacity) * sizeof(*row));
	head->row = row;
	head->capacity = n_fields;
	return 0;
}

// The head of an instance; those before it are made, too.
static struct mon_tape_head *head_of(struct mon_place *place, uint32_t number)
{
	if (number < place->n_heads)
		return &place->heads[number];
	struct mon_tape_head *heads = realloc(place->heads, (number + 1) * sizeof(*heads));
	if (!heads)
		return NULL;
	memset(heads + place->n_heads, 0, (number + 1 - place->n_heads) * sizeof(*heads));
	place->heads = heads;
	place->n_heads = number + 1;
	return &heads[number];
}

int mon_place_copy(const struct mon_place *place, struct mon_place *ret_copy)
{
	struct mon_place copy = {
		.n_records = place->n_records, .chunk = place->chunk, .offset = place->offset};
	for (uint32_t i = 0; i < place->n_heads; i++) {
		const struct mon_tape_head *from = &place->heads[i];
		struct mon_tape_head *to = head_of(&copy, i);
		if (to && from->capacity) {
			to->row = malloc(from->capacity * sizeof(*to->row));
			to->capacity = to->row ? from->capacity : 0;
		}
		if (!to || (from->capacity && !to->row)) {
			mon_place_fini(&copy);
			return -ENOMEM;
		}
		uint64_t *row = to->row;
		*to = *from;
		to->row = row;
		if (row)
			memcpy(row, from->row, from->capacity * sizeof(*row));
	}
	*ret_copy = copy;
	return 0;
}

size_t mon_place_bytes(const struct mon_place *place)
{
	size_t n_bytes = 0;
	for (uint32_t i = 0; i < place->n_heads; i++)
		n_bytes += sizeof(place->heads[i]) + place->heads[i].capacity * sizeof(uint64_t);
	return n_bytes;
}

// ---- Writing ----------------------------------------------------------------------

static int number_of(struct mon_tape *tape, struct tele_instance *instance, uint32_t *ret_number)
{
	for (uint32_t i = tape->end.n_heads; i > 0; i--) {
		*ret_number = i - 1;
		if (tape->instances[i - 1] == instance)
			return 0;
	}
	uint32_t number = tape->end.n_heads;
	void *grown = realloc(tape->instances, (number + 1) * sizeof(*tape->instances));
	if (!grown)
		return -ENOMEM;
	tape->instances = grown;
	if (!head_of(&tape->end, number))
		return -ENOMEM;
	tape->instances[number] = instance;
	*ret_number = number;
	return 0;
}

static struct chunk *add_chunk(struct mon_tape *tape)
{
	if (tape->n_chunks == tape->chunks_capacity) {
		size_t capacity = tape->chunks_capacity ? tape->chunks_capacity * 2 : 16;
		struct chunk *chunks = realloc(tape->chunks, capacity * sizeof(*chunks));
		if (!chunks)
			return NULL;
		tape->chunks = chunks;
		tape->chunks_capacity = capacity;
	}
	struct chunk *chunk = &tape->chunks[tape->n_chunks];
	*chunk = (struct chunk){.bytes = malloc(CHUNK_BYTES)};
	if (!chunk->bytes)
		return NULL;
	tape->n_chunks++;
	return chunk;
}

// Room for n_bytes in one chunk.
static uint8_t *reserve(struct mon_tape *tape, size_t n_bytes)
{
	struct chunk *chunk = tape->n_chunks ? &tape->chunks[tape->n_chunks - 1] : NULL;
	TELE_ASSERT(n_bytes <= CHUNK_BYTES);
	if (!chunk || !chunk->bytes || CHUNK_BYTES - chunk->used_bytes < n_bytes)
		chunk = add_chunk(tape);
	return chunk ? chunk->bytes + chunk->used_bytes : NULL;
}

static uint8_t *put(uint8_t *out, uint64_t value)
{
	return out + tele_varint_put(out, value);
}

static uint8_t *put_row(uint8_t *out, struct mon_tape_head *head, const struct tele_record *record)
{
	uint32_t n_changes = 0, last = 0;
	for (uint32_t i = 0; i < record->n_fields; i++)
		n_changes += record->row[i] != head->row[i];
	out = put(out, record->n_fields);
	out = put(out, n_changes);
	for (uint32_t i = 0; n_changes > 0; i++) {
		if (record->row[i] == head->row[i])
			continue;
		out = put(out, i - last);
		out = put(out, tele_zigzag(record->row[i] - head->row[i]));
		head->row[i] = record->row[i];
		last = i;
		n_changes--;
	}
	head->n_fields = record->n_fields;
	return out;
}

static uint8_t *put_event(uint8_t *out, const struct tele_record *record, struct mon_tape_head *head)
{
	const struct tele_event *event = &record->event;
	const char *text = event->string_id ? tele_instance_string(record->instance, event->string_id) : NULL;
	size_t len = text ? strnlen(text, TEXT_BYTES - 1) : 0;
	out = put(out, event->type);
	out = put(out, tele_zigzag(event->at_ns - head->at_ns));
	out = put(out, event->subject);
	out = put(out, event->value);
	out = put(out, text ? len + 1 : 0);
	if (text) {
		memcpy(out, text, len);
		out[len] = '\0';
		out += len + 1;
	}
	head->at_ns = event->at_ns;
	return out;
}

static void note_time(struct mon_tape *tape, const struct tele_record *record)
{
	uint64_t at_ns = record->kind == TELE_RECORD_EVENT ? record->event.at_ns : TELE_UNKNOWN;
	if (record->kind == TELE_RECORD_ROW && record->n_fields)
		at_ns = record->row[0];
	if (at_ns == TELE_UNKNOWN)
		return;
	if (tape->first_at_ns == TELE_UNKNOWN)
		tape->first_at_ns = at_ns;
	tape->last_at_ns = tele_max_u64(tape->last_at_ns, at_ns);
}

int mon_tape_add(struct mon_tape *tape, const struct tele_record *record)
{
	uint32_t number;
	if (number_of(tape, record->instance, &number))
		return -ENOMEM;
	struct mon_tape_head *head = &tape->end.heads[number];
	bool is_row = record->kind == TELE_RECORD_ROW;
	if (is_row && reserve_row(head, record->n_fields))
		return -ENOMEM;
	size_t n_bytes = 16 * TELE_VARINT_BYTES_MAX + TEXT_BYTES + (is_row ? record->n_fields * 12u : 0);
	uint8_t *begin = reserve(tape, n_bytes), *out = begin;
	if (!begin)
		return -ENOMEM;
	note_time(tape, record);
	out = put(out, record->kind);
	out = put(out, number);
	out = put(out, record->instance->state);
	out = put(out, record->instance->lost - head->lost);
	head->lost = record->instance->lost;
	if (record->kind == TELE_RECORD_GAP) {
		out = put(out, record->gap_from);
		out = put(out, record->gap_to);
	} else if (is_row || record->kind == TELE_RECORD_EVENT) {
		out = put(out, record->seq - head->seq);
		head->seq = record->seq;
		out = is_row ? put_row(out, head, record) : put_event(out, record, head);
	}
	tape->chunks[tape->n_chunks - 1].used_bytes += (size_t)(out - begin);
	tape->end.n_records++;
	return 0;
}

// ---- Reading ----------------------------------------------------------------------

// What is read is what was written here: no check that a length is right.
static uint64_t get(const uint8_t **in)
{
	uint64_t value = 0;
	*in += tele_varint_get(*in, TELE_VARINT_BYTES_MAX, &value);
	return value;
}

static int get_row(const uint8_t **in, struct mon_tape_head *head, struct tele_record *record)
{
	head->n_fields = (uint32_t)get(in);
	if (reserve_row(head, head->n_fields))
		return -ENOMEM;
	uint64_t n_changes = get(in);
	for (uint64_t field = 0; n_changes > 0; n_changes--) {
		field += get(in);
		head->row[field] += tele_unzigzag(get(in));
	}
	record->row = head->row;
	record->n_fields = head->n_fields;
	return 0;
}

static void get_event(const uint8_t **in, struct mon_tape_head *head, struct tele_record *record,
		      struct mon_told *told)
{
	struct tele_event *event = &record->event;
	event->seq = record->seq;
	event->type = (uint32_t)get(in);
	event->at_ns = head->at_ns += tele_unzigzag(get(in));
	event->subject = get(in);
	event->value = get(in);
	uint64_t text_bytes = get(in);
	if (text_bytes)
		told->text = (const char *)*in;
	*in += text_bytes;
}

int mon_tape_next(const struct mon_tape *tape, struct mon_place *place, struct tele_record *ret_record,
		  struct mon_told *ret_told)
{
	while (place->chunk < tape->n_chunks && place->offset == tape->chunks[place->chunk].used_bytes) {
		if (place->chunk + 1 == tape->n_chunks)
			return 0;
		place->chunk++;
		place->offset = 0;
	}
	if (place->chunk >= tape->n_chunks)
		return 0;
	const uint8_t *begin = tape->chunks[place->chunk].bytes + place->offset, *in = begin;
	struct tele_record record = {.kind = (enum tele_record_kind)get(&in)};
	uint32_t number = (uint32_t)get(&in);
	struct mon_tape_head *head = head_of(place, number);
	struct mon_told told = {.text = NULL};
	if (!head)
		return -ENOMEM;
	record.instance = tape->instances[number];
	told.state = head->state = (enum tele_state)get(&in);
	told.lost = head->lost += get(&in);
	if (record.kind == TELE_RECORD_GAP) {
		record.gap_from = get(&in);
		record.gap_to = get(&in);
	} else if (record.kind == TELE_RECORD_ROW || record.kind == TELE_RECORD_EVENT) {
		record.seq = head->seq += get(&in);
		if (record.kind == TELE_RECORD_EVENT)
			get_event(&in, head, &record, &told);
		else if (get_row(&in, head, &record))
			return -ENOMEM;
	}
	place->offset += (size_t)(in - begin);
	place->n_records++;
	*ret_record = record;
	*ret_told = told;
	return 1;
}

void mon_tape_forget(struct mon_tape *tape, const struct mon_place *place)
{
	for (size_t i = tape->n_forgotten; i < place->chunk; i++) {
		free(tape->chunks[i].bytes);
		tape->chunks[i].bytes = NULL;
		tape->n_forgotten = i + 1;
	}
}
