// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What the census costs a program. Nothing contends; the process publishes to a
// directory of its own unless ROLLCALL=off. Medians of rounds; for instruction
// counts run it under `valgrind --tool=callgrind` with ROLLCALL=off.

#define ROLLCALL_BUILDING
#include "../libtelemetry/rollcall.h"

#include "../census/census.h"
#include "measure.h"

#include <stdio.h>
#include <stdlib.h>

#define ROUNDS 31
#define CALLS 20000

// Pools that come and go among many that stay.
static void record_and_forget(uint64_t n_staying)
{
	static double record_ns[ROUNDS], forget_ns[ROUNDS], regrow_ns[ROUNDS];
	const uint64_t n = 1000;
	for (uint64_t pool = 0; pool < n_staying; pool++)
		rollcall_record_pool(0, (UINT64_C(1) << 40) + pool * 512, ROLLCALL_WORKING, 4096);
	for (unsigned round = 0; round < ROUNDS; round++) {
		uint64_t started = now_ns();
		for (uint64_t pool = 0; pool < n; pool++)
			rollcall_record_pool(0, 0x7f0000000000 + pool * 512, ROLLCALL_WORKING, 4096);
		uint64_t recorded = now_ns();
		for (uint64_t pool = 0; pool < n; pool++)
			rollcall_record_pool(0, 0x7f0000000000 + pool * 512, ROLLCALL_WORKING, 8192);
		uint64_t regrown = now_ns();
		for (uint64_t pool = 0; pool < n; pool++)
			rollcall_forget_pool(0, 0x7f0000000000 + pool * 512);
		uint64_t forgotten = now_ns();
		record_ns[round] = (double)(recorded - started) / (double)n;
		regrow_ns[round] = (double)(regrown - recorded) / (double)n;
		forget_ns[round] = (double)(forgotten - regrown) / (double)n;
	}
	printf("census among %7llu pools: record %6.1f, regrow %6.1f, forget %6.1f ns%s\n",
	       (unsigned long long)n_staying, median(record_ns, ROUNDS), median(regrow_ns, ROUNDS), median(forget_ns, ROUNDS),
	       n_staying <= 10000 ? "  (at most 40)" : "");
	for (uint64_t pool = 0; pool < n_staying; pool++)
		rollcall_forget_pool(0, (UINT64_C(1) << 40) + pool * 512);
}

// From none to a hundred thousand and back: growing and shrinking included.
static void grow_and_shrink(void)
{
	static double both_ns[ROUNDS];
	for (unsigned round = 0; round < ROUNDS; round++) {
		uint64_t started = now_ns();
		for (uint64_t pool = 0; pool < 100000; pool++)
			rollcall_record_pool(0, 0x7f0000000000 + pool * 512, ROLLCALL_WORKING, 4096);
		for (uint64_t pool = 0; pool < 100000; pool++)
			rollcall_forget_pool(0, 0x7f0000000000 + pool * 512);
		both_ns[round] = (double)(now_ns() - started) / 200000;
	}
	printf("census record or forget, 0 to 100,000 pools and back  %6.1f ns\n", median(both_ns, ROUNDS));
}

// The same few pools again and again: what stays in the cache. Not inlined, for
// callgrind's --toggle-collect.
static __attribute__((noinline)) void record_and_forget_one(void)
{
	static double both_ns[ROUNDS];
	for (unsigned round = 0; round < ROUNDS; round++) {
		uint64_t started = now_ns();
		for (uint64_t i = 0; i < CALLS; i++) {
			rollcall_record_pool(0, 0x7f0000000000 + i % 64 * 512, ROLLCALL_WORKING, 4096);
			rollcall_forget_pool(0, 0x7f0000000000 + i % 64 * 512);
		}
		both_ns[round] = (double)(now_ns() - started) / CALLS / 2;
	}
	printf("census record or forget, in cache  %6.1f ns  (at most 40)\n", median(both_ns, ROUNDS));
}

static void read_all(void)
{
	static double snapshot_ns[ROUNDS];
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct rollcall_census census;
		uint64_t started = now_ns();
		for (unsigned i = 0; i < CALLS / 10; i++)
			rollcall_census_snapshot(-1, &census, sizeof(census));
		snapshot_ns[round] = (double)(now_ns() - started) / (CALLS / 10);
	}
	printf("census snapshot, 1 device  %6.1f ns\n", median(snapshot_ns, ROUNDS));
}

static void boundaries(void)
{
	static double both_ns[ROUNDS];
	for (unsigned round = 0; round < ROUNDS; round++) {
		rollcall_flush();
		uint64_t started = now_ns();
		for (unsigned i = 0; i < 20; i++)
			rollcall_candidate_end(rollcall_candidate_begin("candidate"), ROLLCALL_DECLINED);
		both_ns[round] = (double)(now_ns() - started) / 40;
	}
	printf("census candidate boundary  %6.1f ns  (%s)\n", median(both_ns, ROUNDS),
	       rollcall_segment_path() ? "published" : "not published");
}

int main(void)
{
	record_and_forget_one();
	record_and_forget(100);
	record_and_forget(10000);
	record_and_forget(1000000);
	grow_and_shrink();
	read_all();
	boundaries();
	return 0;
}
