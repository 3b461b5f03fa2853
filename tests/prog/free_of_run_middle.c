// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
// Frees the middle of a block of many pages; the malloc must stop it.

#include <stdlib.h>

int main(void)
{
	char *block = malloc(300000);
	void *volatile middle = block + 65536;
	free(middle);
	return 0;
}
