// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Checks of the system: shared memory, the directory, the kernel's facilities.
// Each tries the thing itself rather than asking for a version number.

#include "doctor.h"

#include "text.h"

#include "../libtelemetry/discover.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../libtelemetry/banned.h"

enum { SEGMENT_BYTES = 2 << 20 }; // one process, with the default ring

// First line of a small file, or "" when it cannot be read.
static void read_line(const char *path, char *buffer, size_t size)
{
	ssize_t got = -1;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		got = read(fd, buffer, size - 1);
		close(fd);
	}
	buffer[got > 0 ? got : 0] = '\0';
	buffer[strcspn(buffer, "\n")] = '\0';
}

static bool is_in_container(void)
{
	char cgroup[256];
	read_line("/proc/1/cgroup", cgroup, sizeof(cgroup));
	return access("/.dockerenv", F_OK) == 0 || access("/run/.containerenv", F_OK) == 0 ||
	       getenv("container") || getenv("KUBERNETES_SERVICE_HOST") || strstr(cgroup, "docker") ||
	       strstr(cgroup, "kubepods") || strstr(cgroup, "lxc");
}

static void check_room(struct cli_findings *findings, const char *parent)
{
	struct statfs fs;
	struct statvfs mount;
	char room[CLI_SIZE_TEXT];
	char whole[CLI_SIZE_TEXT];
	if (statfs(parent, &fs) < 0 || statvfs(parent, &mount) < 0) {
		cli_finding(findings, CLI_FAILING, "shared memory",
			    "%s: %s; mount a tmpfs there, or set ROLLCALL_DIR", parent, tele_strerror(errno));
		return;
	}
	uint64_t free_bytes = (uint64_t)mount.f_bavail * mount.f_frsize;
	cli_bytes_text(free_bytes, room);
	cli_bytes_text((uint64_t)mount.f_blocks * mount.f_frsize, whole);
	if (free_bytes < SEGMENT_BYTES)
		cli_finding(findings, CLI_FAILING, "shared memory",
			    "%s has %s free of %s, a process needs 2 MiB; enlarge it, run `rollcall gc`, or set "
			    "ROLLCALL_DIR or ROLLCALL_RING_BYTES=65536",
			    parent, room, whole);
	else if (free_bytes < 32u * SEGMENT_BYTES)
		cli_finding(findings, CLI_WARNING, "shared memory",
			    "%s has %s free of %s, room for %u processes; enlarge it for more", parent, room, whole,
			    (unsigned)(free_bytes / SEGMENT_BYTES));
	else
		cli_finding(findings, CLI_HEALTHY, "shared memory", "%s has %s free of %s", parent, room, whole);
	if (fs.f_type != TMPFS_MAGIC)
		cli_finding(findings, CLI_WARNING, "file system",
			    "%s is not a tmpfs: every row is written with a system call, and pages go to a disk; "
			    "prefer /dev/shm",
			    parent);
	if (mount.f_flag & ST_RDONLY)
		cli_finding(findings, CLI_FAILING, "file system", "%s is read-only; set ROLLCALL_DIR", parent);
	if (mount.f_flag & ST_NOEXEC)
		cli_finding(findings, CLI_HEALTHY, "file system",
			    "%s is mounted noexec, which does not matter: segments are data", parent);
}

static void check_lock(struct cli_findings *findings, const char *parent)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	int fd = open(parent, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0) {
		cli_finding(findings, errno == EACCES || errno == EROFS ? CLI_FAILING : CLI_WARNING, "unnamed files",
			    "none can be made in %s: %s; choose another ROLLCALL_DIR", parent,
			    tele_strerror(errno));
		return;
	}
	cli_finding(findings, CLI_HEALTHY, "unnamed files", "O_TMPFILE works in %s", parent);
	// The child must find the lock that it has not inherited.
	int status = -1;
	if (fcntl(fd, F_SETLK, &lock) == 0) {
		pid_t pid = fork();
		if (pid == 0) {
			struct flock probe = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
			_exit(fcntl(fd, F_GETLK, &probe) == 0 && probe.l_type == F_WRLCK ? 0 : 1);
		}
		while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
	}
	if (status == 0)
		cli_finding(findings, CLI_HEALTHY, "record locks", "work: a killed process is known at once");
	else
		cli_finding(findings, CLI_WARNING, "record locks",
			    "do not work in %s: a killed process is known only by its heartbeat; choose another "
			    "ROLLCALL_DIR",
			    parent);
	close(fd);
}

