// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The end of the first thread. A program whose first thread ends by
// pthread_exit ends with the last of its other threads, whose return the C
// library turns into exit(0). Our thread would count among those and keep the
// process for ever. So it goes before, and for good: whatever waits for the last
// thread would need the program's descriptors for what exit flushes. exit()
// itself calls no destructors of keys.

#include "process.h"

#include <pthread.h>

#include "../banned.h"

static pthread_key_t key; // its destructor sees the thread end
static bool has_key;

static void thread_ends(void *ignored)
{
	(void)ignored;
	tele_park();
}

void tele_first_thread_init(void)
{
	has_key = pthread_key_create(&key, thread_ends) == 0;
}

void tele_first_thread_watch(void)
{
	if (has_key)
		pthread_setspecific(key, &key);
}
