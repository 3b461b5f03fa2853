// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The fake CUDA driver, as a test that loaded it sees it: what the driver holds
// by its own ledger, and how it can be made to fail. Found by dlsym. The ledger
// shares no code with the census: it walks the driver's objects and adds up.

#ifndef TESTS_FAKE_H
#define TESTS_FAKE_H

#include <stddef.h>
#include <stdint.h>

struct fake_totals {
	uint64_t linear_pools, linear_bytes;
	uint64_t async_pools, async_bytes;
	uint64_t vmm_pools, vmm_bytes;
	uint64_t array_pools, array_bytes;
	uint64_t managed_pools, managed_bytes;
	uint64_t pinned_pools, pinned_bytes;
	uint64_t registered_pools, registered_bytes;
	uint64_t imported;
	uint64_t graph_allocations, graph_bytes;
	uint64_t reserved_bytes;
	uint64_t memory_pools;
	uint64_t contexts, green_contexts, primary_active, primary_references;
	uint64_t modules, link_states;
	uint64_t slack_bytes; // of memory pools: kept and not used
	uint64_t used_bytes, total_bytes;
};

struct fake_process {
	uint64_t libraries, multicast_objects, multicast_bound_bytes;
};

typedef void fake_read_fn(int device, struct fake_totals *ret_totals);
typedef void fake_read_process_fn(struct fake_process *ret_process);
// The next counted call of this thread fails with that result and does nothing.
typedef void fake_fail_next_fn(unsigned result);
// The next counted call of this thread calls that function and then does what it
// was to do, should the function come back.
typedef void fake_call_out_fn(void (*function)(void *), void *context);
// Takes everything down, as the driver does at exit: calls answer 4 from then on.
typedef void fake_deinitialize_fn(void);

#endif
