// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Resident is Anonymous of smaps_rollup less LazyFree less what was there before;
// the prediction is the malloc's own, where it is Rollcall's.

#include "harness.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "../../libtelemetry/rollcall.h"

double bench_scale = 1;
uint64_t bench_seed = 88172645463325252u;

uint64_t bench_draw(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

void *bench_table(size_t bytes)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return at == MAP_FAILED ? NULL : at;
}

double bench_clock_s(bool wall)
{
	struct timespec now;
	clock_gettime(wall ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double anonymous_bytes(void)
{
	static char text[8192];
	int fd = open("/proc/self/smaps_rollup", O_RDONLY);
	ssize_t len = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[len > 0 ? len : 0] = 0;
	double kib = 0;
	char *at = strstr(text, "Anonymous:");
	if (at)
		kib = strtod(at + 10, NULL);
	at = strstr(text, "LazyFree:");
	return (kib - (at ? strtod(at + 9, NULL) : 0)) * 1024;
}

static double predicted_bytes(void)
{
	struct rollcall_heap_books books;
	if (rollcall_heap_books(&books, sizeof(books)) != 0)
		return -1;
	return (double)(books.mapped_bytes - books.virgin_bytes - books.returned_bytes);
}

static double anonymous_before, predicted_before;

void bench_begin(void)
{
	predicted_bytes();
	anonymous_bytes();
	anonymous_before = anonymous_bytes();
	predicted_before = predicted_bytes();
}

// Reclaim may run between the two readings: of the predictions on either side
// of the kernel's figure the nearer one counts, or the figure itself between.
static double settled_prediction(double *ret_resident)
{
	double first = predicted_bytes();
	double resident = anonymous_bytes() - anonymous_before + predicted_before;
	double second = predicted_bytes();
	double low = first < second ? first : second, high = first < second ? second : first;
	*ret_resident = resident - predicted_before;
	return first < 0 ? -1 : resident < low ? low : resident > high ? high : resident;
}

void bench_report(const char *phase, double seconds, double ops, double logical, double floor)
{
	double resident;
	double predicted = settled_prediction(&resident);
	printf("{\"phase\":\"%s\",\"ns\":%.3f,\"logical\":%.0f,\"resident\":%.0f,\"floor\":%.0f,\"predicted\":%.0f}\n",
	       phase, ops > 0 ? seconds * 1e9 / ops : 0, logical, resident, floor,
	       predicted < 0 ? -1 : predicted - predicted_before);
	fflush(stdout);
}

// What alignment makes of a size, in the floors.
uint64_t bench_rounded(uint64_t size)
{
	return (size + 15) & ~(uint64_t)15;
}

void *bench_filled(size_t size)
{
	char *block = malloc(size);
	if (!block)
		abort();
	memset(block, 1, size);
	return block;
}

size_t bench_power_law(double low, double high)
{
	// Density falls with the square of the size.
	double u = (double)(bench_draw(&bench_seed) >> 11) / 9007199254740992.0;
	return (size_t)(1 / (u / high + (1 - u) / low));
}

void bench_be_quiet(double seconds)
{
	double until = bench_clock_s(true) + seconds;
	while (bench_clock_s(true) < until) {
		for (int i = 0; i < 50; i++)
			free(bench_filled(24 + (size_t)i));
		usleep(20000);
	}
}
