// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Fences between stores and loads of memory that another process looks at. The
// thread sanitizer does not know fences: under it, they are operations on a
// word that it does know.

#ifndef TELE_FENCE_H
#define TELE_FENCE_H

#include <stdatomic.h>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TELE_THREAD_SANITIZER 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define TELE_THREAD_SANITIZER 1
#endif

// What was stored before is visible before what is stored after.
static inline void tele_fence_release(void)
{
#if defined(TELE_THREAD_SANITIZER)
	static _Atomic int word;
	atomic_fetch_add_explicit(&word, 1, memory_order_acq_rel);
#else
	atomic_thread_fence(memory_order_release);
#endif
}

// What is loaded after is loaded after what was loaded before.
static inline void tele_fence_acquire(void)
{
#if defined(TELE_THREAD_SANITIZER)
	static _Atomic int word;
	atomic_fetch_add_explicit(&word, 1, memory_order_acq_rel);
#else
	atomic_thread_fence(memory_order_acquire);
#endif
}

#endif
