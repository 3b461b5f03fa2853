// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
// Frees a block with a mapping of its own twice; the malloc must stop it.

#include <stdlib.h>

int main(void)
{
	void *volatile block = malloc(3000000);
	free(block);
	free(block);
	return 0;
}
