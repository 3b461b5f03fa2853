// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// fork. All locks are taken in their order before it, so the child finds every
// table whole; it then drops them and starts with an empty census, unknown
// until it records something itself. The parent only lets go of the locks. A
// child that never used the census costs nothing.

#include "census.h"

#include <string.h>

#include "../libtelemetry/banned.h"

void census_copy_text(char *to, size_t size, const char *from)
{
	size_t length = from ? strnlen(from, size) : 0;
	if (length == size) {
		length--;
		// Not inside a character: its later bytes are 10xxxxxx.
		while (length > 0 && ((unsigned char)from[length] & 0xC0) == 0x80)
			length--;
	}
	if (length > 0)
		memcpy(to, from, length);
	to[length] = '\0';
}

static void before_fork(void)
{
	census_search_lock();
	census_pools_lock();
	census_owners_lock();
	census_devices_lock();
}

static void unlock_all(void)
{
	census_devices_unlock();
	census_owners_unlock();
	census_pools_unlock();
	census_search_unlock();
}

static void after_fork_in_child(void)
{
	census_search_reset();
	census_pools_reset();
	census_owners_reset();
	census_devices_reset();
	atomic_store_explicit(&census_is_used, false, memory_order_relaxed);
	unlock_all();
}

// Before main, so that no fork can meet a lock that is held; and before the
// publisher's handlers, so that a child's census is empty when its publisher
// starts. (Each side's locks are leaves to the other: any order will do.)
__attribute__((constructor(200))) static void register_fork_handlers(void)
{
	(void)pthread_atfork(before_fork, unlock_all, after_fork_in_child);
}
