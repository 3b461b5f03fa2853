// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
// Reads its books around 200 MB that it maps and touches itself.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "rollcall.h"

int main(void)
{
	struct rollcall_heap_books before, after;
	size_t size = 200000000;
	if (rollcall_heap_books(&before, sizeof(before)) != 0)
		return 77;
	char *own = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(own, 1, size);
	rollcall_heap_books(&after, sizeof(after));
	printf("%llu %llu\n", (unsigned long long)before.mapped_bytes, (unsigned long long)after.mapped_bytes);
	return memcmp(&before.mapped_bytes, &after.mapped_bytes, 9 * 8) ? 1 : 0;
}
