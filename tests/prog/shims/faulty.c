// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A preload under which writing of traces fails: FAULT="HOW N" makes the N-th
// write or sync of a file named *.rct fail with EIO (eio), with ENOSPC (full),
// with EINTR (intr), write half of its bytes (short), or write half of them and
// kill the process (kill). HOW may begin with sync: then syncs are counted. What
// it did leaves a file named FAULT_MARK.

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char how[32];
static unsigned long fault_at, n_calls;

__attribute__((constructor)) static void start(void)
{
	const char *fault = getenv("FAULT");
	if (fault)
		sscanf(fault, "%31s %lu", how, &fault_at);
}

static int is_trace(int fd)
{
	char link[64], path[1024];
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	ssize_t n = readlink(link, path, sizeof(path) - 1);
	return n > 4 && memcmp(path + n - 4, ".rct", 4) == 0;
}

// Whether this is the call that fails.
static int is_due(int fd)
{
	const char *mark = getenv("FAULT_MARK");
	if (!how[0] || !is_trace(fd) || ++n_calls != fault_at)
		return 0;
	if (mark)
		close(open(mark, O_WRONLY | O_CREAT, 0600));
	return 1;
}

static ssize_t fail(int code)
{
	errno = code;
	return -1;
}

ssize_t pwrite(int fd, const void *bytes, size_t n_bytes, off_t offset)
{
	static ssize_t (*real)(int, const void *, size_t, off_t);
	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "pwrite64");
	if (strncmp(how, "sync", 4) == 0 || !is_due(fd))
		return real(fd, bytes, n_bytes, offset);
	if (strcmp(how, "eio") == 0)
		return fail(EIO);
	if (strcmp(how, "full") == 0)
		return fail(ENOSPC);
	if (strcmp(how, "intr") == 0)
		return fail(EINTR);
	ssize_t n = real(fd, bytes, (n_bytes + 1) / 2, offset);
	if (strcmp(how, "kill") == 0)
		kill(getpid(), SIGKILL);
	return n;
}

ssize_t pwrite64(int fd, const void *bytes, size_t n_bytes, off_t offset) __attribute__((alias("pwrite")));

int fdatasync(int fd)
{
	static int (*real)(int);
	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "fdatasync");
	if (strncmp(how, "sync", 4) != 0 || !is_due(fd))
		return real(fd);
	if (strcmp(how, "synckill") == 0)
		kill(getpid(), SIGKILL);
	return (int)fail(strcmp(how, "syncintr") == 0 ? EINTR : EIO);
}
