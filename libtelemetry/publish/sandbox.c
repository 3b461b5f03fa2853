// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Calls of the program that our thread must not stand in the way of, or that
// end its life without running destructors. A user namespace can only be
// entered by a single-threaded process, and a seccomp filter with TSYNC applies
// to our thread too and would kill the process for a call of ours. Capabilities
// and the domain of Landlock belong to one thread: ours would keep what the
// program gives up, and the libc aborts where setuid succeeds in one thread and
// fails in another. So the thread goes away before such a call; afterwards a new
// one is made with the rights of the caller, but after a filter never, since
// clone itself may be forbidden then.
//
// Only system calls that a program makes with an instruction of its own are
// missed.

#include "process.h"

#include "../collector.h"
#include "../event.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/types.h>

#include "../banned.h"

#ifndef SYS_landlock_restrict_self
#define SYS_landlock_restrict_self 446 // on every machine
#endif

#define NAMESPACE_FLAGS                                                                          \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | \
	 CLONE_NEWNET)

typedef long (*syscall_fn)(long, long, long, long, long, long, long);
typedef int (*clone_fn)(int (*)(void *), void *, int, void *, void *, void *, void *);
typedef pid_t (*fork_fn)(void);
typedef int (*daemon_fn)(int, int);

// Not static: the jump below names both.
extern syscall_fn tele_next_syscall;
extern long tele_syscall_watched(long number, long a, long b, long c, long d, long e, long f);
syscall_fn tele_next_syscall;

static clone_fn next_clone;
static fork_fn next_fork;
static daemon_fn next_daemon;

// Declared here and not by unistd.h and sched.h: those are variadic, and what
// is passed on is the registers, whatever they mean.
TELE_EXPORT long syscall(long number, long a, long b, long c, long d, long e, long f);
TELE_EXPORT int unshare(int flags);
TELE_EXPORT int setns(int fd, int type);
TELE_EXPORT int prctl(int option, ...);
TELE_EXPORT int capset(void *header, const void *data);
TELE_EXPORT int clone(int (*fn)(void *), void *stack, int flags, void *argument, ...);
TELE_EXPORT pid_t fork(void);
TELE_EXPORT int daemon(int no_chdir, int no_close);
TELE_EXPORT _Noreturn void _exit(int status);
TELE_EXPORT _Noreturn void _Exit(int status);

// The libc's own functions behind ours. Looked up when the library is loaded,
// since the calls below may come where a lookup may not be made.
// Before the publisher's own constructor, whose thread makes such calls too.
__attribute__((constructor(101))) static void sandbox_init(void)
{
	*(void **)&tele_next_syscall = dlsym(RTLD_NEXT, "syscall");
	*(void **)&next_clone = dlsym(RTLD_NEXT, "clone");
	*(void **)&next_fork = dlsym(RTLD_NEXT, "fork");
	*(void **)&next_daemon = dlsym(RTLD_NEXT, "daemon");
}

static long pass_on(long number, long a, long b, long c, long d, long e, long f)
{
	if (TELE_UNLIKELY(!tele_next_syscall))
		sandbox_init();
	return tele_next_syscall(number, a, b, c, d, e, f);
}

static long parked(bool comes_back, long number, long a, long b, long c, long d, long e, long f)
{
	int saved = errno;
	bool was_parked = tele_park();
	errno = saved;
	long result = pass_on(number, a, b, c, d, e, f);
	saved = errno;
	// A filter that was refused changes nothing.
	if (comes_back || result < 0)
		tele_unpark(was_parked);
	else
		tele_stay_parked();
	errno = saved;
	return result;
}

static bool is_filter_option(long option)
{
	return option == PR_SET_SECCOMP;
}

static bool enters_namespace(long number, long a)
{
	if (number == SYS_unshare)
		return (a & NAMESPACE_FLAGS) != 0;
	if (number == SYS_setns)
		return true;
	return number == SYS_clone && (a & NAMESPACE_FLAGS) != 0 && (a & CLONE_VM) == 0;
}

static bool changes_rights(long number, long a, long b)
{
	if (number == SYS_prctl)
		return a == PR_SET_KEEPCAPS || a == PR_SET_SECUREBITS || a == PR_CAPBSET_DROP ||
		       (a == PR_CAP_AMBIENT && b != PR_CAP_AMBIENT_IS_SET);
	return number == SYS_capset || number == SYS_landlock_restrict_self;
}

static bool installs_filter(long number, long a)
{
	return (number == SYS_seccomp && (a == SECCOMP_SET_MODE_FILTER || a == SECCOMP_SET_MODE_STRICT)) ||
	       (number == SYS_prctl && is_filter_option(a));
}

