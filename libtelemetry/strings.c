// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Strings by id: two open-addressed tables, one for ids that last and one for
// those of the block at hand, each with texts in chunks that never move. A
// table is at most half full, so a search ends soon; its size is a power of two.

#include "strings.h"

#include "error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"

#define STRINGS_MAX 1000000
#define CHUNK_BYTES (16u << 10)

struct chunk {
	struct chunk *next;
	size_t capacity_bytes;
	size_t used_bytes;
	char bytes[];
};

struct entry {
	uint64_t id; // 0: free
	const char *text;
};

struct table {
	struct entry *entries;
	size_t capacity; // a power of two, or 0
	size_t n_used;
	struct chunk *chunks;
};

struct tele_strings {
	struct table lasting;
	struct table transient;
};

static size_t slot_of(uint64_t id, size_t capacity)
{
	return (size_t)((id * UINT64_C(0x9e3779b97f4a7c15)) >> 20) & (capacity - 1);
}

// The entry of id, or the free one where it belongs. The table is not empty.
static struct entry *find(const struct table *table, uint64_t id)
{
	size_t at = slot_of(id, table->capacity);
	while (table->entries[at].id != 0 && table->entries[at].id != id)
		at = (at + 1) & (table->capacity - 1);
	return &table->entries[at];
}

static int make_room(struct table *table)
{
	if (table->n_used * 2 < table->capacity)
		return 0;
	struct table grown = *table;
	grown.capacity = table->capacity ? table->capacity * 2 : 64;
	grown.entries = calloc(grown.capacity, sizeof(*grown.entries));
	if (!grown.entries)
		return -ENOMEM;
	for (size_t i = 0; i < table->capacity; i++)
		if (table->entries[i].id)
			*find(&grown, table->entries[i].id) = table->entries[i];
	free(table->entries);
	*table = grown;
	return 0;
}

static char *keep(struct table *table, const char *text, size_t len)
{
	struct chunk *chunk = table->chunks;
	if (!chunk || chunk->capacity_bytes - chunk->used_bytes <= len) {
		size_t capacity = len < CHUNK_BYTES ? CHUNK_BYTES : len + 1;
		chunk = malloc(sizeof(*chunk) + capacity);
		if (!chunk)
			return NULL;
		*chunk = (struct chunk){.next = table->chunks, .capacity_bytes = capacity};
		table->chunks = chunk;
	}
	char *kept = chunk->bytes + chunk->used_bytes;
	if (len)
		memcpy(kept, text, len);
	kept[len] = '\0';
	chunk->used_bytes += len + 1;
	return kept;
}

static void drop_chunks(struct chunk *chunk)
{
	while (chunk) {
		struct chunk *next = chunk->next;
		free(chunk);
		chunk = next;
	}
}

struct tele_strings *tele_strings_new(void)
{
	return calloc(1, sizeof(struct tele_strings));
}

void tele_strings_free(struct tele_strings *strings)
{
	if (!strings)
		return;
	drop_chunks(strings->lasting.chunks);
	drop_chunks(strings->transient.chunks);
	free(strings->lasting.entries);
	free(strings->transient.entries);
	free(strings);
}

int tele_strings_define(struct tele_strings *strings, uint64_t id, const char *text, size_t len)
{
	struct table *table = TELE_STRING_IS_TRANSIENT(id) ? &strings->transient : &strings->lasting;
	if (id == 0)
		return TELE_EDAMAGED;
	if (make_room(table))
		return -ENOMEM;
	struct entry *entry = find(table, id);
	if (entry->id)
		return 0;
	if (table->n_used >= STRINGS_MAX)
		return TELE_ELIMIT;
	const char *kept = keep(table, text, len);
	if (!kept)
		return -ENOMEM;
	*entry = (struct entry){.id = id, .text = kept};
	table->n_used++;
	return 0;
}

void tele_strings_forget_transient(struct tele_strings *strings)
{
	struct table *table = &strings->transient;
	if (table->n_used == 0)
		return;
	memset(table->entries, 0, table->capacity * sizeof(*table->entries));
	table->n_used = 0;
	drop_chunks(table->chunks->next);
	table->chunks->next = NULL;
	table->chunks->used_bytes = 0;
}

const char *tele_strings_get(const struct tele_strings *strings, uint64_t id)
{
	const struct table *table =
		TELE_STRING_IS_TRANSIENT(id) ? &strings->transient : &strings->lasting;
	if (id == 0 || table->capacity == 0)
		return NULL;
	return find(table, id)->text;
}
