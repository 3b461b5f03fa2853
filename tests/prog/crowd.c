// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// crowd HOW N: what many threads do at once. "gauges": N names by 8 threads, each
// name by each; prints how many got a number, and whether all agree. "burst": N
// marks by 8 threads that end in the middle; prints how many were taken.

#include <rollcall.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THREADS 8
#define NAMES_MAX 4000

static int n;
static uint32_t ids[THREADS][NAMES_MAX];
static _Atomic long taken;

static void *gauges(void *index)
{
	long t = (long)index;
	for (int i = 0; i < n; i++) {
		char name[32];
		snprintf(name, sizeof(name), "%s_%d", i % 2 ? "gauge" : "counter", i);
		ids[t][i] = i % 2 ? rollcall_gauge(name, ROLLCALL_COUNT) : rollcall_counter(name, ROLLCALL_BYTES);
		rollcall_gauge_set(i % 2 ? ids[t][i] : 0, (uint64_t)i);
		rollcall_counter_add(i % 2 ? 0 : ids[t][i], 1);
	}
	return NULL;
}

static void *marks(void *index)
{
	for (int i = 0; i < n / THREADS; i++) {
		char text[64];
		snprintf(text, sizeof(text), "mark %d of thread %ld", i, (long)index);
		taken += rollcall_mark(text) == 0;
	}
	return NULL;
}

static void together(void *(*run)(void *))
{
	pthread_t threads[THREADS];
	for (long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, run, (void *)i);
	for (long i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
	char line[16];
	long agreed = 0;
	const char *how = argc > 2 ? argv[1] : "";
	n = argc > 2 ? atoi(argv[2]) : 0;
	rollcall_mark("first");
	printf("%ld\n", (long)getpid());
	if (strcmp(how, "gauges") == 0) {
		together(gauges);
		for (int i = 0; i < n && i < NAMES_MAX; i++) {
			int is_agreed = ids[0][i] != 0;
			for (int t = 1; t < THREADS; t++)
				is_agreed &= ids[t][i] == ids[0][i];
			agreed += is_agreed;
		}
	} else {
		together(marks);
		agreed = taken + 1;
	}
	rollcall_flush();
	rollcall_flush();
	printf("%ld\n", agreed);
	fflush(stdout);
	return read(0, line, sizeof(line)) < 0;
}
