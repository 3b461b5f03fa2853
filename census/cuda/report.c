// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Counts nothing in silence: what was hooked, how, and what was not understood
// is published beside what was counted. Sections come with the first sight of
// the driver and of each device, so a program without CUDA pays nothing.

#include "report.h"

#include "labels.h"
#include "ledger.h"
#include "place.h"

#include "../../libtelemetry/collector.h"
#include "../../libtelemetry/fields.h"

#include <string.h>

#include "../../libtelemetry/banned.h"

#define CALL_COUNTERS 16

_Atomic uint64_t cuda_tallies[CUDA_TALLIES];
_Atomic uint64_t cuda_last_failure;
_Atomic uint64_t cuda_entry_points;

static struct {
	_Alignas(64) _Atomic uint64_t n;
} calls[CALL_COUNTERS];

static struct {
	_Atomic uint64_t n, largest_bytes;
} refusals[CUDA_DEVICES];

void cuda_count_call(uint32_t thread)
{
	atomic_fetch_add_explicit(&calls[thread % CALL_COUNTERS].n, 1, memory_order_relaxed);
}

void cuda_count_refusal(int device, uint64_t bytes)
{
	unsigned slot = cuda_slot_of(device < 0 ? 0 : device);
	uint64_t largest = atomic_load_explicit(&refusals[slot].largest_bytes, memory_order_relaxed);
	atomic_fetch_add_explicit(&refusals[slot].n, 1, memory_order_relaxed);
	while (bytes > largest &&
	       !atomic_compare_exchange_weak_explicit(&refusals[slot].largest_bytes, &largest, bytes,
						      memory_order_relaxed, memory_order_relaxed))
		;
}

// ---- Records --------------------------------------------------------------------------

static uint64_t tally(enum cuda_tally which)
{
	return atomic_load_explicit(&cuda_tallies[which], memory_order_relaxed);
}

static void set_cuda(struct tele_cuda_values *values)
{
	struct cuda_counts counts;
	uint64_t n_calls = 0;
	cuda_ledger_read(CUDA_NO_DEVICE_SLOT, &counts);
	for (unsigned i = 0; i < CALL_COUNTERS; i++)
		n_calls += atomic_load_explicit(&calls[i].n, memory_order_relaxed);
	*values = (struct tele_cuda_values){
		.captured_at_ns = rollcall_clock_ns(),
		.entry_points = atomic_load_explicit(&cuda_entry_points, memory_order_relaxed),
		.calls = n_calls,
		.resolved_by_symbol = tally(CUDA_BY_SYMBOL),
		.resolved_by_gpa = tally(CUDA_BY_GPA),
		.identity_mismatch = tally(CUDA_MISMATCHES),
		.foreign_libcuda = tally(CUDA_FOREIGN),
		.discovered_contexts = tally(CUDA_DISCOVERED),
		.unknown_frees = tally(CUDA_UNKNOWN_FREES),
		.untracked = tally(CUDA_UNTRACKED),
		.unplaced_allocations = tally(CUDA_UNPLACED),
		.unestimated_arrays = tally(CUDA_UNESTIMATED),
		.failures = tally(CUDA_FAILURES),
		.last_failure = atomic_load_explicit(&cuda_last_failure, memory_order_relaxed),
		.labelled_by_program = tally(CUDA_LABELLED_BY_PROGRAM),
		.labelled_by_rule = tally(CUDA_LABELLED_BY_RULE),
		.rules_refused = cuda_labels_refused(),
		.libraries = counts.live[CUDA_LIBRARY],
		.libraries_loaded = counts.total[CUDA_LIBRARY],
		.multicast_objects = counts.live[CUDA_MULTICAST],
		.multicast_bound_bytes = counts.bytes[CUDA_MULTICAST],
	};
	if (values->last_failure == 0)
		values->last_failure = TELE_UNKNOWN;
}

