// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Clocks and medians of the benchmarks, and where their files go.

#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static inline uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

// What this thread has worked: for work that waits for nobody.
static inline double worked_s(void)
{
	struct timespec now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static inline int compare_doubles(const void *a, const void *b)
{
	double left = *(const double *)a;
	double right = *(const double *)b;
	return (left > right) - (left < right);
}

// Sorts the values.
static inline double median(double *values, size_t n)
{
	qsort(values, n, sizeof(*values), compare_doubles);
	return values[n / 2];
}

// A name for a file of this process, in TMPDIR or /tmp.
static inline void temporary_path(char *path, size_t size)
{
	const char *folder = getenv("TMPDIR");
	snprintf(path, size, "%s/rollcall-bench-%ld", folder && *folder ? folder : "/tmp", (long)getpid());
}

#endif
