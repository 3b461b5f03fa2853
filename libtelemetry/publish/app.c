// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The program's own gauges and counters, notes in its log, and the books of
// its malloc on demand.

#include "publisher.h"

#include "process.h"
#include "registry.h"

#include "../rollcall.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "../banned.h"

static unsigned unit_of(enum rollcall_unit unit)
{
	return unit == ROLLCALL_BYTES ? TELE_BYTES : unit == ROLLCALL_NS ? TELE_NS : TELE_COUNT;
}

uint32_t rollcall_gauge(const char *name, enum rollcall_unit unit)
{
	tele_publisher_touch();
	return tele_registry_app(name, TELE_GAUGE, unit_of(unit));
}

uint32_t rollcall_counter(const char *name, enum rollcall_unit unit)
{
	tele_publisher_touch();
	return tele_registry_app(name, TELE_COUNTER, unit_of(unit));
}

static struct tele_registered *entry_of(uint32_t id, unsigned kind)
{
	if (id == 0 || id > tele_registry_count())
		return NULL;
	struct tele_registered *entry = tele_registry_at(id - 1);
	return entry->is_app && entry->app.kind == kind ? entry : NULL;
}

void rollcall_gauge_set(uint32_t gauge, uint64_t value)
{
	struct tele_registered *entry = entry_of(gauge, TELE_GAUGE);
	if (entry)
		atomic_store_explicit(&entry->app.value, value, memory_order_relaxed);
}

void rollcall_counter_add(uint32_t counter, uint64_t amount)
{
	struct tele_registered *entry = entry_of(counter, TELE_COUNTER);
	if (entry)
		atomic_fetch_add_explicit(&entry->app.value, amount, memory_order_relaxed);
}

int rollcall_mark(const char *text)
{
	tele_publisher_touch();
	return rollcall_event(TELE_EVENT_MARK, 0, 0, text);
}

int rollcall_heap_books(struct rollcall_heap_books *ret_books, size_t size)
{
	struct tele_heap_values values;
	struct rollcall_heap_books books;
	const struct rollcall_collector *heap = tele_registry_find(TELE_SECTION_HEAP);
	memset(&values, 0xff, sizeof(values));
	int failed = -ENODATA;
	if (heap && heap->read_now)
		failed = heap->read_now(heap->context, (uint64_t *)(void *)&values, heap->n_values);
	books = (struct rollcall_heap_books){
		.mapped_bytes = values.mapped_bytes,
		.live_bytes = values.live_bytes,
		.rounding_bytes = values.rounding_bytes,
		.cache_bytes = values.cache_bytes,
		.span_free_bytes = values.span_free_bytes,
		.returned_bytes = values.returned_bytes,
		.virgin_bytes = values.virgin_bytes,
		.hysteresis_bytes = values.hysteresis_bytes,
		.segment_overhead_bytes = values.segment_overhead_bytes,
		.large_count = values.large_count,
		.spans_assigned = values.spans_assigned,
		.settled = values.settled,
		.mallocs = values.mallocs,
		.frees = values.frees,
		.peak_live_bytes = values.peak_live_bytes,
	};
	memset(ret_books, 0xff, size);
	memcpy(ret_books, &books, size < sizeof(books) ? size : sizeof(books));
	return failed;
}