static void set_driver(struct tele_driver_values *values, int device)
{
	struct cuda_counts c;
	unsigned slot = cuda_slot_of(device);
	cuda_ledger_read(slot, &c);
	bool is_active = cuda_primary_is_active(device);
	uint64_t largest = atomic_load_explicit(&refusals[slot].largest_bytes, memory_order_relaxed);
	*values = (struct tele_driver_values){
		.captured_at_ns = rollcall_clock_ns(),
		.linear_pools = c.live[CUDA_LINEAR],
		.linear_bytes = c.bytes[CUDA_LINEAR],
		.async_pools = c.live[CUDA_ASYNC],
		.async_bytes = c.bytes[CUDA_ASYNC],
		.vmm_pools = c.live[CUDA_VMM],
		.vmm_bytes = c.bytes[CUDA_VMM],
		.array_pools = c.live[CUDA_ARRAY],
		.array_bytes = c.bytes[CUDA_ARRAY],
		.managed_pools = c.live[CUDA_MANAGED],
		.managed_bytes = c.bytes[CUDA_MANAGED],
		.pinned_pools = c.live[CUDA_PINNED],
		.pinned_bytes = c.bytes[CUDA_PINNED],
		.registered_pools = c.live[CUDA_REGISTERED],
		.registered_bytes = c.bytes[CUDA_REGISTERED],
		.imported = c.live[CUDA_IMPORTED],
		.graph_allocations = c.total[CUDA_GRAPH],
		.graph_bytes = c.bytes[CUDA_GRAPH],
		.reserved_bytes = c.bytes[CUDA_RESERVED],
		.memory_pools = c.live[CUDA_MEMORY_POOL],
		.settled_pools = c.settled,
		.settled_bytes = c.settled_bytes,
		.contexts = c.live[CUDA_CONTEXT] + c.live[CUDA_GREEN] + is_active,
		.green_contexts = c.live[CUDA_GREEN],
		.primary_active = is_active,
		.primary_references = cuda_primary_references(device),
		.modules = c.live[CUDA_MODULE],
		.link_states = c.live[CUDA_LINK],
		.refusals = atomic_load_explicit(&refusals[slot].n, memory_order_relaxed),
		.largest_refused_bytes = largest ? largest : TELE_UNKNOWN,
	};
	for (unsigned class = 0; class < CUDA_CLASSES_OF_POOLS; class ++) {
		values->live_pools += c.live[class];
		values->live_bytes += c.bytes[class];
		values->pools_allocated += c.total[class];
	}
}

// ---- Ticks --------------------------------------------------------------------------------

// Gives as many of a record's fields as were registered.
static void give(uint64_t *values, uint32_t n_values, const void *record, size_t record_bytes)
{
	size_t bytes = n_values * sizeof(uint64_t);
	memcpy(values, record, bytes < record_bytes ? bytes : record_bytes);
}

static void collect_cuda(void *context, uint64_t *values, uint32_t n_values)
{
	struct tele_cuda_values record;
	(void)context;
	set_cuda(&record);
	give(values, n_values, &record, sizeof(record));
}

static void collect_driver(void *context, uint64_t *values, uint32_t n_values)
{
	struct tele_driver_values record;
	set_driver(&record, (int)(intptr_t)context);
	give(values, n_values, &record, sizeof(record));
}

static void add(const char *section, uint32_t instance, size_t record_bytes,
		void (*collect)(void *, uint64_t *, uint32_t))
{
	const struct rollcall_collector collector = {
		.size = sizeof(collector),
		.version = ROLLCALL_COLLECTOR_VERSION,
		.section = section,
		.instance = instance,
		.n_values = (uint32_t)(record_bytes / sizeof(uint64_t)),
		.collect = collect,
		.context = (void *)(intptr_t)instance,
	};
	// Refusals are counted by the publisher; what a child inherits is there already.
	(void)rollcall_collector_register(&collector);
}

void cuda_report_process(void)
{
	add("cuda", 0, sizeof(struct tele_cuda_values), collect_cuda);
}

void cuda_report_device(int device)
{
	add("driver", (uint32_t)device, sizeof(struct tele_driver_values), collect_driver);
}

void cuda_report_reset(void)
{
	for (unsigned i = 0; i < CUDA_TALLIES; i++)
		atomic_store_explicit(&cuda_tallies[i], 0, memory_order_relaxed);
	for (unsigned i = 0; i < CALL_COUNTERS; i++)
		atomic_store_explicit(&calls[i].n, 0, memory_order_relaxed);
	for (unsigned i = 0; i < CUDA_DEVICES; i++) {
		atomic_store_explicit(&refusals[i].n, 0, memory_order_relaxed);
		atomic_store_explicit(&refusals[i].largest_bytes, 0, memory_order_relaxed);
	}
	atomic_store_explicit(&cuda_last_failure, 0, memory_order_relaxed);
}
