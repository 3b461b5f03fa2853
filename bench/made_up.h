// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Rows that nobody measured, for benchmarks: the same on every machine.

#ifndef BENCH_MADE_UP_H
#define BENCH_MADE_UP_H

#include "libtelemetry/fields.h"

static inline uint64_t random_next(void)
{
	static uint64_t state = 1;
	uint64_t z = (state += UINT64_C(0x9e3779b97f4a7c15));
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	return z ^ (z >> 27);
}

// One row of a heap and a census that work in bursts.
static inline void make_up_row(uint64_t *row, uint64_t time, uint64_t tick, unsigned rate_hz,
			const uint64_t *last)
{
	const unsigned first_census = TELE_ID_census_captured_at_ns;
	bool is_busy = tick / (rate_hz * 20) % 3 && tick % rate_hz < rate_hz / 2;
	uint64_t work = is_busy ? 1 + random_next() % (200000 / rate_hz) : 0;
	uint64_t freed = is_busy ? work * (tick / rate_hz % 2 ? 9 : 11) / 10 : 0;
	row[TELE_ID_self_captured_at_ns] = time;
	row[TELE_ID_self_realtime_offset_ns] = UINT64_C(1700000000000000000);
	row[TELE_ID_self_rows_published] = tick;
	row[TELE_ID_self_publish_ns] += 300 + random_next() % 64;
	row[TELE_ID_heap_captured_at_ns] = time + 1024 * (random_next() % 8);
	row[TELE_ID_heap_mallocs] += work;
	row[TELE_ID_heap_frees] = row[TELE_ID_heap_frees] + freed < row[TELE_ID_heap_mallocs] ?
					  row[TELE_ID_heap_frees] + freed :
					  row[TELE_ID_heap_mallocs];
	uint64_t n_live = row[TELE_ID_heap_mallocs] - row[TELE_ID_heap_frees];
	row[TELE_ID_heap_live_bytes] = n_live * 96 + (is_busy ? random_next() % 4096 * 8 : last[TELE_ID_heap_live_bytes] % 4096);
	row[TELE_ID_heap_rounding_bytes] = row[TELE_ID_heap_live_bytes] / 9;
	row[TELE_ID_heap_cache_bytes] = is_busy ? random_next() % 65536 & ~15ull : last[TELE_ID_heap_cache_bytes];
	row[TELE_ID_heap_span_free_bytes] = (n_live * 110 / 65536 + 1) * 65536 - n_live * 100 % 65536;
	row[TELE_ID_heap_virgin_bytes] = 4u << 20;
	row[TELE_ID_heap_mapped_bytes] = 0;
	for (unsigned id = TELE_ID_heap_live_bytes; id <= TELE_ID_heap_segment_overhead_bytes; id++)
		row[TELE_ID_heap_mapped_bytes] += row[id];
	if (row[TELE_ID_heap_live_bytes] > row[TELE_ID_heap_peak_live_bytes])
		row[TELE_ID_heap_peak_live_bytes] = row[TELE_ID_heap_live_bytes];
	row[first_census] = time;
}

#endif
