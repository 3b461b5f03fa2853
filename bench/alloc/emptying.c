// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Heaps that empty: values that go while their keys stay, drained to a budget and
// filled again, and a heap of random sizes thinned to a tenth. Each knows its
// floor: the pages that a packing in birth order would need.

#include "harness.h"

#include <stdlib.h>

static uint32_t n_pairs;
static void **values, **keys;
static uint16_t *value_sizes, *key_sizes;
static uint64_t *value_at; // where a packing in birth order would have the value
static uint32_t *older, *younger; // recency list, n_pairs is its head
static uint64_t *touched_at;
static uint64_t now_at, packed_at;
static double logical_bytes, key_bytes;

static void unlink_pair(uint32_t i)
{
	older[younger[i]] = older[i];
	younger[older[i]] = younger[i];
}

static void link_youngest(uint32_t i)
{
	uint32_t head = n_pairs;
	older[i] = older[head];
	younger[i] = head;
	younger[older[head]] = i;
	older[head] = i;
	touched_at[i] = now_at++;
}

static void put_value(uint32_t i)
{
	values[i] = bench_filled(value_sizes[i]);
	logical_bytes += value_sizes[i];
	value_at[i] = packed_at;
	packed_at += bench_rounded(value_sizes[i]);
	link_youngest(i);
}

static void drop_value(uint32_t i)
{
	unlink_pair(i);
	free(values[i]);
	values[i] = NULL;
	logical_bytes -= value_sizes[i];
}

static uint32_t random_live(void)
{
	for (;;) {
		uint32_t i = (uint32_t)(bench_draw(&bench_seed) % n_pairs);
		if (values[i])
			return i;
	}
}

static uint32_t coldest(bool sampled)
{
	if (!sampled)
		return younger[n_pairs];
	uint32_t best = random_live();
	for (int k = 0; k < 4; k++) {
		uint32_t other = random_live();
		if (touched_at[other] < touched_at[best])
			best = other;
	}
	return best;
}

static double packed_floor(void)
{
	uint64_t pages = 0, last = UINT64_MAX;
	// Birth order is the order of value_at; values came in index order at first.
	for (uint32_t i = 0; i < n_pairs; i++) {
		if (!values[i])
			continue;
		uint64_t first = value_at[i] / 4096, end = (value_at[i] + value_sizes[i] - 1) / 4096;
		pages += end - first + 1 - (first == last);
		last = end;
	}
	return (double)pages * 4096 + key_bytes;
}

static void make_tables(uint32_t n)
{
	n_pairs = n;
	values = bench_table((n + 1ul) * 8);
	keys = bench_table((n + 1ul) * 8);
	value_sizes = bench_table((n + 1ul) * 2);
	key_sizes = bench_table((n + 1ul) * 2);
	value_at = bench_table((n + 1ul) * 8);
	touched_at = bench_table((n + 1ul) * 8);
	older = bench_table((n + 1ul) * 4);
	younger = bench_table((n + 1ul) * 4);
	older[n] = younger[n] = n;
	for (uint32_t i = 0; i < n; i++) {
		value_sizes[i] = (uint16_t)(368 + bench_draw(&bench_seed) % 65);
		key_sizes[i] = (uint16_t)(24 + bench_draw(&bench_seed) % 17);
	}
}

static void insert_pair(uint32_t i, int touch_every)
{
	keys[i] = bench_filled(key_sizes[i]);
	logical_bytes += key_sizes[i];
	key_bytes += (double)bench_rounded(key_sizes[i]);
	put_value(i);
	if (touch_every && i % (uint32_t)touch_every == 0) {
		uint32_t other = (uint32_t)(bench_draw(&bench_seed) % (i + 1));
		unlink_pair(other);
		link_youngest(other);
	}
}

void bench_tierlag(int touch_every, bool sampled, double quiet_s)
{
	make_tables((uint32_t)(2e6 * bench_scale));
	double budget = 341.2 * MIB * bench_scale;
	bench_begin();
	double from = bench_clock_s(false);
	for (uint32_t i = 0; i < n_pairs; i++)
		insert_pair(i, touch_every);
	bench_report("full", bench_clock_s(false) - from, n_pairs, logical_bytes, 0);
	from = bench_clock_s(false);
	long drained = 0;
	for (; logical_bytes > budget; drained++)
		drop_value(coldest(sampled));
	bench_report("drained", bench_clock_s(false) - from, (double)drained, logical_bytes, packed_floor());
	bench_be_quiet(quiet_s);
	bench_report("idle", 0, 0, logical_bytes, packed_floor());
	from = bench_clock_s(false);
	long promotions = n_pairs / 2;
	for (long i = 0; i < promotions; i++) {
		uint32_t key;
		do
			key = (uint32_t)(bench_draw(&bench_seed) % n_pairs);
		while (values[key]);
		put_value(key);
		while (logical_bytes > budget)
			drop_value(coldest(sampled));
	}
	bench_report("promote", bench_clock_s(false) - from, (double)promotions, logical_bytes, 0);
	bench_be_quiet(quiet_s / 2);
	bench_report("promote+idle", 0, 0, logical_bytes, 0);
}

void bench_tier400(void)
{
	make_tables((uint32_t)(2e6 * bench_scale));
	double budget = 341 * MIB * bench_scale;
	bench_begin();
	double from = bench_clock_s(false);
	for (uint32_t i = 0; i < n_pairs; i++) {
		put_value(i);
		while (logical_bytes > budget)
			drop_value(coldest(false));
	}
	bench_report("run", bench_clock_s(false) - from, n_pairs, logical_bytes, 0);
}

// ---- A heap that empties ---------------------------------------------------------------

static double empty_floor(uint32_t n, void **blocks, const uint32_t *sizes)
{
	uint64_t at = 0, pages = 0, last = UINT64_MAX;
	for (uint32_t i = 0; i < n; at += bench_rounded(sizes[i]), i++) {
		if (!blocks[i])
			continue;
		uint64_t first = at / 4096, end = (at + sizes[i] - 1) / 4096;
		pages += end - first + 1 - (first == last);
		last = end;
	}
	return (double)pages * 4096;
}

void bench_empty(double quiet_s)
{
	double want = 1024 * MIB * bench_scale, logical = 0;
	uint32_t n = 0, n_max = (uint32_t)(want / 100);
	void **blocks = bench_table(n_max * 8ul);
	uint32_t *sizes = bench_table(n_max * 4ul);
	bench_begin();
	double from = bench_clock_s(false);
	for (; logical < want && n < n_max; n++) {
		// Mean about 430 bytes.
		sizes[n] = (uint32_t)bench_power_law(60, 32768);
		blocks[n] = bench_filled(sizes[n]);
		logical += sizes[n];
	}
	bench_report("full", bench_clock_s(false) - from, n, logical, 0);
	for (int step = 0; step < 2; step++) {
		from = bench_clock_s(false);
		long freed = 0;
		for (uint32_t i = 0; i < n; i++)
			if (blocks[i] && bench_draw(&bench_seed) % 10 >= (step ? 2 : 5)) {
				free(blocks[i]);
				blocks[i] = NULL;
				logical -= sizes[i];
				freed++;
			}
		bench_report(step ? "tenth" : "half", bench_clock_s(false) - from, (double)freed, logical,
		       empty_floor(n, blocks, sizes));
		bench_be_quiet(quiet_s);
		bench_report(step ? "tenth+idle" : "half+idle", 0, 0, logical, empty_floor(n, blocks, sizes));
	}
}
