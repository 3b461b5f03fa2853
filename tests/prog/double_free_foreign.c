// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
// Two other threads free the same block; the malloc must stop the second.

#include <pthread.h>
#include <stdlib.h>

static void *give(void *block)
{
	free(block);
	return NULL;
}

int main(void)
{
	void *block = malloc(40);
	for (int i = 0; i < 2; i++) {
		pthread_t thread;
		pthread_create(&thread, NULL, give, block);
		pthread_join(thread, NULL);
	}
	return 0;
}
