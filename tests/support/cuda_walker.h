// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A thread's random walk over the driver: what it holds of each class, and how
// it makes and frees plain memory. Include it in one file of a test program.

#ifndef TESTS_CUDA_WALKER_H
#define TESTS_CUDA_WALKER_H

#include "cuda_books.h"

#define HELD 20 // of each class, per thread

static unsigned (*stream_create)(void **, unsigned);
static unsigned (*begin_capture)(void *, int);
static unsigned (*end_capture)(void *, void **);
static unsigned (*synchronize)(void);
static unsigned (*from_green)(void **, void *);

enum held {
	PLAIN, MANAGED, ASYNC, HOST, REGISTERED, HANDLES, MAPPED, RESERVED, POOLS, ARRAYS, MIPMAPS,
	MODULES, LIBRARIES, LINKS, EXTERNAL, IPC, BUFFERS, GREEN, CONTEXTS, PRIMARIES, MULTICAST, HELD_KINDS
};

static unsigned seen[HELD_KINDS]; // how many were ever held

// ---- One thread's walk -------------------------------------------------------------

struct thing {
	uint64_t handle;
	uint64_t extra; // bytes, device or another handle
};

struct walker {
	uint64_t random;
	unsigned failures;
	bool is_alone; // owns primary contexts, resets and what others rely on
	bool is_first; // compares for all
	unsigned n[HELD_KINDS];
	struct thing held[HELD_KINDS][HELD];
	void *stream, *own;
	void *far_stream, *far; // on the other device
	int device;
	bool is_capturing;
	const char *last;
};

static uint64_t next(struct walker *w)
{
	w->random ^= w->random << 13;
	w->random ^= w->random >> 7;
	w->random ^= w->random << 17;
	return w->random >> 11;
}

static void hold(struct walker *w, enum held kind, uint64_t handle, uint64_t extra)
{
	CHECK(w->n[kind] < HELD);
	w->held[kind][w->n[kind]++] = (struct thing){handle, extra};
	if (w->is_alone)
		seen[kind]++;
}

static bool has_room(const struct walker *w, enum held kind)
{
	return w->n[kind] < HELD;
}

static struct thing *pick(struct walker *w, enum held kind)
{
	return w->n[kind] ? &w->held[kind][next(w) % w->n[kind]] : NULL;
}

static void drop(struct walker *w, enum held kind, struct thing *thing)
{
	*thing = w->held[kind][--w->n[kind]];
}

// What ends with a context is forgotten; some of it is freed once more, in vain.
static void forget_context(struct walker *w)
{
	static const enum held ended[] = {PLAIN, MANAGED, ARRAYS, MIPMAPS, MODULES, LINKS, EXTERNAL};
	for (size_t i = 0; i < sizeof(ended) / sizeof(ended[0]); i++)
		w->n[ended[i]] = 0;
	unsigned kept = 0;
	for (unsigned i = 0; i < w->n[HOST]; i++)
		if (w->held[HOST][i].extra) // cuMemHostAlloc stays
			w->held[HOST][kept++] = w->held[HOST][i];
	w->n[HOST] = kept;
}

// By address, since the call that fills it is an argument beside it.
static void made(struct walker *w, enum held kind, unsigned result, const void *handle, uint64_t extra)
{
	uint64_t value;
	memcpy(&value, handle, sizeof(value));
	if (result == 0)
		hold(w, kind, value, extra);
	else
		w->failures++;
}

static void make_memory(struct walker *w)
{
	unsigned long long address = 0;
	size_t bytes = 1 + next(w) % 100000, pitch = 0;
	void *pointer = NULL;
	unsigned kind = (unsigned)next(w) % 6;
	if (kind == 0 && has_room(w, PLAIN))
		made(w, PLAIN, cuMemAlloc_v2(&address, bytes), &address, 0);
	else if (kind == 1 && has_room(w, PLAIN))
		made(w, PLAIN, cuMemAllocPitch_v2(&address, &pitch, bytes, 1 + next(w) % 9, 4), &address, 0);
	else if (kind == 2 && has_room(w, MANAGED))
		made(w, MANAGED, cuMemAllocManaged(&address, bytes, 1), &address, 0);
	else if (kind == 3 && has_room(w, HOST))
		made(w, HOST, cuMemAllocHost_v2(&pointer, bytes), &pointer, 0);
	else if (kind == 4 && has_room(w, HOST))
		made(w, HOST, cuMemHostAlloc(&pointer, bytes, 0), &pointer, 1);
	else if (kind == 5 && has_room(w, REGISTERED)) {
		uint64_t at = 0x10000 + next(w) % 64 * 4096 + (uintptr_t)w % 999 * 0x1000000;
		made(w, REGISTERED, cuMemHostRegister_v2(P(at), bytes, 0), &at, 0);
	}
}

static void free_memory(struct walker *w)
{
	struct thing *thing;
	if ((thing = pick(w, PLAIN)) && next(w) % 2) {
		if (cuMemFree_v2(thing->handle) == 0)
			drop(w, PLAIN, thing);
	} else if ((thing = pick(w, MANAGED)) && next(w) % 2) {
		if (cuMemFree_v2(thing->handle) == 0)
			drop(w, MANAGED, thing);
	} else if ((thing = pick(w, HOST)) && next(w) % 2) {
		if (cuMemFreeHost(P(thing->handle)) == 0)
			drop(w, HOST, thing);
	} else if ((thing = pick(w, REGISTERED))) {
		if (cuMemHostUnregister(P(thing->handle)) == 0)
			drop(w, REGISTERED, thing);
	}
	if (next(w) % 64 == 0)
		(void)cuMemFree_v2(next(w) % 2 ? 0 : 0x1234);
}

#endif
