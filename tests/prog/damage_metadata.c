// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
// Writes over metadata of the malloc, found by the canary of its kind: C, H or S;
// must be told.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Keeps the compiler from leaving the pair out.
static void *keep(void *volatile block)
{
	return block;
}

int main(int argc, char **argv)
{
	uint64_t kind = argc > 1 ? (uint64_t)argv[1][0] << 56 : 0;
	static uintptr_t begins[4096], ends[4096];
	int n = 0;
	char line[512];
	free(keep(malloc(100)));
	FILE *maps = fopen("/proc/self/maps", "r");
	while (fgets(line, sizeof(line), maps) && n < 4096) {
		unsigned long begin, end;
		char mode[8];
		if (sscanf(line, "%lx-%lx %7s", &begin, &end, mode) == 3 && strncmp(mode, "rw-p", 4) == 0) {
			begins[n] = begin;
			ends[n++] = end;
		}
	}
	fclose(maps);
	for (int i = 0; i < n; i++)
		for (uintptr_t at = begins[i]; at + 8 <= ends[i]; at += 8)
			if (*(volatile uint64_t *)at == ((uint64_t)at ^ 0x526f6c6c63616cu ^ kind))
				*(volatile uint64_t *)at = 0x4141414141414141u;
	for (int i = 0; i < 1000; i++)
		free(keep(malloc(100000)));
	for (size_t size_bytes = 16; size_bytes <= 32768; size_bytes += 16)
		free(keep(malloc(size_bytes)));
	return 0;
}
