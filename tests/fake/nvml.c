// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A fake libnvidia-ml: devices and processes as a file says, which FAKE_NVML
// names. A line each: `device UUID TOTAL USED`, and `process UUID PID USED`
// where USED may be `-` for what the driver does not tell; `mps` for `process` is
// one of the other list. `fail FUNCTION CODE` lets that function answer so, and
// `grow N` lets the list of processes be too long N times in a row. Without the
// file nvmlInit answers that no driver is loaded.

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NVML(name, ...)                                                    \
	__attribute__((visibility("default"))) int name(__VA_ARGS__);      \
	int name(__VA_ARGS__)

enum { FINE = 0, BAD_ARGUMENT = 2, NO_ROOM = 7, NO_DRIVER = 9 };

struct device {
	char uuid[64];
	uint64_t total, used;
};
struct process {
	char uuid[64];
	unsigned pid;
	uint64_t used;
	bool is_mps;
};
struct memory {
	uint64_t total, free, used;
};
struct process_info {
	unsigned pid;
	uint64_t used;
	unsigned gpu_instance, compute_instance;
};

static struct device devices[16];
static struct process processes[64];
static unsigned n_devices, n_processes;
static char failing[64];
static int failure;
static unsigned n_grown, n_to_grow;

static bool read_file(void)
{
	const char *path = getenv("FAKE_NVML");
	char line[256], used[32];
	unsigned long long total, bytes;
	FILE *file = path ? fopen(path, "r") : NULL;
	n_devices = n_processes = n_to_grow = 0;
	failing[0] = '\0';
	if (!file)
		return false;
	while (fgets(line, sizeof(line), file)) {
		struct device *device = &devices[n_devices % 16];
		struct process *process = &processes[n_processes % 64];
		if (sscanf(line, "device %63s %llu %llu", device->uuid, &total, &bytes) == 3) {
			device->total = total;
			device->used = bytes;
			n_devices++;
		} else if (sscanf(line, "fail %63s %d", failing, &failure) == 2 ||
			   sscanf(line, "grow %u", &n_to_grow) == 1) {
			continue;
		} else if (sscanf(line, "process %63s %u %31s", process->uuid, &process->pid, used) == 3 ||
			   sscanf(line, "mps %63s %u %31s", process->uuid, &process->pid, used) == 3) {
			process->is_mps = line[0] == 'm';
			process->used = used[0] == '-' ? UINT64_MAX : strtoull(used, NULL, 10);
			n_processes++;
		}
	}
	fclose(file);
	return true;
}

// Returns at once where the file says that this function fails. It was read.
#define MAY_FAIL()                                 \
	do {                                       \
		(void)read_file();                 \
		if (strcmp(failing, __func__) == 0) \
			return failure;            \
	} while (0)

NVML(nvmlInit_v2, void)
{
	return read_file() ? FINE : NO_DRIVER;
}

NVML(nvmlShutdown, void)
{
	return FINE;
}

NVML(nvmlDeviceGetCount_v2, unsigned *ret_n)
{
	MAY_FAIL();
	*ret_n = n_devices;
	return FINE;
}

NVML(nvmlDeviceGetHandleByIndex_v2, unsigned index, void **ret_device)
{
	if (index >= n_devices)
		return BAD_ARGUMENT;
	*ret_device = &devices[index];
	return FINE;
}

NVML(nvmlDeviceGetUUID, void *handle, char *ret_uuid, unsigned size)
{
	const struct device *device = handle;
	MAY_FAIL();
	snprintf(ret_uuid, size, "%s", device->uuid);
	return FINE;
}

NVML(nvmlDeviceGetMemoryInfo, void *handle, struct memory *ret_memory)
{
	const struct device *device = handle;
	MAY_FAIL();
	*ret_memory = (struct memory){device->total, device->total - device->used, device->used};
	return FINE;
}

static int give(const struct device *device, bool is_mps, unsigned *n, struct process_info *ret_infos)
{
	unsigned found = 0;
	for (unsigned i = 0; i < n_processes; i++) {
		if (strcmp(processes[i].uuid, device->uuid) != 0 || processes[i].is_mps != is_mps)
			continue;
		if (found < *n && ret_infos)
			ret_infos[found] = (struct process_info){processes[i].pid, processes[i].used, 0, 0};
		found++;
	}
	int result = found > *n ? NO_ROOM : FINE;
	*n = found;
	return result;
}

NVML(nvmlDeviceGetComputeRunningProcesses_v3, void *device, unsigned *n, struct process_info *ret_infos)
{
	MAY_FAIL();
	if (n_grown < n_to_grow) {
		n_grown++;
		*n *= 2;
		return NO_ROOM;
	}
	n_grown = 0;
	return give(device, false, n, ret_infos);
}

NVML(nvmlDeviceGetMPSComputeRunningProcesses_v3, void *device, unsigned *n, struct process_info *ret_infos)
{
	MAY_FAIL();
	return give(device, true, n, ret_infos);
}
