// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A program with a megabyte of thread-local storage, which is part of every
// thread's stack. Prints its pid, then waits for the end of its input.

#include "rollcall.h"

#include <stdio.h>
#include <unistd.h>

#pragma GCC diagnostic ignored "-Waddress"

static _Thread_local volatile char storage[1 << 20];

int main(void)
{
	storage[sizeof(storage) - 1] = 1;
	rollcall_mark("storage");
	printf("%ld\n", (long)getpid());
	fflush(stdout);
	return getchar() == EOF ? 0 : 1;
}
