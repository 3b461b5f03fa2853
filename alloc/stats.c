// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// mallinfo, malloc_stats, malloc_info, malloc_trim and mallopt over the books.
// The number formatting is our own: stdio may allocate.

#include "stats.h"

#include <limits.h>
#include <malloc.h>
#include <string.h>

#include "alloc.h"
#include "config.h"
#include "heap.h"
#include "reclaim.h"
#include "sys.h"
#include "thread.h"
#include "walk.h"

#include "../libtelemetry/banned.h"

_Static_assert(sizeof(struct alloc_mallinfo2) == sizeof(struct mallinfo2), "glibc's layout");
_Static_assert(sizeof(struct alloc_mallinfo) == sizeof(struct mallinfo), "glibc's layout");

struct alloc_mallinfo2 alloc_mallinfo2(void)
{
	struct alloc_reading reading;
	alloc_walk(&reading, NULL);
	const struct alloc_books *books = &reading.books;
	return (struct alloc_mallinfo2){
		.arena = books->mapped_bytes,
		.hblks = books->large_count,
		.uordblks = books->live_bytes,
		.fordblks = books->mapped_bytes - books->live_bytes,
		.keepcost = books->hysteresis_bytes + books->span_free_bytes,
	};
}

static int clipped(size_t value)
{
	return value > INT_MAX ? INT_MAX : (int)value;
}

struct alloc_mallinfo alloc_mallinfo(void)
{
	struct alloc_mallinfo2 info = alloc_mallinfo2();
	return (struct alloc_mallinfo){
		.arena = clipped(info.arena),
		.hblks = clipped(info.hblks),
		.uordblks = clipped(info.uordblks),
		.fordblks = clipped(info.fordblks),
		.keepcost = clipped(info.keepcost),
	};
}

static size_t put_text(char *text, size_t at, const char *more)
{
	size_t len = strlen(more);
	TELE_ASSERT(at + len < ALLOC_STATS_TEXT_BYTES);
	memcpy(text + at, more, len + 1);
	return at + len;
}

static size_t put_number(char *text, size_t at, uint64_t value)
{
	char digits[21];
	size_t from = sizeof(digits) - 1;
	digits[from] = '\0';
	do {
		digits[--from] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	return put_text(text, at, digits + from);
}

void alloc_stats_text(char text[ALLOC_STATS_TEXT_BYTES], bool xml)
{
	struct alloc_reading reading;
	alloc_walk(&reading, NULL);
	const struct alloc_books *books = &reading.books;
	const struct {
		const char *name;
		uint64_t value;
	} rows[] = {
		{ "mapped", books->mapped_bytes },
		{ "live", books->live_bytes },
		{ "rounding", books->rounding_bytes },
		{ "cache", books->cache_bytes },
		{ "span_free", books->span_free_bytes },
		{ "returned", books->returned_bytes },
		{ "virgin", books->virgin_bytes },
		{ "hysteresis", books->hysteresis_bytes },
		{ "segment_overhead", books->segment_overhead_bytes },
		{ "predicted_resident", alloc_books_predicted_resident(books) },
		{ "large_count", books->large_count },
		{ "spans_assigned", books->spans_assigned },
		{ "mallocs", reading.mallocs },
		{ "frees", reading.frees },
	};
	size_t at = put_text(text, 0, xml ? "<malloc version=\"rollcall-1\">\n" : "rollcall malloc:\n");
	for (size_t i = 0; i < TELE_ARRAY_LEN(rows); i++) {
		at = put_text(text, at, xml ? "<field name=\"" : "  ");
		at = put_text(text, at, rows[i].name);
		at = put_text(text, at, xml ? "\" value=\"" : " ");
		at = put_number(text, at, rows[i].value);
		at = put_text(text, at, xml ? "\"/>\n" : "\n");
	}
	put_text(text, at, xml ? "</malloc>\n" : "");
}

void alloc_stats_complain(const char *text)
{
	alloc_sys_complain(text, strlen(text));
}

int alloc_trim(size_t pad_bytes)
{
	(void)pad_bytes;
	if (alloc_self != &alloc_heap_exited && alloc_thread_has_heap())
		alloc_heap_flush(alloc_self);
	return alloc_reclaim_all() > 0;
}

int alloc_mallopt(int parameter, int value)
{
	switch (parameter) {
	case M_TRIM_THRESHOLD:
		// -1 is glibc's way to say: never trim.
		alloc_config.keeps = value == -1;
		return 1;
	case M_CHECK_ACTION:
		alloc_config.aborts = value & 2;
		return 1;
	case M_MXFAST:
	case M_TOP_PAD:
	case M_MMAP_THRESHOLD:
	case M_MMAP_MAX:
	case M_PERTURB:
	case M_ARENA_TEST:
	case M_ARENA_MAX:
		return 1; // nothing here answers to it, and nothing needs to
	default:
		return 0;
	}
}
