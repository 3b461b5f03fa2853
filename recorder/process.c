// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Reading of /proc/PID/stat. The name in it stands in brackets and may hold
// anything, brackets too, so fields are counted from the last one.

#include "process.h"

#include <fcntl.h>
#include <unistd.h>

#include "../libtelemetry/banned.h"

enum { ANCESTORS_MAX = 64 };

bool rec_process_stat(uint64_t pid, uint64_t *ret_parent_pid, uint64_t *ret_start_ticks)
{
	char path[40];
	char stat[1024];
	snprintf(path, sizeof(path), "/proc/%llu/stat", (unsigned long long)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ssize_t got = read(fd, stat, sizeof(stat) - 1);
	close(fd);
	if (got <= 0)
		return false;
	stat[got] = '\0';
	char state;
	unsigned long long parent;
	unsigned long long start_ticks;
	const char *after = strrchr(stat, ')');
	if (!after ||
	    sscanf(after, ") %c %llu %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu",
		   &state, &parent, &start_ticks) != 3)
		return false;
	if (state == 'Z' || state == 'X')
		return false;
	if (ret_parent_pid)
		*ret_parent_pid = parent;
	if (ret_start_ticks)
		*ret_start_ticks = start_ticks;
	return true;
}

bool rec_process_is(uint64_t pid, uint64_t start_ticks)
{
	uint64_t ticks;
	return rec_process_stat(pid, NULL, &ticks) && ticks == start_ticks;
}

bool rec_process_descends(uint64_t pid, uint64_t root)
{
	for (int i = 0; i < ANCESTORS_MAX && pid > 1; i++) {
		if (pid == root)
			return true;
		if (!rec_process_stat(pid, &pid, NULL))
			return false;
	}
	return false;
}
