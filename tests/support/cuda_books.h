// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The CUDA census and the fake driver's ledger in one program, and holding one
// against the other. Include it in one file of a test program.

#ifndef TESTS_CUDA_BOOKS_H
#define TESTS_CUDA_BOOKS_H

#include "../../census/census.h"
#include "../../census/cuda/calls.h"
#include "../fake/fake.h"
#include "fake_publisher.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "in_child.h"

// The wrappers, as a client that is linked to the driver calls them.
#define CUDA_CALL(symbol, base, version, variant, body, params, args) extern unsigned symbol params;
#define CUDA_PASS(symbol, base, version, variant, params, args) extern unsigned symbol params;
#define CUDA_OLD(symbol, base, version)
#include "../../census/cuda_calls.def"

static void *driver;
static fake_read_fn *read_ledger;
static fake_read_process_fn *read_process;
__attribute__((unused)) static fake_fail_next_fn *fail_next;
static unsigned (*set_current)(void *);

static void *get(const char *name)
{
	void *function = dlsym(driver, name);
	CHECK(function != NULL);
	return function;
}

// The fake driver of a version; "": the latest.
static void open_version(const char *version)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 64);
	CHECK(n > 0);
	path[n] = '\0';
	*strrchr(path, '/') = '\0';
	*strrchr(path, '/') = '\0';
	size_t length = strlen(path);
	snprintf(path + length, sizeof(path) - length, "/fake/%s/libcuda.so.1", version);
	driver = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
	CHECK(driver != NULL);
	read_ledger = (fake_read_fn *)get("fake_read");
	read_process = (fake_read_process_fn *)get("fake_read_process");
	fail_next = (fake_fail_next_fn *)get("fake_fail_next");
	*(void **)&set_current = get("cuCtxSetCurrent");
	fake.keep_no_rows = true;
	CHECK(cuInit(0) == 0);
}

static void open_driver(void)
{
	open_version("");
}

// ---- Comparing -----------------------------------------------------------------

static bool collect(const char *section, uint32_t instance, void *ret_record, size_t bytes)
{
	unsigned n = atomic_load(&fake.n_collectors);
	for (unsigned i = 0; i < n; i++) {
		const struct rollcall_collector *collector = &fake.collectors[i];
		if (strcmp(collector->section, section) != 0 || collector->instance != instance)
			continue;
		memset(ret_record, 0xff, bytes);
		collector->collect(collector->context, ret_record, (uint32_t)(bytes / 8));
		return true;
	}
	memset(ret_record, 0, bytes);
	return false;
}

#define SAME(name)                                                                               \
	do {                                                                                     \
		if (ours.name != theirs.name) {                                                  \
			fprintf(stderr, "device %d: " #name " is %llu, the driver has %llu (%s)\n", \
				device, (unsigned long long)ours.name,                           \
				(unsigned long long)theirs.name, after);                         \
			_exit(1);                                                                \
		}                                                                                \
	} while (0)

static void compare(int device, const char *after)
{
	struct tele_driver_values ours;
	struct fake_totals theirs;
	struct rollcall_census census;
	(void)collect("driver", (uint32_t)device, &ours, sizeof(ours));
	read_ledger(device, &theirs);
	SAME(linear_pools);
	SAME(linear_bytes);
	SAME(async_pools);
	SAME(async_bytes);
	SAME(vmm_pools);
	SAME(vmm_bytes);
	SAME(array_pools);
	SAME(array_bytes);
	SAME(managed_pools);
	SAME(managed_bytes);
	SAME(pinned_pools);
	SAME(pinned_bytes);
	SAME(registered_pools);
	SAME(registered_bytes);
	SAME(imported);
	SAME(graph_allocations);
	SAME(graph_bytes);
	SAME(reserved_bytes);
	SAME(memory_pools);
	SAME(contexts);
	SAME(green_contexts);
	SAME(primary_active);
	SAME(primary_references);
	SAME(modules);
	SAME(link_states);
	// The census proper: pools, contexts and modules of the device.
	(void)rollcall_census_snapshot(device, &census, sizeof(census));
	if (rollcall_census_live_pools(&census) != ours.live_pools ||
	    rollcall_census_live_pool_bytes(&census) != ours.live_bytes ||
	    rollcall_census_unreleased_contexts(&census) != theirs.contexts ||
	    rollcall_census_live_modules(&census) != theirs.modules) {
		fprintf(stderr, "device %d: the census has %llu pools and %llu contexts (%s)\n", device,
			(unsigned long long)rollcall_census_live_pools(&census),
			(unsigned long long)rollcall_census_unreleased_contexts(&census), after);
		_exit(1);
	}
	// What the driver takes for itself is what is left over.
	uint64_t live = ours.linear_bytes + ours.async_bytes + ours.vmm_bytes + ours.array_bytes;
	CHECK(theirs.used_bytes - live ==
	      theirs.contexts * (64 << 20) + theirs.modules * (1 << 20) + theirs.slack_bytes);
}

static void compare_all(const char *after)
{
	struct fake_process theirs;
	struct tele_cuda_values ours;
	int device = -1;
	compare(0, after);
	compare(1, after);
	CHECK(collect("cuda", 0, &ours, sizeof(ours)));
	read_process(&theirs);
	SAME(libraries);
	SAME(multicast_objects);
	SAME(multicast_bound_bytes);
	CHECK(ours.untracked == 0 && ours.identity_mismatch == 0 && ours.foreign_libcuda == 0);
}

#define P(handle) ((void *)(uintptr_t)(handle))

// The suite turns publishing off, and the census with it: starts again without.
static void without_off(char **arguments)
{
	if (!getenv("ROLLCALL"))
		return;
	unsetenv("ROLLCALL");
	execv("/proc/self/exe", arguments);
	_exit(1);
}

#endif
