// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
// Frees a small block twice in a row; the malloc must stop it.

#include <stdlib.h>

int main(void)
{
	void *volatile block = malloc(40);
	free(block);
	free(block);
	return 0;
}
