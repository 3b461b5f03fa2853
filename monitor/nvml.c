// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The few functions of the library, declared by hand. What it answers is
// foreign: a size of all ones is unknown, and a table of processes that grew
// between two calls is asked for again, a few times.

#include "nvml.h"

#include <dlfcn.h>

#include "../libtelemetry/banned.h"

enum { PROCESSES_MAX = 1024, NVML_NO_ROOM = 7 };

struct memory {
	unsigned long long total, free, used;
};

struct process {
	unsigned pid;
	unsigned long long used;
	unsigned gpu_instance, compute_instance;
};

typedef int (*processes_fn)(void *device, unsigned *n, struct process *);

struct mon_nvml {
	void *library;
	int (*shut_down)(void);
	int (*count)(unsigned *);
	int (*device)(unsigned, void **);
	int (*uuid)(void *, char *, unsigned);
	int (*memory)(void *, struct memory *);
	processes_fn processes, mps_processes;
	struct process found[PROCESSES_MAX];
};

static bool find(void *library, const char *name, void *ret_function)
{
	void *function = dlsym(library, name);
	memcpy(ret_function, &function, sizeof(function));
	return function != NULL;
}

struct mon_nvml *mon_nvml_open(const char **ret_why)
{
	int (*init)(void);
	struct mon_nvml *nvml = calloc(1, sizeof(*nvml));
	*ret_why = "out of memory";
	if (!nvml)
		return NULL;
	nvml->library = dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL);
	*ret_why = "libnvidia-ml.so.1 is not here";
	if (!nvml->library)
		goto fail;
	*ret_why = "this libnvidia-ml.so.1 is too old";
	bool is_complete = find(nvml->library, "nvmlInit_v2", &init) &&
			   find(nvml->library, "nvmlShutdown", &nvml->shut_down) &&
			   find(nvml->library, "nvmlDeviceGetCount_v2", &nvml->count) &&
			   find(nvml->library, "nvmlDeviceGetHandleByIndex_v2", &nvml->device) &&
			   find(nvml->library, "nvmlDeviceGetUUID", &nvml->uuid) &&
			   find(nvml->library, "nvmlDeviceGetMemoryInfo", &nvml->memory) &&
			   find(nvml->library, "nvmlDeviceGetComputeRunningProcesses_v3", &nvml->processes);
	if (!is_complete)
		goto fail;
	(void)find(nvml->library, "nvmlDeviceGetMPSComputeRunningProcesses_v3", &nvml->mps_processes);
	*ret_why = "it finds no driver loaded";
	if (init() != 0)
		goto fail;
	return nvml;
fail:
	if (nvml->library)
		dlclose(nvml->library);
	free(nvml);
	return NULL;
}

void mon_nvml_close(struct mon_nvml *nvml)
{
	if (!nvml)
		return;
	nvml->shut_down();
	dlclose(nvml->library);
	free(nvml);
}

unsigned mon_nvml_devices(struct mon_nvml *nvml)
{
	unsigned n = 0;
	return nvml->count(&n) == 0 ? n : 0;
}

static bool find_device(struct mon_nvml *nvml, const char *uuid, void **ret_device)
{
	char its[96];
	unsigned n = mon_nvml_devices(nvml);
	for (unsigned i = 0; i < n; i++)
		if (nvml->device(i, ret_device) == 0 && nvml->uuid(*ret_device, its, sizeof(its)) == 0 &&
		    strcmp(its, uuid) == 0)
			return true;
	return false;
}

static uint64_t sum(uint64_t a, uint64_t b)
{
	return a == TELE_UNKNOWN || b == TELE_UNKNOWN ? TELE_UNKNOWN : a + b;
}

static void add_processes(struct mon_nvml *nvml, processes_fn list, void *device, uint64_t pid,
			  struct mon_nvml_device *ret_device)
{
	unsigned n = 0;
	int failed = NVML_NO_ROOM;
	for (unsigned tries = 0; list && failed == NVML_NO_ROOM && tries < 4; tries++) {
		n = PROCESSES_MAX;
		failed = list(device, &n, nvml->found);
	}
	if (failed || n > PROCESSES_MAX)
		return;
	for (unsigned i = 0; i < n; i++) {
		ret_device->all_processes_bytes = sum(ret_device->all_processes_bytes, nvml->found[i].used);
		if (nvml->found[i].pid == pid && ret_device->process_bytes == TELE_UNKNOWN)
			ret_device->process_bytes = nvml->found[i].used;
	}
}

bool mon_nvml_read(struct mon_nvml *nvml, const char *uuid, uint64_t pid,
		   struct mon_nvml_device *ret_device)
{
	struct memory memory;
	void *device;
	if (!find_device(nvml, uuid, &device))
		return false;
	*ret_device = (struct mon_nvml_device){TELE_UNKNOWN, TELE_UNKNOWN, TELE_UNKNOWN, 0};
	if (nvml->memory(device, &memory) == 0) {
		ret_device->used_bytes = memory.used;
		ret_device->total_bytes = memory.total;
	}
	add_processes(nvml, nvml->processes, device, pid, ret_device);
	add_processes(nvml, nvml->mps_processes, device, pid, ret_device);
	return true;
}
