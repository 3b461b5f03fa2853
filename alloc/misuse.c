// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// One line in one write, then SIGABRT: the message must come out whole whatever
// the program has done to its heap and its streams.

#include "misuse.h"

#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "sys.h"

#include "../libtelemetry/banned.h"

void alloc_misuse(const char *what, const void *address)
{
	char line[160];
	size_t at = 0;
	static const char head[] = "rollcall: ";
	memcpy(line, head, sizeof(head) - 1);
	at += sizeof(head) - 1;
	size_t len = strlen(what);
	if (len > 100)
		len = 100;
	memcpy(line + at, what, len);
	at += len;
	memcpy(line + at, ": 0x", 4);
	at += 4;
	int shift = 60;
	while (shift > 0 && ((uintptr_t)address >> shift & 15) == 0)
		shift -= 4;
	for (; shift >= 0; shift -= 4)
		line[at++] = "0123456789abcdef"[(uintptr_t)address >> shift & 15];
	line[at++] = '\n';
	alloc_sys_complain(line, at);
	if (alloc_config.aborts)
		abort();
}
