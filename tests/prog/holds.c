// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Holds memory as its input says, one command a line, each answered with "ok":
// take BYTES, touch BYTES (of what was taken), mixed (30,000 blocks, written),
// thin (frees six in seven of them), leave (frees all). Prints its pid first.

#include <rollcall.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define N_MIXED 30000

static char *volatile taken;
static void *mixed[N_MIXED];

static void take_mixed(void)
{
	unsigned long long seed = 7;
	for (int i = 0; i < N_MIXED; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		size_t size = (size_t)16 << (seed >> 60) % 14;
		size += (seed >> 33) % size;
		mixed[i] = malloc(size);
		memset(mixed[i], 1, size);
	}
}

static void free_mixed(int all)
{
	for (int i = 0; i < N_MIXED; i++)
		if (all || i % 7) {
			free(mixed[i]);
			mixed[i] = NULL;
		}
}

int main(void)
{
	char verb[16];
	size_t bytes;
	rollcall_mark("holds");
	rollcall_flush();
	printf("%ld\n", (long)getpid());
	fflush(stdout);
	while (scanf("%15s %zu", verb, &bytes) == 2) {
		if (strcmp(verb, "take") == 0)
			taken = malloc(bytes);
		else if (strcmp(verb, "touch") == 0)
			for (size_t at = 0; at < bytes; at += 4096)
				taken[at] = 1;
		else if (strcmp(verb, "mixed") == 0)
			take_mixed();
		else
			free_mixed(strcmp(verb, "leave") == 0);
		printf("ok\n");
		fflush(stdout);
	}
	return 0;
}
