// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Each search is a loop over candidates that changes a census and emits it at
// the candidate's begin and end, and once between. The figures of G1 and G2 are
// those of ahrefs/ocannl issue 550: how many candidates linked and what they
// left on the card after candidates 35, 60, 85, 110, 125 and 261.

#include "traces.h"

#include <stddef.h>
#include <string.h>

#define MIB(x) ((uint64_t)((double)(x) * 1048576.0))

const char *const trace_columns[TRACE_COLUMNS] = {
	[TRACE_WORKING_POOLS] = "census.live_working_pools",
	[TRACE_WORKING_BYTES] = "census.live_working_bytes",
	[TRACE_WORKING_ALLOCATED] = "census.working_pools_allocated",
	[TRACE_CONSTANT_POOLS] = "census.live_constant_pools",
	[TRACE_CONSTANT_BYTES] = "census.live_constant_bytes",
	[TRACE_CONSTANT_ALLOCATED] = "census.constant_pools_allocated",
	[TRACE_POOLS_FREED] = "census.pools_freed",
	[TRACE_CONTEXTS_CREATED] = "census.contexts_created",
	[TRACE_CONTEXTS_RELEASED] = "census.contexts_released",
	[TRACE_MODULES_LOADED] = "census.modules_loaded",
	[TRACE_MODULES_UNLOADED] = "census.modules_unloaded",
	[TRACE_DEVICE_USED] = "device.used_bytes",
	[TRACE_DEVICE_TOTAL] = "device.total_bytes",
};

struct search {
	uint64_t random;
	trace_emit_fn *emit;
	void *context;
	struct trace_row row;
};

static uint64_t draw(struct search *s, uint64_t below)
{
	s->random = s->random * 6364136223846793005u + 1442695040888963407u;
	return (s->random >> 33) % below;
}

static uint64_t *value(struct search *s, enum trace_column column)
{
	return &s->row.values[column];
}

static void send(struct search *s, double seconds)
{
	s->row.time_s += seconds;
	s->emit(s->context, &s->row);
}

static void begin(struct search *s, unsigned candidate)
{
	s->row.candidate = candidate;
	s->row.is_begin = true;
	send(s, 0.05);
	s->row.is_begin = false;
}

static void end(struct search *s, const char *outcome)
{
	s->row.outcome = outcome;
	send(s, 0.2 + 0.001 * (double)draw(s, 300));
	s->row.outcome = NULL;
	s->row.candidate = 0;
}

static void observe_device(struct search *s)
{
	*value(s, TRACE_DEVICE_USED) = *value(s, TRACE_WORKING_BYTES) + *value(s, TRACE_CONSTANT_BYTES);
}

static void allocate(struct search *s, uint64_t bytes)
{
	++*value(s, TRACE_WORKING_POOLS);
	++*value(s, TRACE_WORKING_ALLOCATED);
	*value(s, TRACE_WORKING_BYTES) += bytes;
	observe_device(s);
}

static void release(struct search *s, uint64_t bytes)
{
	--*value(s, TRACE_WORKING_POOLS);
	++*value(s, TRACE_POOLS_FREED);
	*value(s, TRACE_WORKING_BYTES) -= bytes;
	observe_device(s);
}

static void start(struct search *s, uint64_t seed, trace_emit_fn *emit, void *context, uint64_t total_bytes)
{
	*s = (struct search){.random = seed * 2654435761u + 12345, .emit = emit, .context = context};
	*value(s, TRACE_CONSTANT_POOLS) = *value(s, TRACE_CONSTANT_ALLOCATED) = 1;
	*value(s, TRACE_CONSTANT_BYTES) = MIB(9.3);
	*value(s, TRACE_CONTEXTS_CREATED) = 4;
	*value(s, TRACE_MODULES_LOADED) = 2;
	*value(s, TRACE_DEVICE_TOTAL) = total_bytes;
	observe_device(s);
}

// Linked candidates and working MiB after some of the 261.
static const struct reading {
	unsigned candidate, linked;
	double working_mib;
} readings[] = {
	{35, 29, 2779.3},  {60, 38, 3700.7},   {85, 48, 4724.4},
	{110, 64, 6372.2}, {125, 82, 11354.8}, {261, 127, 28802.8},
};

