// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The host's readings. All files are opened once, by the publisher thread, and
// read again by pread. statm and getrusage are cheap enough for every tick; the
// others have a pace of their own: after a reading that took t, the next comes
// no sooner than 300 t later, so that each costs at most a third of a percent
// of one core. smaps_rollup also holds the lock that the program's mmap needs,
// so it never comes more often than four times a second.

#include "process.h"

#include "../collector.h"
#include "../fields.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "../banned.h"

#define COST_FACTOR 300
#define SMAPS_PERIOD_NS 250000000u
#define CGROUP_PERIOD_NS 1000000000u

static int open_to_read(const char *path)
{
	return tele_open(AT_FDCWD, path, O_RDONLY, 0);
}

static ssize_t read_again(int fd, char *buffer, size_t size)
{
	ssize_t n;
	if (fd < 0)
		return -1;
	do {
		n = pread(fd, buffer, size - 1, 0);
	} while (n < 0 && errno == EINTR);
	if (n >= 0)
		buffer[n] = '\0';
	return n;
}

// The path of our cgroup below its mount, from a line "0::/path" (version 2) or
// "N:memory:/path" (version 1). Returns the version, or 0.
static int cgroup_path(char *path, size_t size)
{
	char text[4096];
	int version = 0;
	int fd = open_to_read("/proc/self/cgroup");
	ssize_t n = read_again(fd, text, sizeof(text));
	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return 0;
	for (char *line = text; line && *line;) {
		char *end = strchr(line, '\n');
		if (end)
			*end = '\0';
		char *name = strchr(line, ':');
		char *at = name ? strchr(name + 1, ':') : NULL;
		bool is_memory = at && strncmp(name, ":memory:", 8) == 0;
		if (at && (is_memory || (strncmp(line, "0::", 3) == 0 && version == 0))) {
			snprintf(path, size, "%s", strcmp(at + 1, "/") == 0 ? "" : at + 1);
			version = is_memory ? 1 : 2;
		}
		line = end ? end + 1 : NULL;
	}
	return version;
}

static int open_cgroup(int version, const char *below, const char *file)
{
	char path[4400];
	const char *mount = version == 1 ? "/sys/fs/cgroup/memory" : "/sys/fs/cgroup";
	snprintf(path, sizeof(path), "%s%s/%s", mount, below, file);
	int fd = open_to_read(path);
	if (fd >= 0)
		return fd;
	// In a container the path is often that of the host, and ours is the root.
	snprintf(path, sizeof(path), "%s/%s", mount, file);
	return open_to_read(path);
}

void tele_host_open(struct tele_host *host)
{
	char below[4096] = "";
	memset(host, 0, sizeof(*host));
	long page = sysconf(_SC_PAGESIZE);
	host->page_bytes = page > 0 ? (uint64_t)page : 4096;
	host->statm_fd = open_to_read("/proc/self/statm");
	host->status_fd = open_to_read("/proc/self/status");
	host->smaps_fd = open_to_read("/proc/self/smaps_rollup");
	host->cgroup_current_fd = host->cgroup_max_fd = -1;
	host->cgroup_peak_fd = host->cgroup_events_fd = -1;
	int version = cgroup_path(below, sizeof(below));
	if (version == 2) {
		host->cgroup_current_fd = open_cgroup(2, below, "memory.current");
		host->cgroup_max_fd = open_cgroup(2, below, "memory.max");
		host->cgroup_peak_fd = open_cgroup(2, below, "memory.peak");
		host->cgroup_events_fd = open_cgroup(2, below, "memory.events");
	} else if (version == 1) {
		host->cgroup_current_fd = open_cgroup(1, below, "memory.usage_in_bytes");
		host->cgroup_max_fd = open_cgroup(1, below, "memory.limit_in_bytes");
		host->cgroup_peak_fd = open_cgroup(1, below, "memory.max_usage_in_bytes");
		host->cgroup_events_fd = open_cgroup(1, below, "memory.oom_control");
	}
}

static uint64_t thread_cpu_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

