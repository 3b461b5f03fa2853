// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The fake driver's ledger: walks every object there is and adds up what the
// driver holds, for a test that asks and, after each call that may change it, for
// the file of FAKE_LEDGER. It shares no code with the census.

#include "driver.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int ledger = -1;

void fake_open_ledger(void)
{
	const char *path = getenv("FAKE_LEDGER");
	if (path)
		ledger = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

struct walk {
	int device;
	struct fake_totals *totals;
	struct fake_process *process;
};

static void add_memory(const struct object *object, struct fake_totals *totals)
{
	switch (object->kind) {
	case LINEAR:
		totals->linear_pools++;
		totals->linear_bytes += object->bytes;
		break;
	case MANAGED:
		totals->managed_pools++;
		totals->managed_bytes += object->bytes;
		break;
	case ASYNC:
		if (object->is_host) {
			totals->pinned_pools++;
			totals->pinned_bytes += object->bytes;
		} else {
			totals->async_pools++;
			totals->async_bytes += object->bytes;
		}
		break;
	case HANDLE:
		if (object->is_imported) {
			totals->imported++;
		} else if (object->is_host) {
			totals->pinned_pools++;
			totals->pinned_bytes += object->bytes;
		} else {
			totals->vmm_pools++;
			totals->vmm_bytes += object->bytes;
		}
		break;
	case ARRAY:
	case MIPMAP:
		if (object->is_imported) {
			totals->imported++;
		} else {
			totals->array_pools++;
			totals->array_bytes += object->bytes;
		}
		break;
	case HOST_POINTER:
		totals->pinned_pools++;
		totals->pinned_bytes += object->bytes;
		break;
	case REGISTERED:
		totals->registered_pools++;
		totals->registered_bytes += object->bytes;
		break;
	default:
		break;
	}
}

static void add_object(struct object *object, void *context)
{
	struct walk *walk = context;
	struct fake_totals *totals = walk->totals;
	if (object->device != walk->device)
		return;
	add_memory(object, totals);
	totals->imported += object->kind == IMPORTED_POINTER || object->kind == EXTERNAL;
	totals->reserved_bytes += object->kind == RESERVATION ? object->bytes : 0;
	totals->modules += object->kind == MODULE && !object->of;
	totals->link_states += object->kind == LINK;
	totals->green_contexts += object->kind == GREEN;
	totals->contexts += object->kind == GREEN || (object->kind == CONTEXT && !object->is_primary &&
						      !object->is_alias);
	if (object->kind == MEMORY_POOL) {
		if (object->is_imported)
			totals->imported++;
		else if (!object->is_host && !object->is_default)
			totals->memory_pools++;
		if (!object->is_host)
			totals->slack_bytes += object->reserved - object->used;
	}
}

static void read_totals(int device, struct fake_totals *totals)
{
	struct walk walk = {.device = device, .totals = totals};
	*totals = (struct fake_totals){
		.primary_active = fake_primary_is_active(device),
		.primary_references = fake_primary_references(device),
		.graph_allocations = fake_graph_allocations(device),
		.graph_bytes = fake_graph_bytes(device),
		.total_bytes = fake_capacity_bytes(),
	};
	fake_each(add_object, &walk);
	totals->contexts += totals->primary_active;
	totals->used_bytes = totals->linear_bytes + totals->async_bytes + totals->vmm_bytes +
			     totals->array_bytes + totals->slack_bytes +
			     totals->contexts * fake_context_bytes + totals->modules * fake_module_bytes;
}

__attribute__((visibility("default"))) fake_read_fn fake_read;
void fake_read(int device, struct fake_totals *ret_totals)
{
	fake_lock();
	read_totals(device, ret_totals);
	fake_unlock();
}

static void add_to_process(struct object *object, void *context)
{
	struct fake_process *process = context;
	process->libraries += object->kind == LIBRARY;
	process->multicast_objects += object->kind == MULTICAST;
	process->multicast_bound_bytes += object->kind == MULTICAST ? object->bytes : 0;
}

__attribute__((visibility("default"))) fake_read_process_fn fake_read_process;
void fake_read_process(struct fake_process *ret_process)
{
	fake_lock();
	*ret_process = (struct fake_process){0};
	fake_each(add_to_process, ret_process);
	fake_unlock();
}

static void write_ledger(const char *name, unsigned result)
{
	char line[2048];
	int n = snprintf(line, sizeof(line), "{\"call\":\"%s\",\"result\":%u,\"devices\":[", name, result);
	for (int device = 0; device < fake_n_devices; device++) {
		struct fake_totals t;
		read_totals(device, &t);
		n += snprintf(line + n, sizeof(line) - (size_t)n,
			      "%s{\"linear_pools\":%llu,\"linear_bytes\":%llu,\"async_pools\":%llu,"
			      "\"vmm_pools\":%llu,\"array_pools\":%llu,\"contexts\":%llu,\"modules\":%llu,"
			      "\"live_bytes\":%llu,\"used_bytes\":%llu}",
			      device ? "," : "", (unsigned long long)t.linear_pools,
			      (unsigned long long)t.linear_bytes, (unsigned long long)t.async_pools,
			      (unsigned long long)t.vmm_pools, (unsigned long long)t.array_pools,
			      (unsigned long long)t.contexts, (unsigned long long)t.modules,
			      (unsigned long long)(t.linear_bytes + t.async_bytes + t.vmm_bytes + t.array_bytes),
			      (unsigned long long)t.used_bytes);
	}
	n += snprintf(line + n, sizeof(line) - (size_t)n, "]}\n");
	ssize_t ignored = write(ledger, line, (size_t)n);
	(void)ignored;
}

void fake_note_call(const char *name, unsigned result)
{
	if (ledger >= 0 && !strstr(name, "Get") && !strstr(name, "Query") && !strstr(name, "IsCapturing"))
		write_ledger(name, result);
}
