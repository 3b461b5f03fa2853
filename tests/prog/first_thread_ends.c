// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Its first thread ends by pthread_exit while another goes on; with the word
// "fork", that of a child. What is printed is flushed by the exit(0) that the
// C library makes of the last thread's return.

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void *goes_on(void *first)
{
	pthread_join(*(pthread_t *)first, NULL);
	printf("last thread\n");
	return NULL;
}

int main(int n_words, char **words)
{
	static pthread_t first;
	pthread_t other;
	if (n_words > 1 && strcmp(words[1], "fork") == 0 && fork() != 0) {
		int status = -1;
		wait(&status);
		return WEXITSTATUS(status);
	}
	first = pthread_self();
	if (pthread_create(&other, NULL, goes_on, &first))
		return 1;
	pthread_exit(NULL);
}
