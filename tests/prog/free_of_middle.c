// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
// Frees the middle of a small block; the malloc must stop it.

#include <stdlib.h>

int main(void)
{
	char *block = malloc(400);
	void *volatile middle = block + 16;
	free(middle);
	return 0;
}