// A tail call wherever nothing is to be done: the call may be vfork, whose
// child must not return through a frame of ours.
long tele_syscall_watched(long number, long a, long b, long c, long d, long e, long f)
{
	if (TELE_UNLIKELY(!tele_next_syscall))
		sandbox_init();
	if (TELE_UNLIKELY(enters_namespace(number, a) || changes_rights(number, a, b)))
		return parked(true, number, a, b, c, d, e, f);
	if (TELE_UNLIKELY(installs_filter(number, a)))
		return parked(false, number, a, b, c, d, e, f);
	return tele_next_syscall(number, a, b, c, d, e, f);
}

#if defined(__x86_64__)
// The seventh argument is on the caller's stack. Most calls have no such, and
// the word there is the caller's own: C may store it anew on its way to a tail
// call, over what another thread has put there since. So everything that is not
// watched goes by a jump that touches neither the stack nor an argument.
__asm__(".pushsection .text.syscall, \"ax\", @progbits\n"
	".globl syscall\n"
	".type syscall, @function\n"
	"syscall:\n"
	"	.cfi_startproc\n"
	"	endbr64\n"
	"	cmpq $" TELE_STRINGIFY(SYS_clone) ", %rdi\n"
	"	je 1f\n"
	"	cmpq $" TELE_STRINGIFY(SYS_prctl) ", %rdi\n"
	"	je 2f\n"
	"	cmpq $" TELE_STRINGIFY(SYS_unshare) ", %rdi\n"
	"	je 2f\n"
	"	cmpq $" TELE_STRINGIFY(SYS_setns) ", %rdi\n"
	"	je 2f\n"
	"	cmpq $" TELE_STRINGIFY(SYS_seccomp) ", %rdi\n"
	"	je 2f\n"
	"	cmpq $" TELE_STRINGIFY(SYS_capset) ", %rdi\n"
	"	je 2f\n"
	"	cmpq $" TELE_STRINGIFY(SYS_landlock_restrict_self) ", %rdi\n"
	"	je 2f\n"
	"0:	movq tele_next_syscall(%rip), %rax\n"
	"	testq %rax, %rax\n"
	"	je 2f\n"
	"	jmp *%rax\n"
	"1:	testl $" TELE_STRINGIFY(NAMESPACE_FLAGS) ", %esi\n"
	"	je 0b\n"
	"2:	jmp tele_syscall_watched\n"
	"	.cfi_endproc\n"
	".size syscall, . - syscall\n"
	".popsection\n");
#else
long syscall(long number, long a, long b, long c, long d, long e, long f)
{
	return tele_syscall_watched(number, a, b, c, d, e, f);
}
#endif

int unshare(int flags)
{
	return (int)syscall(SYS_unshare, flags, 0, 0, 0, 0, 0);
}

int setns(int fd, int type)
{
	return (int)syscall(SYS_setns, fd, type, 0, 0, 0, 0);
}

int prctl(int option, ...)
{
	va_list arguments;
	va_start(arguments, option);
	long a = va_arg(arguments, long);
	long b = va_arg(arguments, long);
	long c = va_arg(arguments, long);
	long d = va_arg(arguments, long);
	va_end(arguments);
	return (int)syscall(SYS_prctl, option, a, b, c, d, 0);
}

int capset(void *header, const void *data)
{
	return (int)syscall(SYS_capset, (long)header, (long)data, 0, 0, 0, 0);
}

int clone(int (*fn)(void *), void *stack, int flags, void *argument, ...)
{
	va_list arguments;
	va_start(arguments, argument);
	void *parent_tid = va_arg(arguments, void *);
	void *tls = va_arg(arguments, void *);
	void *child_tid = va_arg(arguments, void *);
	va_end(arguments);
	if (TELE_UNLIKELY(!next_clone))
		sandbox_init();
	bool is_namespace = (flags & (int)NAMESPACE_FLAGS) && !(flags & CLONE_VM);
	int saved = errno;
	bool was_parked = is_namespace && tele_park();
	errno = saved;
	int result = next_clone(fn, stack, flags, argument, parent_tid, tls, child_tid);
	saved = errno;
	tele_unpark(was_parked);
	errno = saved;
	return result;
}

pid_t fork(void)
{
	if (TELE_UNLIKELY(!next_fork))
		sandbox_init();
	pid_t pid = next_fork();
	if (pid > 0) {
		int saved = errno;
		rollcall_event(TELE_EVENT_FORK, (uint64_t)pid, 0, NULL);
		errno = saved;
	}
	return pid;
}

// The parent ends inside the libc, where our _exit is not seen.
int daemon(int no_chdir, int no_close)
{
	if (TELE_UNLIKELY(!next_daemon))
		sandbox_init();
	int saved = errno;
	tele_publisher_stop();
	errno = saved;
	return next_daemon(no_chdir, no_close);
}

// No destructor runs after _exit: the last row is written here. A vfork child
// that ends this way shares our memory, and tele_publisher_stop sees by the
// pid that it is not the publisher's process.
_Noreturn void _exit(int status)
{
	tele_publisher_stop();
	for (;;)
		pass_on(SYS_exit_group, status, 0, 0, 0, 0, 0);
}

_Noreturn void _Exit(int status)
{
	_exit(status);
}
