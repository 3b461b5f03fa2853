// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
// 16 threads allocate while another forks; every child must finish.

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rollcall.h"

static atomic_bool stops;
static void *_Atomic exchange[64];

static void *churn(void *seed_pointer)
{
	unsigned seed = (unsigned)(size_t)seed_pointer;
	while (!stops) {
		seed = seed * 1103515245 + 12345;
		size_t size = (seed >> 16) % 64 ? (seed >> 8) % 900 : (seed >> 4) % 3000000;
		char *block = malloc(size + 1);
		block[0] = 1;
		free(atomic_exchange(&exchange[(seed >> 20) % 64], block));
	}
	return NULL;
}

static void live_on_in_the_child(void)
{
	struct rollcall_heap_books books;
	for (int i = 0; i < 100; i++)
		free(malloc((size_t)i * 700));
	free(exchange[1]);
	if (rollcall_heap_books(&books, sizeof(books)) == 0) {
		uint64_t sum = books.live_bytes + books.rounding_bytes + books.cache_bytes + books.span_free_bytes +
			       books.returned_bytes + books.virgin_bytes + books.hysteresis_bytes +
			       books.segment_overhead_bytes;
		if (sum != books.mapped_bytes)
			_exit(2);
	}
	_exit(0);
}

int main(int argc, char **argv)
{
	pthread_t threads[16];
	int forks = argc > 1 ? atoi(argv[1]) : 1000, finished = 0;
	for (size_t i = 0; i < 16; i++)
		pthread_create(&threads[i], NULL, churn, (void *)(i + 1));
	for (int i = 0; i < forks; i++) {
		pid_t child = fork();
		if (child == 0)
			live_on_in_the_child();
		int status = 0;
		waitpid(child, &status, 0);
		finished += status == 0;
	}
	stops = 1;
	for (size_t i = 0; i < 16; i++)
		pthread_join(threads[i], NULL);
	printf("%d\n", finished);
	return finished == forks ? 0 : 1;
}
