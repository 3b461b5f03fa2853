// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What NVIDIA's management library says of devices and processes, from outside
// of any of them. The library is opened when it is asked for; nothing is linked.

#ifndef MON_NVML_H
#define MON_NVML_H

#include "../libtelemetry/source.h"

struct mon_nvml;

// NULL where there is no such library, or no driver under it; *ret_why says so.
struct mon_nvml *mon_nvml_open(const char **ret_why);
void mon_nvml_close(struct mon_nvml *nvml);

struct mon_nvml_device {
	uint64_t used_bytes, total_bytes; // of everybody; TELE_UNKNOWN where not told
	uint64_t process_bytes;		  // of the one process
	uint64_t all_processes_bytes;	  // of all that are told; unknown when one is
};

// Reads the device of that UUID ("GPU-..."), for a process. False when there is
// none. The driver tells processes by the host's numbers: one in a container is
// known by its namespace and its number there, where /proc shows both; from
// within one, and on some systems at all, a process is not found, and its bytes
// are unknown.
bool mon_nvml_read(struct mon_nvml *nvml, const char *uuid, const struct tele_identity *process,
		   struct mon_nvml_device *ret_device);

// How many devices there are.
unsigned mon_nvml_devices(struct mon_nvml *nvml);

#endif
