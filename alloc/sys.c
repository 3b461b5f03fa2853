// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// System calls without libc's wrappers. Only this file of the allocator talks
// to the kernel, so a test that wraps these functions sees every mapping.

#include "sys.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../libtelemetry/banned.h"

static long sys_call(long number, long a, long b, long c, long d, long e, long f)
{
#if defined(__x86_64__)
	long ret;
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;
	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
#else
	int saved = errno;
	long ret = syscall(number, a, b, c, d, e, f);
	if (ret == -1)
		ret = -errno;
	errno = saved;
	return ret;
#endif
}

static void *pointer_or_null(long result)
{
	return result < 0 && result > -4096 ? NULL : (void *)result;
}

void *alloc_sys_map(void *hint, size_t size_bytes)
{
	return pointer_or_null(sys_call(SYS_mmap, (long)hint, (long)size_bytes, PROT_READ | PROT_WRITE,
					MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

int alloc_sys_unmap(void *at, size_t size_bytes)
{
	return (int)sys_call(SYS_munmap, (long)at, (long)size_bytes, 0, 0, 0, 0);
}

void *alloc_sys_remap(void *at, size_t old_bytes, size_t new_bytes)
{
	return pointer_or_null(sys_call(SYS_mremap, (long)at, (long)old_bytes, (long)new_bytes,
					MREMAP_MAYMOVE, 0, 0));
}

int alloc_sys_guard(void *at, size_t size_bytes)
{
	return (int)sys_call(SYS_mprotect, (long)at, (long)size_bytes, PROT_NONE, 0, 0, 0);
}

int alloc_sys_discard(void *at, size_t size_bytes)
{
	return (int)sys_call(SYS_madvise, (long)at, (long)size_bytes, MADV_DONTNEED, 0, 0, 0);
}

#if !defined(SYS_process_madvise)
#define SYS_process_madvise 440
#endif

// The number that means the calling thread's process, instead of a pidfd.
#define PIDFD_OF_SELF (-10000L)

int64_t alloc_sys_discard_many(const struct iovec *ranges, uint32_t n)
{
	return sys_call(SYS_process_madvise, PIDFD_OF_SELF, (long)ranges, (long)n, MADV_DONTNEED, 0, 0);
}

bool alloc_sys_is_filtered(void)
{
	return sys_call(SYS_prctl, PR_GET_SECCOMP, 0, 0, 0, 0, 0) != 0;
}

void alloc_sys_huge(void *at, size_t size_bytes, bool wanted)
{
	sys_call(SYS_madvise, (long)at, (long)size_bytes, wanted ? MADV_HUGEPAGE : MADV_NOHUGEPAGE, 0, 0, 0);
}

int alloc_sys_mincore(void *at, size_t size_bytes, unsigned char *vec)
{
	return (int)sys_call(SYS_mincore, (long)at, (long)size_bytes, (long)vec, 0, 0, 0);
}

uint64_t alloc_sys_clock_ns(void)
{
	struct timespec now = { 0, 0 };
	sys_call(SYS_clock_gettime, CLOCK_MONOTONIC_COARSE, (long)&now, 0, 0, 0, 0);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

size_t alloc_sys_page_bytes(void)
{
	size_t page_bytes = getauxval(AT_PAGESZ);
	return page_bytes ? page_bytes : 4096;
}

void alloc_sys_yield(void)
{
	sys_call(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
}

void alloc_sys_wait(_Atomic uint32_t *word, uint32_t value)
{
	sys_call(SYS_futex, (long)word, FUTEX_WAIT_PRIVATE, (long)value, 0, 0, 0);
}

void alloc_sys_wake(_Atomic uint32_t *word, int n)
{
	sys_call(SYS_futex, (long)word, FUTEX_WAKE_PRIVATE, n, 0, 0, 0);
}

void alloc_sys_complain(const char *text, size_t len)
{
	while (len > 0) {
		long written = sys_call(SYS_write, 2, (long)text, (long)len, 0, 0, 0);
		if (written == -EINTR)
			continue;
		if (written <= 0)
			return;
		text += written;
		len -= (size_t)written;
	}
}
