// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A fake libnvidia-ml: devices and processes as a file says, which FAKE_NVML
// names. A line each: `device UUID TOTAL USED`, and `process UUID PID USED`
// where USED may be `-` for what the driver does not tell. Without the file
// nvmlInit answers that no driver is loaded.

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

static bool read_file(void)
{
	const char *path = getenv("FAKE_NVML");
	char line[256], used[32];
	unsigned long long total, bytes;
	FILE *file = path ? fopen(path, "r") : NULL;
	n_devices = n_processes = 0;
	if (!file)
		return false;
	while (fgets(line, sizeof(line), file)) {
		struct device *device = &devices[n_devices % 16];
		struct process *process = &processes[n_processes % 64];
		if (sscanf(line, "device %63s %llu %llu", device->uuid, &total, &bytes) == 3) {
			device->total = total;
			device->used = bytes;
			n_devices++;
		} else if (sscanf(line, "process %63s %u %31s", process->uuid, &process->pid, used) == 3) {
			process->used = used[0] == '-' ? UINT64_MAX : strtoull(used, NULL, 10);
			n_processes++;
		}
	}
	fclose(file);
	return true;
}

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
	(void)read_file();
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
	snprintf(ret_uuid, size, "%s", device->uuid);
	return FINE;
}

NVML(nvmlDeviceGetMemoryInfo, void *handle, struct memory *ret_memory)
{
	(void)read_file();
	const struct device *device = handle;
	*ret_memory = (struct memory){device->total, device->total - device->used, device->used};
	return FINE;
}

static int give(const struct device *device, unsigned *n, struct process_info *ret_infos)
{
	unsigned found = 0;
	for (unsigned i = 0; i < n_processes; i++) {
		if (strcmp(processes[i].uuid, device->uuid) != 0)
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
	(void)read_file();
	return give(device, n, ret_infos);
}

NVML(nvmlDeviceGetMPSComputeRunningProcesses_v3, void *device, unsigned *n, struct process_info *ret_infos)
{
	(void)device;
	(void)ret_infos;
	*n = 0;
	return FINE;
}
