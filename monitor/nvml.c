// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The few functions of the library, declared by hand. What it answers is
// foreign: a size of all ones is unknown, and a table of processes that grew
// between two calls is asked for again, a few times.

#include "nvml.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../libtelemetry/banned.h"

enum { PROCESSES_MAX = 1024, NVML_NOT_SUPPORTED = 3, NVML_NO_ROOM = 7 };

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

// The number that a process has in its own namespace, the last of a line of
// /proc/PID/status; 0 where that cannot be read.
static uint64_t innermost_pid(unsigned pid)
{
	char path[64], line[512];
	uint64_t innermost = 0;
	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	FILE *file = fopen(path, "re");
	while (file && !innermost && fgets(line, sizeof(line), file)) {
		const char *last = strrchr(line, '\t');
		if (strncmp(line, "NSpid:", 6) == 0 && last)
			innermost = strtoull(last, NULL, 10);
	}
	if (file)
		fclose(file);
	return innermost;
}

// Whether the process that goes by `pid` here is that one, whose number and
// namespace are as it said itself.
static bool is_process(unsigned pid, const struct tele_identity *process)
{
	struct stat ours, its;
	char path[64];
	bool is_elsewhere = process->pid_namespace && stat("/proc/self/ns/pid", &ours) == 0 &&
			    ours.st_ino != process->pid_namespace;
	if (!is_elsewhere)
		return pid == process->pid;
	snprintf(path, sizeof(path), "/proc/%u/ns/pid", pid);
	return stat(path, &its) == 0 && its.st_ino == process->pid_namespace &&
	       innermost_pid(pid) == process->pid;
}

static void add_processes(struct mon_nvml *nvml, processes_fn list, void *device,
			  const struct tele_identity *process, struct mon_nvml_device *ret_device)
{
	unsigned n = 0;
	int failed = NVML_NO_ROOM;
	for (unsigned tries = 0; failed == NVML_NO_ROOM && tries < 4; tries++) {
		n = PROCESSES_MAX;
		failed = list(device, &n, nvml->found);
	}
	if (failed || n > PROCESSES_MAX) {
		ret_device->all_processes_bytes = TELE_UNKNOWN;
		return;
	}
	for (unsigned i = 0; i < n; i++) {
		ret_device->all_processes_bytes = sum(ret_device->all_processes_bytes, nvml->found[i].used);
		if (ret_device->process_bytes == TELE_UNKNOWN && is_process(nvml->found[i].pid, process))
			ret_device->process_bytes = nvml->found[i].used;
	}
}

// Whether the device has a list of MPS's clients beside the other.
static bool has_mps(const struct mon_nvml *nvml, void *device)
{
	unsigned n = 0;
	return nvml->mps_processes && nvml->mps_processes(device, &n, NULL) != NVML_NOT_SUPPORTED;
}

bool mon_nvml_read(struct mon_nvml *nvml, const char *uuid, const struct tele_identity *process,
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
	add_processes(nvml, nvml->processes, device, process, ret_device);
	if (has_mps(nvml, device))
		add_processes(nvml, nvml->mps_processes, device, process, ret_device);
	return true;
}
