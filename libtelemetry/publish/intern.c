// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Strings that fields hold by id: phases, device and owner names. Texts are
// appended to an arena and never move; the count is stored last, so that the
// publisher may read without the lock. Ids are 1, 2, ...

#include "registry.h"

#include "publisher.h"
#include "ring.h"

#include "../segment.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "../banned.h"

#define STRINGS_MAX 4096
#define ARENA_BYTES (256u << 10)
#define HASH_SLOTS (2 * STRINGS_MAX)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint32_t n_strings = 1; // pairs with the load in tele_intern_text
static uint32_t starts[STRINGS_MAX + 1]; // string i is arena[starts[i] .. starts[i + 1])
static char arena[ARENA_BYTES];
static uint16_t slots[HASH_SLOTS]; // 0: free

static uint32_t hash(const char *text, size_t len)
{
	uint32_t h = 2166136261u; // FNV-1a
	for (size_t i = 0; i < len; i++)
		h = (h ^ (uint8_t)text[i]) * 16777619u;
	return h;
}

static uint64_t find_or_add(const char *text, size_t len)
{
	uint32_t count = atomic_load_explicit(&n_strings, memory_order_relaxed);
	uint32_t slot = hash(text, len) % HASH_SLOTS;
	for (; slots[slot]; slot = (slot + 1) % HASH_SLOTS) {
		uint32_t id = slots[slot];
		if (starts[id + 1] - starts[id] == len && memcmp(arena + starts[id], text, len) == 0)
			return id;
	}
	if (count == STRINGS_MAX || starts[count] + len > ARENA_BYTES)
		return TELE_UNKNOWN;
	memcpy(arena + starts[count], text, len);
	starts[count + 1] = starts[count] + (uint32_t)len;
	slots[slot] = (uint16_t)count;
	atomic_store_explicit(&n_strings, count + 1, memory_order_release);
	return count;
}

uint64_t tele_intern(const char *text)
{
	size_t len = text ? strnlen(text, TELE_STRING_BYTES_MAX) : 0;
	pthread_mutex_lock(&lock);
	uint64_t id = find_or_add(text, len);
	pthread_mutex_unlock(&lock);
	if (id == TELE_UNKNOWN)
		tele_count_refused();
	return id;
}

const char *tele_intern_text(uint64_t id, size_t *ret_len)
{
	if (id == 0 || id >= atomic_load_explicit(&n_strings, memory_order_acquire))
		return NULL;
	*ret_len = starts[id + 1] - starts[id];
	return arena + starts[id];
}

uint64_t tele_intern_resident_bytes(void)
{
	return tele_resident_bytes_of(arena, sizeof(arena));
}

void tele_intern_lock(void)
{
	pthread_mutex_lock(&lock);
}

void tele_intern_unlock(void)
{
	pthread_mutex_unlock(&lock);
}
