// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The books in the shapes that glibc's statistics have.

#ifndef ALLOC_STATS_H
#define ALLOC_STATS_H

#include "../libtelemetry/base.h"

#define ALLOC_STATS_TEXT_BYTES 2048

// Laid out as glibc's struct mallinfo2 and struct mallinfo.
struct alloc_mallinfo2 {
	size_t arena, ordblks, smblks, hblks, hblkhd, usmblks, fsmblks, uordblks, fordblks, keepcost;
};
struct alloc_mallinfo {
	int arena, ordblks, smblks, hblks, hblkhd, usmblks, fsmblks, uordblks, fordblks, keepcost;
};

// arena: mapped; hblks: blocks with a mapping of their own; uordblks: live;
// fordblks: all the rest; keepcost: what a trim could give back at most.
struct alloc_mallinfo2 alloc_mallinfo2(void);

// The same, each value cut off at INT_MAX rather than wrapped.
struct alloc_mallinfo alloc_mallinfo(void);

// The buckets as text, one a line, or as XML. Allocates nothing.
void alloc_stats_text(char text[ALLOC_STATS_TEXT_BYTES], bool xml);

// Writes it to descriptor 2.
void alloc_stats_complain(const char *text);

#endif
