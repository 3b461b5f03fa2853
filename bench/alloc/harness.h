// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What the workloads share: seeded sizes, clocks, and the line they print.

#ifndef BENCH_ALLOC_HARNESS_H
#define BENCH_ALLOC_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MIB 1048576.0

// Of the full workload; set by main.
extern double bench_scale;
extern uint64_t bench_seed;

uint64_t bench_draw(uint64_t *state);

// A size between the two whose density falls with its square.
size_t bench_power_law(double low, double high);

// Zeroed shared memory, which is in none of the figures.
void *bench_table(size_t bytes);

// Seconds of wall time, or of the process's CPU.
double bench_clock_s(bool wall);

// A written block; aborts without memory.
void *bench_filled(size_t size);

// What alignment makes of a size, in the floors.
uint64_t bench_rounded(uint64_t size);

// Waits, with a heartbeat of 50 small pairs every 20 ms.
void bench_be_quiet(double seconds);

// What is resident now is not counted from here on.
void bench_begin(void);

// Prints the phase; floor 0: none is known.
void bench_report(const char *phase, double seconds, double ops, double logical, double floor);

// The workloads of emptying.c.
void bench_tierlag(int touch_every, bool sampled, double quiet_s);
void bench_tier400(void);
void bench_empty(double quiet_s);

#endif
