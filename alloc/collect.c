// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The collectors: the books at every tick, residency when there is time for it,
// one row for each size class that was ever used, registered when it first is.
// The tick also drives the reclaim. The classes are read by the one walk that
// the heap's own collector makes: class rows of a tick are of the same reading.

#include "collect.h"

#include <stdatomic.h>

#include "../libtelemetry/collector.h"
#include "../libtelemetry/event.h"
#include "../libtelemetry/fields.h"
#include "classes.h"
#include "config.h"
#include "reclaim.h"
#include "residency.h"
#include "walk.h"

#include "../libtelemetry/banned.h"

#define N_HEAP (sizeof(struct tele_heap_values) / sizeof(uint64_t))
#define N_CLASS (sizeof(struct tele_class_values) / sizeof(uint64_t))

// Written by the heap's collector, read by the classes', all on one thread.
static struct alloc_class_row collect_rows[ALLOC_CLASS_COUNT];
static uint64_t collect_rows_at_ns;
static _Atomic uint64_t collect_peak_bytes;
static uint64_t collect_refused_bytes;
static bool collect_is_registered[ALLOC_CLASS_COUNT];

static uint64_t raise_peak(uint64_t live_bytes)
{
	uint64_t peak = atomic_load_explicit(&collect_peak_bytes, memory_order_relaxed);
	while (peak < live_bytes && !atomic_compare_exchange_weak_explicit(&collect_peak_bytes, &peak, live_bytes,
									   memory_order_relaxed, memory_order_relaxed)) {
	}
	return peak < live_bytes ? live_bytes : peak;
}

static void fill_heap(struct tele_heap_values *values, const struct alloc_reading *reading, uint64_t now_ns)
{
	const struct alloc_books *books = &reading->books;
	values->captured_at_ns = now_ns;
	values->mapped_bytes = books->mapped_bytes;
	values->live_bytes = books->live_bytes;
	values->rounding_bytes = books->rounding_bytes;
	values->cache_bytes = books->cache_bytes;
	values->span_free_bytes = books->span_free_bytes;
	values->returned_bytes = books->returned_bytes;
	values->virgin_bytes = books->virgin_bytes;
	values->hysteresis_bytes = books->hysteresis_bytes;
	values->segment_overhead_bytes = books->segment_overhead_bytes;
	values->large_count = books->large_count;
	values->spans_assigned = books->spans_assigned;
	values->settled = reading->settled;
	values->mallocs = reading->mallocs;
	values->frees = reading->frees;
	values->peak_live_bytes = raise_peak(books->live_bytes);
}

static void report_refusals(void)
{
	uint64_t refused_bytes = atomic_load_explicit(&alloc_reclaim_refused_bytes, memory_order_relaxed);
	if (refused_bytes == collect_refused_bytes)
		return;
	rollcall_event(TELE_EVENT_DISCARD_REFUSED, refused_bytes - collect_refused_bytes,
		       (uint64_t)atomic_load_explicit(&alloc_reclaim_refused_errno, memory_order_relaxed), NULL);
	collect_refused_bytes = refused_bytes;
}

static void collect_class(void *context, uint64_t *raw, uint32_t n_values)
{
	uint32_t class = (uint32_t)(uintptr_t)context;
	if (n_values < N_CLASS || !collect_rows_at_ns)
		return;
	struct tele_class_values *values = (struct tele_class_values *)raw;
	const struct alloc_class_row *row = &collect_rows[class];
	values->captured_at_ns = collect_rows_at_ns;
	values->slot_bytes = alloc_classes[class].slot_bytes;
	values->spans = row->spans;
	values->live_slots = row->live_slots;
	values->free_slots = row->free_slots;
	values->returned_bytes = row->returned_bytes;
	values->rounding_bytes = row->rounding_bytes;
}

// On the publisher's thread, between two entries of its own walk: what it
// registers here it collects from the next tick on.
static void register_class(uint32_t class)
{
	const struct rollcall_collector collector = {
		.size = sizeof(collector),
		.version = ROLLCALL_COLLECTOR_VERSION,
		.section = "class",
		.instance = class,
		.n_values = N_CLASS,
		.collect = collect_class,
		.context = (void *)(uintptr_t)class,
	};
	rollcall_collector_register(&collector);
	collect_is_registered[class] = true;
}

static void collect_heap(void *context, uint64_t *values, uint32_t n_values)
{
	(void)context;
	if (n_values < N_HEAP)
		return;
	alloc_reclaim_tick(true);
	report_refusals();
	uint64_t now_ns = rollcall_clock_ns();
	struct alloc_reading reading;
	alloc_walk(&reading, collect_rows);
	collect_rows_at_ns = now_ns;
	fill_heap((struct tele_heap_values *)values, &reading, now_ns);
	for (uint32_t class = 1; class < ALLOC_CLASS_COUNT; class++)
		if (collect_rows[class].spans && !collect_is_registered[class])
			register_class(class);
}

static void tend_heap(void *context)
{
	(void)context;
	alloc_reclaim_tend();
}

static int read_heap_now(void *context, uint64_t *values, uint32_t n_values)
{
	(void)context;
	if (n_values < N_HEAP)
		return -22; // EINVAL
	struct alloc_reading reading;
	uint64_t now_ns = rollcall_clock_ns();
	alloc_walk(&reading, NULL);
	fill_heap((struct tele_heap_values *)values, &reading, now_ns);
	return 0;
}

static void collect_residency(void *context, uint64_t *raw, uint32_t n_values)
{
	(void)context;
	if (n_values < N_HEAP)
		return;
	struct tele_heap_values *values = (struct tele_heap_values *)raw;
	struct alloc_residency residency;
	values->resident_captured_at_ns = rollcall_clock_ns();
	alloc_residency(&residency);
	const struct alloc_books *buckets = &residency.buckets;
	values->resident_bytes = residency.resident_bytes;
	values->untouched_bytes =
		residency.live_bytes > buckets->live_bytes ? residency.live_bytes - buckets->live_bytes : 0;
	values->live_resident_bytes = buckets->live_bytes;
	values->rounding_resident_bytes = buckets->rounding_bytes;
	values->cache_resident_bytes = buckets->cache_bytes;
	values->span_free_resident_bytes = buckets->span_free_bytes;
	values->returned_resident_bytes = buckets->returned_bytes;
	values->virgin_resident_bytes = buckets->virgin_bytes;
	values->hysteresis_resident_bytes = buckets->hysteresis_bytes;
	values->segment_overhead_resident_bytes = buckets->segment_overhead_bytes;
	// Split or whole by now: nothing else makes a page resident that nobody
	// touched. Without them it was a mere read of a free page.
	values->huge_resident_bytes =
		alloc_config.huge == ALLOC_HUGE_NEVER ? 0 : buckets->returned_bytes + buckets->virgin_bytes;
}

void alloc_collect_register(void)
{
	const struct rollcall_collector collector = {
		.size = sizeof(collector),
		.version = ROLLCALL_COLLECTOR_VERSION,
		.section = "heap",
		.instance = ROLLCALL_NO_INSTANCE,
		.n_values = N_HEAP,
		.collect = collect_heap,
		.collect_slow = collect_residency,
		.read_now = read_heap_now,
		.tend = tend_heap,
	};
	rollcall_collector_register(&collector);
}
