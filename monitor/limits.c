// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The memory of this machine, for forecasts. A trace may be of another machine:
// the boot id goes along, so that only rows of this boot are held against it.

#include "monitor.h"

#include <stdio.h>
#include <unistd.h>

#include "../libtelemetry/banned.h"

// As segments carry it: the digits of the kernel's text, 16 a word.
static void read_boot_id(uint64_t ret_id[2])
{
	unsigned n_digits = 0;
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
	for (int ch; file && n_digits < 32 && (ch = getc(file)) != EOF;) {
		int digit = ch >= '0' && ch <= '9' ? ch - '0' : ch >= 'a' && ch <= 'f' ? ch - 'a' + 10 : -1;
		if (digit < 0)
			continue;
		ret_id[n_digits / 16] = ret_id[n_digits / 16] << 4 | (uint64_t)digit;
		n_digits++;
	}
	if (file)
		fclose(file);
}

void mon_limits_init(struct analysis_limits *limits)
{
	analysis_limits_init(limits);
	long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
	read_boot_id(limits->boot_id);
	if (pages > 0 && page_bytes > 0 && (limits->boot_id[0] || limits->boot_id[1]))
		limits->machine_bytes = (uint64_t)pages * (uint64_t)page_bytes;
}