// The outcome of the k-th linked candidate: 101 timed, 20 deduplicated, 2
// non-dispatchable, 4 link-failed of 127, spread over the run.
static const char *linked_outcome(unsigned k)
{
	if (k % 32 == 16)
		return "link_failed";
	if (k % 64 == 40)
		return "non_dispatchable";
	if (k % 6 == 3 && k < 122)
		return "deduplicated";
	return k == 60 ? "kept" : "timed";
}

// One linked candidate's module is loaded and, but for a few, unloaded soon:
// live between 2 and 5.
static void load_module(struct search *s)
{
	++*value(s, TRACE_MODULES_LOADED);
	while (*value(s, TRACE_MODULES_LOADED) - *value(s, TRACE_MODULES_UNLOADED) > 3 + draw(s, 3))
		++*value(s, TRACE_MODULES_UNLOADED);
}

// Sizes in one stretch of readings: small pools, and 1 GiB ones for what the
// stretch has above that.
static uint64_t pool_bytes(struct search *s, unsigned left, double mib_left)
{
	double mean = mib_left / left;

	if (left == 1)
		return MIB(mib_left);
	if (mean > 130 && mib_left > 1024 + 102.4 * (left - 1))
		return draw(s, 1000) < (uint64_t)(1000 * (mean - 102.4) / 921.6) ? MIB(1024) : MIB(102.4);
	return MIB(mean > 130 ? 102.4 : mean - 0.5 + 0.001 * (double)draw(s, 1001));
}

// Whether candidate c of [from, to) is one of `linked` that link.
static bool links(unsigned c, unsigned from, unsigned to, unsigned linked)
{
	unsigned n = to - from, k = c - from;
	return (k + 1) * linked / n != k * linked / n;
}

static void make_g1(struct search *s)
{
	unsigned linked = 0, from = 1;
	double mib = 0;

	send(s, 0);
	for (size_t r = 0; r < sizeof(readings) / sizeof(readings[0]); r++) {
		const struct reading *reading = &readings[r];
		unsigned want = reading->linked - linked, seen = 0;
		double want_mib = reading->working_mib - mib;
		for (unsigned c = from; c <= reading->candidate; c++) {
			s->row.phase = c < 115 ? "A" : "B";
			begin(s, c);
			if (!links(c, from, reading->candidate + 1, want)) {
				end(s, "declined");
				continue;
			}
			load_module(s);
			send(s, 0.1);
			uint64_t bytes = pool_bytes(s, want - seen, want_mib);
			allocate(s, bytes);
			++*value(s, TRACE_CONTEXTS_CREATED);
			want_mib -= (double)bytes / 1048576.0;
			seen++;
			linked++;
			end(s, linked_outcome(linked));
			send(s, 0.02);
		}
		mib = reading->working_mib - want_mib;
		from = reading->candidate + 1;
	}
}

// G2: every pool but a few is freed; larger ones in phase B.
static void make_g2(struct search *s)
{
	uint64_t sizes[8] = {0};
	unsigned n_live = 0, linked = 0;

	for (; n_live < 4; n_live++)
		allocate(s, sizes[n_live] = MIB(29.5));
	send(s, 0);
	for (unsigned c = 1; c <= 261; c++) {
		s->row.phase = c < 115 ? "A" : "B";
		begin(s, c);
		if (!links(c, 1, 262, 125)) {
			end(s, "declined");
			continue;
		}
		load_module(s);
		unsigned keep = linked < 121 ? 3 + (unsigned)draw(s, 4) : 6; // stay cached
		while (n_live > keep) {
			release(s, sizes[0]);
			memmove(sizes, sizes + 1, sizeof(sizes) - sizeof(sizes[0]));
			n_live--;
		}
		sizes[n_live] = c < 115 ? MIB(29.5) + MIB(draw(s, 30)) : MIB(90) + MIB(draw(s, 95));
		allocate(s, sizes[n_live++]);
		++*value(s, TRACE_CONTEXTS_CREATED);
		*value(s, TRACE_CONTEXTS_RELEASED) = *value(s, TRACE_CONTEXTS_CREATED) - 4 - n_live;
		end(s, linked_outcome(++linked));
		send(s, 0.02);
	}
}

