// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
// Writes on and on past the end of a block; must die at a guard or a hole.

#include <stdlib.h>

int main(void)
{
	volatile char *block = malloc(100);
	for (size_t i = 0;; i += 64)
		block[i] = 'x';
}
