// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Calls syscall(2)'s function with one argument, on a stack that ends there:
// what lies beyond the return address may be read and not written. The libc's
// own reads it, since it may be the seventh argument. Prints "ok".

#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
static long call_at(char *end_of_stack)
{
	register char *stack __asm__("r12") = end_of_stack;
	register long (*function)(long, ...) __asm__("r13") = syscall;
	long result;
	__asm__ volatile("movq %%rsp, %%rbx\n\t"
			 "movq %1, %%rsp\n\t"
			 "movl %3, %%edi\n\t"
			 "call *%2\n\t"
			 "movq %%rbx, %%rsp"
			 : "=a"(result)
			 : "r"(stack), "r"(function), "i"(SYS_getpid)
			 : "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc");
	return result;
}
#else
static long call_at(char *end_of_stack)
{
	(void)end_of_stack;
	return syscall(SYS_getpid);
}
#endif

int main(void)
{
	char *pages = mmap(NULL, 16 << 12, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages == MAP_FAILED || mprotect(pages + (15 << 12), 1 << 12, PROT_READ) != 0)
		return 1;
	if (call_at(pages + (15 << 12)) != getpid())
		return 1;
	return puts("ok") < 0;
}