// G3: modules are never unloaded; bytes nobody can tell.
static void make_g3(struct search *s)
{
	*value(s, TRACE_WORKING_BYTES) = *value(s, TRACE_CONSTANT_BYTES) = TRACE_UNKNOWN;
	*value(s, TRACE_DEVICE_USED) = *value(s, TRACE_DEVICE_TOTAL) = TRACE_UNKNOWN;
	*value(s, TRACE_WORKING_POOLS) = 2;
	send(s, 0);
	for (unsigned c = 1; c <= 200; c++) {
		begin(s, c);
		++*value(s, TRACE_MODULES_LOADED);
		end(s, c % 3 ? "timed" : "deduplicated");
	}
}

static void make_g4(struct search *s)
{
	send(s, 0);
	for (unsigned c = 1; c <= 500; c++) {
		begin(s, c);
		if (c == 1)
			allocate(s, 9000000);
		end(s, "timed");
	}
}

// G5: one pool a candidate; a collector comes about every 40 and leaves the
// floor, which is one pool higher each time if `rises`.
static void make_g5(struct search *s, bool rises)
{
	uint64_t floor_pools = 3, next_sweep = 30 + draw(s, 20);

	send(s, 0);
	for (unsigned c = 1; c <= 520; c++) {
		begin(s, c);
		allocate(s, MIB(10));
		end(s, "timed");
		if (--next_sweep == 0) {
			while (*value(s, TRACE_WORKING_POOLS) > floor_pools)
				release(s, MIB(10));
			send(s, 0.02);
			floor_pools += rises;
			next_sweep = 35 + draw(s, 11);
		}
	}
}

static void make_g6(struct search *s)
{
	for (int i = 0; i < 5; i++)
		allocate(s, MIB(50));
	send(s, 0);
	for (unsigned c = 1; c <= 50; c++) {
		uint64_t want = 4 + draw(s, 3);
		begin(s, c);
		while (*value(s, TRACE_WORKING_POOLS) < want)
			allocate(s, MIB(50));
		while (*value(s, TRACE_WORKING_POOLS) > want)
			release(s, MIB(50));
		end(s, "timed");
	}
}

// G7: the card does not say how much is used.
static void make_g7(struct search *s)
{
	send(s, 0);
	for (unsigned c = 1; c <= 60; c++) {
		begin(s, c);
		allocate(s, MIB(20));
		*value(s, TRACE_DEVICE_USED) = TRACE_UNKNOWN;
		*value(s, TRACE_DEVICE_TOTAL) = TRACE_UNKNOWN;
		end(s, "timed");
	}
}

// G8: a virtual limit below what is used.
static void make_g8(struct search *s)
{
	send(s, 0);
	for (unsigned c = 1; c <= 60; c++) {
		begin(s, c);
		allocate(s, MIB(100));
		end(s, "timed");
	}
}

bool trace_make(const char *name, uint64_t seed, trace_emit_fn *emit, void *context)
{
	static const char *const names[] = {"g1", "g2", "g3", "g4", "g5a", "g5b", "g6", "g7", "g8"};
	size_t which = 0;
	struct search s;

	while (which < sizeof(names) / sizeof(names[0]) && strcmp(names[which], name) != 0)
		which++;
	if (which == sizeof(names) / sizeof(names[0]))
		return false;
	start(&s, seed, emit, context, which == 8 ? MIB(2048) : MIB(12227));
	switch (which) {
	case 0:
		make_g1(&s);
		break;
	case 1:
		make_g2(&s);
		break;
	case 2:
		make_g3(&s);
		break;
	case 3:
		make_g4(&s);
		break;
	case 4:
	case 5:
		make_g5(&s, which == 5);
		break;
	case 6:
		make_g6(&s);
		break;
	case 7:
		make_g7(&s);
		break;
	default:
		make_g8(&s);
		break;
	}
	return true;
}
