// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// sandbox HOW: goes into a sandbox in that way while it publishes, and tells
// whether that went well. A filter kills on everything but a few calls.

#include <rollcall.h>

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define ALLOW(call) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static long filter(const char *how)
{
	static struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		ALLOW(write), ALLOW(read), ALLOW(exit_group), ALLOW(exit), ALLOW(rt_sigreturn),
		ALLOW(wait4), ALLOW(set_robust_list),
		// fork, and not a thread
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 4),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_VM, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	static struct sock_fprog program = {.len = sizeof(code) / sizeof(code[0]), .filter = code};
	if (strcmp(how, "prctl") == 0)
		return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
}

static void say(const char *text)
{
	if (write(1, text, strlen(text)) < 0)
		_exit(3);
}

static void use_everything(void)
{
	rollcall_mark("inside");
	rollcall_gauge_set(rollcall_gauge("inside", ROLLCALL_COUNT), 1);
	rollcall_flush();
	rollcall_segment_path();
}

static int inside(const char *end)
{
	use_everything();
	if (strcmp(end, "fork") == 0) {
		int status = -1;
		pid_t pid = fork();
		if (pid == 0) {
			use_everything();
			_exit(0);
		}
		if (waitpid(pid, &status, 0) != pid || status != 0)
			say("the child was killed\n");
	}
	say("inside\n");
	if (strcmp(end, "_exit") == 0)
		_exit(0);
	return 0;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	char line[16];
	rollcall_mark("outside");
	rollcall_flush();
	printf("%ld\n", (long)getpid());
	fflush(stdout);
	if (strcmp(how, "unshare") == 0 || strcmp(how, "syscall") == 0) {
		int failed = strcmp(how, "unshare") == 0 ? unshare(CLONE_NEWUSER) :
							  (int)syscall(SYS_unshare, CLONE_NEWUSER);
		printf("%s\n", failed ? strerrorname_np(errno) : "inside");
		rollcall_mark("inside");
		printf("%d\n", rollcall_flush());
		fflush(stdout);
		return read(0, line, sizeof(line)) < 0;
	}
	if (strcmp(how, "strict") == 0) {
		if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0))
			return 1;
		use_everything();
		say("inside\n");
		syscall(SYS_exit, 0);
	}
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (filter(how) != 0)
		return 1;
	return inside(argc > 2 ? argv[2] : "");
}
