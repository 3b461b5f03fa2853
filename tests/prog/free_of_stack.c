// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
// Frees an address of the stack; the malloc must stop it.

#include <stdlib.h>

int main(void)
{
	char local[64];
	void *volatile pointer = local;
	void *volatile first = malloc(1);
	free(first);
	free(pointer);
	return 0;
}
