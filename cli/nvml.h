// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What NVIDIA's management library says of devices and processes, from outside
// of any of them. The library is opened when it is asked for; nothing is linked.

#ifndef CLI_NVML_H
#define CLI_NVML_H

#include "../libtelemetry/base.h"

struct cli_nvml;

// NULL where there is no such library, or no driver under it; *ret_why says so.
struct cli_nvml *cli_nvml_open(const char **ret_why);
void cli_nvml_close(struct cli_nvml *nvml);

struct cli_nvml_device {
	uint64_t used_bytes, total_bytes; // of everybody; TELE_UNKNOWN where not told
	uint64_t process_bytes;		  // of the one process
	uint64_t all_processes_bytes;	  // of all that are told; unknown when one is
};

// Reads the device of that UUID ("GPU-..."), for a process. False when there is
// none. The driver tells processes by the host's numbers: in a container, and on
// some systems at all, a process is not found, and its bytes are unknown.
bool cli_nvml_read(struct cli_nvml *nvml, const char *uuid, uint64_t pid,
		   struct cli_nvml_device *ret_device);

// How many devices there are.
unsigned cli_nvml_devices(struct cli_nvml *nvml);

#endif