// "/dev/shm/rollcall-0" to "/dev/shm", "name" to ".".
static void cut_last_name(char *path)
{
	size_t len = strlen(path);
	while (len > 1 && path[len - 1] == '/')
		path[--len] = '\0';
	char *slash = strrchr(path, '/');
	if (!slash)
		path[0] = '.';
	else if (slash == path)
		slash++;
	*(slash ? slash : path + 1) = '\0';
}

void cli_check_directory(struct cli_findings *findings)
{
	char directory[512];
	char parent[520];
	struct stat found;
	if (tele_default_directory(directory, sizeof(directory)) < 0) {
		cli_finding(findings, CLI_FAILING, "directory", "ROLLCALL_DIR is too long; shorten it");
		return;
	}
	bool is_there = lstat(directory, &found) == 0;
	snprintf(parent, sizeof(parent), "%s", directory);
	if (!is_there)
		cut_last_name(parent);
	check_room(findings, parent);
	if (!is_there)
		cli_finding(findings, CLI_HEALTHY, "directory", "%s is not there yet; the first process makes it",
			    directory);
	else if (!S_ISDIR(found.st_mode))
		cli_finding(findings, CLI_FAILING, "directory", "%s is not a directory; remove it", directory);
	else if (found.st_uid != geteuid())
		cli_finding(findings, CLI_FAILING, "directory",
			    "%s belongs to user %u and not to you, so nothing is published in it; remove it, or set "
			    "ROLLCALL_DIR",
			    directory, (unsigned)found.st_uid);
	else if (found.st_mode & 022)
		cli_finding(findings, CLI_FAILING, "directory",
			    "others may write in %s (mode %03o), so nothing is published in it; chmod 700 %s",
			    directory, (unsigned)found.st_mode & 0777, directory);
	else
		cli_finding(findings, CLI_HEALTHY, "directory", "%s is yours alone (mode %03o)", directory,
			    (unsigned)found.st_mode & 0777);
	check_lock(findings, parent);
	if (is_in_container())
		cli_finding(findings, CLI_WARNING, "container",
			    "this looks like a container: /dev/shm dies with it; keep evidence with "
			    "`rollcall run --record FILE` on a volume");
}

static void check_close_range(struct cli_findings *findings)
{
	// Nothing is open from there on, so nothing is closed.
	if (syscall(SYS_close_range, ~0U, ~0U, 0) == 0)
		cli_finding(findings, CLI_HEALTHY, "close_range",
			    "works: the publisher keeps its files apart from the program's");
	else
		cli_finding(findings, CLI_WARNING, "close_range",
			    "%s: the publisher shares the program's table of files; a kernel from 5.9 on helps",
			    tele_strerror(errno));
}

static void check_ptrace(struct cli_findings *findings)
{
	char scope[16];
	read_line("/proc/sys/kernel/yama/ptrace_scope", scope, sizeof(scope));
	cli_finding(findings, CLI_HEALTHY, "ptrace scope", "%s; Rollcall attaches without ptrace",
		    scope[0] ? scope : "not restricted");
}

static void check_cgroup(struct cli_findings *findings)
{
	char line[256];
	char path[400];
	read_line("/proc/self/cgroup", line, sizeof(line));
	if (access("/sys/fs/cgroup/memory/memory.usage_in_bytes", R_OK) == 0) {
		cli_finding(findings, CLI_HEALTHY, "cgroup", "v1, its memory can be read");
		return;
	}
	if (access("/sys/fs/cgroup/cgroup.controllers", R_OK) < 0 || strncmp(line, "0::", 3) != 0) {
		cli_finding(findings, CLI_WARNING, "cgroup",
			    "no cgroup here: limits and OOM kills of the cgroup stay unknown; mount cgroup2 at "
			    "/sys/fs/cgroup");
		return;
	}
	snprintf(path, sizeof(path), "/sys/fs/cgroup%s/memory.current", line + 3);
	if (access(path, R_OK) == 0)
		cli_finding(findings, CLI_HEALTHY, "cgroup", "v2, memory of %s can be read", line + 3);
	else
		cli_finding(findings, CLI_WARNING, "cgroup",
			    "v2, but %s has no memory.current (the root has none): its limit stays unknown; start "
			    "the program in a cgroup with the memory controller",
			    line + 3);
}

void cli_check_kernel(struct cli_findings *findings)
{
	check_close_range(findings);
	check_ptrace(findings);
	check_cgroup(findings);
	if (access("/proc/self/smaps_rollup", R_OK) == 0)
		cli_finding(findings, CLI_HEALTHY, "smaps_rollup", "can be read: PSS and huge pages are known");
	else
		cli_finding(findings, CLI_WARNING, "smaps_rollup",
			    "%s: PSS and huge pages stay unknown; a kernel from 4.14 on helps",
			    tele_strerror(errno));
}