// The number after `name` at the start of a line, or TELE_UNKNOWN.
static uint64_t number_after(const char *text, const char *name)
{
	size_t len = strlen(name);
	for (const char *line = text; line && *line;) {
		if (strncmp(line, name, len) == 0) {
			const char *at = line + len;
			at += strspn(at, " \t");
			return *at >= '0' && *at <= '9' ? strtoull(at, NULL, 10) : TELE_UNKNOWN;
		}
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	return TELE_UNKNOWN;
}

static uint64_t kilobytes_after(const char *text, const char *name)
{
	uint64_t value = number_after(text, name);
	return value == TELE_UNKNOWN ? value : value << 10;
}

// A file that holds one number; "max" and the like are unknown: no limit.
static uint64_t lone_number(int fd)
{
	char text[64];
	if (read_again(fd, text, sizeof(text)) <= 0 || text[0] < '0' || text[0] > '9')
		return TELE_UNKNOWN;
	uint64_t value = strtoull(text, NULL, 10);
	return value >= UINT64_C(1) << 62 ? TELE_UNKNOWN : value;
}

static void collect_quick(const struct tele_host *host, struct tele_host_values *values)
{
	char text[128];
	struct rusage usage;
	values->captured_at_ns = rollcall_clock_ns();
	values->rss_bytes = TELE_UNKNOWN;
	if (read_again(host->statm_fd, text, sizeof(text)) > 0) {
		const char *second = strchr(text, ' ');
		if (second)
			values->rss_bytes = strtoull(second, NULL, 10) * host->page_bytes;
	}
	if (getrusage(RUSAGE_SELF, &usage) == 0) {
		values->minor_faults = (uint64_t)usage.ru_minflt;
		values->major_faults = (uint64_t)usage.ru_majflt;
	}
	values->cgroup_current_bytes = lone_number(host->cgroup_current_fd);
}

static void collect_status(const struct tele_host *host, struct tele_host_values *values)
{
	char text[4096];
	if (read_again(host->status_fd, text, sizeof(text)) <= 0)
		return;
	values->status_captured_at_ns = rollcall_clock_ns();
	values->anon_bytes = kilobytes_after(text, "RssAnon:");
	values->file_bytes = kilobytes_after(text, "RssFile:");
	values->shmem_bytes = kilobytes_after(text, "RssShmem:");
	values->swap_bytes = kilobytes_after(text, "VmSwap:");
	values->threads = number_after(text, "Threads:");
}

static void collect_smaps(const struct tele_host *host, struct tele_host_values *values)
{
	char text[2048];
	if (read_again(host->smaps_fd, text, sizeof(text)) <= 0)
		return;
	values->smaps_captured_at_ns = rollcall_clock_ns();
	values->pss_bytes = kilobytes_after(text, "Pss:");
	values->anon_huge_bytes = kilobytes_after(text, "AnonHugePages:");
}

static void collect_cgroup(const struct tele_host *host, struct tele_host_values *values)
{
	char text[512];
	if (host->cgroup_current_fd < 0)
		return;
	values->cgroup_captured_at_ns = rollcall_clock_ns();
	values->cgroup_max_bytes = lone_number(host->cgroup_max_fd);
	values->cgroup_peak_bytes = lone_number(host->cgroup_peak_fd);
	if (read_again(host->cgroup_events_fd, text, sizeof(text)) > 0)
		values->cgroup_oom_kills = number_after(text, "oom_kill ");
}

static void at_its_pace(const struct tele_host *host, struct tele_host_values *values,
			void (*collect)(const struct tele_host *, struct tele_host_values *),
			uint64_t least_ns, uint64_t *due_at_ns)
{
	uint64_t now = values->captured_at_ns;
	if (now < *due_at_ns)
		return;
	uint64_t before = thread_cpu_ns();
	collect(host, values);
	uint64_t cost = thread_cpu_ns() - before;
	*due_at_ns = now + tele_max_u64(cost * COST_FACTOR, least_ns);
}

void tele_host_collect(struct tele_host *host, uint64_t *words)
{
	struct tele_host_values values;
	memcpy(&values, words, sizeof(values));
	collect_quick(host, &values);
	at_its_pace(host, &values, collect_status, 0, &host->status_due_at_ns);
	at_its_pace(host, &values, collect_smaps, SMAPS_PERIOD_NS, &host->smaps_due_at_ns);
	at_its_pace(host, &values, collect_cgroup, CGROUP_PERIOD_NS, &host->cgroup_due_at_ns);
	memcpy(words, &values, sizeof(values));
}
